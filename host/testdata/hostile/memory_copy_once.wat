;; One memory.copy without a loop that costs more than the fuel.
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (drop (memory.grow (i32.const 1000)))
    (memory.copy (i32.const 65536) (i32.const 131072) (i32.const 60000000))
    (i64.const 0x40000000100))
