;; whole module
;; A manifest that calls itself twice, forty deep.
;; engine: compiler
;; limits: fuel=1e5 deadline=1m
;; expect: load: manifest: out of fuel
(module
  (memory (export "memory") 3)
  (data (i32.const 16) "{\22abi\22:1,\22functions\22:[{\22name\22:\22f\22,\22kind\22:\22filter\22,\22input\22:\22v BIGINT\22}]}")
  (func $t (param i32) (result i64) (if (result i64) (i32.eqz (local.get 0)) (then (i64.const 1)) (else (i64.add (call $t (i32.sub (local.get 0) (i32.const 1))) (call $t (i32.sub (local.get 0) (i32.const 1)))))))
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (call $t (i32.const 40)))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 65536))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0)))
