;; A buffer whose offset and length together pass 2^64.
;; expect: rows 0-3: frame: column "keep": buffer 1 with 18446744073709551615 bytes at 192 is not inside the frame of 256
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.store (i32.const 1200) (i64.const -1)) (i64.const 0x40000000100))
