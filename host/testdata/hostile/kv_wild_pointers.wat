;; A value that is to be written outside of the memory: the length is told, or the pointer refused.
;; allow: kv:ns
;; expect: error: bad frame
  (import "wstream_kv_v1" "get" (func $get (param i32 i32 i32 i32 i32 i32) (result i64)))
  (import "wstream_kv_v1" "put" (func $put (param i32 i32 i32 i32 i32 i32) (result i64)))
  (data (i32.const 512) "nsk12345")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (drop (call $put (i32.const 512) (i32.const 2) (i32.const 514) (i32.const 1) (i32.const 515) (i32.const 5)))
    (call $get (i32.const 512) (i32.const 2) (i32.const 514) (i32.const 1) (i32.const -4) (i32.const 100)))
