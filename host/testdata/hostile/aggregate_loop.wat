;; kinds: for(;;){}.
;; function: a
;; limits: fuel=1e5
;; expect: error: out of fuel
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (loop $l (br $l)) (unreachable))
