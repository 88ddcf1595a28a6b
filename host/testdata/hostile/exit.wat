;; A library that calls exit().
;; expect: rows 0-3: the guest exited with code 3 in wasi_snapshot_preview1.proc_exit < wstream_call
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (call $exit (i32.const 3)) (i64.const 0x40000000100))
