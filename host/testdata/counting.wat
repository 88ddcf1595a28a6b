;; A scalar d DOUBLE that answers how often it was called, so that a used instance answers otherwise than a fresh one.
(module
  (memory (export "memory") 3)
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 16) "{\22abi\22:1,\22functions\22:[{\22name\22:\22d\22,\22kind\22:\22scalar\22,\22input\22:\22v BIGINT\22,\22output\22:\22d DOUBLE\22}]}")
  (func (export "wstream_abi_v1"))
  (func (export "wstream_manifest") (result i64) (i64.const 0x100000005b))
  (func (export "wstream_buffer") (param i32) (result i32) (i32.const 131072))
  (func (export "wstream_bind") (param i32 i32) (result i64) (i64.const 0))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (local $n i32) (local $i i32)
    (local.set $n (i32.load (i32.add (local.get 1) (i32.const 20))))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    ;; the input's own frame, with the type DOUBLE and the values overwritten; nulls stay
    (i32.store16 (i32.add (local.get 1) (i32.const 128)) (i32.const 7))
    (loop $l
      (if (i32.lt_u (local.get $i) (local.get $n)) (then
        (f64.store
          (i32.add (i32.add (local.get 1) (i32.wrap_i64 (i64.load (i32.add (local.get 1) (i32.const 168))))) (i32.shl (local.get $i) (i32.const 3)))
          (f64.convert_i32_u (global.get $calls)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $l))))
    (i64.or (i64.shl (i64.extend_i32_u (local.get 1)) (i64.const 32)) (i64.extend_i32_u (local.get 2)))))
