;; An export of the contract with another type.
;; expect: load: exports "wstream_call" as (i32, i32) -> (i32), not as (i32, i32, i32) -> (i64)
  (func (export "wstream_call") (param i32 i32) (result i32) (i32.const 0))
