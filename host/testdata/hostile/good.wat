;; Nothing: a guest that does as it should, to show that the rest of the file is not what fails.
;; expect: keeps 0 2
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
