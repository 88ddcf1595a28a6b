;; whole module
;; A module that asks for a table of a hundred million elements.
;; expect: load: table: needs 100000000 elements, allowed are 1048576
(module (memory (export "memory") 1) (table 100000000 funcref))
