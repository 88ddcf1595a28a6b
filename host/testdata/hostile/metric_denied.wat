;; The same without leave.
;; expect: keeps 0 2
  (import "wstream_metric_v1" "add" (func $add (param i32 i32 f64) (result i32)))
  (data (i32.const 4096) "m")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.ne (call $add (i32.const 4096) (i32.const 1) (f64.const 1)) (i32.const -7)) (then (unreachable)))
    (i64.const 0x40000000100))
