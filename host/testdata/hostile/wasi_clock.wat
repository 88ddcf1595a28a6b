;; Time: the real-time clock is the batch's, in nanoseconds (here 0, then read as a double); the monotonic one moves
;; by a look at it, and by sleeping.
;; function: d
;; expect: values 0 1 1.000000002e+09 1
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 3264)))
    (f64.store (i32.const 3264) (f64.convert_i64_u (i64.load (i32.const 3264))))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 3272)))
    (f64.store (i32.const 3272) (f64.convert_i64_u (i64.load (i32.const 3272))))
    ;; sleeps for a second: one subscription to the monotonic clock
    (i32.store (i32.const 16400) (i32.const 1))
    (i64.store (i32.const 16408) (i64.const 1000000000))
    (drop (call $poll (i32.const 16384) (i32.const 16448) (i32.const 1) (i32.const 16512)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 3280)))
    (f64.store (i32.const 3280) (f64.convert_i64_u (i64.load (i32.const 3280))))
    (f64.store (i32.const 3288) (f64.convert_i32_u (i32.load (i32.const 16512)))) ;; events
    (i64.const 0xc0000000100))
