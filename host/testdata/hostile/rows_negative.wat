;; An answer of 2^32 - 1 rows.
;; expect: rows 0-3: frame: has 4294967295 rows, allowed are 16777216
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i32.store (i32.const 1044) (i32.const -1)) (i64.const 0x40000000100))
