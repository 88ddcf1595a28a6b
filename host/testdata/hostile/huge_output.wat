;; An answer whose column names more bytes than a call may give out.
;; function: s
;; limits: outputBytes=4KiB
;; expect: rows 0-3: frame: column "s": output is larger than allowed: 95924 bytes more than the 4076 that are left
  (func (export "wstream_call") (param i32 i32 i32) (result i64)
    (i32.store (i32.const 2056) (i32.const 101376)) ;; size of the frame
    (i64.store (i32.const 2240) (i64.const 100000)) ;; length of the data
    (i32.store (i32.const 2320) (i32.const 100000)) ;; last offset
    (i32.store (i32.const 2316) (i32.const 100000))
    (i32.store (i32.const 2312) (i32.const 100000))
    (i32.store (i32.const 2308) (i32.const 100000))
    (i64.const 0x80000018c00))
