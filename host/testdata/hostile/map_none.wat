;; kinds: No answer.
;; function: m
;; expect: rows 0-3: no output for 1 rows
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0))
