;; whole module
;; Some other WebAssembly module.
;; expect: load: does not export "wstream_abi_v1"
(module (memory (export "memory") 1))
