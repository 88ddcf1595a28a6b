;; An answer with fewer rows than the input has.
;; expect: rows 0-3: frame: 5 rows for 1 rows
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1044) (i32.const 5))
    (i32.store (i32.const 1156) (i32.const 5))
    (i64.const 0x40000000100))
