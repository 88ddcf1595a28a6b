/* clicks: what most jobs over click events need. parse reads JSON, is_human leaves out what robots did, domain is a
 * scalar for SQL, upsert keeps a table of counts per window and url. */
#include "wstream_json.h"

static const ws_json_field click[] = {
    {"user_id", WS_STRING}, {"event_time", WS_TIMESTAMP}, {"url", WS_STRING}, {"amount", WS_FLOAT64}, {"ua", WS_STRING},
};

static int64_t parse(ws_call *c) { return ws_json_parse(c, 0, click, sizeof click / sizeof click[0]); }

/* ---- is_human ---- */

typedef struct { double min_amount; } is_human_config;

static void *is_human_bind(const ws_bind *b, int64_t *status) {
  is_human_config *k = ws_keep(sizeof *k);
  if (!k) { *status = ws_fail(WS_NO_MEMORY, "no memory"); return 0; }
  k->min_amount = 0;
  ws_bytes text = ws_config(b, "min_amount");
  if (text.p) {
    ws_number x;
    ws_top = ws_kept;
    if (ws_json_number(text.p, text.p + text.n, &x) != text.p + text.n) {
      *status = ws_fail(WS_BAD_CONFIG, "min_amount is not a number");
      return 0;
    }
    k->min_amount = ws_json_double(&x);
  }
  return k;
}

/* A robot says so: bot, crawl or spider in any case, somewhere in its user agent. Sixteen places are looked at at
 * once for the first two letters of any of them; up to 16 bytes behind the text are read, and do not matter. */
static int robot(ws_bytes ua) {
  static const char *const marks[] = {"bot", "crawl", "spider"};
#ifdef __wasm_simd128__
  const v128_t lower = wasm_i8x16_splat(32);
#define PAIR(x, y) wasm_v128_and(wasm_i8x16_eq(a, wasm_i8x16_splat(x)), wasm_i8x16_eq(b, wasm_i8x16_splat(y)))
  for (uint32_t at = 0; at < ua.n; at += 16) {
    v128_t a = wasm_v128_or(wasm_v128_load(ua.p + at), lower), b = wasm_v128_or(wasm_v128_load(ua.p + at + 1), lower);
    uint32_t found = wasm_i8x16_bitmask(wasm_v128_or(wasm_v128_or(PAIR('b', 'o'), PAIR('c', 'r')), PAIR('s', 'p')));
    for (; found; found &= found - 1) {
      uint32_t i = at + (uint32_t)__builtin_ctz(found);
#else
  {
    for (uint32_t i = 0; i < ua.n; i++) {
#endif
      for (int k = 0; k < 3; k++) {
        uint32_t n = ws_strlen(marks[k]), j = 0;
        while (j < n && i + j < ua.n && (ua.p[i + j] | 32) == marks[k][j]) j++;
        if (j == n) return 1;
      }
    }
  }
  return 0;
}

static int64_t is_human(ws_call *c) {
  const is_human_config *k = c->bound;
  const double *amount = ws_f64(c, 0);
  const ws_column *ua = ws_col(c, 1);
  ws_builder *keep = ws_bools(c);
  for (uint32_t i = 0; i < c->rows; i++) {
    int ok = (ws_is_null(c, 0, i) || amount[i] >= k->min_amount) && (ws_null_at(ua, i) || !robot(ws_bytes_at(ua, i)));
    ws_add_bool(keep, ok);
  }
  return ws_finish(c);
}

/* ---- domain ---- */

/* The host of a URL: what stands between "://" and the next '/', '?', '#' or ':', without "user@"; null for none. */
static int64_t domain(ws_call *c) {
  const ws_column *url = ws_col(c, 0);
  ws_builder *out = ws_add_column(c, WS_STRING, c->rows, (uint32_t)url->offsets[c->rows]);
  for (uint32_t i = 0; i < c->rows; i++) {
    if (ws_null_at(url, i)) { ws_add_null(out); continue; }
    ws_bytes u = ws_bytes_at(url, i);
    uint32_t at = 0;
    while (at + 3 <= u.n && !(u.p[at] == ':' && u.p[at + 1] == '/' && u.p[at + 2] == '/')) at++;
    if (at + 3 > u.n) { ws_add_null(out); continue; }
    uint32_t from = at + 3, to = from;
    for (; to < u.n && u.p[to] != '/' && u.p[to] != '?' && u.p[to] != '#'; to++) if (u.p[to] == '@') from = to + 1;
    for (uint32_t j = from; j < to; j++) if (u.p[j] == ':') { to = j; break; }
    ws_add_bytes(out, u.p + from, to - from);
  }
  return ws_finish(c);
}

/* ---- upsert ---- */

#define CREATE                                                                                        \
  "CREATE TABLE IF NOT EXISTS clicks_per_window (window_start TIMESTAMP NOT NULL, "                     \
  "window_end TIMESTAMP NOT NULL, url VARCHAR(700) NOT NULL, cnt BIGINT NOT NULL, "                     \
  "PRIMARY KEY (window_start, url))"
#define UPSERT                                                                                        \
  "INSERT INTO clicks_per_window (window_start, window_end, url, cnt) VALUES ($1, $2, $3, $4) "         \
  "ON CONFLICT (window_start, url) DO UPDATE SET window_end = excluded.window_end, cnt = excluded.cnt"

static void *upsert_bind(const ws_bind *b, int64_t *status) {
  (void)status;
  ws_bytes name = ws_config(b, "connection"), *k = ws_keep(sizeof *k);
  if (k) *k = name.p ? ws_keep_bytes(name) : (ws_bytes){(const uint8_t *)"analytics", 9};
  return k;
}

static int64_t upsert(ws_call *c) {
  ws_bytes connection = *(const ws_bytes *)c->bound;
  if (c->header->op == WS_OP_COMMIT) return 0;
  if (c->header->flags & WS_FIRST) {
    int64_t n = ws_exec_once(c, connection, CREATE);
    if (n < 0) return ws_fail(n, n == WS_DENIED ? "the pipeline does not allow sql on the connection" : "create table");
  }
  if (c->rows == 0) return 0;
  int64_t n = ws_exec(c, connection, UPSERT);
  return n < 0 ? ws_fail(n, "upsert") : 0;
}

static const ws_function functions[] = {
    {"parse", 0, parse},
    {"is_human", is_human_bind, is_human},
    {"domain", 0, domain},
    {"upsert", upsert_bind, upsert},
};

WS_MODULE(
    "{\"abi\":1,\"name\":\"clicks\",\"version\":\"1.0.0\",\"functions\":["
    "{\"name\":\"parse\",\"kind\":\"parse\",\"doc\":\"clicks from JSON\",\"input\":\"value BINARY\","
    "\"output\":\"user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING\"},"
    "{\"name\":\"is_human\",\"kind\":\"filter\",\"doc\":\"no robots; config min_amount\",\"input\":\"amount DOUBLE, ua STRING\"},"
    "{\"name\":\"domain\",\"kind\":\"scalar\",\"doc\":\"the host of a URL\",\"input\":\"url STRING\",\"output\":\"domain STRING\"},"
    "{\"name\":\"upsert\",\"kind\":\"foreachBatch\",\"doc\":\"counts per window and url into clicks_per_window; config "
    "connection\",\"input\":\"window_start TIMESTAMP, window_end TIMESTAMP, url STRING, cnt BIGINT\"}],"
    "\"statements\":[\"" CREATE "\",\"" UPSERT "\"]}",
    functions)
