;; The same at run time: the table does not grow beyond what is allowed, and growing is charged by length.
;; limits: fuel=1e8
;; expect: rows 0-3: unreachable in wstream_call
  (table $t 1 funcref)
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (if (i32.eq (table.grow $t (ref.null func) (i32.const 100000000)) (i32.const -1)) (then (unreachable)))
    (i64.const 0x40000000100))
