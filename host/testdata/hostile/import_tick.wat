;; A guest that imports the host's own function for the fuel, to refill it.
;; expect: load: not a valid module: import section, offset 0x3a: imports "wstream_fuel", which belongs to the host
  (import "wstream_fuel" "tick" (func (param i32) (result i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
