;; A buffer at an offset near 2^64, so that offset and length wrap around.
;; function: f
;; expect: rows 0-3: frame: column "keep": buffer 1 with 1 bytes at 18446744073709551615 is not inside the frame of 256
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i64.store (i32.const 1192) (i64.const -1))
    (i64.const 0x40000000100))
