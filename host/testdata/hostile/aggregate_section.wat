;; kinds: An answer without accumulators.
;; function: a
;; expect: error: frame: section of errors: is not row INT, code INT, text STRING
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 4296) (i32.const 2))
    (i64.const 17592186044800))
