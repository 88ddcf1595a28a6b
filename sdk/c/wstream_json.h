/* wstream_json.h: JSON objects, one a row, into columns, directed by a list of fields. Include it after wstream.h.
 *
 *     static const ws_json_field fields[] = {{"user_id", WS_STRING}, {"amount", WS_FLOAT64}};
 *     static int64_t parse(ws_call *c) { return ws_json_parse(c, 0, fields, 2); }
 *
 * One pass, no allocation per row, values that no field names are skipped at any depth without recursion. A row that is
 * not a JSON object, or has a value of another type, is refused with a text that names the field. A missing field and
 * null are null; of a repeated field the last value counts. Types: STRING, DOUBLE, BIGINT, INT, BOOLEAN, TIMESTAMP
 * (ISO 8601, UTC where no zone is given).
 */
#ifndef WSTREAM_JSON_H
#define WSTREAM_JSON_H

#include "wstream.h"

typedef struct { const char *name; uint16_t type; } ws_json_field;

enum { WS_JSON_SYNTAX = 1, WS_JSON_TYPE = 2, WS_JSON_RANGE = 3 }; /* codes of row errors */
enum { WS_JSON_FIELDS = 32 };                                     /* at most */

typedef struct {
#ifdef __wasm_simd128__
  v128_t pattern, mask; /* the name, its closing quote and the colon */
#endif
  const uint8_t *name;
  uint32_t len, skip; /* skip: length of the pattern, 0 where it is longer than 16 bytes */
  uint16_t type;
  ws_builder *b;
} ws_json_column;

/* ---- Numbers ---- */

/* Decimal digits m × 10^e to the nearest double when m has more than 19 digits or e is large: exact, by long division
 * of big numbers, some thousand instructions. */
enum { WS_BIG_WORDS = 128, WS_BIG_DIGITS = 800 };
typedef struct { uint32_t w[WS_BIG_WORDS]; uint32_t n; } ws_big;

WS_FUNC void ws_big_mul(ws_big *b, uint32_t m, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < b->n; i++) { carry += (uint64_t)b->w[i] * m; b->w[i] = (uint32_t)carry; carry >>= 32; }
  if (carry && b->n < WS_BIG_WORDS) b->w[b->n++] = (uint32_t)carry;
}
WS_FUNC void ws_big_shift(ws_big *b, uint32_t s) {
  uint32_t words = s >> 5, bits = s & 31;
  if (b->n == 0) return;
  for (uint32_t i = b->n; i-- > 0;) b->w[i + words] = b->w[i];
  for (uint32_t i = 0; i < words; i++) b->w[i] = 0;
  b->n += words;
  if (bits) ws_big_mul(b, 1u << bits, 0);
}
WS_FUNC int ws_big_cmp(const ws_big *a, const ws_big *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (uint32_t i = a->n; i-- > 0;) if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
  return 0;
}
WS_FUNC void ws_big_sub(ws_big *a, const ws_big *b) {
  int64_t borrow = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    borrow += (int64_t)a->w[i] - (i < b->n ? b->w[i] : 0);
    a->w[i] = (uint32_t)borrow;
    borrow >>= 32;
  }
  while (a->n && !a->w[a->n - 1]) a->n--;
}
WS_FUNC int32_t ws_big_bits(const ws_big *b) { return b->n ? (int32_t)(b->n * 32) - __builtin_clz(b->w[b->n - 1]) : 0; }

static __attribute__((noinline, unused)) double ws_slow_double(const uint8_t *digits, uint32_t n, int32_t e) {
  static ws_big a, d; /* value = a / d */
  while (n && *digits == '0') { digits++; n--; }
  while (n && digits[n - 1] == '0') { n--; e++; }
  if (n == 0 || (int32_t)n + e < -330) return 0;
  if ((int32_t)n + e > 310) return __builtin_inf();
  int sticky = n > WS_BIG_DIGITS; /* what is beyond can only break ties */
  if (sticky) { e += (int32_t)(n - WS_BIG_DIGITS); n = WS_BIG_DIGITS; }
  a.n = 0;
  d.w[0] = 1; d.n = 1;
  for (uint32_t i = 0; i < n; i++) {
    if (a.n == 0) { a.w[0] = (uint32_t)(digits[i] - '0'); a.n = a.w[0] != 0; }
    else ws_big_mul(&a, 10, (uint32_t)(digits[i] - '0'));
  }
  for (int32_t i = 0; i < e; i++) ws_big_mul(&a, 10, 0);
  for (int32_t i = 0; i > e; i--) ws_big_mul(&d, 10, 0);
  /* Scale so that 1 <= a/d < 2; the value is a/d × 2^exp. */
  int32_t exp = ws_big_bits(&a) - ws_big_bits(&d);
  if (exp > 0) ws_big_shift(&d, (uint32_t)exp); else ws_big_shift(&a, (uint32_t)-exp);
  if (ws_big_cmp(&a, &d) < 0) { ws_big_shift(&a, 1); exp--; }
  int32_t keep = exp >= -1022 ? 53 : 53 - (-1022 - exp); /* bits of the result, fewer for subnormal ones */
  if (keep < 0) return 0;
  if (exp > 1023) return __builtin_inf();
  uint64_t m = 0;
  for (int32_t i = 0; i < keep; i++) {
    m <<= 1;
    if (ws_big_cmp(&a, &d) >= 0) { ws_big_sub(&a, &d); m |= 1; }
    ws_big_shift(&a, 1);
  }
  int half = ws_big_cmp(&a, &d); /* the rest against one half of the last bit */
  if (half > 0 || (half == 0 && (sticky || (m & 1)))) m++;
  uint64_t bits = exp >= -1022 ? ((uint64_t)(exp + 1022) << 52) + m : m; /* a carry moves into the exponent */
  double v;
  __builtin_memcpy(&v, &bits, 8);
  return v;
}

static const double ws_pow10[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef struct { uint64_t m; const uint8_t *digits; uint32_t n; int32_t e; int neg, whole; } ws_number;

/* Reads a number as JSON has it: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?; 0 when it is none. */
WS_INLINE const uint8_t *ws_json_number(const uint8_t *p, const uint8_t *e, ws_number *x) {
  x->neg = p < e && *p == '-';
  p += x->neg;
  x->digits = p;
  x->e = 0;
  x->whole = 1;
  uint64_t m = 0;
  const uint8_t *s = p;
  while (p < e && (uint8_t)(*p - '0') < 10) m = m * 10 + (uint64_t)(*p++ - '0');
  x->n = (uint32_t)(p - s);
  if (x->n == 0 || (*s == '0' && x->n > 1)) return 0;
  if (p < e && *p == '.') {
    const uint8_t *f = ++p;
    x->whole = 0;
    while (p < e && (uint8_t)(*p - '0') < 10) m = m * 10 + (uint64_t)(*p++ - '0');
    if (p == f) return 0;
    x->e = (int32_t)(f - p);
    x->n += (uint32_t)(p - f);
  }
  x->m = m;
  if (p < e && (*p | 32) == 'e') {
    p++;
    x->whole = 0;
    int neg = 0;
    int32_t v = 0;
    if (p < e && (*p == '-' || *p == '+')) neg = *p++ == '-';
    const uint8_t *f = p;
    while (p < e && (uint8_t)(*p - '0') < 10) { if (v < 100000) v = v * 10 + (*p - '0'); p++; }
    if (p == f) return 0;
    x->e += neg ? -v : v;
  }
  return p;
}

WS_INLINE double ws_json_double(const ws_number *x) {
  double v;
  if (x->n <= 19 && x->m <= (1ull << 53) && x->e >= -22 && x->e <= 22) {
    v = (double)x->m;
    v = x->e < 0 ? v / ws_pow10[-x->e] : v * ws_pow10[x->e];
  } else {
    uint8_t *d = (uint8_t *)ws_alloc(x->n); /* the digits without the point */
    const uint8_t *p = x->digits;
    for (uint32_t i = 0; i < x->n; p++) if (*p != '.') d[i++] = *p;
    v = ws_slow_double(d, x->n, x->e);
  }
  return x->neg ? -v : v;
}

/* ---- Timestamps ---- */

WS_INLINE int64_t ws_days(int32_t y, int32_t m, int32_t d) { /* since 1970-01-01, of the proleptic Gregorian calendar */
  y -= m <= 2;
  int32_t era = (y >= 0 ? y : y - 399) / 400;
  uint32_t yoe = (uint32_t)(y - era * 400), doy = (uint32_t)((153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1);
  return (int64_t)era * 146097 + (int64_t)(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

WS_INLINE int ws_two(const uint8_t *p) { /* two digits, or a number above 99 */
  uint8_t a = (uint8_t)(p[0] - '0'), b = (uint8_t)(p[1] - '0');
  return a < 10 && b < 10 ? a * 10 + b : 1000;
}

/* The day of YYYY-MM-DD in microseconds since the epoch. Neighbouring rows mostly have the same day. */
WS_INLINE int ws_date(const uint8_t *p, int64_t *us) {
  static uint64_t last;
  static uint16_t last_day;
  static int64_t last_us;
  uint64_t key = ws_load64(p);
  uint16_t day;
  __builtin_memcpy(&day, p + 8, 2);
  if (key == last && day == last_day) { *us = last_us; return 1; }
  int c = ws_two(p), y = ws_two(p + 2), mo = ws_two(p + 5), d = ws_two(p + 8);
  if (p[4] != '-' || p[7] != '-' || c > 99 || y > 99 || mo < 1 || mo > 12 || d < 1) return 0;
  y += c * 100;
  int leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
  if (d > (mo == 2 ? 28 + leap : 30 + ((mo + (mo >> 3)) & 1))) return 0;
  last = key;
  last_day = day;
  *us = last_us = ws_days(y, mo, d) * 86400000000;
  return 1;
}

/* HH:MM:SS in seconds, or -1. The eight characters are handled as one number. */
WS_INLINE int32_t ws_time(const uint8_t *p) {
  uint64_t w = ws_load64(p), digits = w ^ 0x30303a30303a3030; /* digits become 0 … 9, colons 0 */
  if ((digits & 0xf0f0fff0f0fff0f0) || ((digits + 0x0606000606000606) & 0x1010001010001010)) return -1;
  uint64_t pairs = digits * 10 + (digits >> 8); /* each pair's value in the byte of its first digit */
  int32_t h = pairs & 0xff, m = pairs >> 24 & 0xff, s = pairs >> 48 & 0xff;
  return h > 23 || m > 59 || s > 59 ? -1 : h * 3600 + m * 60 + s;
}

/* YYYY-MM-DD[T ]HH:MM:SS[.f…][zone], zone Z, ±HH:MM, ±HHMM or ±HH; microseconds since the epoch. */
WS_INLINE int ws_timestamp(const uint8_t *p, uint32_t n, int64_t *out) {
  int64_t us;
  if (n < 19 || (p[10] != 'T' && p[10] != ' ') || !ws_date(p, &us)) return 0;
  int32_t s = ws_time(p + 11);
  if (s < 0) return 0;
  us += (int64_t)s * 1000000;
  uint32_t i = 19;
  if (n == 24 && p[19] == '.' && p[23] == 'Z') { /* milliseconds, as most have them */
    uint8_t a = (uint8_t)(p[20] - '0'), b = (uint8_t)(p[21] - '0'), c = (uint8_t)(p[22] - '0');
    *out = us + (a * 100 + b * 10 + c) * 1000;
    return a < 10 && b < 10 && c < 10;
  }
  if (i < n && p[i] == '.') {
    int64_t unit = 100000;
    uint32_t f = ++i;
    for (; i < n && (uint8_t)(p[i] - '0') < 10; i++) { us += (p[i] - '0') * unit; unit /= 10; }
    if (i == f) return 0;
  }
  if (i < n && p[i] == 'Z' && i + 1 == n) i++;
  else if (i < n && (p[i] == '+' || p[i] == '-')) {
    int sign = p[i] == '-' ? -1 : 1, zh = i + 3 <= n ? ws_two(p + i + 1) : 1000, zm = 0;
    i += 3;
    if (i < n && p[i] == ':') i++;
    if (i + 2 <= n) { zm = ws_two(p + i); i += 2; }
    if (zh > 18 || zm > 59) return 0;
    us -= sign * (int64_t)(zh * 3600 + zm * 60) * 1000000;
  }
  *out = us;
  return i == n;
}

/* ---- Strings ---- */

/* From behind the opening quote to the closing one; 0 when there is none or a control character stands inside. *odd
 * gets bit 0 for a backslash and bit 1 for bytes beyond ASCII. Up to 15 bytes behind e are read, and do not matter. */
WS_INLINE const uint8_t *ws_json_string_end(const uint8_t *p, const uint8_t *e, int *odd) {
  for (;;) {
#ifdef __wasm_simd128__
    v128_t v = wasm_v128_load(p);
    v128_t stop = wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(v, wasm_i8x16_splat('"')), wasm_i8x16_eq(v, wasm_i8x16_splat('\\'))),
                               wasm_i8x16_lt(v, wasm_i8x16_splat(' '))); /* signed: control characters and beyond ASCII */
    uint32_t b = wasm_i8x16_bitmask(stop);
    if (b == 0) {
      p += 16;
      if (p >= e) return 0;
      continue;
    }
    p += __builtin_ctz(b);
#else
    while (p < e && *p != '"' && *p != '\\' && *p >= ' ' && *p < 0x80) p++;
#endif
    if (p >= e || *p < ' ') return 0;
    if (*p == '"') return p;
    if (*p == '\\') { *odd |= 1; p += 2; }
    else { *odd |= 2; do p++; while (p < e && *p >= 0x80); }
    if (p >= e) return 0;
  }
}

/* The same for a string without escapes and without anything beyond ASCII, which is copied to d on the way; 0 for all
 * others. Up to 15 bytes more are written. */
WS_INLINE const uint8_t *ws_json_plain(const uint8_t *p, const uint8_t *e, uint8_t *d) {
#ifdef __wasm_simd128__
  for (;;) {
    v128_t v = wasm_v128_load(p);
    wasm_v128_store(d, v);
    uint32_t b = wasm_i8x16_bitmask(wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(v, wasm_i8x16_splat('"')), wasm_i8x16_eq(v, wasm_i8x16_splat('\\'))),
                                                 wasm_i8x16_lt(v, wasm_i8x16_splat(' '))));
    if (b) {
      p += __builtin_ctz(b);
      return p < e && *p == '"' ? p : 0;
    }
    p += 16;
    d += 16;
    if (p >= e) return 0;
  }
#else
  (void)p, (void)e, (void)d;
  return 0;
#endif
}

WS_FUNC int ws_utf8(const uint8_t *p, const uint8_t *e) {
  while (p < e) {
    uint8_t c = *p++;
    if (c < 0x80) continue;
    int n = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || e - p < n) return 0;
    uint8_t lo = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, hi = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (*p < lo || *p > hi) return 0;
    for (p++; --n; p++) if ((*p & 0xc0) != 0x80) return 0;
  }
  return 1;
}

WS_FUNC int32_t ws_hex4(const uint8_t *p) {
  int32_t v = 0;
  for (int i = 0; i < 4; i++) {
    int c = p[i], d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    if (d < 0) return -1;
    v = v * 16 + d;
  }
  return v;
}

/* Resolves escapes into o, which has room for e - p bytes; the number of bytes, or ~0 for an unknown escape. Half a
 * surrogate pair becomes U+FFFD. */
WS_FUNC uint32_t ws_json_unescape(const uint8_t *p, const uint8_t *e, uint8_t *o) {
  uint8_t *begin = o;
  while (p < e) {
    if (*p != '\\') { *o++ = *p++; continue; }
    p++;
    uint8_t c = *p++;
    switch (c) {
      case 'n': *o++ = '\n'; break;
      case 't': *o++ = '\t'; break;
      case 'r': *o++ = '\r'; break;
      case 'b': *o++ = '\b'; break;
      case 'f': *o++ = '\f'; break;
      case '"': case '\\': case '/': *o++ = c; break;
      case 'u': {
        int32_t v = e - p >= 4 ? ws_hex4(p) : -1;
        if (v < 0) return ~0u;
        p += 4;
        if (v >= 0xd800 && v < 0xe000) {
          int32_t w = v < 0xdc00 && e - p >= 6 && p[0] == '\\' && p[1] == 'u' ? ws_hex4(p + 2) : -1;
          if (w >= 0xdc00 && w < 0xe000) { v = 0x10000 + ((v - 0xd800) << 10) + (w - 0xdc00); p += 6; }
          else v = 0xfffd;
        }
        if (v < 0x80) *o++ = (uint8_t)v;
        else if (v < 0x800) { *o++ = (uint8_t)(0xc0 | v >> 6); *o++ = (uint8_t)(0x80 | (v & 63)); }
        else if (v < 0x10000) { *o++ = (uint8_t)(0xe0 | v >> 12); *o++ = (uint8_t)(0x80 | (v >> 6 & 63)); *o++ = (uint8_t)(0x80 | (v & 63)); }
        else { *o++ = (uint8_t)(0xf0 | v >> 18); *o++ = (uint8_t)(0x80 | (v >> 12 & 63)); *o++ = (uint8_t)(0x80 | (v >> 6 & 63)); *o++ = (uint8_t)(0x80 | (v & 63)); }
        break;
      }
      default: return ~0u;
    }
  }
  return (uint32_t)(o - begin);
}

/* ---- Objects ---- */

WS_INLINE const uint8_t *ws_blank(const uint8_t *p, const uint8_t *e) {
  while (p < e && *p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
  return p;
}

/* Passes over a literal: true, false, null. */
WS_INLINE const uint8_t *ws_word(const uint8_t *p, const uint8_t *e, const char *w) {
  uint32_t n = ws_strlen(w);
  return (uint32_t)(e - p) >= n && ws_same(p, (const uint8_t *)w, n) ? p + n : 0;
}

/* Passes over a value that nobody asked for. Brackets are kept on a stack of bits, one level a bit. */
WS_FUNC const uint8_t *ws_json_skip(const uint8_t *p, const uint8_t *e) {
  enum { deep = 1 << 17 };
  static uint8_t kind[deep / 8];
  uint32_t depth = 0;
  int odd = 0;
  ws_number x;
  for (;;) {
    p = ws_blank(p, e);
    if (p >= e) return 0;
    if (*p == '{' || *p == '[') { /* opens: a first value, or a key, or the end */
      if (depth == deep) return 0;
      int object = *p == '{';
      kind[depth >> 3] = (uint8_t)((kind[depth >> 3] & ~(1u << (depth & 7))) | (unsigned)object << (depth & 7));
      depth++;
      p = ws_blank(p + 1, e);
      if (p < e && *p == (object ? '}' : ']')) { p++; depth--; goto after; }
      if (object) goto key;
      continue;
    }
    if (*p == '"') { p = ws_json_string_end(p + 1, e, &odd); if (!p) return 0; p++; }
    else if (*p == 't') p = ws_word(p, e, "true");
    else if (*p == 'f') p = ws_word(p, e, "false");
    else if (*p == 'n') p = ws_word(p, e, "null");
    else p = ws_json_number(p, e, &x);
    if (!p) return 0;
  after:
    if (depth == 0) return p;
    p = ws_blank(p, e);
    if (p >= e) return 0;
    int in_object = kind[(depth - 1) >> 3] >> ((depth - 1) & 7) & 1;
    if (*p == ',') { p++; if (!in_object) continue; }
    else if (*p == (in_object ? '}' : ']')) { p++; depth--; goto after; }
    else return 0;
  key:
    p = ws_blank(p, e);
    if (p >= e || *p != '"') return 0;
    p = ws_json_string_end(p + 1, e, &odd);
    if (!p) return 0;
    p = ws_blank(p + 1, e);
    if (p >= e || *p++ != ':') return 0;
  }
}

/* Passes over a key, from behind its opening quote, and the colon; *j is its column, n for none. 0 for bad syntax. */
static __attribute__((noinline, unused)) const uint8_t *ws_json_key(const uint8_t *p, const uint8_t *e, const ws_json_column *f,
                                                                    uint32_t n, uint32_t *j) {
  int odd = 0;
  uint8_t plain[64];
  const uint8_t *k = p;
  p = ws_json_string_end(p, e, &odd);
  if (!p) return 0;
  uint32_t len = (uint32_t)(p - k);
  p = ws_blank(p + 1, e);
  if (p >= e || *p++ != ':') return 0;
  if ((odd & 1) && len <= sizeof plain) { /* an escaped key, which is rare */
    uint32_t m = ws_json_unescape(k, k + len, plain);
    if (m == ~0u) return 0;
    k = plain;
    len = m;
  }
  uint32_t at = *j < n ? *j : 0; /* fields mostly come in the order of the list */
  *j = n;
  for (uint32_t t = 0; t < n; t++) {
    if (f[at].len == len && ws_same(f[at].name, k, len)) { *j = at; break; }
    if (++at == n) at = 0;
  }
  return p;
}

/* Reads a string that is not plain into d; its length, or a code of an error (as ~code) with 0 in *end. */
static __attribute__((noinline, unused)) uint32_t ws_json_string(const uint8_t *p, const uint8_t *e, uint8_t *d, const uint8_t **end) {
  int odd = 0;
  const uint8_t *q = ws_json_string_end(p, e, &odd);
  *end = 0;
  if (!q || ((odd & 2) && !ws_utf8(p, q))) return 0;
  uint32_t n = (uint32_t)(q - p);
  if (odd & 1) n = ws_json_unescape(p, q, d);
  else ws_copy(d, p, n);
  if (n != ~0u) *end = q;
  return n;
}

/* Reads one object into row `row` of the columns, *seen getting a bit for each that has a value; 0, or a code with *bad
 * the column at fault (n for none). */
WS_INLINE int ws_json_row(const uint8_t *p, const uint8_t *e, const ws_json_column *f, uint32_t n, uint32_t row, uint32_t *seen,
                          uint32_t *bad) {
  uint32_t next = 0, have = 0;
  *bad = n;
  if (p < e && *p <= ' ') p = ws_blank(p, e);
  if (p >= e || *p != '{') return WS_JSON_SYNTAX;
  p++;
  if (p < e && *p != '"') {
    p = ws_blank(p, e);
    if (p < e && *p == '}') { p++; goto done; }
  }
  for (;;) {
    if (p >= e || *p != '"') return WS_JSON_SYNTAX;
    p++;
    uint32_t j = next;
#ifdef __wasm_simd128__
    if (j < n && f[j].skip && p + f[j].skip <= e &&
        !wasm_v128_any_true(wasm_v128_and(wasm_v128_xor(wasm_v128_load(p), f[j].pattern), f[j].mask))) {
      p += f[j].skip;
    } else
#endif
    {
      p = ws_json_key(p, e, f, n, &j);
      if (!p) return WS_JSON_SYNTAX;
    }
    if (p < e && *p <= ' ') p = ws_blank(p, e);
    if (p >= e) return WS_JSON_SYNTAX;
    if (j == n) {
      p = ws_json_skip(p, e);
      if (!p) return WS_JSON_SYNTAX;
    } else {
      const ws_json_column *c = &f[j];
      ws_builder *b = c->b;
      next = j + 1;
      *bad = j;
      have |= 1u << j;
      switch (c->type) {
        case WS_STRING: {
          if (*p != '"') goto other;
          uint32_t from = (uint32_t)b->offsets[row];
          uint8_t *d = b->data + from;
          const uint8_t *q = ws_json_plain(++p, e, d);
          uint32_t m = (uint32_t)(q - p);
          if (!q) {
            m = ws_json_string(p, e, d, &q);
            if (!q) return WS_JSON_SYNTAX;
          }
          b->offsets[row + 1] = (int32_t)(from + m);
          p = q + 1;
          break;
        }
        case WS_TIMESTAMP: {
          if (*p != '"') goto other;
          int odd = 0;
          const uint8_t *q = ws_json_string_end(++p, e, &odd);
          if (!q) return WS_JSON_SYNTAX;
          if (!ws_timestamp(p, (uint32_t)(q - p), &((int64_t *)b->data)[row])) return WS_JSON_TYPE;
          p = q + 1;
          break;
        }
        case WS_BOOL: {
          int v = *p == 't';
          const uint8_t *q = ws_word(p, e, v ? "true" : "false");
          if (!q) goto other;
          p = q;
          b->data[row >> 3] = (uint8_t)((b->data[row >> 3] & ~(1u << (row & 7))) | (unsigned)v << (row & 7));
          break;
        }
        default: {
          ws_number x;
          if (*p != '-' && (uint8_t)(*p - '0') > 9) goto other;
          p = ws_json_number(p, e, &x);
          if (!p) return WS_JSON_SYNTAX;
          if (c->type == WS_FLOAT64) {
            double v = ws_json_double(&x);
            if (v - v != 0) return WS_JSON_RANGE;
            ((double *)b->data)[row] = v;
          } else {
            if (!x.whole) return WS_JSON_TYPE;
            uint64_t limit = c->type == WS_INT32 ? 1ull << 31 : 1ull << 63;
            if (x.n > 19 || x.m > limit - !x.neg) return WS_JSON_RANGE;
            int64_t v = x.neg ? (int64_t)(0 - x.m) : (int64_t)x.m;
            if (c->type == WS_INT32) ((int32_t *)b->data)[row] = (int32_t)v; else ((int64_t *)b->data)[row] = v;
          }
        }
      }
      if (0) {
      other: /* null, or a value of another type */
        if (*p != 'n') return WS_JSON_TYPE;
        p = ws_word(p, e, "null");
        if (!p) return WS_JSON_SYNTAX;
        have &= ~(1u << j);
      }
      *bad = n;
    }
    if (p < e && *p <= ' ') p = ws_blank(p, e);
    if (p >= e) return WS_JSON_SYNTAX;
    if (*p == '}') { p++; break; }
    if (*p++ != ',') return WS_JSON_SYNTAX;
    if (p < e && *p <= ' ') p = ws_blank(p, e);
  }
done:
  *seen = have;
  return ws_blank(p, e) == e ? 0 : WS_JSON_SYNTAX;
}

static __attribute__((noinline, unused)) void ws_json_refuse(ws_call *c, uint32_t row, int code, const char *name) {
  uint8_t text[128];
  uint32_t n = 0;
  const char *parts[3] = {"", "", ""};
  if (!name) parts[0] = "not a JSON object";
  else {
    parts[0] = "field \"";
    parts[1] = name;
    parts[2] = code == WS_JSON_TYPE ? "\": the value is of another type" : code == WS_JSON_RANGE ? "\": the number is out of range"
                                                                                                   : "\": not JSON";
  }
  for (int i = 0; i < 3; i++)
    for (const char *s = parts[i]; *s && n < sizeof text; s++) text[n++] = (uint8_t)*s;
  ws_refuse_bytes(c, row, code, text, n);
}

/* Notes in the null bitmaps which columns have no value in a row. A column gets its bitmap with its first null. */
static __attribute__((noinline, unused)) void ws_json_nulls(const ws_json_column *f, uint32_t n, uint32_t row, uint32_t seen) {
  for (uint32_t j = 0; j < n; j++) {
    ws_builder *b = f[j].b;
    if (seen >> j & 1) {
      if (b->valid) b->valid[row >> 3] |= (uint8_t)(1u << (row & 7));
      continue;
    }
    b->rows = row;
    if (!b->valid) ws_first_null(b);
    b->nulls++;
    if (b->offsets) b->offsets[row + 1] = b->offsets[row];
    else if (b->type != WS_BOOL) __builtin_memset(b->data + row * ws_width(b->type), 0, ws_width(b->type));
  }
}

/* Parses column `col` (BINARY or STRING) of the input into the output columns `fields`. */
WS_FUNC int64_t ws_json_parse(ws_call *c, uint32_t col, const ws_json_field *fields, uint32_t n) {
  if (n > WS_JSON_FIELDS) return ws_fail(WS_FAILED, "too many fields");
  const ws_column *in = ws_col(c, col);
  uint32_t rows = c->rows, total = (uint32_t)in->offsets[rows], out = 0, refused = 0, nulls = 0;
  uint32_t all = n == 32 ? ~0u : (1u << n) - 1;
  ws_json_column *f = ws_alloc_zero(n * sizeof *f);
  for (uint32_t j = 0; j < n; j++) {
    ws_builder *b = ws_add_column(c, fields[j].type, rows, fields[j].type == WS_STRING ? total : 0);
    f[j].name = (const uint8_t *)fields[j].name;
    f[j].len = ws_strlen(fields[j].name);
    f[j].type = fields[j].type;
    f[j].b = b;
#ifdef __wasm_simd128__
    if (f[j].len <= 14) {
      uint8_t *p = (uint8_t *)&f[j].pattern, *m = (uint8_t *)&f[j].mask;
      f[j].skip = f[j].len + 2;
      __builtin_memcpy(p, f[j].name, f[j].len);
      p[f[j].len] = '"';
      p[f[j].len + 1] = ':';
      __builtin_memset(m, 0xff, f[j].skip);
    }
#endif
  }
  for (uint32_t i = 0; i < rows; i++) {
    uint32_t bad = n, seen = 0;
    ws_bytes text = ws_bytes_at(in, i);
    int code = ws_null_at(in, i) ? WS_JSON_SYNTAX : ws_json_row(text.p, text.p + text.n, f, n, out, &seen, &bad);
    if (__builtin_expect(code != 0, 0)) {
      if (!refused++) {
        ws_parents_none(c);
        for (uint32_t k = 0; k < i; k++) ws_parent(c, k); /* until here it was row for row */
      }
      ws_json_refuse(c, i, code, bad < n ? fields[bad].name : 0);
      continue;
    }
    if (refused) ws_parent(c, i);
    if (seen != all || nulls) {
      nulls = 1;
      ws_json_nulls(f, n, out, seen);
    }
    out++;
  }
  for (uint32_t j = 0; j < n; j++) {
    f[j].b->rows = out;
    if (f[j].b->offsets) f[j].b->len = (uint32_t)f[j].b->offsets[out];
  }
  return ws_finish(c);
}

#endif
