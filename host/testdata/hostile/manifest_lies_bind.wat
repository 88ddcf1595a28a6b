;; whole module
;; A manifest that says that bind decides on the output, of a guest that cannot say it.
;; function: s
;; expect: bind: the output is said by bind, but there is no export "wstream_output"
(module
  (memory (export "memory") 3)
  (data (i32.const 16) "{\22abi\22:1,\22functions\22:[{\22name\22:\22s\22,\22kind\22:\22scalar\22,\22input\22:\22v BIGINT\22,\22output\22:\22bind\22}]}")
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (i64.const 0x1000000057))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 65536))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0)))
