/* groups: functions with state by key, over rows of ts TIMESTAMP, k STRING, v INT, the key being k. A guest of this kind
 * is called once for all keys of a batch: the rows lie in order of key, each key has its old state in columns, and
 * answers with rows, with what becomes of the state, and with the time-out that it wants. */
#include "wstream.h"

/* ---- What the five functions have in common ---- */

typedef struct {
  ws_call *c;
  const int32_t *end, *v;
  const int8_t *flags;
  const int64_t *ts;
  const ws_column *keys, *old[3], *vs;
  ws_builder *action, *timeout, *state[3];
  uint32_t states, groups;
} work;

/* Opens the input and, for state columns of the given types, the output. */
static work begin(ws_call *c, uint32_t states, const uint16_t *types) {
  work w = {.c = c, .states = states, .groups = c->section_rows[WS_SECTION_GROUPS]};
  w.ts = ws_i64(c, 0);
  w.vs = ws_col(c, 2);
  w.v = ws_i32(c, 2);
  w.end = (const int32_t *)ws_section_col(c, WS_SECTION_GROUPS, 0)->data;
  w.flags = (const int8_t *)ws_section_col(c, WS_SECTION_GROUPS, 1)->data;
  w.keys = ws_section_col(c, WS_SECTION_GROUPS, 3);
  w.action = ws_new_builder(WS_INT8, w.groups, 0);
  w.timeout = ws_new_builder(WS_INT64, w.groups, 0);
  for (uint32_t i = 0; i < states; i++) {
    w.old[i] = ws_section_col(c, WS_SECTION_STATE, i);
    w.state[i] = ws_new_builder(types[i], w.groups, 0);
  }
  ws_parents_none(c);
  return w;
}

static int64_t finish(work *w) {
  ws_open_section(w->c, WS_SECTION_STATE, w->groups);
  ws_section_add(w->c, w->action);
  ws_section_add(w->c, w->timeout);
  for (uint32_t i = 0; i < w->states; i++) ws_section_add(w->c, w->state[i]);
  return ws_finish(w->c);
}

/* Says what becomes of a group; the values of the state count if it is set. */
static void decide(work *w, int action, int64_t timeout, int64_t a, int64_t b, int64_t c) {
  int64_t v[3] = {a, b, c};
  ws_add_i8(w->action, (int8_t)action);
  ws_add_i64(w->timeout, timeout);
  for (uint32_t i = 0; i < w->states; i++) {
    ws_builder *s = w->state[i];
    if (action != WS_STATE_SET) ws_add_null(s);
    else if (s->type == WS_BOOL) ws_add_bool(s, v[i] != 0);
    else if (s->type == WS_INT32) ws_add_i32(s, (int32_t)v[i]);
    else ws_add_i64(s, v[i]);
  }
}

static int64_t old(const work *w, uint32_t i, uint32_t g) { return ((const int64_t *)w->old[i]->data)[g]; }
static uint32_t first_row(const work *w, uint32_t g) { return g ? (uint32_t)w->end[g - 1] : 0; }

static void emit_int(ws_builder *b, const work *w, uint32_t row) {
  if (ws_null_at(w->vs, row)) ws_add_null(b);
  else ws_add_i32(b, w->v[row]);
}

/* The sum of the group's values that are not null. */
static int64_t total_of(const work *w, uint32_t g) {
  int64_t sum = 0;
  for (uint32_t i = first_row(w, g); i < (uint32_t)w->end[g]; i++) if (!ws_null_at(w->vs, i)) sum += w->v[i];
  return sum;
}

enum { MINUTE = 60000000 };

/* Time-outs are in whole milliseconds. */
static int64_t milliseconds(int64_t us) {
  int64_t r = us % 1000;
  return us - (r < 0 ? r + 1000 : r);
}

/* ---- The functions ---- */

/* Counts rows and adds up v; emits the new values each time. */
static int64_t running_count(ws_call *c) {
  work w = begin(c, 2, (uint16_t[]){WS_INT64, WS_INT64});
  ws_builder *k = ws_add_column(c, WS_STRING, w.groups, 0), *cnt = ws_add_column(c, WS_INT64, w.groups, 0),
             *total = ws_add_column(c, WS_INT64, w.groups, 0);
  for (uint32_t g = 0; g < w.groups; g++) {
    int has = w.flags[g] & WS_HAS_STATE;
    int64_t n = (has ? old(&w, 0, g) : 0) + (w.end[g] - (int32_t)first_row(&w, g));
    int64_t sum = (has ? old(&w, 1, g) : 0) + total_of(&w, g);
    ws_add_from(k, w.keys, g);
    ws_add_i64(cnt, n);
    ws_add_i64(total, sum);
    ws_parent(c, g);
    decide(&w, WS_STATE_SET, WS_NO_TIMEOUT, n, sum, 0);
  }
  return finish(&w);
}

/* Emits the v of a key's first row, ever. */
static int64_t first(ws_call *c) {
  work w = begin(c, 1, (uint16_t[]){WS_BOOL});
  ws_builder *k = ws_add_column(c, WS_STRING, w.groups, 0), *v = ws_add_column(c, WS_INT32, w.groups, 0);
  for (uint32_t g = 0; g < w.groups; g++) {
    if (w.flags[g] & WS_HAS_STATE) { decide(&w, WS_STATE_KEEP, WS_NO_TIMEOUT, 0, 0, 0); continue; }
    ws_add_from(k, w.keys, g);
    emit_int(v, &w, first_row(&w, g));
    ws_parent(c, g);
    decide(&w, WS_STATE_SET, WS_NO_TIMEOUT, 1, 0, 0);
  }
  return finish(&w);
}

/* Emits each v that is greater than all before it. */
static int64_t maxima(ws_call *c) {
  work w = begin(c, 1, (uint16_t[]){WS_INT32});
  ws_builder *k = ws_add_column(c, WS_STRING, w.groups, 0), *v = ws_add_column(c, WS_INT32, w.groups, 0);
  for (uint32_t g = 0; g < w.groups; g++) {
    int has = (w.flags[g] & WS_HAS_STATE) != 0, found = 0;
    int32_t best = has ? ((const int32_t *)w.old[0]->data)[g] : 0;
    for (uint32_t i = first_row(&w, g); i < (uint32_t)w.end[g]; i++) {
      if (ws_null_at(w.vs, i) || (has && w.v[i] <= best)) continue;
      best = w.v[i];
      has = found = 1;
      ws_add_from(k, w.keys, g);
      ws_add_i32(v, best);
      ws_parent(c, g);
    }
    decide(&w, found ? WS_STATE_SET : WS_STATE_KEEP, WS_NO_TIMEOUT, best, 0, 0);
  }
  return finish(&w);
}

/* Sessions with a gap of five minutes: emitted, and forgotten, once the watermark has passed their end. */
static int64_t sessions(ws_call *c) {
  work w = begin(c, 3, (uint16_t[]){WS_TIMESTAMP, WS_TIMESTAMP, WS_INT64});
  ws_builder *k = ws_add_column(c, WS_STRING, w.groups, 0), *begins = ws_add_column(c, WS_TIMESTAMP, w.groups, 0),
             *lasts = ws_add_column(c, WS_TIMESTAMP, w.groups, 0), *cnt = ws_add_column(c, WS_INT64, w.groups, 0);
  for (uint32_t g = 0; g < w.groups; g++) {
    int has = w.flags[g] & WS_HAS_STATE;
    int64_t from = has ? old(&w, 0, g) : INT64_MAX, to = has ? old(&w, 1, g) : INT64_MIN, n = has ? old(&w, 2, g) : 0;
    if (w.flags[g] & WS_TIMED_OUT) {
      ws_add_from(k, w.keys, g);
      ws_add_i64(begins, from);
      ws_add_i64(lasts, to);
      ws_add_i64(cnt, n);
      ws_parent(c, g);
      decide(&w, WS_STATE_REMOVE, WS_NO_TIMEOUT, 0, 0, 0);
      continue;
    }
    for (uint32_t i = first_row(&w, g); i < (uint32_t)w.end[g]; i++) {
      n++;
      if (ws_is_null(c, 0, i)) continue;
      int64_t t = milliseconds(w.ts[i]);
      if (t < from) from = t;
      if (t > to) to = t;
    }
    decide(&w, WS_STATE_SET, to + 5 * (int64_t)MINUTE, from, to, n);
  }
  return finish(&w);
}

/* Emits 'over' when the sum of v reaches ten, or 'idle' when ten minutes pass without a row. */
static int64_t alert(ws_call *c) {
  work w = begin(c, 1, (uint16_t[]){WS_INT64});
  ws_builder *k = ws_add_column(c, WS_STRING, w.groups, 0), *what = ws_add_column(c, WS_STRING, w.groups, 0),
             *total = ws_add_column(c, WS_INT64, w.groups, 0);
  for (uint32_t g = 0; g < w.groups; g++) {
    int64_t sum = w.flags[g] & WS_HAS_STATE ? old(&w, 0, g) : 0, last = INT64_MIN;
    int idle = w.flags[g] & WS_TIMED_OUT;
    if (!idle) sum += total_of(&w, g);
    if (idle || sum >= 10) {
      ws_add_from(k, w.keys, g);
      ws_add_str(what, idle ? "idle" : "over");
      ws_add_i64(total, sum);
      ws_parent(c, g);
      decide(&w, WS_STATE_REMOVE, WS_NO_TIMEOUT, 0, 0, 0);
      continue;
    }
    for (uint32_t i = first_row(&w, g); i < (uint32_t)w.end[g]; i++) {
      if (ws_is_null(c, 0, i)) continue;
      int64_t t = milliseconds(w.ts[i]);
      if (t > last) last = t;
    }
    decide(&w, WS_STATE_SET, last + 10 * (int64_t)MINUTE, sum, 0, 0);
  }
  return finish(&w);
}

static const ws_function functions[] = {
    {"running_count", 0, running_count}, {"first", 0, first}, {"maxima", 0, maxima}, {"sessions", 0, sessions}, {"alert", 0, alert},
};

#define STATE(name, mode, timeout, state, output)                                                                       \
  "{\"name\":\"" name "\",\"kind\":\"state\",\"input\":\"ts TIMESTAMP, k STRING, v INT\",\"key\":\"k STRING\",\"mode\":\"" \
  mode "\",\"timeout\":\"" timeout "\",\"time\":\"ts\",\"state\":\"" state "\",\"output\":\"" output "\"}"

WS_MODULE("{\"abi\":1,\"name\":\"groups\",\"version\":\"1.0.0\",\"functions\":["
          STATE("running_count", "update", "none", "cnt BIGINT, total BIGINT", "k STRING, cnt BIGINT, total BIGINT") ","
          STATE("first", "append", "none", "seen BOOLEAN", "k STRING, v INT") ","
          STATE("maxima", "append", "none", "best INT", "k STRING, v INT") ","
          STATE("sessions", "append", "event", "begin TIMESTAMP, last TIMESTAMP, cnt BIGINT",
                "k STRING, begin TIMESTAMP, last TIMESTAMP, cnt BIGINT") ","
          STATE("alert", "update", "event", "total BIGINT", "k STRING, what STRING, total BIGINT") "]}",
          functions)
