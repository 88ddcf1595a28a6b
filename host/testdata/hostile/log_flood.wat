;; A guest that logs without end: the lines of a call are cut, and the fuel runs out as ever.
;; limits: fuel=1e4 logBytes=100
;; expect: rows 0-3: out of fuel in wstream_call
;; expect: log: 24 lines, cut in 8 calls
  (import "wstream_log_v1" "write" (func $log (param i32 i32 i32)))
  (data (i32.const 4096) "0123456789012345678901234567890123456789")
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (loop $l
      (call $log (i32.const 1) (i32.const 4096) (i32.const 30))
      (br $l))
    (unreachable))
