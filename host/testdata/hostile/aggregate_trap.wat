;; kinds: unreachable.
;; function: a
;; expect: error: unreachable
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (unreachable))
