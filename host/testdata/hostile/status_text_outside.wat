;; The same, but the text lies outside of the memory, and the status is one that has no name.
;; expect: error: status -77
  (func (export "wstream_error") (result i64) (i64.const 0x7fffffff00000012))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -77))
