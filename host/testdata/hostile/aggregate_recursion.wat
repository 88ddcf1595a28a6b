;; kinds: A function that calls itself for ever.
;; function: a
;; expect: error: stack overflow
  (func $r (param i32) (result i32) (i32.add (call $r (local.get 0)) (i32.const 1)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (drop (call $r (i32.const 1))) (i64.const 0))
