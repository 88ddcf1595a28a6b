;; A statement that the manifest does not list, on a connection that is allowed.
;; function: b
;; allow: sql:db
;; expect: committed
  (import "wstream_sql_v1" "exec" (func $exec (param i32 i32 i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "dbDROP TABLE t")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $exec (i32.const 4096) (i32.const 2) (i32.const 4098) (i32.const 12) (local.get 1) (local.get 2)) (i64.const -8))
      (then (unreachable)))
    (i64.const 0))
