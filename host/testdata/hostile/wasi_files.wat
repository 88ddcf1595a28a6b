;; A guest that wants to open a file, and to know its arguments and environment.
;; function: d
;; expect: values 52 0 0 8
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    ;; 52 is ENOSYS, 8 is EBADF
    (f64.store (i32.const 3264) (f64.convert_i32_u (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 16384))))
    (f64.store (i32.const 3272) (f64.convert_i32_u (call $environ (i32.const 16384) (i32.const 16388))))
    (f64.store (i32.const 3280) (f64.convert_i32_u (i32.load (i32.const 16384))))
    (f64.store (i32.const 3288) (f64.convert_i32_u (call $prestat (i32.const 3) (i32.const 16384))))
    (i64.const 0xc0000000100))
