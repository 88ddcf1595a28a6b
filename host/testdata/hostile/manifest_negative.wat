;; whole module
;; A manifest that is a status.
;; expect: load: manifest: failed
(module
  (memory (export "memory") 3)
  (data (i32.const 16) "{\22abi\22:1,\22functions\22:[{\22name\22:\22f\22,\22kind\22:\22filter\22,\22input\22:\22v BIGINT\22}]}")
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (i64.const -1))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 65536))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0)))
