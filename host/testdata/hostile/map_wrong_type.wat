;; kinds: An answer of another type.
;; function: m
;; expect: rows 0-3: frame: column "d": is of type BOOLEAN where DOUBLE is declared
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
