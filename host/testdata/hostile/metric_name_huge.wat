;; A metric's name of 2^32 - 1 bytes.
;; allow: metric
;; expect: error: bad frame
  (import "wstream_metric_v1" "add" (func $add (param i32 i32 f64) (result i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i64.extend_i32_s (call $add (i32.const 0) (i32.const -1) (f64.const 1))))
