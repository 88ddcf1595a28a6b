;; kinds: An answer of another type.
;; function: a
;; expect: error: frame: has 1 columns where 0 are declared
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
