;; Recursion without end, with fuel enough: the stack is bounded. Compiled and interpreted code differ in how deep it goes.
;; limits: fuel=1e12
;; expect: rows 0-3: stack overflow in f < f < f < f
  (func $f (param i64) (result i64) (i64.add (i64.const 1) (call $f (i64.add (local.get 0) (i64.const 1)))))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (call $f (i64.const 0)))
