;; whole module
;; A manifest that lies outside of the memory.
;; expect: load: manifest: wstream_manifest of 16 bytes at 65530 is not inside the memory of 65536
(module
  (memory (export "memory") 1)
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (i64.const 0xfffa00000010))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0)))
