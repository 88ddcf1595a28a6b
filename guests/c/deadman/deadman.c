/* deadman: a dead man's switch. watch says 'silent' when a device has sent nothing for a time, and 'back' when it sends again.
 * Config: after, the seconds of silence (300). */
#include "wstream_json.h"

typedef struct { int64_t after; } settings;

static void *watch_bind(const ws_bind *b, int64_t *status) {
  settings *s = ws_keep(sizeof *s);
  ws_bytes text = ws_config(b, "after");
  if (!s) { *status = ws_fail(WS_NO_MEMORY, "no memory"); return 0; }
  s->after = 300;
  for (uint32_t i = 0; i < text.n; i++) {
    if (i == 0) s->after = 0;
    if (text.p[i] < '0' || text.p[i] > '9' || i > 8) { *status = ws_fail(WS_BAD_CONFIG, "after is not a number of seconds"); return 0; }
    s->after = s->after * 10 + (text.p[i] - '0');
  }
  return s;
}

static void emit(ws_call *c, const ws_group *g, ws_builder **out, const char *what, int64_t since) {
  ws_add_from(out[0], ws_key(g, 0), g->index);
  ws_add_str(out[1], what);
  ws_add_i64(out[2], since);
  ws_parent(c, g->index);
}

static const char *watch_key(ws_call *c, ws_group *g, ws_builder **state, ws_builder **out) {
  const settings *s = c->bound;
  int64_t last = g->has_state ? ws_i64_at(ws_old(g, 0), g->index) : INT64_MIN, first = INT64_MAX;
  int silent = g->has_state && ws_bool_at(ws_old(g, 1), g->index);
  if (g->timed_out) {
    emit(c, g, out, "silent", last);
    silent = 1;
  }
  for (uint32_t row = g->from; row < g->to; row++) {
    if (ws_is_null(c, 1, row)) continue;
    int64_t ts = ws_i64(c, 1)[row];
    if (ts < first) first = ts;
    if (ts > last) last = ts;
  }
  if (first == INT64_MAX && !g->timed_out) { /* rows without a time say nothing */
    if (g->has_state && !silent) ws_set_timeout(g, last + s->after * 1000000);
    return 0;
  }
  if (silent && first != INT64_MAX) {
    emit(c, g, out, "back", first);
    silent = 0;
  }
  ws_set(g);
  ws_add_i64(state[0], last);
  ws_add_bool(state[1], silent);
  if (!silent) ws_set_timeout(g, last + s->after * 1000000);
  return 0;
}
static int64_t watch(ws_call *c) {
  ws_builder *state[] = {ws_new_builder(WS_TIMESTAMP, 0, 0), ws_new_builder(WS_BOOL, 0, 0)};
  ws_builder *out[] = {ws_output(c, WS_STRING), ws_output(c, WS_STRING), ws_output(c, WS_TIMESTAMP)};
  return ws_groups(c, state, 2, out, watch_key);
}

static const ws_function functions[] = {{"watch", watch_bind, watch}};

WS_MODULE("{\"abi\":1,\"name\":\"deadman\",\"version\":\"1.0.0\",\"functions\":["
          "{\"name\":\"watch\",\"kind\":\"state\",\"doc\":\"devices that fall silent, and come back; config after\","
          "\"input\":\"device STRING, ts TIMESTAMP\",\"output\":\"device STRING, what STRING, since TIMESTAMP\",\"key\":\"device STRING\","
          "\"state\":\"last TIMESTAMP, silent BOOLEAN\",\"mode\":\"append\",\"timeout\":\"event\",\"time\":\"ts\"}]}",
          functions)
