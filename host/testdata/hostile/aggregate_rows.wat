;; kinds: Accumulators of more groups than there are.
;; function: a
;; expect: error: frame: section 5 column 0: has 1 rows of 2
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 4300) (i32.const 2))
    (i64.const 17592186044800))
