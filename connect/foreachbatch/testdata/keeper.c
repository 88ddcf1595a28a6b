/* keeper: counts keys in the store, and tells the counts to a table and to a topic, all in the batch's transactions. */
#include "wstream.h"

#define UPSERT "INSERT INTO counts (k, n) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET n = excluded.n"

static int64_t count(ws_call *c) {
  if (c->header->op == WS_OP_COMMIT || c->rows == 0) return 0;
  const ws_column *key = ws_col(c, 0);
  ws_builder *k = ws_add_column(c, WS_STRING, c->rows, 0), *n = ws_add_column(c, WS_STRING, c->rows, 0);
  for (uint32_t i = 0; i < c->rows; i++) {
    ws_bytes b = ws_bytes_at(key, i);
    uint64_t v = 0;
    int64_t got = ws_kv_get("seen", 4, b.p, b.n, &v, sizeof v);
    if (got < 0 && got != WS_NOT_FOUND) return ws_fail(got, "get");
    v++;
    got = ws_kv_put("seen", 4, b.p, b.n, &v, sizeof v);
    if (got < 0) return ws_fail(got, "put");
    char digits[20];
    uint32_t at = sizeof digits;
    do digits[--at] = (char)('0' + v % 10); while (v /= 10);
    ws_add_bytes(k, b.p, b.n);
    ws_add_bytes(n, digits + at, sizeof digits - at);
  }
  int64_t frame = ws_finish(c);
  const void *p = (const void *)(uintptr_t)((uint64_t)frame >> 32);
  int64_t r = ws_sql_exec_("db", 2, UPSERT, sizeof UPSERT - 1, p, (uint32_t)frame);
  if (r < 0 && r != WS_DENIED) return ws_fail(r, "upsert");
  r = ws_produce_("counts", 6, p, (uint32_t)frame);
  return r < 0 && r != WS_DENIED ? ws_fail(r, "produce") : 0;
}

static const ws_function functions[] = {{"count", 0, count}};

WS_MODULE("{\"abi\":1,\"name\":\"keeper\",\"version\":\"1.0.0\",\"functions\":[{\"name\":\"count\",\"kind\":\"foreachBatch\",\"input\":\"k STRING\"}],"
          "\"statements\":[\"" UPSERT "\"]}", functions)
