;; A language runtime that does not come up: _initialize traps.
;; expect: load: start: unreachable
  (func (export "_initialize") (unreachable))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
