;; A declared statement on a connection that is allowed, and a database that says no.
;; function: b
;; allow: sql:db sql:broken
;; expect: error: the broken one: connection refused
  (import "wstream_sql_v1" "exec" (func $exec (param i32 i32 i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "dbDELETE FROM tbroken")
  (data (i32.const 4200) "the broken one")
  (func (export "wstream_error") (result i64) (i64.const 0x10680000000e))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $exec (i32.const 4096) (i32.const 2) (i32.const 4098) (i32.const 13) (local.get 1) (local.get 2)) (i64.const 4)) (then (unreachable)))
    (call $exec (i32.const 4111) (i32.const 6) (i32.const 4098) (i32.const 13) (local.get 1) (local.get 2)))
