;; kinds: A negative status.
;; function: p
;; expect: error: out of memory
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -6))
