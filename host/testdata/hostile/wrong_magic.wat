;; An answer that is no frame at all.
;; function: f
;; expect: rows 0-3: frame: begins with 0x00000000, not with 0x31465357
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1024) (i32.const 0))
    (i64.const 0x40000000100))
