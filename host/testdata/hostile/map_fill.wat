;; kinds: A memory bomb: the memory grows for ever, and is filled.
;; function: m
;; limits: fuel=1e6
;; expect: rows 0-3: out of fuel in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (loop $l (drop (memory.grow (i32.const 64))) (memory.fill (i32.const 65536) (i32.const 1) (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 65536))) (br $l)) (unreachable))
