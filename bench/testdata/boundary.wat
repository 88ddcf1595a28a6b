;; A filter that looks at nothing: it answers at once with a bitmap of as many rows as it was given, all clear. What a call of
;; it takes is the boundary alone. Assembled by `make -C guests hostile`.
(module
  (memory (export "memory") 33)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22boundary\22,\22version\22:\221.0.0\22,\22functions\22:[{\22name\22:\22none\22,\22kind\22:\22filter\22,\22input\22:\22id BIGINT, amount DOUBLE, at TIMESTAMP, url STRING\22}]}")
  ;; the answer: header, one node, two buffers, none of nulls and one of bits at 192
  (data (i32.const 4096)
    "\57\53\46\31\80\00\00\00\00\00\00\00\02\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\01\00\00\00\01\00\00\00\02\00\00\00\00\00\00\00\80\00\00\00\98\00\00\00"
    "\b8\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\01\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\c0\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 152)))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 65536))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param $handle i32) (param $at i32) (param $len i32) (result i64)
    (local $rows i32) (local $bytes i32)
    (local.set $rows (i32.load offset=20 (local.get $at)))
    (local.set $bytes (i32.shr_u (i32.add (local.get $rows) (i32.const 7)) (i32.const 3)))
    (i32.store (i32.const 4104) (i32.add (i32.const 192) (local.get $bytes)))
    (i32.store (i32.const 4116) (local.get $rows))
    (i32.store (i32.const 4228) (local.get $rows))
    (i32.store (i32.const 4272) (local.get $bytes))
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (i32.add (i32.const 192) (local.get $bytes))))))
