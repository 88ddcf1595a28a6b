/* examples: one guest with a function of each kind, the same in every language that has an SDK: see sdk/go/examples,
 * sdk/rust/examples and sdk/assemblyscript/examples. */
#include "wstream_json.h"

/* Finds a text in bytes: where it begins, or b.n. */
static uint32_t find(ws_bytes b, uint32_t at, const char *text) {
  uint32_t n = ws_strlen(text);
  for (; at + n <= b.n; at++) if (ws_same(b.p + at, (const uint8_t *)text, n)) return at;
  return b.n;
}

/* parse: clicks from JSON; what is no click is refused. */
static int64_t parse(ws_call *c) {
  static const ws_json_field click[] = {
      {"user_id", WS_STRING}, {"event_time", WS_TIMESTAMP}, {"url", WS_STRING}, {"amount", WS_FLOAT64},
  };
  return ws_json_parse(c, 0, click, 4);
}

/* is_human: a filter that leaves out robots. */
static const char *is_human_row(ws_call *c, uint32_t row, int *stays) {
  ws_bytes ua = ws_str(c, 0, row);
  *stays = ws_is_null(c, 0, row) || find(ua, 0, "bot") == ua.n;
  return 0;
}
static int64_t is_human(ws_call *c) { return ws_filter_rows(c, is_human_row); }

/* upsert: the rows of a batch into a table, in the batch's transaction. */
#define UPSERT "INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits"
static int64_t upsert(ws_call *c) {
  if (c->header->op == WS_OP_COMMIT || c->rows == 0) return 0;
  int64_t n = ws_exec(c, (ws_bytes){(const uint8_t *)"analytics", 9}, UPSERT);
  return n < 0 ? ws_fail(n, "upsert") : 0;
}

/* sessions: a state function; a visit comes out five minutes after its last click. */
static const char *visit(ws_call *c, ws_group *g, ws_builder **state, ws_builder **out) {
  if (g->timed_out) {
    ws_add_from(out[0], ws_key(g, 0), g->index);
    ws_add_from(out[1], ws_old(g, 0), g->index);
    ws_parent(c, g->index);
    ws_remove(g);
    return 0;
  }
  int64_t clicks = g->to - g->from, last = INT64_MIN;
  if (g->has_state) clicks += ws_i64_at(ws_old(g, 0), g->index), last = ws_i64_at(ws_old(g, 1), g->index);
  for (uint32_t row = g->from; row < g->to; row++) if (ws_i64(c, 1)[row] > last) last = ws_i64(c, 1)[row];
  ws_set(g);
  ws_add_i64(state[0], clicks);
  ws_add_i64(state[1], last);
  ws_set_timeout(g, last + (int64_t)5 * 60000000);
  return 0;
}
static int64_t sessions(ws_call *c) {
  ws_builder *out[] = {ws_output(c, WS_STRING), ws_output(c, WS_INT64)};
  ws_builder *state[] = {ws_new_builder(WS_INT64, 0, 0), ws_new_builder(WS_TIMESTAMP, 0, 0)};
  return ws_groups(c, state, 2, out, visit);
}

/* domain: a scalar, the host of a URL. */
static const char *domain_row(ws_call *c, uint32_t row, ws_builder *out) {
  if (ws_is_null(c, 0, row)) { ws_add_null(out); return 0; }
  ws_bytes url = ws_str(c, 0, row);
  uint32_t at = find(url, 0, "://");
  if (at == url.n) return "no URL";
  ws_add_bytes(out, url.p + at + 3, find(url, at + 3, "/") - at - 3);
  return 0;
}
static int64_t domain(ws_call *c) { return ws_scalar_rows(c, ws_output(c, WS_STRING), domain_row); }

/* mean: an aggregate; the accumulator is a sum and a count. */
typedef struct { double sum; uint64_t n; } total;
static void mean_update(ws_call *c, uint32_t row, void *acc) {
  total *t = acc;
  if (!ws_is_null(c, 0, row)) t->sum += ws_f64(c, 0)[row], t->n++;
}
static void mean_merge(void *acc, const void *other) {
  total *t = acc;
  const total *o = other;
  t->sum += o->sum, t->n += o->n;
}
static void mean_finish(const void *acc, ws_builder *out) {
  const total *t = acc;
  if (t->n) ws_add_f64(out, t->sum / (double)t->n);
  else ws_add_null(out);
}
static int64_t mean(ws_call *c) { return ws_aggregate_rows(c, sizeof(total), WS_FLOAT64, mean_update, mean_merge, mean_finish); }

/* basket: a scalar that reads an array of structs. */
static const char *basket_row(ws_call *c, uint32_t row, ws_builder *out) {
  const ws_column *items = ws_col(c, 0), *item = ws_child(items, 0), *price = ws_child(item, 0), *quantity = ws_child(item, 1);
  if (ws_null_at(items, row)) { ws_add_null(out); return 0; }
  ws_span s = ws_range(items, row);
  double sum = 0;
  for (uint32_t i = s.from; i < s.to; i++) {
    if (!ws_null_at(item, i) && !ws_null_at(price, i) && !ws_null_at(quantity, i)) sum += ws_f64_at(price, i) * ws_i32_at(quantity, i);
  }
  ws_add_f64(out, sum);
  return 0;
}
static int64_t basket(ws_call *c) { return ws_scalar_rows(c, ws_output(c, WS_FLOAT64), basket_row); }

/* links: a map function that builds an array, a map and a struct of a URL. */
static const char *links_row(ws_call *c, uint32_t row, ws_builder **out) {
  ws_builder *path = out[0], *query = out[1], *place = out[2];
  if (ws_is_null(c, 0, row)) {
    for (int i = 0; i < 3; i++) ws_add_null(out[i]);
    return 0;
  }
  ws_bytes url = ws_str(c, 0, row);
  uint32_t at = find(url, 0, "://") + 3;
  if (at > url.n) at = url.n;
  uint32_t pairs = find(url, at, "?");
  ws_bytes rest = {url.p, pairs};
  uint32_t slash = find(rest, at, "/");
  for (uint32_t from = slash + 1, to = 0; to != pairs; from = to + 1) { /* at least one part, maybe empty */
    if (from > pairs) from = pairs;
    to = find(rest, from, "/");
    ws_add_bytes(ws_below(path, 0), url.p + from, to - from);
  }
  ws_end(path);
  for (uint32_t from = pairs + 1, to; from < url.n; from = to + 1) {
    to = find(url, from, "&");
    uint32_t is = find((ws_bytes){url.p, to}, from, "=");
    if (is == to) continue;
    ws_add_bytes(ws_below(query, 0), url.p + from, is - from);
    ws_add_bytes(ws_below(query, 1), url.p + is + 1, to - is - 1);
  }
  ws_end(query);
  ws_add_bytes(ws_below(place, 0), url.p + at, slash - at);
  ws_add_i32(ws_below(place, 1), (int32_t)(pairs - at));
  ws_end(place);
  return 0;
}
static ws_builder *text(void) { return ws_new_builder(WS_STRING, 0, 0); }
static int64_t links(ws_call *c) {
  ws_builder *members[] = {text(), ws_new_builder(WS_INT32, 0, 0)};
  ws_builder *out[] = {
      ws_output_of(c, ws_new_list(text())), ws_output_of(c, ws_new_map(text(), text())), ws_output_of(c, ws_new_struct(2, members)),
  };
  return ws_parse_rows(c, out, 3, links_row);
}

static const ws_function functions[] = {
    {"parse", 0, parse}, {"is_human", 0, is_human}, {"upsert", 0, upsert}, {"sessions", 0, sessions},
    {"domain", 0, domain}, {"mean", 0, mean}, {"basket", 0, basket}, {"links", 0, links},
};

WS_MODULE("{\"abi\":1,\"name\":\"examples\",\"version\":\"1.0.0\",\"functions\":["
          "{\"name\":\"parse\",\"kind\":\"parse\",\"input\":\"value BINARY\","
          "\"output\":\"user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE\"},"
          "{\"name\":\"is_human\",\"kind\":\"filter\",\"input\":\"ua STRING\"},"
          "{\"name\":\"upsert\",\"kind\":\"foreachBatch\",\"input\":\"user_id STRING, visits BIGINT\"},"
          "{\"name\":\"sessions\",\"kind\":\"state\",\"input\":\"user_id STRING, ts TIMESTAMP\",\"output\":\"user_id STRING, clicks BIGINT\","
          "\"key\":\"user_id STRING\",\"state\":\"clicks BIGINT, last TIMESTAMP\",\"mode\":\"append\",\"timeout\":\"event\",\"time\":\"ts\"},"
          "{\"name\":\"domain\",\"kind\":\"scalar\",\"input\":\"url STRING\",\"output\":\"domain STRING\"},"
          "{\"name\":\"mean\",\"kind\":\"aggregate\",\"input\":\"x DOUBLE\",\"output\":\"mean DOUBLE\"},"
          "{\"name\":\"basket\",\"kind\":\"scalar\",\"input\":\"items ARRAY<STRUCT<price: DOUBLE, quantity: INT>>\",\"output\":\"total DOUBLE\"},"
          "{\"name\":\"links\",\"kind\":\"map\",\"input\":\"url STRING\","
          "\"output\":\"path ARRAY<STRING>, query MAP<STRING, STRING>, place STRUCT<host: STRING, length: INT>\"}],"
          "\"statements\":[\"" UPSERT "\"]}",
          functions)
