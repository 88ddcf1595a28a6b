;; A guest that reaches for a database without leave: it is told no, and goes on.
;; function: b
;; expect: committed
  (import "wstream_sql_v1" "exec" (func $exec (param i32 i32 i32 i32 i32 i32) (result i64)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $exec (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (local.get 1) (local.get 2)) (i64.const -7))
      (then (unreachable)))
    (i64.const 0))
