;; A filter that answers with two frames.
;; expect: rows 0-3: answers with 2 frames, not one
  (func (export "wstream_next") (param i32) (result i64) (i32.store (i32.const 1040) (i32.const 0)) (i64.const 0x40000000100))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1040) (i32.const 8))
    (i64.const 0x40000000100))
