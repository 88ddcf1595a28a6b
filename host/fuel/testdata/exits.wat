;; Functions with loops that leave in every way there is. run(n) adds up what five of them give.
(module
  (type $two (func (result i32 i32)))
  (func (export "run") (param $n i32) (result i32)
    (local $b i32)
    (i32.add
      (i32.add (call $falls (local.get $n)) (call $returns (local.get $n)))
      (i32.add
        (i32.add (call $branches (local.get $n)) (call $tail (local.get $n)))
        (i32.add (call $several (local.get $n)) (i32.add (call $table (local.get $n)) (call $indirect (local.get $n))))))
  )
  ;; 0 + 1 + … + n, off the end
  (func $falls (param $n i32) (result i32)
    (local $s i32)
    (loop $l
      (local.set $s (i32.add (local.get $s) (local.get $n)))
      (if (local.get $n) (then (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br $l))))
    (local.get $s))
  (func $returns (param $n i32) (result i32)
    (local $s i32)
    (loop $l
      (if (i32.eqz (local.get $n)) (then (return (local.get $s))))
      (local.set $s (i32.add (local.get $s) (local.get $n)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $l))
    (unreachable))
  ;; leaves by a branch to the function's own label
  (func $branches (param $n i32) (result i32)
    (local $s i32)
    (loop $l
      (br_if 1 (local.get $s) (i32.eqz (local.get $n)))
      (drop)
      (local.set $s (i32.add (local.get $s) (local.get $n)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $l))
    (unreachable))
  (func $tail (param $n i32) (result i32)
    (loop $l
      (if (i32.gt_s (local.get $n) (i32.const 100)) (then (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br $l))))
    (return_call $falls (local.get $n)))
  (func $pair (type $two)
    (local $i i32)
    (loop $l
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $i) (i32.const 3))))
    (local.get $i) (i32.const 2))
  (func $several (param $n i32) (result i32)
    (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
    (call $pair)
    (i32.add))
  ;; n times through a branch table whose default is the function
  (func $table (param $n i32) (result i32)
    (block $out
      (loop $l
        (if (i32.eqz (local.get $n)) (then (br $out)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br_table $l $l $l (i32.const 7)))
      (unreachable))
    (i32.const 0))
  (table 2 funcref)
  (elem (i32.const 0) func $falls $returns)
  (elem declare func $tail)
  (global $f funcref (ref.func $branches))
  (func $indirect (param $n i32) (result i32)
    (call_indirect (param i32) (result i32) (local.get $n) (i32.const 1))))
