;; whole module
;; A guest for a later version of the contract.
;; expect: load: speaks wstream_abi_v2, this host speaks wstream_abi_v1
(module (memory (export "memory") 1) (func (export "wstream_abi_v2")))
