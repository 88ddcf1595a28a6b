;; Metrics: one that the manifest declares, and one that it does not.
;; allow: metric
;; expect: keeps 0 2
;; expect: outside: add metric.m 2.5; observe metric.m -1
  (import "wstream_metric_v1" "add" (func $add (param i32 i32 f64) (result i32)))
  (import "wstream_metric_v1" "observe" (func $observe (param i32 i32 f64) (result i32)))
  (data (i32.const 4096) "mx")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (call $add (i32.const 4096) (i32.const 1) (f64.const 2.5)) (then (unreachable)))
    (if (call $observe (i32.const 4096) (i32.const 1) (f64.const -1)) (then (unreachable)))
    (if (i32.ne (call $add (i32.const 4097) (i32.const 1) (f64.const 1)) (i32.const -8)) (then (unreachable)))
    (i64.const 0x40000000100))
