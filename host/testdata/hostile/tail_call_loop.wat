;; An endless loop without a loop: two functions that tail-call each other, so that no stack grows.
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in odd < wstream_call
  (func $even (param i64) (result i64) (return_call $odd (i64.add (local.get 0) (i64.const 1))))
  (func $odd (param i64) (result i64) (return_call $even (i64.add (local.get 0) (i64.const 1))))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (call $even (i64.const 0)))
