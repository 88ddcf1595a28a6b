;; A guest that traps on one row, the one with the value 2: that row is refused, the others are not affected.
;; expect: keeps 0
;; expect: row 2: unreachable in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (local $i i32) (local $n i32) (local $at i32)
    (local.set $n (i32.load (i32.const 65556)))
    (local.set $at (i32.add (i32.const 65536) (i32.load (i32.const 65704))))
    (loop $rows
      (if (i64.eq (i64.load (i32.add (local.get $at) (i32.shl (local.get $i) (i32.const 3)))) (i64.const 2)) (then (unreachable)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $rows (i32.lt_u (local.get $i) (local.get $n))))
    ;; keeps a row if its value is 0
    (i32.store8 (i32.const 1216) (i64.eqz (i64.load (local.get $at))))
    (i32.store (i32.const 1044) (local.get $n))
    (i32.store (i32.const 1156) (local.get $n))
    (i64.const 0x40000000100))
