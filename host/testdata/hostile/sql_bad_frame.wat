;; A declared statement with rows that are no frame.
;; function: b
;; allow: sql:db
;; expect: error: bad frame: frame: begins with 0x00004244, not with 0x31465357
  (import "wstream_sql_v1" "exec" (func $exec (param i32 i32 i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "DBdbDELETE FROM t")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 16384) (i32.const 0x4244))
    (call $exec (i32.const 4098) (i32.const 2) (i32.const 4100) (i32.const 13) (i32.const 16384) (i32.const 256)))
