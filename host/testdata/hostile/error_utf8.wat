;; A status whose text is no UTF-8 and has control characters.
;; expect: error: a�b [31m c
  (data (i32.const 512) "a\ffb\1b[31m\0ac")
  (func (export "wstream_error") (result i64) (i64.const 0x2000000000a))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -1))
