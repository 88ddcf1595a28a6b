;; A wild pointer: a load far outside of the memory.
;; expect: rows 0-3: out of bounds memory access in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.load (i32.const 0x7ffffff0)))
