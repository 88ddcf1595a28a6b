;; whole module
;; A guest that imports its memory, which would be the host's to limit.
;; expect: load: not a valid module: import section, offset 0x17: imports the memory "memory" of "env"; only functions may be imported
(module (import "env" "memory" (memory 1)))
