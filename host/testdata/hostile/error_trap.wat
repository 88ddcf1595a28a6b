;; A status whose text traps.
;; expect: error: failed
  (func (export "wstream_error") (result i64) (unreachable))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -1))
