;; The same through a table: f calls itself twice by call_indirect, to a depth of fifty.
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in f < f < f < f
  (type $t (func (param i32)))
  (table 1 funcref)
  (elem (i32.const 0) $f)
  (func $f (param i32)
    (if (i32.lt_u (local.get 0) (i32.const 50)) (then
      (call_indirect (type $t) (i32.add (local.get 0) (i32.const 1)) (i32.const 0))
      (call_indirect (type $t) (i32.add (local.get 0) (i32.const 1)) (i32.const 0)))))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (call $f (i32.const 0)) (i64.const 0x40000000100))
