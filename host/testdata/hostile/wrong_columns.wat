;; An answer with a column too many.
;; function: f
;; expect: rows 0-3: frame: has 2 columns where 1 are declared
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1096) (i32.const 2)) (i32.store (i32.const 1100) (i32.const 2))
    (i64.const 0x40000000100))
