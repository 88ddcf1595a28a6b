;; Work without instructions: one memory.fill of the whole memory after the other. It is charged by length.
;; limits: fuel=1e6
;; expect: rows 0-3: out of fuel in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (local $n i32)
    (drop (memory.grow (i32.const 1000)))
    (loop $l
      (memory.fill (i32.const 0) (i32.const 0) (i32.shl (memory.size) (i32.const 16)))
      (br $l))
    (unreachable))
