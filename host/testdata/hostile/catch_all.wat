;; A guest that catches every exception of its own: being stopped is none of them.
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in spin < wstream_call
  (tag $e)
  (func $spin (loop $l (br $l)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (block $caught
      (try_table (catch_all $caught) (call $spin)))
    (i64.const 0x40000000100))
