;; An answer that counts 2^32 - 1 nodes.
;; expect: rows 0-3: frame: has 4294967295 nodes, allowed are 16384
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i32.store (i32.const 1100) (i32.const -1)) (i64.const 0x40000000100))
