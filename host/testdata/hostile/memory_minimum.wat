;; whole module
;; A module that asks for 2 GiB at its start.
;; expect: load: memory: needs 2147483648 bytes, allowed are 67108864
(module (memory (export "memory") 32768))
