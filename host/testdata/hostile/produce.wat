;; A guest that sends its input to a topic that is allowed, and tries another one.
;; function: b
;; allow: produce:alerts
;; expect: committed
;; expect: outside: alerts: [0 1 2 3]
  (import "wstream_produce_v1" "produce" (func $produce (param i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "alertsx")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.eq (i32.load16_u offset=14 (local.get 1)) (i32.const 3)) (then (return (i64.const 0)))) ;; commit
    (if (i64.ne (call $produce (i32.const 4096) (i32.const 6) (local.get 1) (local.get 2)) (i64.const 4)) (then (unreachable)))
    (if (i64.ne (call $produce (i32.const 4102) (i32.const 1) (local.get 1) (local.get 2)) (i64.const -7)) (then (unreachable)))
    (i64.const 0))
