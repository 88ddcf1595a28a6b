/* sample: a function of each kind that clicks and groups do not show. spread is an aggregate for SQL, words a map that
 * gives several rows for one and passes a column through. */
#include "wstream.h"

/* ---- spread: the greatest less the least value ---- */

typedef struct { double least, greatest; } range; /* an accumulator's bytes; a new one has none */

/* Adds the accumulators of all groups to the answer; groups without a value stay null. */
static int64_t answer(ws_call *c, const range *r, const uint8_t *has, uint32_t n) {
  ws_builder *out = ws_new_builder(WS_BINARY, n, n * sizeof *r);
  for (uint32_t i = 0; i < n; i++) {
    if (has[i]) ws_add_bytes(out, &r[i], sizeof *r);
    else ws_add_null(out);
  }
  ws_open_section(c, WS_SECTION_ACCUMULATORS, n);
  ws_section_add(c, out);
  return ws_finish(c);
}

static void widen(range *r, uint8_t *has, double lo, double hi) {
  if (!*has || lo < r->least) r->least = lo;
  if (!*has || hi > r->greatest) r->greatest = hi;
  *has = 1;
}

static int64_t spread(ws_call *c) {
  const ws_column *in = ws_col(c, 0);
  if (c->header->op == WS_OP_FINISH) {
    ws_builder *out = ws_add_column(c, WS_FLOAT64, c->rows, 0);
    for (uint32_t i = 0; i < c->rows; i++) {
      range r;
      if (ws_null_at(in, i)) { ws_add_null(out); continue; }
      __builtin_memcpy(&r, ws_bytes_at(in, i).p, sizeof r);
      ws_add_f64(out, r.greatest - r.least);
    }
    return ws_finish(c);
  }
  uint32_t n = c->section_rows[WS_SECTION_ACCUMULATORS];
  const ws_column *old = ws_section_col(c, WS_SECTION_ACCUMULATORS, 0);
  const int32_t *group = (const int32_t *)ws_section_col(c, WS_SECTION_GROUP_INDEX, 0)->data;
  range *r = ws_alloc_zero(n * sizeof *r);
  uint8_t *has = ws_alloc_zero(n);
  for (uint32_t i = 0; i < n; i++) {
    if (ws_null_at(old, i)) continue;
    __builtin_memcpy(&r[i], ws_bytes_at(old, i).p, sizeof *r);
    has[i] = 1;
  }
  for (uint32_t i = 0; i < c->rows; i++) {
    if (ws_null_at(in, i)) continue;
    range x;
    if (c->header->op == WS_OP_MERGE) __builtin_memcpy(&x, ws_bytes_at(in, i).p, sizeof x);
    else x.least = x.greatest = ((const double *)in->data)[i];
    widen(&r[group[i]], &has[group[i]], x.least, x.greatest);
  }
  return answer(c, r, has, n);
}

/* ---- words: a row for each word of a text, the text beside it ---- */

static int64_t words(ws_call *c) {
  const ws_column *text = ws_col(c, 0);
  ws_pass(c, 0);
  ws_builder *word = ws_add_column(c, WS_STRING, c->rows * 4, (uint32_t)text->offsets[c->rows]);
  ws_parents_none(c);
  for (uint32_t i = 0; i < c->rows; i++) {
    if (ws_null_at(text, i)) continue;
    ws_bytes t = ws_bytes_at(text, i);
    for (uint32_t from = 0, to = 0; from < t.n; from = to + 1) {
      for (to = from; to < t.n && t.p[to] != ' '; to++) {}
      if (to == from) continue;
      ws_add_bytes(word, t.p + from, to - from);
      ws_parent(c, i);
    }
  }
  return ws_finish(c);
}

static const ws_function functions[] = {{"spread", 0, spread}, {"words", 0, words}};

WS_MODULE("{\"abi\":1,\"name\":\"sample\",\"version\":\"1.0.0\",\"functions\":["
          "{\"name\":\"spread\",\"kind\":\"aggregate\",\"doc\":\"the greatest less the least value\",\"input\":\"x DOUBLE\","
          "\"output\":\"spread DOUBLE\"},"
          "{\"name\":\"words\",\"kind\":\"map\",\"doc\":\"a row for each word\",\"input\":\"text STRING\","
          "\"output\":\"text STRING, word STRING\"}]}",
          functions)
