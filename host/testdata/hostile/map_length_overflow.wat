;; kinds: An answer of 4 GiB.
;; function: m
;; expect: rows 0-3: output has 4294967295 bytes, allowed are 196608
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x00000c00ffffffff))
