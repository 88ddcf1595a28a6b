;; A guest that reads the namespace of another tenant.
;; allow: kv:mine
;; expect: keeps 0 2
  (import "wstream_kv_v1" "get" (func $get (param i32 i32 i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "theirsk")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $get (i32.const 4096) (i32.const 6) (i32.const 4102) (i32.const 1) (i32.const 16384) (i32.const 16)) (i64.const -7))
      (then (unreachable)))
    (i64.const 0x40000000100))
