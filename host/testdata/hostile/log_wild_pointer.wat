;; A log line outside of the memory is no line.
;; expect: keeps 0 2
  (import "wstream_log_v1" "write" (func $log (param i32 i32 i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (call $log (i32.const 1) (i32.const -10) (i32.const 100)) (i64.const 0x40000000100))
