;; A leak: the guest grows its memory to 4 GiB, is told no at its limit, and gives up.
;; limits: memory=1MiB
;; expect: rows 0-3: unreachable in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (block $no
      (loop $l
        (br_if $no (i32.eq (memory.grow (i32.const 1)) (i32.const -1)))
        (br $l)))
    (if (i32.ne (memory.size) (i32.const 16)) (then (return (i64.const 0x40000000100))))
    (unreachable))
