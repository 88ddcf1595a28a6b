;; A guest that wants what the host does not have: here a function of emscripten's.
;; expect: load: imports "emscripten_get_now" of "env"; this host offers wasi_snapshot_preview1, wstream_kv_v1, wstream_log_v1, wstream_metric_v1, wstream_produce_v1, wstream_sql_v1
  (import "env" "emscripten_get_now" (func (result f64)))
  (func (export "wstream_call") (param i32 i32 i32) (result i64) (i64.const 0x40000000100))
