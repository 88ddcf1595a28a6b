;; kinds: No answer.
;; function: a
;; expect: error: answers with 0 frames, not one
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0))
