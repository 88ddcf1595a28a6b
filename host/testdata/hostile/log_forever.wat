;; A guest that writes lines without end: they are cut, and the fuel ends it.
;; limits: fuel=1e5 logBytes=1KiB
;; expect: rows 0-3: out of fuel in wstream_call
;; expect: log: 80 lines, cut in 8 calls
  (import "wstream_log_v1" "write" (func $log (param i32 i32 i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (loop $l (call $log (i32.const 1) (i32.const 8192) (i32.const 100)) (br $l))
    (unreachable))
