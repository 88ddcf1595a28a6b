;; A division by zero, which WebAssembly answers with a trap.
;; expect: rows 0-3: integer divide by zero in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.extend_i32_u (i32.div_u (i32.const 1) (i32.sub (local.get 2) (local.get 2)))))
