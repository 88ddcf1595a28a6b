;; kinds: for(;;){}.
;; function: p
;; limits: fuel=1e5
;; expect: rows 0-3: out of fuel in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (loop $l (br $l)) (unreachable))
