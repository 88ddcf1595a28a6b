;; A start function that traps.
;; expect: load: start: unreachable
  (start $s)
  (func $s (unreachable))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
