;; Offsets of strings that fall.
;; function: s
;; expect: rows 0-3: frame: column "s": offset 2 falls from 2 to 0
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 2312) (i32.const 0))
    (i64.const 0x80000000180))
