;; Nothing: the same for a scalar.
;; function: s
;; expect: values a0 a1 a2 a3
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x80000000180))
