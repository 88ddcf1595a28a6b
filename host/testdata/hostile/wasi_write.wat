;; Standard output becomes log lines, also where a line comes in pieces.
;; expect: keeps 0 2
;; expect: log: 2 lines, cut in 0 calls
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 4096) "one\0atwo, half")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 16384) (i32.const 4096))
    (i32.store (i32.const 16388) (i32.const 7))
    (i32.store (i32.const 16392) (i32.const 4103))
    (i32.store (i32.const 16396) (i32.const 6))
    (drop (call $write (i32.const 1) (i32.const 16384) (i32.const 2) (i32.const 16400)))
    (i64.const 0x40000000100))
