;; A next answer that traps.
;; expect: rows 0-3: unreachable in wstream_next
  (func (export "wstream_next") (param i32) (result i64) (unreachable))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1040) (i32.const 8))
    (i64.const 0x40000000100))
