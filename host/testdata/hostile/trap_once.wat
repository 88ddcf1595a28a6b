;; A guest that has come to a bad state: the second call traps. A fresh instance does the work.
;; calls: 2
;; expect: keeps 0 2
;; expect: keeps 0 2
  (global $calls (mut i32) (i32.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.eq (global.get $calls) (i32.const 1)) (then (unreachable)))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i64.const 0x40000000100))
