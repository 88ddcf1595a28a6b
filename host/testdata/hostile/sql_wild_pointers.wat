;; The same with pointers outside of the memory.
;; function: b
;; expect: committed
  (import "wstream_sql_v1" "exec" (func $exec (param i32 i32 i32 i32 i32 i32) (result i64)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $exec (i32.const -1) (i32.const 9) (i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1)) (i64.const -5))
      (then (unreachable)))
    (i64.const 0))
