;; An answer that says that there is more, from a guest that has no wstream_next.
;; expect: rows 0-3: says that there is more, but does not export "wstream_next"
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1040) (i32.const 8))
    (i64.const 0x40000000100))
