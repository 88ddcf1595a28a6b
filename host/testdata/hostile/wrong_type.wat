;; An answer whose column has another type than declared.
;; function: f
;; expect: rows 0-3: frame: column "keep": is of type INT where BOOLEAN is declared
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store16 (i32.const 1152) (i32.const 4))
    (i64.const 0x40000000100))
