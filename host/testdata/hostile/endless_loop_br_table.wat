;; An endless loop that goes back by a branch table, with a value on the stack.
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i64.const 1)
    (loop $l (param i64) (result i64)
      (i64.const 1) (i64.add)
      (br_table $l $l (i32.const 0))))
