;; An answer of no bytes at the very end of the memory.
;; expect: rows 0-3: frame: 0 bytes are shorter than a header
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.shl (i64.extend_i32_u (i32.mul (memory.size) (i32.const 65536))) (i64.const 32)))
