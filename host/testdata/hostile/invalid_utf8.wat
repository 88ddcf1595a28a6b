;; A string that is not UTF-8.
;; function: s
;; expect: rows 0-3: frame: column "s": row 0 is not valid UTF-8
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store8 (i32.const 2369) (i32.const 255))
    (i64.const 0x80000000180))
