;; kinds: An action that there is not.
;; function: g
;; expect: rows 0-3: frame: section of state: is not action TINYINT, time-out BIGINT and the state's 1 columns, of 1 rows
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store8 (i32.const 5568) (i32.const 9))
    (i64.const 21990232556160))
