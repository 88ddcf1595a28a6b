;; kinds: unreachable.
;; function: m
;; expect: rows 0-3: unreachable in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (unreachable))
