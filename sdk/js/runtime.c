/* The runtime of guests in JavaScript: QuickJS with the SDK inside, as one module, which `wstream module build` copies for
 * each guest with the script added as data. build.sh builds it.
 *
 * Here is what has to be near the bytes: rows and columns as JavaScript values, and back. What guests see is made of it in
 * prelude.js. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *arena;
static size_t arena_size;
#define WS_HEAP ((uintptr_t)arena)
#define WS_END ((uintptr_t)arena + arena_size - WS_SLACK)
#define WS_MAX_NODES 256
#include "../c/wstream_json.h"

#include "quickjs.h"

/* The guest's script: its length and its text, written into the module as data. */
enum { SCRIPT_ROOM = 1 << 20 };
struct { uint32_t length; char text[SCRIPT_ROOM]; } wstream_script __attribute__((used, visibility("default")));

extern const char prelude[];
extern const unsigned int prelude_length;

static JSRuntime *runtime;
static JSContext *js;
static JSValue describe, bind, handle; /* functions of the prelude */
static JSClassID row_class;
static ws_call call;
static int in_call; /* columns may be read */

/* ---- Types of output columns ---- */

typedef struct spec {
  uint16_t type;
  uint32_t param, children;
  struct spec **child;
  JSAtom name;
} spec;

static spec *read_spec(JSValueConst v) { /* [name, type, param, child…] */
  spec *s = calloc(1, sizeof *s);
  int64_t n = 0;
  int32_t type = 0, param = 0;
  JS_GetLength(js, v, &n);
  JSValue name = JS_GetPropertyUint32(js, v, 0), t = JS_GetPropertyUint32(js, v, 1), p = JS_GetPropertyUint32(js, v, 2);
  s->name = JS_ValueToAtom(js, name);
  JS_ToInt32(js, &type, t), JS_ToInt32(js, &param, p);
  JS_FreeValue(js, name), JS_FreeValue(js, t), JS_FreeValue(js, p);
  s->type = (uint16_t)type, s->param = (uint32_t)param, s->children = n > 3 ? (uint32_t)n - 3 : 0;
  s->child = calloc(s->children + 1, sizeof *s->child);
  for (uint32_t i = 0; i < s->children; i++) {
    JSValue c = JS_GetPropertyUint32(js, v, 3 + i);
    s->child[i] = read_spec(c);
    JS_FreeValue(js, c);
  }
  return s;
}

enum { MAX_SPECS = 1024, MAX_BUILDERS = 128 };
static spec *specs[MAX_SPECS];
static uint32_t spec_count;
static struct { const spec *spec; ws_builder *b; } builders[MAX_BUILDERS];
static uint32_t builder_count;

static ws_builder *build(const spec *s, uint32_t rows) {
  ws_builder *child[64], *b;
  if (s->children > 64) return 0;
  for (uint32_t i = 0; i < s->children; i++) child[i] = build(s->child[i], s->type == WS_STRUCT ? rows : 8);
  switch (s->type) {
    case WS_LIST: b = ws_new_list(child[0]); break;
    case WS_MAP: b = ws_new_map(child[0], child[1]); break;
    case WS_STRUCT: b = ws_new_struct(s->children, child); break;
    default: b = ws_new_builder(s->type, rows, rows * 8);
  }
  b->param = s->param;
  return b;
}

/* ---- JavaScript to columns ---- */

static const char *const type_names[] = {
    "VOID", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
    "STRING", "BINARY", "ARRAY", "MAP", "STRUCT", "TIME", "INTERVAL", "INTERVAL", "INTERVAL", "VARIANT"};

static int wrong(const spec *s, JSValueConst v) {
  const char *found = JS_IsString(v) ? "a string" : JS_IsNumber(v) ? "a number that does not fit" : JS_IsBigInt(v) ? "a BigInt that does not fit"
                    : JS_IsBool(v) ? "a boolean" : JS_IsArray(v) ? "an array" : JS_IsFunction(js, v) ? "a function" : "an object";
  const char *name = JS_AtomToCString(js, s->name);
  JS_ThrowTypeError(js, "column %s: expected %s, found %s", name ? name : "", type_names[s->type], found);
  JS_FreeCString(js, name);
  return -1;
}

/* A whole number within bounds, of a number or a BigInt. */
static int whole(JSValueConst v, int64_t low, int64_t high, int64_t *out) {
  if (JS_IsBigInt(v)) {
    JSValue s = JS_ToString(js, v); /* JS_ToBigInt64 would wrap around */
    size_t n;
    const char *t = JS_ToCStringLen(js, &n, s);
    char back[24], *end = back + sizeof back;
    int ok = JS_ToBigInt64(js, out, v) == 0 && t && n < sizeof back;
    if (ok) {
      uint64_t u = *out < 0 ? 0 - (uint64_t)*out : (uint64_t)*out;
      do *--end = (char)('0' + u % 10); while (u /= 10);
      if (*out < 0) *--end = '-';
      ok = (size_t)(back + sizeof back - end) == n && !memcmp(end, t, n);
    }
    JS_FreeCString(js, t);
    JS_FreeValue(js, s);
    return ok && *out >= low && *out <= high;
  }
  double d;
  if (!JS_IsNumber(v) || JS_ToFloat64(js, &d, v) || d != __builtin_floor(d) || d < -9223372036854775808.0 || d >= 9223372036854775808.0) return 0;
  *out = (int64_t)d;
  return *out >= low && *out <= high;
}

/* A decimal out of its digits; half up where there are more than the scale has. */
static int decimal(const char *t, uint32_t precision, uint32_t scale, __int128 *out) {
  __int128 v = 0, bound = 1;
  int negative = *t == '-', digits = 0, after = -1, up = 0;
  for (uint32_t i = 0; i < precision; i++) bound *= 10;
  if (*t == '-' || *t == '+') t++;
  for (; *t; t++) {
    if (*t == '.' && after < 0) after = 0;
    else if (*t >= '0' && *t <= '9') {
      digits++;
      if (after >= (int)scale) {
        if (after == (int)scale) up = *t >= '5';
        after++;
        continue;
      }
      if (after >= 0) after++;
      v = v * 10 + (*t - '0');
      if (v >= bound) return 0;
    } else return 0;
  }
  for (int i = after < 0 ? 0 : after; i < (int)scale; i++)
    if ((v *= 10) >= bound) return 0;
  v += up;
  *out = negative ? -v : v;
  return digits > 0 && v < bound;
}

static int add(ws_builder *b, const spec *s, JSValueConst v);

static int add_struct(ws_builder *b, const spec *s, JSValueConst v) {
  for (uint32_t i = 0; i < s->children; i++) {
    JSValue m = JS_GetProperty(js, v, s->child[i]->name);
    int bad = JS_IsException(m) || add(ws_below(b, i), s->child[i], m);
    JS_FreeValue(js, m);
    if (bad) return -1;
  }
  ws_end(b);
  return 0;
}

static int add_list(ws_builder *b, const spec *s, JSValueConst v) {
  int64_t n;
  if (JS_GetLength(js, v, &n)) return -1;
  for (int64_t i = 0; i < n; i++) {
    JSValue e = JS_GetPropertyInt64(js, v, i);
    int bad = JS_IsException(e) || add(ws_below(b, 0), s->child[0], e);
    JS_FreeValue(js, e);
    if (bad) return -1;
  }
  ws_end(b);
  return 0;
}

static int add_map(ws_builder *b, const spec *s, JSValueConst v) { /* an object, by its own keys */
  JSPropertyEnum *keys;
  uint32_t n;
  if (JS_GetOwnPropertyNames(js, &keys, &n, v, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) return -1;
  int bad = 0;
  for (uint32_t i = 0; i < n && !bad; i++) {
    JSValue k = JS_AtomToString(js, keys[i].atom), e = JS_GetProperty(js, v, keys[i].atom);
    if (s->child[0]->type != WS_STRING) {
      JSValue parsed = k;
      double d;
      if (JS_ToFloat64(js, &d, k) == 0) parsed = JS_NewFloat64(js, d);
      bad = add(ws_below(b, 0), s->child[0], parsed);
    } else bad = add(ws_below(b, 0), s->child[0], k);
    bad = bad || JS_IsException(e) || add(ws_below(b, 1), s->child[1], e);
    JS_FreeValue(js, k), JS_FreeValue(js, e);
  }
  JS_FreePropertyEnum(js, keys, n);
  if (!bad) ws_end(b);
  return bad ? -1 : 0;
}

static int add_text(ws_builder *b, JSValueConst v) {
  size_t n;
  const char *t = JS_ToCStringLen(js, &n, v);
  if (!t) return -1;
  if (ws_utf8((const uint8_t *)t, (const uint8_t *)t + n)) ws_add_bytes(b, t, (uint32_t)n);
  else { /* a half of a surrogate pair became three bytes: U+FFFD, as TextEncoder has it */
    uint8_t *fixed = ws_alloc((uint32_t)n + 16);
    memcpy(fixed, t, n);
    for (size_t i = 0; i + 2 < n; i++)
      if (fixed[i] == 0xed && fixed[i + 1] >= 0xa0) fixed[i] = 0xef, fixed[i + 1] = 0xbf, fixed[i + 2] = 0xbd;
    ws_add_bytes(b, fixed, (uint32_t)n);
  }
  JS_FreeCString(js, t);
  return 0;
}

/* Adds a value; -1 with an exception where it does not fit. */
static int add(ws_builder *b, const spec *s, JSValueConst v) {
  int64_t i;
  double d;
  if (JS_IsNull(v) || JS_IsUndefined(v)) { ws_add_null(b); return 0; }
  switch (s->type) {
    case WS_BOOL:
      if (!JS_IsBool(v)) return wrong(s, v);
      ws_add_bool(b, JS_ToBool(js, v));
      return 0;
    case WS_INT8: if (!whole(v, INT8_MIN, INT8_MAX, &i)) return wrong(s, v); ws_add_i8(b, (int8_t)i); return 0;
    case WS_INT16: if (!whole(v, INT16_MIN, INT16_MAX, &i)) return wrong(s, v); ws_add_i16(b, (int16_t)i); return 0;
    case WS_INT32: case WS_YEAR_MONTH: if (!whole(v, INT32_MIN, INT32_MAX, &i)) return wrong(s, v); ws_add_i32(b, (int32_t)i); return 0;
    case WS_INT64: case WS_TIME: case WS_DAY_TIME: if (!whole(v, INT64_MIN, INT64_MAX, &i)) return wrong(s, v); ws_add_i64(b, i); return 0;
    case WS_FLOAT32: case WS_FLOAT64:
      if (!JS_IsNumber(v) || JS_ToFloat64(js, &d, v)) return wrong(s, v);
      if (d != d) d = __builtin_nan("");
      if (s->type == WS_FLOAT64) ws_add_f64(b, d);
      else ws_add_f32(b, (float)d);
      return 0;
    case WS_TIMESTAMP: case WS_TIMESTAMP_NTZ: case WS_DATE: {
      int ok = 0, date = s->type == WS_DATE;
      if (JS_IsString(v)) {
        size_t n;
        const char *t = JS_ToCStringLen(js, &n, v);
        uint8_t text[64] = {0}; /* the reader looks ahead */
        if (t && n < 40) memcpy(text, t, n), ok = ws_timestamp(text, (uint32_t)n, &i);
        if (date && ok) i = (i - ((i % 86400000000) + 86400000000) % 86400000000) / 86400000000;
        JS_FreeCString(js, t);
      } else if (JS_IsDate(v)) {
        ok = JS_ToFloat64(js, &d, v) == 0 && d == d && d > -9e15 && d < 9e15;
        if (ok) i = date ? (int64_t)__builtin_floor(d / 86400000) : (int64_t)d * 1000;
      } else ok = whole(v, INT64_MIN, INT64_MAX, &i);
      if (!ok || (date && (i < INT32_MIN || i > INT32_MAX))) return wrong(s, v);
      if (date) ws_add_i32(b, (int32_t)i);
      else ws_add_i64(b, i);
      return 0;
    }
    case WS_DECIMAL: {
      __int128 x = 0;
      const char *t = JS_IsString(v) || JS_IsNumber(v) || JS_IsBigInt(v) ? JS_ToCString(js, v) : 0;
      int ok = t && decimal(t, s->param & 255, s->param >> 8, &x);
      JS_FreeCString(js, t);
      if (!ok) return wrong(s, v);
      ws_room(b);
      memcpy(b->data + b->rows * 16, &x, 16);
      ws_row(b);
      return 0;
    }
    case WS_STRING: if (!JS_IsString(v)) return wrong(s, v); return add_text(b, v);
    case WS_BINARY: {
      size_t n;
      if (JS_IsString(v)) return add_text(b, v);
      uint8_t *p = JS_GetUint8Array(js, &n, v);
      if (!p) { JS_FreeValue(js, JS_GetException(js)); return wrong(s, v); }
      ws_add_bytes(b, p, (uint32_t)n);
      return 0;
    }
    case WS_LIST: return JS_IsArray(v) ? add_list(b, s, v) : wrong(s, v);
    case WS_MAP: return JS_IsObject(v) && !JS_IsArray(v) ? add_map(b, s, v) : wrong(s, v);
    case WS_STRUCT: return JS_IsObject(v) && !JS_IsArray(v) ? add_struct(b, s, v) : wrong(s, v);
  }
  return wrong(s, v);
}

/* ---- Columns to JavaScript ---- */

/* A whole number as a number where that is exact, else as a BigInt. */
static JSValue of_whole(int64_t i) {
  return i >= -9007199254740991 && i <= 9007199254740991 ? JS_NewInt64(js, i) : JS_NewBigInt64(js, i);
}

static JSValue of_decimal(__int128 x, uint32_t scale) {
  char t[48], *p = t + sizeof t;
  unsigned __int128 u = x < 0 ? 0 - (unsigned __int128)x : (unsigned __int128)x;
  uint32_t n = 0;
  do {
    if (n == scale && n) *--p = '.';
    *--p = (char)('0' + (int)(u % 10));
    u /= 10, n++;
  } while (u || n <= scale);
  if (x < 0) *--p = '-';
  return JS_NewStringLen(js, p, (size_t)(t + sizeof t - p));
}

static JSValue value(const ws_column *k, uint32_t i, const spec *s) {
  if (ws_null_at(k, i)) return JS_NULL;
  switch (k->type) {
    case WS_BOOL: return JS_NewBool(js, ws_bool_at(k, i));
    case WS_INT8: return JS_NewInt32(js, ws_i8_at(k, i));
    case WS_INT16: return JS_NewInt32(js, ws_i16_at(k, i));
    case WS_INT32: case WS_DATE: case WS_YEAR_MONTH: return JS_NewInt32(js, ws_i32_at(k, i));
    case WS_INT64: case WS_TIMESTAMP: case WS_TIMESTAMP_NTZ: case WS_TIME: case WS_DAY_TIME: return of_whole(ws_i64_at(k, i));
    case WS_FLOAT32: return JS_NewFloat64(js, ws_f32_at(k, i));
    case WS_FLOAT64: return JS_NewFloat64(js, ws_f64_at(k, i));
    case WS_DECIMAL: { __int128 x; memcpy(&x, k->data + (size_t)i * 16, 16); return of_decimal(x, k->param >> 8); }
    case WS_STRING: { ws_bytes t = ws_bytes_at(k, i); return JS_NewStringLen(js, (const char *)t.p, t.n); }
    case WS_BINARY: case WS_VARIANT: { ws_bytes t = ws_bytes_at(k, i); return JS_NewUint8ArrayCopy(js, t.p, t.n); }
    case WS_LIST: {
      ws_span at = ws_range(k, i);
      JSValue a = JS_NewArray(js);
      for (uint32_t j = at.from; j < at.to; j++) JS_SetPropertyUint32(js, a, j - at.from, value(ws_child(k, 0), j, s ? s->child[0] : 0));
      return a;
    }
    case WS_MAP: {
      ws_span at = ws_range(k, i);
      JSValue o = JS_NewObject(js);
      for (uint32_t j = at.from; j < at.to; j++) {
        JSValue key = value(ws_child(k, 0), j, 0);
        JSAtom a = JS_ValueToAtom(js, key);
        JS_SetProperty(js, o, a, value(ws_child(k, 1), j, s && s->children > 1 ? s->child[1] : 0));
        JS_FreeAtom(js, a), JS_FreeValue(js, key);
      }
      return o;
    }
    case WS_STRUCT: {
      JSValue o = JS_NewObject(js);
      for (uint32_t j = 0; s && j < s->children && j < k->children; j++)
        JS_SetProperty(js, o, s->child[j]->name, value(ws_child(k, j), i, s->child[j]));
      return o;
    }
  }
  return JS_NULL;
}

static uint32_t arg(JSContext *ctx, JSValueConst v) { uint32_t n = 0; JS_ToUint32(ctx, &n, v); return n; }

/* ---- Rows: objects with a getter for each column ---- */

enum { MAIN = 0 };

/* What a getter reads, by its number, which is all that a function of QuickJS carries (16 bits). */
enum { MAX_CELLS = 8192 };
static struct { uint32_t section, type, column; } cells[MAX_CELLS];
static int cell_count;

static JSValue get_cell(JSContext *ctx, JSValueConst self, int magic) {
  uint32_t row = (uint32_t)(uintptr_t)JS_GetOpaque(self, row_class);
  uint32_t section = cells[magic].section, type = cells[magic].type, col = cells[magic].column;
  if (!in_call || !row) return JS_ThrowReferenceError(ctx, "a row is there during its call only; copy what is to be kept");
  if (section == MAIN && col >= call.main_count) return JS_NULL;
  const ws_column *k = section == MAIN ? ws_col(&call, col) : ws_section_col(&call, section, col);
  return row > k->length ? JS_NULL : value(k, row - 1, type < spec_count ? specs[type] : 0);
}

/* rows(section, [[name, type, column]…]): a prototype of rows. */
static JSValue f_rows(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  int32_t section = 0;
  int64_t n = 0;
  JS_ToInt32(ctx, &section, argv[0]);
  JS_GetLength(ctx, argv[1], &n);
  JSValue proto = JS_NewObject(ctx);
  for (int64_t i = 0; i < n; i++) {
    JSValue e = JS_GetPropertyInt64(ctx, argv[1], i), name = JS_GetPropertyUint32(ctx, e, 0), t = JS_GetPropertyUint32(ctx, e, 1),
            c = JS_GetPropertyUint32(ctx, e, 2);
    if (cell_count == MAX_CELLS) return JS_ThrowRangeError(ctx, "more than %d columns in what is bound of a module", MAX_CELLS);
    cells[cell_count].section = (uint32_t)section & 7, cells[cell_count].type = arg(ctx, t), cells[cell_count].column = arg(ctx, c);
    JSAtom a = JS_ValueToAtom(ctx, name);
    JSCFunctionType f = {.getter_magic = get_cell};
    JSValue get = JS_NewCFunction2(ctx, f.generic, "get", 0, JS_CFUNC_getter_magic, cell_count++);
    JS_DefinePropertyGetSet(ctx, proto, a, get, JS_UNDEFINED, JS_PROP_ENUMERABLE | JS_PROP_CONFIGURABLE);
    JS_FreeAtom(ctx, a), JS_FreeValue(ctx, e), JS_FreeValue(ctx, name), JS_FreeValue(ctx, t), JS_FreeValue(ctx, c);
  }
  return proto;
}

/* row(prototype, n): row n. */
static JSValue f_row(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t n = 0;
  JS_ToUint32(ctx, &n, argv[1]);
  JSValue o = JS_NewObjectProtoClass(ctx, argv[0], row_class);
  if (!JS_IsException(o)) JS_SetOpaque(o, (void *)(uintptr_t)(n + 1));
  return o;
}

/* at(row, n): makes it row n. */
static JSValue f_at(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t n = 0;
  JS_ToUint32(ctx, &n, argv[1]);
  if (JS_GetOpaque(argv[0], row_class)) JS_SetOpaque(argv[0], (void *)(uintptr_t)(n + 1));
  return JS_UNDEFINED;
}

/* ---- The rest of what the prelude is made of ---- */

static JSValue f_spec(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  if (spec_count == MAX_SPECS) return JS_ThrowRangeError(ctx, "more than %d columns in the schemas of a module", MAX_SPECS);
  specs[spec_count] = read_spec(argv[0]);
  return JS_NewUint32(ctx, spec_count++);
}

/* builder(type): a builder of this call; output(builder) makes it a column of the answer. */
static JSValue f_builder(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t type = arg(ctx, argv[0]);
  if (!in_call || type >= spec_count || builder_count == MAX_BUILDERS) return JS_ThrowRangeError(ctx, "too many columns");
  builders[builder_count].spec = specs[type];
  builders[builder_count].b = build(specs[type], call.rows);
  return JS_NewUint32(ctx, builder_count++);
}
static ws_builder *builder(uint32_t i) { return i < builder_count ? builders[i].b : 0; }

static JSValue f_add(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t i = arg(ctx, argv[0]);
  if (!builder(i)) return JS_ThrowRangeError(ctx, "no such column");
  return add(builders[i].b, builders[i].spec, argv[1]) ? JS_EXCEPTION : JS_UNDEFINED;
}
/* emit(first, count, object): a row of an object's properties; all or nothing. */
static JSValue f_emit(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t first = arg(ctx, argv[0]), count = arg(ctx, argv[1]);
  if (!JS_IsObject(argv[2])) return JS_ThrowTypeError(ctx, "a row is an object with the columns as its properties");
  uint32_t rows = builder(first) ? builder(first)->rows : 0;
  for (uint32_t i = first; i < first + count && builder(i); i++) {
    JSValue v = JS_GetProperty(ctx, argv[2], builders[i].spec->name);
    int bad = JS_IsException(v) || add(builders[i].b, builders[i].spec, v);
    JS_FreeValue(ctx, v);
    if (!bad) continue;
    for (uint32_t k = first; k <= i; k++) ws_undo(builders[k].b, rows);
    return JS_EXCEPTION;
  }
  return JS_UNDEFINED;
}
static JSValue f_undo(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  ws_builder *b = builder(arg(ctx, argv[0]));
  if (b) ws_undo(b, arg(ctx, argv[1]));
  return JS_UNDEFINED;
}
static JSValue f_output(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  ws_builder *b = builder(arg(ctx, argv[0]));
  if (b) ws_output_of(&call, b);
  return JS_UNDEFINED;
}
static JSValue f_pass(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  ws_pass(&call, arg(ctx, argv[0]));
  return JS_UNDEFINED;
}
static JSValue f_section(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  ws_open_section(&call, arg(ctx, argv[0]), arg(ctx, argv[1]));
  for (int i = 2; i < argc; i++) {
    ws_builder *b = builder(arg(ctx, argv[i]));
    if (b) ws_section_add(&call, b);
  }
  return JS_UNDEFINED;
}
static JSValue f_parent(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  if (argc) ws_parent(&call, arg(ctx, argv[0]));
  else ws_parents_none(&call);
  return JS_UNDEFINED;
}
static JSValue f_refuse(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t n;
  const char *t = JS_ToCStringLen(ctx, &n, argv[1]);
  if (!t) return JS_EXCEPTION;
  ws_refuse_bytes(&call, arg(ctx, argv[0]), 1, t, (uint32_t)n);
  JS_FreeCString(ctx, t);
  return JS_UNDEFINED;
}
/* cell(section, column, row, type) */
static JSValue f_cell(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t section = arg(ctx, argv[0]), col = arg(ctx, argv[1]), row = arg(ctx, argv[2]), type = argc > 3 ? arg(ctx, argv[3]) : MAX_SPECS;
  if (!in_call || section >= 8 || (section == MAIN && col >= call.main_count)) return JS_NULL;
  const ws_column *k = section == MAIN ? ws_col(&call, col) : ws_section_col(&call, section, col);
  return row >= k->length ? JS_NULL : value(k, row, type < spec_count ? specs[type] : 0);
}
static JSValue f_section_rows(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  return JS_NewUint32(ctx, call.section_rows[arg(ctx, argv[0]) & 7]);
}
static JSValue f_header(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  const ws_header *h = call.header;
  switch (arg(ctx, argv[0])) {
    case 0: return JS_NewUint32(ctx, h->op);
    case 1: return JS_NewUint32(ctx, h->flags);
    case 2: return of_whole(h->batch_id);
    case 3: return JS_NewUint32(ctx, h->attempt);
    case 4: return JS_NewUint32(ctx, h->partition);
    case 5: return h->watermark == WS_NO_WATERMARK ? JS_NULL : of_whole(h->watermark);
    case 6: return of_whole(h->batch_time);
  }
  return JS_NewUint32(ctx, call.rows);
}

typedef struct { const char *p; size_t n; } text;
static text text_of(JSContext *ctx, JSValueConst v) { text t = {0, 0}; t.p = JS_ToCStringLen(ctx, &t.n, v); return t; }

/* host(what, text, text, …): what a guest may ask of the host; a negative number where it may not. */
static JSValue f_host(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  text a = text_of(ctx, argv[1]), b = argc > 2 ? text_of(ctx, argv[2]) : (text){0, 0}, c = argc > 3 ? text_of(ctx, argv[3]) : (text){0, 0};
  int64_t answer = WS_FAILED;
  JSValue result = JS_UNDEFINED;
  double d = 0;
  switch (arg(ctx, argv[0])) {
    case 0: ws_log_write(atoi(b.p), a.p, (uint32_t)a.n); break;
    case 1: JS_ToFloat64(ctx, &d, argv[2]); answer = ws_metric_add(a.p, (uint32_t)a.n, d); break;
    case 2: JS_ToFloat64(ctx, &d, argv[2]); answer = ws_metric_observe(a.p, (uint32_t)a.n, d); break;
    case 3: answer = ws_exec(&call, (ws_bytes){(const uint8_t *)a.p, (uint32_t)a.n}, b.p); break;
    case 4: answer = ws_exec_once(&call, (ws_bytes){(const uint8_t *)a.p, (uint32_t)a.n}, b.p); break;
    case 5: {
      uint32_t room = 4096;
      char *buffer = malloc(room);
      answer = ws_kv_get(a.p, (uint32_t)a.n, b.p, (uint32_t)b.n, buffer, room);
      if (answer > room) buffer = realloc(buffer, room = (uint32_t)answer), answer = ws_kv_get(a.p, (uint32_t)a.n, b.p, (uint32_t)b.n, buffer, room);
      if (answer >= 0) result = JS_NewStringLen(ctx, buffer, (size_t)answer);
      else if (answer == WS_NOT_FOUND) result = JS_NULL;
      free(buffer);
      break;
    }
    case 6: answer = ws_kv_put(a.p, (uint32_t)a.n, b.p, (uint32_t)b.n, c.p, (uint32_t)c.n); break;
    case 7: answer = ws_kv_delete(a.p, (uint32_t)a.n, b.p, (uint32_t)b.n); break;
    case 8: answer = ws_produce_(a.p, (uint32_t)a.n, call.header, call.header->frame_size); break;
  }
  JS_FreeCString(ctx, a.p), JS_FreeCString(ctx, b.p), JS_FreeCString(ctx, c.p);
  return JS_IsUndefined(result) ? JS_NewInt64(ctx, answer) : result;
}

/* utf8(bytes): the text that bytes are. */
static JSValue f_utf8(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t n;
  if (!JS_IsObject(argv[0])) return JS_DupValue(ctx, argv[0]);
  uint8_t *p = JS_GetUint8Array(ctx, &n, argv[0]);
  return p ? JS_NewStringLen(ctx, (const char *)p, n) : JS_EXCEPTION;
}

/* random(): the call's, the same again in a replay. */
extern int32_t random_get_(void *p, uint32_t n) __attribute__((import_module("wasi_snapshot_preview1"), import_name("random_get")));
static JSValue f_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint64_t x = 0;
  random_get_(&x, sizeof x);
  return JS_NewFloat64(ctx, (double)(x >> 11) * 0x1p-53);
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("rows", 2, f_rows), JS_CFUNC_DEF("row", 2, f_row), JS_CFUNC_DEF("at", 2, f_at), JS_CFUNC_DEF("spec", 1, f_spec),
    JS_CFUNC_DEF("builder", 1, f_builder), JS_CFUNC_DEF("add", 2, f_add), JS_CFUNC_DEF("emit", 3, f_emit), JS_CFUNC_DEF("undo", 2, f_undo),
    JS_CFUNC_DEF("output", 1, f_output), JS_CFUNC_DEF("pass", 1, f_pass), JS_CFUNC_DEF("section", 2, f_section), JS_CFUNC_DEF("parent", 0, f_parent),
    JS_CFUNC_DEF("refuse", 2, f_refuse), JS_CFUNC_DEF("cell", 3, f_cell), JS_CFUNC_DEF("sectionRows", 1, f_section_rows),
    JS_CFUNC_DEF("header", 1, f_header), JS_CFUNC_DEF("host", 3, f_host), JS_CFUNC_DEF("utf8", 1, f_utf8), JS_CFUNC_DEF("random", 0, f_random),
};

/* ---- The module ---- */

static int64_t failed(int64_t status) { /* with the exception as the text */
  JSValue e = JS_GetException(js), stack = JS_IsError(e) ? JS_GetPropertyStr(js, e, "stack") : JS_UNDEFINED;
  size_t n, m = 0;
  const char *t = JS_ToCStringLen(js, &n, e), *s = JS_IsString(stack) ? JS_ToCStringLen(js, &m, stack) : 0;
  static char all[1024];
  size_t len = t && n < 512 ? n : t ? 512 : 0;
  if (len) memcpy(all, t, len);
  /* the first line of the stack that is the guest's */
  const char *own = s && m ? strstr(s, "script.js:") : 0;
  if (own && len + 80 < sizeof all) {
    const char *end = own;
    while (*end && *end != '\n' && *end != ')' && end - own < 60) end++;
    memcpy(all + len, " (", 2), memcpy(all + len + 2, own, (size_t)(end - own)), all[len + 2 + (size_t)(end - own)] = ')';
    len += 3 + (size_t)(end - own);
  }
  JS_FreeCString(js, t), JS_FreeCString(js, s), JS_FreeValue(js, stack), JS_FreeValue(js, e);
  return ws_fail_bytes(status, all, (uint32_t)len);
}

static void bare(JSValue v) { JS_FreeValue(js, v); }

/* Starts the engine and runs the script, once. */
static int64_t start(void) {
  static int64_t status = 1;
  if (status != 1) return status;
  runtime = JS_NewRuntime();
  JS_SetMaxStackSize(runtime, 200 << 10);
  js = JS_NewContext(runtime);
  JS_NewClassID(runtime, &row_class);
  static const JSClassDef row_def = {"Row"};
  JS_NewClass(runtime, row_class, &row_def);
  JSValue global = JS_GetGlobalObject(js), host = JS_NewObject(js);
  JS_SetPropertyFunctionList(js, host, functions, sizeof functions / sizeof *functions);
  JS_SetPropertyStr(js, global, "__host", host);
  JSValue all = JS_Eval(js, prelude, prelude_length, "wstream.js", JS_EVAL_TYPE_GLOBAL);
  if (JS_IsException(all)) return status = failed(WS_FAILED);
  describe = JS_GetPropertyStr(js, all, "manifest"), bind = JS_GetPropertyStr(js, all, "bind"), handle = JS_GetPropertyStr(js, all, "call");
  bare(all), bare(global);
  if (wstream_script.length >= SCRIPT_ROOM) return status = ws_fail(WS_FAILED, "the script is too large");
  JSValue ran = JS_Eval(js, wstream_script.text, wstream_script.length, "script.js", JS_EVAL_TYPE_GLOBAL);
  if (JS_IsException(ran)) return status = failed(WS_FAILED);
  bare(ran);
  return status = 0;
}

WS_EXPORT("wstream_abi_v1") void abi_v1(void) {}

WS_EXPORT("wstream_manifest") int64_t wstream_manifest(void) {
  static const char *kept;
  size_t n;
  if (start() < 0) return WS_FAILED;
  JSValue v = JS_Call(js, describe, JS_UNDEFINED, 0, 0);
  if (JS_IsException(v)) return failed(WS_FAILED);
  kept = JS_ToCStringLen(js, &n, v);
  bare(v);
  return (int64_t)((uint64_t)(uintptr_t)kept << 32 | n);
}

static uint8_t *input;
static uint32_t input_size;

WS_EXPORT("wstream_buffer") uint32_t wstream_buffer(uint32_t min) {
  if (min <= input_size && input) return (uint32_t)(uintptr_t)input;
  free(input);
  input_size = min + (min >> 1) + 4096;
  input = aligned_alloc(64, (input_size + 64 + 63) & ~63u);
  if (!input) input_size = 0;
  return (uint32_t)(uintptr_t)input;
}

WS_EXPORT("wstream_bind") int64_t wstream_bind(const char *p, uint32_t n) {
  if (start() < 0) return WS_FAILED;
  JSValue request = JS_NewStringLen(js, p, n), v = JS_Call(js, bind, JS_UNDEFINED, 1, &request);
  bare(request);
  if (JS_IsException(v)) return failed(WS_BAD_CONFIG);
  int64_t h = 0;
  JS_ToInt64(js, &h, v);
  bare(v);
  return h;
}

/* The answer lies in the arena, which has room for eight times the input and some megabytes: a call that needs more ends,
 * and the host makes it again with half of the rows. */
static void make_room(uint32_t n) {
  size_t want = ((size_t)n * 8 + (4 << 20) + 63) & ~(size_t)63;
  if (want > arena_size) {
    free(arena);
    arena = aligned_alloc(64, want);
    arena_size = arena ? want : 0;
    if (!arena) ws_trap();
  }
  ws_kept = ws_top = WS_HEAP;
}

WS_EXPORT("wstream_call") int64_t wstream_call(uint32_t h, const uint8_t *p, uint32_t n) {
  make_room(n);
  ws_open(&call, p);
  builder_count = 0;
  in_call = 1;
  JSValue number = JS_NewUint32(js, h), v = JS_Call(js, handle, JS_UNDEFINED, 1, &number);
  in_call = 0;
  if (JS_IsException(v)) return failed(WS_FAILED);
  int answers = JS_ToBool(js, v);
  bare(v);
  return answers ? ws_finish(&call) : 0;
}

WS_EXPORT("wstream_error") int64_t wstream_error(void) { return (int64_t)((uint64_t)WS_AT(ws_error_text) << 32 | ws_error_len); }
