;; whole module
;; A manifest that is not JSON.
;; expect: load: manifest: invalid character 'X' looking for beginning of value
(module
  (memory (export "memory") 1)
  (data (i32.const 16) "X")
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (i64.const 0x1000000001))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0)))
