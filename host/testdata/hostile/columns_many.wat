;; An answer that counts two columns where there is one node.
;; expect: rows 0-3: frame: 2 columns, 0 sections and 2 buffers do not go with 1 nodes
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i32.store (i32.const 1096) (i32.const 2)) (i64.const 0x40000000100))
