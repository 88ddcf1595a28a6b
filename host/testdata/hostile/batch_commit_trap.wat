;; A foreachBatch function that traps when it is to commit.
;; function: b
;; expect: error: unreachable
  (func (export "wstream_call") (param $h i32) (param $at i32) (param i32) (result i64)
    (if (i32.eq (i32.load16_u offset=14 (local.get $at)) (i32.const 3)) (then (unreachable)))
    (i64.const 0))
