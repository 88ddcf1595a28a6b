;; A slow guest that has fuel enough: the deadline is the safety net.
;; limits: fuel=1e18 deadline=20ms
;; expect: rows 0-3: deadline passed
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (loop $l (br $l)) (unreachable))
