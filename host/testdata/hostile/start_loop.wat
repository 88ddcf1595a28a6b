;; A start function that never ends: starting has its own fuel and deadline.
;; limits: deadline=1ms fuel=1000
;; expect: load: start: out of fuel
  (start $s)
  (func $s (loop $l (br $l)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
