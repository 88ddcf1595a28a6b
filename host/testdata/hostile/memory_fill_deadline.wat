;; One huge memory.fill after the other without a loop, with fuel enough: the deadline stops it.
;; limits: fuel=1e18 deadline=20ms memory=256MiB
;; expect: rows 0-3: deadline passed
  (func $fill (memory.fill (i32.const 0) (i32.const 1) (i32.shl (memory.size) (i32.const 16))))
  (func $ten (call $fill) (call $fill) (call $fill) (call $fill) (call $fill) (call $fill) (call $fill) (call $fill) (call $fill) (call $fill))
  (func $hundred (call $ten) (call $ten) (call $ten) (call $ten) (call $ten) (call $ten) (call $ten) (call $ten) (call $ten) (call $ten))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (drop (memory.grow (i32.const 4000)))
    (call $hundred) (call $hundred) (call $hundred) (call $hundred) (call $hundred)
    (call $hundred) (call $hundred) (call $hundred) (call $hundred) (call $hundred)
    (i64.const 0))
