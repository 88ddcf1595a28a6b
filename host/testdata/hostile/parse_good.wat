;; kinds: What is as it should be.
;; function: p
;; expect: rows 0 1 2 3
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 13194139533568))
