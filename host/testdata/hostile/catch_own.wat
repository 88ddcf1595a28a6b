;; A guest that throws and catches its own exception, in a loop that is counted.
;; limits: fuel=1e5
;; expect: keeps 0 2
  (tag $e (param i32))
  (func $throws (param i32) (loop $l (throw $e (local.get 0))))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (local $i i32)
    (loop $again
      (block $caught (result i32)
        (try_table (result i32) (catch $e $caught) (call $throws (local.get $i)) (unreachable)))
      (drop)
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 100))))
    (i64.const 0x40000000100))
