;; kinds: Rows of keys that there are not: a section of parents longer than its column.
;; function: g
;; expect: rows 0-3: frame: section 1 column 0: has 0 rows of 9
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 5532) (i32.const 9))
    (i64.const 21990232556160))
