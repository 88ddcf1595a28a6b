;; 1 GiB filled in a loop, of a memory that is not so large: the fill itself is out of bounds.
;; expect: rows 0-3: out of bounds memory access in wstream_call
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 1073741824)) (br $l))
    (unreachable))
