;; A NaN with a payload, which is a value like any other.
;; function: d
;; expect: values NaN 1 2 3
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i64.store (i32.const 3264) (i64.const 0x7ff8dead0000beef))
    (i64.const 0xc0000000100))
