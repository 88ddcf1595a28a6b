;; A guest that says that it cannot go on, with a text: no trap, the batch fails.
;; expect: error: the sky is falling
  (data (i32.const 4096) "the sky is\0afalling")
  (func (export "wstream_error") (result i64) (i64.const 0x100000000012))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -1))
