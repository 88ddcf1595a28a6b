;; kinds: A finish with four values for one accumulator.
;; function: a
;; expect: error: frame: 4 rows for 1 rows
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.eq (i32.load16_u offset=14 (local.get 1)) (i32.const 2)) (then (return (i64.const 13194139533568))))
    (select (i64.const 19791209300224) (i64.const 17592186044800) (i32.eq (i32.load16_u offset=14 (local.get 1)) (i32.const 2))))
