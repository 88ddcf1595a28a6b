;; kinds: The state of fewer keys than there are.
;; function: g
;; expect: rows 0-3: frame: section 4 column 0: has 4 rows of 3
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 5548) (i32.const 3))
    (i64.const 21990232556160))
