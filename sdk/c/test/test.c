/* Unit tests of the header and of the examples, natively:
 *
 *     cc -std=c17 -Wall -Wextra -I.. test.c -o test && ./test
 */
#include "../examples/examples.c"

#include <stdio.h>

static int failed, done;
#define CHECK(x) do { done++; if (!(x)) { failed++; printf("test.c:%d: %s\n", __LINE__, #x); } } while (0)

static ws_builder *texts(ws_call *t, int n, const char **v) {
  ws_builder *b = ws_add_column(t, WS_STRING, 0, 0);
  for (int i = 0; i < n; i++) {
    if (v[i]) ws_add_str(b, v[i]);
    else ws_add_null(b);
  }
  return b;
}
#define TEXTS(t, ...) texts(t, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})
#define REFUSED(r) ((r)->section_rows[WS_SECTION_ERRORS])

static void test_parse(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "{\"user_id\":\"ann\",\"event_time\":\"1970-01-01T00:00:01Z\",\"amount\":2.5}", "no click");
  const ws_call *r = ws_try(t, parse, 0);
  CHECK(r && r->rows == 1 && ws_is(ws_str(r, 0, 0), "ann") && ws_i64(r, 1)[0] == 1000000 && ws_is_null(r, 2, 0) && ws_f64(r, 3)[0] == 2.5);
  CHECK(r && REFUSED(r) == 1 && ws_is(ws_bytes_at(ws_section_col(r, WS_SECTION_ERRORS, 2), 0), "not a JSON object"));
}

static void test_filter(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "Mozilla", "Googlebot", 0);
  const ws_call *r = ws_try(t, is_human, 0);
  CHECK(r && r->rows == 3 && ws_bool(r, 0, 0) && !ws_bool(r, 0, 1) && ws_bool(r, 0, 2));
}

static void test_upsert_is_denied(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "ann");
  ws_add_i64(ws_add_column(t, WS_INT64, 0, 0), 3);
  CHECK(!ws_try(t, upsert, 0) && ws_is((ws_bytes){ws_error_text, ws_error_len}, "upsert"));
}

static void test_scalar(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "https://a.b/c", 0, "nothing");
  const ws_call *r = ws_try(t, domain, 0);
  CHECK(r && r->rows == 3 && ws_is(ws_str(r, 0, 0), "a.b") && ws_is_null(r, 0, 1) && ws_is_null(r, 0, 2) && REFUSED(r) == 1);
}

static void test_basket(void) {
  ws_call *t = ws_trial();
  ws_builder *members[] = {ws_new_builder(WS_FLOAT64, 0, 0), ws_new_builder(WS_INT32, 0, 0)};
  ws_builder *item = ws_new_struct(2, members), *items = ws_output_of(t, ws_new_list(item));
  for (int i = 1; i <= 2; i++) {
    ws_add_f64(members[0], 1.5);
    ws_add_i32(members[1], i);
    ws_end(item);
  }
  ws_end(items);
  ws_add_null(items);
  ws_end(items);
  const ws_call *r = ws_try(t, basket, 0);
  CHECK(r && r->rows == 3 && ws_f64(r, 0)[0] == 4.5 && ws_is_null(r, 0, 1) && ws_f64(r, 0)[2] == 0);
}

static void test_links(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "https://a.b/x/y?k=v&l=w", 0, "https://a.b");
  const ws_call *r = ws_try(t, links, 0);
  const ws_column *path = ws_col(r, 0), *query = ws_col(r, 1), *place = ws_col(r, 2);
  CHECK(r->rows == 3 && ws_range(path, 0).to == 2 && ws_is(ws_bytes_at(ws_child(path, 0), 1), "y") && ws_null_at(path, 1));
  CHECK(ws_range(query, 0).to == 2 && ws_is(ws_bytes_at(ws_child(query, 0), 1), "l") && ws_is(ws_bytes_at(ws_child(query, 1), 1), "w"));
  CHECK(ws_is(ws_bytes_at(ws_child(place, 0), 0), "a.b") && ws_i32_at(ws_child(place, 1), 0) == 7 && ws_null_at(place, 1));
  CHECK(ws_range(path, 2).to == 3 && ws_bytes_at(ws_child(path, 0), 2).n == 0);
}

static void test_mean(void) {
  ws_call *t = ws_trial();
  ws_builder *x = ws_add_column(t, WS_FLOAT64, 0, 0), *old = ws_new_builder(WS_BINARY, 0, 0), *group = ws_new_builder(WS_INT32, 0, 0);
  for (int i = 0; i < 3; i++) {
    ws_add_f64(x, i + 1);
    ws_add_i32(group, i & 1);
  }
  ws_add_null(old);
  ws_add_bytes(old, &(total){10, 2}, sizeof(total));
  ws_open_section(t, WS_SECTION_ACCUMULATORS, 2);
  ws_section_add(t, old);
  ws_open_section(t, WS_SECTION_GROUP_INDEX, 3);
  ws_section_add(t, group);
  const ws_call *r = ws_try(t, mean, 0);
  total got[2];
  for (uint32_t i = 0; i < 2; i++) memcpy(&got[i], ws_bytes_at(ws_section_col(r, WS_SECTION_ACCUMULATORS, 0), i).p, sizeof(total));
  CHECK(got[0].sum == 4 && got[0].n == 2 && got[1].sum == 12 && got[1].n == 3);

  t = ws_trial();
  ws_trial_header.op = WS_OP_FINISH;
  old = ws_add_column(t, WS_BINARY, 0, 0);
  ws_add_bytes(old, &got[1], sizeof(total));
  ws_add_null(old);
  r = ws_try(t, mean, 0);
  CHECK(r->rows == 2 && ws_f64(r, 0)[0] == 4 && ws_is_null(r, 0, 1));
}

static void test_sessions(void) {
  ws_call *t = ws_trial();
  TEXTS(t, "ann", "ann");
  ws_builder *ts = ws_add_column(t, WS_TIMESTAMP, 0, 0);
  ws_add_i64(ts, 7);
  ws_add_i64(ts, 5);
  ws_builder *end = ws_new_builder(WS_INT32, 0, 0), *flags = ws_new_builder(WS_INT8, 0, 0), *timeout = ws_new_builder(WS_INT64, 0, 0),
             *key = ws_new_builder(WS_STRING, 0, 0), *clicks = ws_new_builder(WS_INT64, 0, 0), *last = ws_new_builder(WS_TIMESTAMP, 0, 0);
  for (int i = 0; i < 2; i++) { /* ann has rows; bob's time-out has passed */
    ws_add_i32(end, 2);
    ws_add_i8(flags, i ? WS_HAS_STATE | WS_TIMED_OUT : 0);
    ws_add_i64(timeout, WS_NO_TIMEOUT);
    ws_add_str(key, i ? "bob" : "ann");
    ws_add_i64(clicks, 3);
    ws_add_i64(last, 1);
  }
  ws_open_section(t, WS_SECTION_GROUPS, 2);
  ws_section_add(t, end), ws_section_add(t, flags), ws_section_add(t, timeout), ws_section_add(t, key);
  ws_open_section(t, WS_SECTION_STATE, 2);
  ws_section_add(t, clicks), ws_section_add(t, last);
  const ws_call *r = ws_try(t, sessions, 0);
  CHECK(r && r->rows == 1 && ws_is(ws_str(r, 0, 0), "bob") && ws_i64(r, 1)[0] == 3);
  CHECK(ws_i8_at(ws_section_col(r, WS_SECTION_STATE, 0), 0) == WS_STATE_SET && ws_i8_at(ws_section_col(r, WS_SECTION_STATE, 0), 1) == WS_STATE_REMOVE);
  CHECK(ws_i64_at(ws_section_col(r, WS_SECTION_STATE, 1), 0) == 300000007 && ws_i64_at(ws_section_col(r, WS_SECTION_STATE, 2), 0) == 2);
}

/* Rows that are taken back leave no trace: the same frame as without them. */
static void test_undo(void) {
  uint8_t kept[4096];
  uint32_t n = 0;
  for (int with = 0; with < 2; with++) {
    ws_call *t = ws_trial();
    ws_builder *bits = ws_new_builder(WS_BOOL, 0, 0), *l = ws_output_of(t, ws_new_list(bits)), *s = ws_add_column(t, WS_STRING, 0, 0);
    for (int i = 0; i < 3; i++) {
      if (with) {
        ws_add_bool(bits, 1), ws_add_null(bits), ws_end(l), ws_add_bool(bits, 1), ws_add_str(s, "gone"), ws_add_null(s);
        ws_undo(l, (uint32_t)i), ws_undo(s, (uint32_t)i);
        if (!l->nulls && !bits->nulls) bits->valid = 0; /* a bitmap stays once there was a null */
        if (!s->nulls) s->valid = 0;
      }
      ws_add_bool(bits, i == 1), ws_end(l), ws_add_str(s, "kept");
    }
    ws_finish(t);
    const ws_header *h = (const ws_header *)t->frame;
    const ws_buffer *b = (const ws_buffer *)(t->frame + h->buffers_at);
    uint32_t at = 0;
    for (uint32_t i = 0; i < h->buffers; i++) {
      if (with) CHECK(!memcmp(kept + at, t->frame + b[i].offset, b[i].length));
      else memcpy(kept + at, t->frame + b[i].offset, b[i].length);
      at += (uint32_t)b[i].length;
    }
    if (with) CHECK(at == n);
    n = at;
  }
}

static void test_config(void) {
  static const char json[] = "{\"function\":\"f\",\"input\":[],\"config\":{\"a\":\"1\",\"bc\":\"x y\"},\"timezone\":\"UTC\"}";
  ws_bind b = {{(const uint8_t *)json, sizeof json - 1}};
  CHECK(ws_is(ws_config(&b, "bc"), "x y") && ws_is(ws_config(&b, "a"), "1") && !ws_config(&b, "b").p);
}

int main(void) {
  test_parse(), test_filter(), test_upsert_is_denied(), test_scalar(), test_basket(), test_links(), test_mean(), test_sessions();
  test_undo(), test_config();
  printf("%d checks, %d failed\n", done, failed);
  return failed != 0;
}
