;; kinds: What is as it should be.
;; function: g
;; expect: actions [1 1 1 1], 0 rows
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 21990232556160))
