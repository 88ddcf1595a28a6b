;; A foreachBatch function that answers with rows.
;; function: b
;; expect: error: frame: has 1 columns where 0 are declared
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
