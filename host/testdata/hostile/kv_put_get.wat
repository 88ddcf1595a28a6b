;; The store: what was put is read again, by its length first where the buffer is too small.
;; allow: kv:mine
;; expect: keeps 0 2
;; expect: outside: put mine/k value; delete mine/k
  (import "wstream_kv_v1" "put" (func $put (param i32 i32 i32 i32 i32 i32) (result i64)))
  (import "wstream_kv_v1" "get" (func $get (param i32 i32 i32 i32 i32 i32) (result i64)))
  (import "wstream_kv_v1" "delete" (func $delete (param i32 i32 i32 i32) (result i64)))
  (data (i32.const 4096) "minekvalue")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i64.ne (call $get (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1) (i32.const 16384) (i32.const 2)) (i64.const -8)) (then (unreachable)))
    (if (i64.ne (call $put (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1) (i32.const 4101) (i32.const 5)) (i64.const 0)) (then (unreachable)))
    (if (i64.ne (call $get (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1) (i32.const 16384) (i32.const 2)) (i64.const 5)) (then (unreachable)))
    (if (i32.load (i32.const 16384)) (then (unreachable))) ;; nothing was written
    (if (i64.ne (call $get (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1) (i32.const 16384) (i32.const 5)) (i64.const 5)) (then (unreachable)))
    (if (i32.ne (i32.load (i32.const 16384)) (i32.load (i32.const 4101))) (then (unreachable)))
    (if (i64.ne (call $delete (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1)) (i64.const 0)) (then (unreachable)))
    (if (i64.ne (call $get (i32.const 4096) (i32.const 4) (i32.const 4100) (i32.const 1) (i32.const 16384) (i32.const 5)) (i64.const -8)) (then (unreachable)))
    (i64.const 0x40000000100))
