;; A guest that exports a global by the name of the fuel counter.
;; expect: load: not a valid module: export section, offset 0xa0: exports "wstream_fuel_counter", which belongs to the host
  (global (export "wstream_fuel_counter") (mut i32) (i32.const 1))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
