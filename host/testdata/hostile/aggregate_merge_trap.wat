;; kinds: A merge that traps.
;; function: a
;; expect: error: unreachable
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.eq (i32.load16_u offset=14 (local.get 1)) (i32.const 1)) (then (unreachable)))
    (select (i64.const 19791209300224) (i64.const 17592186044800) (i32.eq (i32.load16_u offset=14 (local.get 1)) (i32.const 2))))
