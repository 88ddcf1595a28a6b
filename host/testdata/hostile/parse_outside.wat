;; kinds: An answer that ends behind the memory.
;; function: p
;; expect: rows 0-3: output of 256 bytes at 196480 is not inside the memory of 196608
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x0002ff8000000100))
