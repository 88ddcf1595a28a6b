;; A status whose text takes for ever: the status stands alone.
;; limits: fuel=1e5
;; expect: error: failed
  (func (export "wstream_error") (result i64) (loop $l (br $l)) (unreachable))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const -1))
