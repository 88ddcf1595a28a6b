;; An answer that is shorter than a header.
;; expect: rows 0-3: frame: 64 bytes are shorter than a header
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000040))
