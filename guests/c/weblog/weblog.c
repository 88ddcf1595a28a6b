/* weblog: lines of logs as columns. clf reads the Common and the Combined Log Format of web servers, syslog the messages of
 * RFC 5424. A line of another form is refused. */
#include "wstream_json.h"

typedef struct { const uint8_t *p, *e; } text;

/* Takes what stands before a byte, and passes over that byte; 0 where it does not come. */
static int until(text *t, uint8_t c, ws_bytes *out) {
  const uint8_t *from = t->p;
  while (t->p < t->e && *t->p != c) t->p++;
  if (t->p == t->e) return 0;
  *out = (ws_bytes){from, (uint32_t)(t->p++ - from)};
  return 1;
}
static int take(text *t, uint8_t c) { return t->p < t->e && *t->p == c && t->p++; }
static int dash(ws_bytes b) { return b.n == 1 && *b.p == '-'; }
static void add(ws_builder *b, ws_bytes v) {
  if (dash(v)) ws_add_null(b);
  else ws_add_bytes(b, v.p, v.n);
}
/* A whole number of digits only; -1 where it is none. */
static int64_t whole(ws_bytes b) {
  int64_t v = 0;
  if (b.n == 0 || b.n > 18) return -1;
  for (uint32_t i = 0; i < b.n; i++) {
    if (b.p[i] < '0' || b.p[i] > '9') return -1;
    v = v * 10 + (b.p[i] - '0');
  }
  return v;
}

/* 10/Oct/2000:13:55:36 -0700 */
static int clf_time(ws_bytes b, int64_t *us) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (b.n != 26 || b.p[2] != '/' || b.p[6] != '/' || b.p[11] != ':') return 0;
  int month = 0;
  while (month < 12 && !ws_same(b.p + 3, (const uint8_t *)months + 3 * month, 3)) month++;
  if (month == 12) return 0;
  uint8_t iso[24];
  __builtin_memcpy(iso, b.p + 7, 4);
  iso[4] = iso[7] = '-';
  iso[5] = (uint8_t)('0' + (month + 1) / 10);
  iso[6] = (uint8_t)('0' + (month + 1) % 10);
  iso[8] = b.p[0], iso[9] = b.p[1], iso[10] = 'T';
  __builtin_memcpy(iso + 11, b.p + 12, 8);
  __builtin_memcpy(iso + 19, b.p + 21, 5);
  return ws_timestamp(iso, 24, us);
}

/* host ident user [time] "method path protocol" status bytes, and in the Combined format "referrer" "agent" */
static const char *clf_row(ws_call *c, uint32_t row, ws_builder **out) {
  static const char wrong[] = "not a line of the Common Log Format";
  if (ws_is_null(c, 0, row)) return wrong;
  ws_bytes b = ws_str(c, 0, row), host, ident, user, time, method, path, protocol, status, bytes, referrer = {0, 0}, agent = {0, 0};
  if (!ws_utf8(b.p, b.p + b.n)) return "not UTF-8";
  text t = {b.p, b.p + b.n};
  int64_t us;
  if (!until(&t, ' ', &host) || !until(&t, ' ', &ident) || !until(&t, ' ', &user) || !take(&t, '[') || !until(&t, ']', &time) ||
      !take(&t, ' ') || !take(&t, '"') || !until(&t, ' ', &method) || !until(&t, ' ', &path) || !until(&t, '"', &protocol) ||
      !take(&t, ' ') || !until(&t, ' ', &status)) return wrong;
  bytes.p = t.p;
  while (t.p < t.e && *t.p != ' ') t.p++;
  bytes.n = (uint32_t)(t.p - bytes.p);
  if (take(&t, ' ') && (!take(&t, '"') || !until(&t, '"', &referrer) || !take(&t, ' ') || !take(&t, '"') || !until(&t, '"', &agent))) return wrong;
  if (t.p != t.e || !clf_time(time, &us)) return wrong;
  int64_t code = whole(status), size = dash(bytes) ? 0 : whole(bytes);
  if (code < 100 || code > 999 || size < 0) return wrong;
  add(out[0], host), add(out[1], user), ws_add_i64(out[2], us), add(out[3], method), add(out[4], path), add(out[5], protocol);
  ws_add_i32(out[6], (int32_t)code), ws_add_i64(out[7], size);
  if (referrer.p) add(out[8], referrer), add(out[9], agent);
  else ws_add_null(out[8]), ws_add_null(out[9]);
  return 0;
}
static int64_t clf(ws_call *c) {
  static const uint16_t types[] = {WS_STRING, WS_STRING, WS_TIMESTAMP, WS_STRING, WS_STRING, WS_STRING, WS_INT32, WS_INT64, WS_STRING, WS_STRING};
  ws_builder *out[10];
  for (int i = 0; i < 10; i++) out[i] = ws_output(c, types[i]);
  return ws_parse_rows(c, out, 10, clf_row);
}

/* [id name="value" …][…] as a map of "id.name" to value */
static int structured(ws_call *c, text *t, ws_builder *map) {
  while (take(t, '[')) {
    const uint8_t *id = t->p;
    while (t->p < t->e && *t->p != ' ' && *t->p != ']') t->p++;
    uint32_t id_n = (uint32_t)(t->p - id);
    while (take(t, ' ')) {
      ws_bytes name;
      if (!until(t, '=', &name) || !take(t, '"')) return 0;
      uint8_t *key = ws_alloc(id_n + 1 + name.n), *value = ws_alloc((uint32_t)(t->e - t->p));
      uint32_t n = 0;
      __builtin_memcpy(key, id, id_n);
      key[id_n] = '.';
      __builtin_memcpy(key + id_n + 1, name.p, name.n);
      while (t->p < t->e && *t->p != '"') {
        if (*t->p == '\\' && t->p + 1 < t->e && (t->p[1] == '"' || t->p[1] == '\\' || t->p[1] == ']')) t->p++;
        value[n++] = *t->p++;
      }
      if (!take(t, '"')) return 0;
      ws_add_bytes(ws_below(map, 0), key, id_n + 1 + name.n);
      ws_add_bytes(ws_below(map, 1), value, n);
    }
    if (!take(t, ']')) return 0;
  }
  (void)c;
  return 1;
}

/* <priority>1 time host app process message-id structured-data message */
static const char *syslog_row(ws_call *c, uint32_t row, ws_builder **out) {
  static const char wrong[] = "not a syslog message of RFC 5424";
  if (ws_is_null(c, 0, row)) return wrong;
  ws_bytes b = ws_str(c, 0, row), priority, version, time, host, app, process, id;
  if (!ws_utf8(b.p, b.p + b.n)) return "not UTF-8";
  text t = {b.p, b.p + b.n};
  int64_t us = 0;
  if (!take(&t, '<') || !until(&t, '>', &priority) || !until(&t, ' ', &version) || !ws_is(version, "1") || !until(&t, ' ', &time) ||
      !until(&t, ' ', &host) || !until(&t, ' ', &app) || !until(&t, ' ', &process) || !until(&t, ' ', &id)) return wrong;
  int64_t p = whole(priority);
  if (p < 0 || p > 191 || (!dash(time) && !ws_timestamp(time.p, time.n, &us))) return wrong;
  if (!take(&t, '-') && (t.p == t.e || *t.p != '[' || !structured(c, &t, out[7]))) return wrong;
  if (t.p != t.e && !take(&t, ' ')) return wrong;
  ws_end(out[7]);
  ws_add_i32(out[0], (int32_t)(p >> 3)), ws_add_i32(out[1], (int32_t)(p & 7));
  if (dash(time)) ws_add_null(out[2]);
  else ws_add_i64(out[2], us);
  add(out[3], host), add(out[4], app), add(out[5], process), add(out[6], id);
  if (t.e - t.p >= 3 && t.p[0] == 0xef && t.p[1] == 0xbb && t.p[2] == 0xbf) t.p += 3; /* the mark of UTF-8 */
  ws_add_bytes(out[8], t.p, (uint32_t)(t.e - t.p));
  return 0;
}
static int64_t syslog(ws_call *c) {
  ws_builder *out[9];
  for (int i = 0; i < 9; i++) {
    out[i] = i == 7 ? ws_output_of(c, ws_new_map(ws_new_builder(WS_STRING, 0, 0), ws_new_builder(WS_STRING, 0, 0)))
                    : ws_output(c, i < 2 ? WS_INT32 : i == 2 ? WS_TIMESTAMP : WS_STRING);
  }
  return ws_parse_rows(c, out, 9, syslog_row);
}

static const ws_function functions[] = {{"clf", 0, clf}, {"syslog", 0, syslog}};

WS_MODULE("{\"abi\":1,\"name\":\"weblog\",\"version\":\"1.0.0\",\"functions\":["
          "{\"name\":\"clf\",\"kind\":\"parse\",\"doc\":\"lines of the Common and the Combined Log Format\",\"input\":\"value BINARY\","
          "\"output\":\"host STRING, user STRING, time TIMESTAMP, method STRING, path STRING, protocol STRING, status INT, bytes BIGINT, "
          "referrer STRING, agent STRING\"},"
          "{\"name\":\"syslog\",\"kind\":\"parse\",\"doc\":\"syslog messages of RFC 5424\",\"input\":\"value BINARY\","
          "\"output\":\"facility INT, severity INT, time TIMESTAMP, host STRING, app STRING, process STRING, id STRING, "
          "data MAP<STRING, STRING>, message STRING\"}]}",
          functions)
