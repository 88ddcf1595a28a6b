;; A call that calls the guest's own exports, as nobody should: they are functions like others, and it ends by its stack.
;; expect: rows 0-3: stack overflow in call < call < call < call
  (func $call (export "wstream_call") (param i32 i32 i32) (result i64)
    (call $call (local.get 0) (local.get 1) (local.get 2))
    (drop)
    (call $call (local.get 0) (local.get 1) (local.get 2)))
