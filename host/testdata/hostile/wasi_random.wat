;; Chance: random_get begins anew with each call, so that a replay gives the same bytes.
;; function: d
;; calls: 2
;; expect: values -8.597526253595102e-97 -5.735167962788215e+228 2 3
;; expect: values -8.597526253595102e-97 -5.735167962788215e+228 2 3
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (drop (call $random (i32.const 3264) (i32.const 16)))
    (i64.const 0xc0000000100))
