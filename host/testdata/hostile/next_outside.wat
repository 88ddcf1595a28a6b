;; A next answer outside of the memory.
;; expect: rows 0-3: output of 256 bytes at 2147483392 is not inside the memory of 196608
  (func (export "wstream_next") (param i32) (result i64) (i64.const 0x7fffff0000000100))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1040) (i32.const 8))
    (i64.const 0x40000000100))
