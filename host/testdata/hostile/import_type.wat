;; An import of the host's with another type.
;; expect: load: imports "write" of "wstream_log_v1" as (i32) -> (), not as (i32, i32, i32) -> ()
  (import "wstream_log_v1" "write" (func (param i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
