;; An answer that overlaps the input: the guest writes its frame over what it was given. That is allowed, since
;; the host has its own copy of the input and takes a copy of the answer.
;; expect: keeps 0 2
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (memory.copy (i32.const 65540) (i32.const 1024) (i32.const 256))
    (i64.const 0x1000400000100))
