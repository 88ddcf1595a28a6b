;; whole module
;; A module built for threads, whose memory is shared.
;; expect: load: not a valid module: memory section, offset 0xc: is shared between threads, which the host does not offer
(module (memory (export "memory") 1 2 shared))
