;; A frame that says that it is longer than what was answered.
;; function: f
;; expect: rows 0-3: frame: says 4096 bytes where 256 are there
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 1032) (i32.const 4096))
    (i64.const 0x40000000100))
