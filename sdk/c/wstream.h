/* wstream.h: write guests for wstream in C, with this header alone. docs/abi.md is the contract that it speaks.
 *
 * A guest is one C file: a manifest (JSON), a table of functions, and WS_MODULE.
 *
 *     #include "wstream.h"
 *
 *     static int64_t big(ws_call *c) {
 *       const double *amount = ws_f64(c, 0);
 *       ws_builder *keep = ws_bools(c);
 *       for (uint32_t i = 0; i < c->rows; i++) ws_add_bool(keep, !ws_is_null(c, 0, i) && amount[i] > 50);
 *       return ws_finish(c);
 *     }
 *     static const ws_function functions[] = {{"big", 0, big}};
 *     WS_MODULE("{\"abi\":1,\"name\":\"sample\",\"version\":\"1.0.0\",\"functions\":["
 *               "{\"name\":\"big\",\"kind\":\"filter\",\"input\":\"amount DOUBLE\"}]}", functions)
 *
 *     clang --target=wasm32 -O3 -nostdlib -mbulk-memory -msimd128 -Wl,--no-entry -o sample.wasm sample.c
 *
 * Memory: what bind allocates with ws_keep stays; what a call allocates with ws_alloc is gone with the next call.
 * Column buffers of the input may be read up to 16 bytes beyond their end.
 */
#ifndef WSTREAM_H
#define WSTREAM_H

#include <stddef.h>
#include <stdint.h>
#ifndef __wasm__
#include <string.h>
#endif
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

#ifdef __wasm__
#define WS_EXPORT(name) __attribute__((export_name(name), used))
#define WS_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#else /* natively, for unit tests: see ws_try */
#define WS_EXPORT(name) __attribute__((unused))
#endif
#define WS_INLINE static inline __attribute__((always_inline, unused))
#define WS_FUNC static __attribute__((unused))

/* ---- Numbers of the contract ---- */

enum { /* statuses */
  WS_FAILED = -1, WS_UNKNOWN_FUNCTION = -2, WS_BAD_SCHEMA = -3, WS_BAD_CONFIG = -4, WS_BAD_FRAME = -5,
  WS_NO_MEMORY = -6, WS_DENIED = -7, WS_NOT_FOUND = -8, WS_TOO_LARGE = -9, WS_UNSUPPORTED = -10,
};

enum { /* types of columns */
  WS_NULL = 0, WS_BOOL = 1, WS_INT8 = 2, WS_INT16 = 3, WS_INT32 = 4, WS_INT64 = 5, WS_FLOAT32 = 6, WS_FLOAT64 = 7,
  WS_DECIMAL = 8, WS_DATE = 9, WS_TIMESTAMP = 10, WS_TIMESTAMP_NTZ = 11, WS_STRING = 12, WS_BINARY = 13, WS_LIST = 14,
  WS_MAP = 15, WS_STRUCT = 16, WS_TIME = 17, WS_YEAR_MONTH = 18, WS_DAY_TIME = 19, WS_CALENDAR = 20, WS_VARIANT = 21,
};

enum { /* kinds and operations */
  WS_PARSE = 1, WS_FILTER = 2, WS_SCALAR = 3, WS_MAP_ROWS = 4, WS_AGGREGATE = 5, WS_STATE = 6, WS_FOREACH_BATCH = 7,
  WS_OP_CALL = 0, WS_OP_MERGE = 1, WS_OP_FINISH = 2, WS_OP_COMMIT = 3,
};

enum { WS_FIRST = 1, WS_LAST = 2, WS_RETRY = 4, WS_MORE = 8 };     /* flags of a frame */
enum { WS_NODE_NULLABLE = 1, WS_NODE_PASSED = 2 };                 /* flags of a node */
enum { WS_HAS_STATE = 1, WS_TIMED_OUT = 2 };                       /* flags of a key */
enum { WS_STATE_KEEP = 0, WS_STATE_SET = 1, WS_STATE_REMOVE = 2 }; /* what becomes of a key's state */
enum { /* sections */
  WS_SECTION_PARENTS = 1, WS_SECTION_ERRORS = 2, WS_SECTION_GROUPS = 3, WS_SECTION_STATE = 4,
  WS_SECTION_ACCUMULATORS = 5, WS_SECTION_GROUP_INDEX = 6,
};
enum { WS_DEBUG = 0, WS_INFO = 1, WS_WARNING = 2, WS_ERROR = 3 }; /* levels of log lines */

#define WS_NO_WATERMARK INT64_MIN
#define WS_NO_TIMEOUT INT64_MIN
#define WS_MAGIC 0x31465357u

typedef struct { /* 128 bytes */
  uint32_t magic, header_size, frame_size;
  uint16_t kind, op;
  uint32_t flags, rows;
  int64_t batch_id;
  uint32_t attempt, partition;
  int64_t watermark, batch_time; /* microseconds since the epoch */
  uint8_t query_id[16];
  uint32_t columns, nodes, buffers, sections, nodes_at, buffers_at, sections_at, reserved[7];
} ws_header;
typedef struct { uint16_t type, flags; uint32_t length, nulls, buffer, children, param; } ws_node; /* 24 bytes */
typedef struct { uint64_t offset, length; } ws_buffer;                                            /* 16 bytes */
typedef struct { uint32_t id, rows, columns, reserved; } ws_section;                              /* 16 bytes */
_Static_assert(sizeof(ws_header) == 128 && sizeof(ws_node) == 24, "the layout of a frame");

/* ---- Imports: the linker leaves out those that are not used ---- */

#ifdef __wasm__
WS_IMPORT("wstream_log_v1", "write") extern void ws_log_write(int32_t level, const void *text, uint32_t len);
WS_IMPORT("wstream_metric_v1", "add") extern int32_t ws_metric_add(const void *name, uint32_t len, double value);
WS_IMPORT("wstream_metric_v1", "observe") extern int32_t ws_metric_observe(const void *name, uint32_t len, double value);
WS_IMPORT("wstream_sql_v1", "exec")
extern int64_t ws_sql_exec_(const void *connection, uint32_t connection_len, const void *statement, uint32_t statement_len,
                            const void *frame, uint32_t frame_len);
WS_IMPORT("wstream_kv_v1", "get")
extern int64_t ws_kv_get(const void *ns, uint32_t ns_len, const void *key, uint32_t key_len, void *buffer, uint32_t room);
WS_IMPORT("wstream_kv_v1", "put")
extern int64_t ws_kv_put(const void *ns, uint32_t ns_len, const void *key, uint32_t key_len, const void *value, uint32_t len);
WS_IMPORT("wstream_kv_v1", "delete")
extern int64_t ws_kv_delete(const void *ns, uint32_t ns_len, const void *key, uint32_t key_len);
WS_IMPORT("wstream_produce_v1", "produce")
extern int64_t ws_produce_(const void *topic, uint32_t topic_len, const void *frame, uint32_t frame_len);
#else /* natively the host denies everything */
WS_FUNC void ws_log_write(int32_t level, const void *text, uint32_t len) { (void)level, (void)text, (void)len; }
WS_FUNC int32_t ws_metric_add(const void *name, uint32_t len, double v) { (void)name, (void)len, (void)v; return WS_DENIED; }
WS_FUNC int32_t ws_metric_observe(const void *name, uint32_t len, double v) { (void)name, (void)len, (void)v; return WS_DENIED; }
WS_FUNC int64_t ws_sql_exec_(const void *c, uint32_t cn, const void *s, uint32_t sn, const void *f, uint32_t fn) {
  (void)c, (void)cn, (void)s, (void)sn, (void)f, (void)fn;
  return WS_DENIED;
}
WS_FUNC int64_t ws_kv_get(const void *ns, uint32_t nn, const void *k, uint32_t kn, void *b, uint32_t room) {
  (void)ns, (void)nn, (void)k, (void)kn, (void)b, (void)room;
  return WS_DENIED;
}
WS_FUNC int64_t ws_kv_put(const void *ns, uint32_t nn, const void *k, uint32_t kn, const void *v, uint32_t n) {
  (void)ns, (void)nn, (void)k, (void)kn, (void)v, (void)n;
  return WS_DENIED;
}
WS_FUNC int64_t ws_kv_delete(const void *ns, uint32_t nn, const void *k, uint32_t kn) {
  (void)ns, (void)nn, (void)k, (void)kn;
  return WS_DENIED;
}
WS_FUNC int64_t ws_produce_(const void *t, uint32_t tn, const void *f, uint32_t fn) {
  (void)t, (void)tn, (void)f, (void)fn;
  return WS_DENIED;
}
#endif

/* Ends the call: the host throws the instance away. */
WS_INLINE _Noreturn void ws_trap(void) { __builtin_trap(); }

/* ---- Bytes ---- */

typedef struct { const uint8_t *p; uint32_t n; } ws_bytes;

WS_INLINE uint32_t ws_strlen(const char *s) { return (uint32_t)__builtin_strlen(s); }
#if defined __wasm__ && !defined WS_HEAP
WS_FUNC size_t strlen(const char *s) { size_t n = 0; while (s[n]) n++; return n; }
#endif

WS_INLINE uint64_t ws_load64(const uint8_t *p) { uint64_t w; __builtin_memcpy(&w, p, 8); return w; }

/* Copies n bytes; up to 15 bytes more may be read and written. */
WS_INLINE void ws_copy(uint8_t *d, const uint8_t *s, uint32_t n) {
#ifndef __wasm__
  __builtin_memcpy(d, s, n); /* exactly, for sanitizers */
  return;
#endif
  if (n > 128) { __builtin_memcpy(d, s, n); return; }
#ifdef __wasm_simd128__
  wasm_v128_store(d, wasm_v128_load(s));
  for (uint32_t i = 16; i < n; i += 16) wasm_v128_store(d + i, wasm_v128_load(s + i));
#else
  for (uint32_t i = 0; i < n; i += 8) __builtin_memcpy(d + i, s + i, 8);
#endif
}

/* Tells whether n bytes are the same; up to 7 bytes more may be read. */
WS_INLINE int ws_same(const uint8_t *a, const uint8_t *b, uint32_t n) {
  if (n == 0) return 1;
#ifndef __wasm__
  return __builtin_memcmp(a, b, n) == 0;
#endif
  while (n > 8) {
    if (ws_load64(a) != ws_load64(b)) return 0;
    a += 8, b += 8, n -= 8;
  }
  return (ws_load64(a) ^ ws_load64(b)) << (64 - 8 * n) == 0;
}

WS_INLINE int ws_is(ws_bytes b, const char *s) { uint32_t n = ws_strlen(s); return b.n == n && ws_same(b.p, (const uint8_t *)s, n); }

/* ---- Memory: a heap that only grows, and above it the memory of the current call ---- */

static uintptr_t ws_kept, ws_top; /* ends of what stays and of what the call has */
enum { WS_SLACK = 64 };           /* bytes that may be touched beyond any allocation */

#ifdef WS_HEAP /* a guest that links a libc says from where to where this memory is, by WS_HEAP and WS_END */
#define WS_AT(p) ((uint32_t)(uintptr_t)(p))
WS_FUNC int ws_grow(uintptr_t end) { return end <= WS_END; }
#elif defined __wasm__
extern unsigned char __heap_base;
#define WS_HEAP ((uintptr_t)&__heap_base)
#define WS_AT(p) ((uint32_t)(uintptr_t)(p)) /* an address as the host knows it */
#define WS_END ((uintptr_t)0x7fff0000)

WS_FUNC int ws_grow(uintptr_t end) {
  uintptr_t have = (uintptr_t)__builtin_wasm_memory_size(0) << 16;
  if (end + WS_SLACK <= have) return 1;
  uintptr_t need = (end + WS_SLACK - have + 65535) >> 16;
  if (need < 16) need = 16;
  return __builtin_wasm_memory_grow(0, need) != (size_t)-1 ||
         __builtin_wasm_memory_grow(0, (end + WS_SLACK - have + 65535) >> 16) != (size_t)-1;
}
#else
static uint8_t ws_arena[64 << 20] __attribute__((aligned(64)));
#define WS_HEAP ((uintptr_t)ws_arena)
#define WS_AT(p) ((uint32_t)((uintptr_t)(p) - (uintptr_t)ws_arena))
#define WS_END ((uintptr_t)ws_arena + sizeof ws_arena - WS_SLACK)
WS_FUNC int ws_grow(uintptr_t end) { return end <= WS_END; }
#endif

WS_FUNC void *ws_bump(uintptr_t *top, uint32_t n) {
  uintptr_t at = (*top + 63) & ~(uintptr_t)63;
  if (at > WS_END || n > WS_END - at || !ws_grow(at + n)) return 0;
  *top = at + n;
  return (void *)at;
}

/* Memory that stays, for bind. */
WS_FUNC void *ws_keep(uint32_t n) {
  if (!ws_kept) ws_kept = WS_HEAP;
  return ws_bump(&ws_kept, n);
}

/* Memory of this call, not cleared, aligned to 64 bytes; traps when there is none. */
WS_FUNC void *ws_alloc(uint32_t n) {
  void *p = ws_bump(&ws_top, n);
  if (!p) ws_trap();
  return p;
}

WS_FUNC void *ws_alloc_zero(uint32_t n) {
  void *p = ws_alloc(n);
  __builtin_memset(p, 0, n);
  return p;
}

/* ---- Errors ---- */

static uint8_t ws_error_text[512];
static uint32_t ws_error_len;

/* Fails the batch, or bind, with a text: return what it gives. */
WS_FUNC int64_t ws_fail_bytes(int64_t status, const void *text, uint32_t n) {
  if (n > sizeof ws_error_text) n = sizeof ws_error_text;
  __builtin_memcpy(ws_error_text, text, n);
  ws_error_len = n;
  return status;
}
WS_FUNC int64_t ws_fail(int64_t status, const char *text) { return ws_fail_bytes(status, text, ws_strlen(text)); }

/* ---- Input ---- */

typedef struct { /* one column; children follow it in ws_call.columns */
  uint16_t type, flags;
  uint32_t length, nulls, children, param;
  const uint8_t *valid;   /* null bitmap, 0 when no row is null */
  const int32_t *offsets; /* strings, binaries, lists and maps: length + 1 */
  const uint8_t *data;    /* values, bytes or bits */
  uint32_t index, next;   /* its node, and the node after it and its children */
} ws_column;

typedef struct ws_builder ws_builder;

typedef struct { /* one call of a function */
  const ws_header *header;
  uint32_t rows;
  void *bound;        /* what bind returned */
  ws_column *columns; /* all nodes of the input, in pre-order */
  uint32_t *main;     /* main column i is columns[main[i]] */
  uint32_t main_count;
  uint32_t section_of[8], section_rows[8]; /* by section id: index of its first node, number of rows */
  ws_builder *out[64]; /* output columns: main ones first, then those of the sections */
  uint32_t out_count, out_main, out_rows;
  ws_section out_sections[8];
  uint32_t out_section_count;
  uint8_t *frame; /* where the output begins */
  ws_builder *errors[3], *parents;
} ws_call;

WS_INLINE const ws_column *ws_col(const ws_call *c, uint32_t i) { return &c->columns[c->main[i]]; }
WS_INLINE int ws_bit(const uint8_t *bits, uint32_t i) { return bits[i >> 3] >> (i & 7) & 1; }
WS_INLINE int ws_null_at(const ws_column *k, uint32_t i) { return k->type == WS_NULL || (k->valid && !ws_bit(k->valid, i)); }
WS_INLINE int ws_is_null(const ws_call *c, uint32_t col, uint32_t i) { return ws_null_at(ws_col(c, col), i); }
WS_INLINE ws_bytes ws_bytes_at(const ws_column *k, uint32_t i) {
  return (ws_bytes){k->data + k->offsets[i], (uint32_t)(k->offsets[i + 1] - k->offsets[i])};
}
WS_INLINE ws_bytes ws_str(const ws_call *c, uint32_t col, uint32_t i) { return ws_bytes_at(ws_col(c, col), i); }
/* Values of a column that stands anywhere, e.g. below a list. */
WS_INLINE int ws_bool_at(const ws_column *k, uint32_t i) { return ws_bit(k->data, i); }
WS_INLINE int8_t ws_i8_at(const ws_column *k, uint32_t i) { return ((const int8_t *)k->data)[i]; }
WS_INLINE int16_t ws_i16_at(const ws_column *k, uint32_t i) { return ((const int16_t *)k->data)[i]; }
WS_INLINE int32_t ws_i32_at(const ws_column *k, uint32_t i) { return ((const int32_t *)k->data)[i]; }
WS_INLINE int64_t ws_i64_at(const ws_column *k, uint32_t i) { return ((const int64_t *)k->data)[i]; }
WS_INLINE float ws_f32_at(const ws_column *k, uint32_t i) { return ((const float *)k->data)[i]; }
WS_INLINE double ws_f64_at(const ws_column *k, uint32_t i) { return ((const double *)k->data)[i]; }
/* A column below this one: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct. */
WS_INLINE const ws_column *ws_child(const ws_column *k, uint32_t i) {
  const ws_column *all = k - k->index, *at = k + 1;
  if (k->type == WS_MAP) at++; /* the struct of its entries */
  while (i--) at = &all[at->next];
  return at;
}
/* Where the elements of row i of a list or map lie in its children; a member's row i belongs to row i of the struct. */
typedef struct { uint32_t from, to; } ws_span;
WS_INLINE ws_span ws_range(const ws_column *k, uint32_t i) {
  return (ws_span){(uint32_t)k->offsets[i], (uint32_t)k->offsets[i + 1]};
}
WS_INLINE const double *ws_f64(const ws_call *c, uint32_t col) { return (const double *)ws_col(c, col)->data; }
WS_INLINE const int64_t *ws_i64(const ws_call *c, uint32_t col) { return (const int64_t *)ws_col(c, col)->data; }
WS_INLINE const int32_t *ws_i32(const ws_call *c, uint32_t col) { return (const int32_t *)ws_col(c, col)->data; }
WS_INLINE int ws_bool(const ws_call *c, uint32_t col, uint32_t i) { return ws_bit(ws_col(c, col)->data, i); }
/* Column i of a section. */
WS_FUNC const ws_column *ws_section_col(const ws_call *c, uint32_t section, uint32_t i) {
  uint32_t at = c->section_of[section];
  while (i--) at = c->columns[at].next;
  return &c->columns[at];
}

/* ---- Output ---- */

struct ws_builder {
  uint16_t type;
  uint32_t param, rows, cap, nulls; /* cap in rows */
  uint8_t *valid;                   /* 0 until the first null */
  int32_t *offsets;
  uint8_t *data;
  uint32_t len, room; /* bytes of data, for strings and binaries */
  uint32_t passed;    /* input column + 1 that is passed through */
  uint32_t child_count;
  ws_builder **children; /* of a list its elements, of a map keys and values, of a struct its members */
};

WS_INLINE uint32_t ws_width(uint16_t type) {
  switch (type) {
    case WS_INT8: return 1;
    case WS_INT16: return 2;
    case WS_INT32: case WS_FLOAT32: case WS_DATE: case WS_YEAR_MONTH: return 4;
    case WS_INT64: case WS_FLOAT64: case WS_TIMESTAMP: case WS_TIMESTAMP_NTZ: case WS_TIME: case WS_DAY_TIME: return 8;
    case WS_DECIMAL: case WS_CALENDAR: return 16;
  }
  return 0;
}
WS_INLINE int ws_has_bytes(uint16_t type) { return type == WS_STRING || type == WS_BINARY || type == WS_VARIANT; }

#ifndef WS_MAX_NODES
#define WS_MAX_NODES 64 /* columns of an answer, with what is below them and the sections; define it before for more */
#endif

/* The output frame begins where the call's memory does: first room for the tables, then whatever the call allocates. */
enum {
  WS_TABLES = sizeof(ws_header) + WS_MAX_NODES * sizeof(ws_node) + 3 * WS_MAX_NODES * sizeof(ws_buffer) + 8 * sizeof(ws_section)
};

/* A builder that is in no frame yet, with room for rows and bytes; both grow. */
WS_FUNC ws_builder *ws_new_builder(uint16_t type, uint32_t rows, uint32_t bytes) {
  ws_builder *b = ws_alloc_zero(sizeof *b);
  b->type = type;
  b->cap = rows < 8 ? 8 : rows;
  if (type == WS_BOOL) b->data = ws_alloc_zero((b->cap + 7) / 8);
  else if (ws_has_bytes(type)) {
    b->offsets = ws_alloc((b->cap + 1) * 4);
    b->offsets[0] = 0;
    b->room = bytes < 64 ? 64 : bytes;
    b->data = ws_alloc(b->room + 16); /* ws_copy writes beyond */
  } else b->data = ws_alloc(b->cap * ws_width(type));
  return b;
}

WS_FUNC ws_builder *ws_new_nested(uint16_t type, uint32_t n, ws_builder **children) {
  ws_builder *b = ws_alloc_zero(sizeof *b);
  b->type = type;
  b->cap = 8;
  b->child_count = n;
  b->children = ws_alloc(n * sizeof *children + 1);
  for (uint32_t i = 0; i < n; i++) b->children[i] = children[i];
  if (type != WS_STRUCT) {
    b->offsets = ws_alloc((b->cap + 1) * 4);
    b->offsets[0] = 0;
  }
  return b;
}

/* A builder of ARRAY rows: for each row add any number of values to the element (ws_below(b, 0)), then ws_end. */
WS_FUNC ws_builder *ws_new_list(ws_builder *element) { return ws_new_nested(WS_LIST, 1, &element); }
/* A builder of MAP rows: for each row add any number of keys, not null, and as many values, then ws_end. */
WS_FUNC ws_builder *ws_new_map(ws_builder *key, ws_builder *value) {
  ws_builder *both[] = {key, value};
  return ws_new_nested(WS_MAP, 2, both);
}
/* A builder of STRUCT rows: for each row add one value to each of the n members, then ws_end. */
WS_FUNC ws_builder *ws_new_struct(uint32_t n, ws_builder **members) { return ws_new_nested(WS_STRUCT, n, members); }
/* The builder below: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct. */
WS_INLINE ws_builder *ws_below(const ws_builder *b, uint32_t i) { return b->children[i]; }

/* Adds a builder as a main column of the output. */
WS_FUNC ws_builder *ws_output_of(ws_call *c, ws_builder *b) {
  if (c->out_main >= 48) ws_trap();
  c->out[c->out_main++] = b;
  c->out_count = c->out_main;
  return b;
}

/* Adds a main column to the output, with room for rows and bytes. */
WS_FUNC ws_builder *ws_add_column(ws_call *c, uint16_t type, uint32_t rows, uint32_t bytes) {
  return ws_output_of(c, ws_new_builder(type, rows, bytes));
}

/* Adds a main column to the output, with room for a row for each row of the input. */
WS_FUNC ws_builder *ws_output(ws_call *c, uint16_t type) { return ws_add_column(c, type, c->rows, c->rows * 8); }

/* The only column of a filter's output. */
WS_FUNC ws_builder *ws_bools(ws_call *c) { return ws_add_column(c, WS_BOOL, c->rows, 0); }

/* An output column that is input column i untouched, in map functions. */
WS_FUNC void ws_pass(ws_call *c, uint32_t i) {
  ws_builder *b = ws_add_column(c, WS_NULL, 0, 0);
  b->passed = i + 1;
}

static __attribute__((noinline, unused)) void ws_grow_rows(ws_builder *b) {
  uint32_t cap = b->cap * 2;
  if (b->valid) {
    uint8_t *v = ws_alloc_zero((cap + 7) / 8);
    __builtin_memcpy(v, b->valid, (b->cap + 7) / 8);
    b->valid = v;
  }
  if (b->type == WS_BOOL) {
    uint8_t *d = ws_alloc_zero((cap + 7) / 8);
    __builtin_memcpy(d, b->data, (b->cap + 7) / 8);
    b->data = d;
  } else if (b->offsets) {
    int32_t *o = ws_alloc((cap + 1) * 4);
    __builtin_memcpy(o, b->offsets, (b->cap + 1) * 4);
    b->offsets = o;
  } else if (b->type != WS_STRUCT) {
    uint32_t w = ws_width(b->type);
    uint8_t *d = ws_alloc(cap * w);
    __builtin_memcpy(d, b->data, b->cap * w);
    b->data = d;
  }
  b->cap = cap;
}

static __attribute__((noinline, unused)) void ws_grow_bytes(ws_builder *b, uint32_t n) {
  uint32_t room = b->room * 2 > b->len + n ? b->room * 2 : b->len + n;
  uint8_t *d = ws_alloc(room + 16);
  __builtin_memcpy(d, b->data, b->len);
  b->data = d;
  b->room = room;
}

static __attribute__((noinline, unused)) void ws_first_null(ws_builder *b) {
  uint32_t n = (b->cap + 7) / 8;
  b->valid = ws_alloc(n);
  __builtin_memset(b->valid, 0, n);
  __builtin_memset(b->valid, 0xff, b->rows / 8);
  if (b->rows & 7) b->valid[b->rows >> 3] = (uint8_t)((1u << (b->rows & 7)) - 1);
}

/* Opens a row; the caller has written or will write its value. */
WS_INLINE void ws_row(ws_builder *b) {
  if (b->valid) b->valid[b->rows >> 3] |= (uint8_t)(1u << (b->rows & 7));
  b->rows++;
}
WS_INLINE void ws_room(ws_builder *b) { if (b->rows == b->cap) ws_grow_rows(b); }

static void ws_clear_bits(uint8_t *bits, uint32_t from, uint32_t to) {
  for (; from < to && from & 7; from++) bits[from >> 3] &= (uint8_t)~(1u << (from & 7));
  if (from < to) __builtin_memset(bits + (from >> 3), 0, ((to + 7) >> 3) - (from >> 3));
}

/* Takes back what was added beyond n rows, and below a nested column what belongs to none of them. */
static __attribute__((unused)) void ws_undo(ws_builder *b, uint32_t n) {
  if (b->rows < n) return;
  for (uint32_t i = 0; i < b->child_count; i++) ws_undo(b->children[i], b->offsets ? (uint32_t)b->offsets[n] : n);
  if (b->valid) {
    for (uint32_t i = n; i < b->rows; i++) b->nulls -= !(b->valid[i >> 3] >> (i & 7) & 1);
    ws_clear_bits(b->valid, n, b->rows);
  }
  if (b->type == WS_BOOL) ws_clear_bits(b->data, n, b->rows);
  if (ws_has_bytes(b->type)) b->len = (uint32_t)b->offsets[n];
  b->rows = n;
}

static __attribute__((unused)) void ws_add_null(ws_builder *b) {
  ws_room(b);
  if (!b->valid) ws_first_null(b);
  b->nulls++;
  if (b->child_count) {
    uint32_t at = b->offsets ? (uint32_t)b->offsets[b->rows] : b->rows;
    for (uint32_t i = 0; i < b->child_count; i++) {
      ws_undo(b->children[i], at);
      if (!b->offsets) ws_add_null(b->children[i]);
    }
    if (b->offsets) b->offsets[b->rows + 1] = (int32_t)at;
  } else if (b->offsets) b->offsets[b->rows + 1] = (int32_t)b->len;
  else if (b->type != WS_BOOL) __builtin_memset(b->data + b->rows * ws_width(b->type), 0, ws_width(b->type));
  b->rows++;
}
WS_INLINE void ws_add_bool(ws_builder *b, int v) { ws_room(b); b->data[b->rows >> 3] |= (uint8_t)((v ? 1u : 0u) << (b->rows & 7)); ws_row(b); }
WS_INLINE void ws_add_i8(ws_builder *b, int8_t v) { ws_room(b); ((int8_t *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_i16(ws_builder *b, int16_t v) { ws_room(b); ((int16_t *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_i32(ws_builder *b, int32_t v) { ws_room(b); ((int32_t *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_i64(ws_builder *b, int64_t v) { ws_room(b); ((int64_t *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_f32(ws_builder *b, float v) { ws_room(b); ((float *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_f64(ws_builder *b, double v) { ws_room(b); ((double *)b->data)[b->rows] = v; ws_row(b); }
WS_INLINE void ws_add_bytes(ws_builder *b, const void *p, uint32_t n) {
  ws_room(b);
  if (n > b->room - b->len) ws_grow_bytes(b, n);
  ws_copy(b->data + b->len, p, n);
  b->len += n;
  b->offsets[b->rows + 1] = (int32_t)b->len;
  ws_row(b);
}
WS_INLINE void ws_add_str(ws_builder *b, const char *s) { ws_add_bytes(b, s, ws_strlen(s)); }
/* Ends a row of a list, map or struct; traps where a struct's members or a map's keys and values do not fit. */
WS_FUNC void ws_end(ws_builder *b) {
  ws_room(b);
  for (uint32_t i = 0; i < b->child_count; i++) {
    if (b->children[i]->rows != (b->offsets ? b->children[0]->rows : b->rows + 1)) ws_trap();
  }
  if (b->offsets) b->offsets[b->rows + 1] = (int32_t)b->children[0]->rows;
  ws_row(b);
}
/* Row i of an input column of the same type, null or not. */
static __attribute__((unused)) void ws_add_from(ws_builder *b, const ws_column *k, uint32_t i) {
  if (ws_null_at(k, i)) ws_add_null(b);
  else if (b->child_count) {
    ws_span s = k->offsets ? ws_range(k, i) : (ws_span){i, i + 1};
    for (uint32_t n = 0; n < b->child_count; n++) {
      for (uint32_t j = s.from; j < s.to; j++) ws_add_from(b->children[n], ws_child(k, n), j);
    }
    ws_end(b);
  } else if (k->offsets) { ws_bytes s = ws_bytes_at(k, i); ws_add_bytes(b, s.p, s.n); }
  else if (k->type == WS_BOOL) ws_add_bool(b, ws_bit(k->data, i));
  else {
    uint32_t w = ws_width(k->type);
    ws_room(b);
    __builtin_memcpy(b->data + b->rows * w, k->data + i * w, w);
    ws_row(b);
  }
}

/* Refuses a row: it goes where the pipeline's onError says. */
WS_FUNC void ws_refuse_bytes(ws_call *c, uint32_t row, int32_t code, const void *text, uint32_t n) {
  if (!c->errors[0]) {
    c->errors[0] = ws_new_builder(WS_INT32, 8, 0);
    c->errors[1] = ws_new_builder(WS_INT32, 8, 0);
    c->errors[2] = ws_new_builder(WS_STRING, 8, 256);
  }
  ws_add_i32(c->errors[0], (int32_t)row);
  ws_add_i32(c->errors[1], code);
  ws_add_bytes(c->errors[2], text, n);
}
WS_FUNC void ws_refuse(ws_call *c, uint32_t row, int32_t code, const char *text) {
  ws_refuse_bytes(c, row, code, text, ws_strlen(text));
}

/* Says which input row (or group) the next output row comes from: once for each output row, in order. */
WS_FUNC void ws_parent(ws_call *c, uint32_t row) {
  if (!c->parents) c->parents = ws_new_builder(WS_INT32, c->rows, 0);
  ws_add_i32(c->parents, (int32_t)row);
}

/* Says that the output rows have parents, though there may be no row. */
WS_FUNC void ws_parents_none(ws_call *c) {
  if (!c->parents) c->parents = ws_new_builder(WS_INT32, c->rows, 0);
}

/* Opens a section; the columns that are added with ws_section_add belong to it. */
WS_FUNC void ws_open_section(ws_call *c, uint32_t id, uint32_t rows) {
  if (c->out_section_count >= 8) ws_trap();
  c->out_sections[c->out_section_count++] = (ws_section){id, rows, 0, 0};
}
WS_FUNC void ws_section_add(ws_call *c, ws_builder *b) {
  if (c->out_count >= 64) ws_trap();
  c->out[c->out_count++] = b;
  c->out_sections[c->out_section_count - 1].columns++;
}

typedef struct { uint8_t *frame; ws_node *node; ws_buffer *buffer; uint32_t nodes, buffers; } ws_tables;

WS_INLINE void ws_put_buffer(ws_tables *t, const void *p, uint32_t n) {
  t->buffer[t->buffers++] = (ws_buffer){p ? (uint32_t)((const uint8_t *)p - t->frame) : 0, p ? n : 0};
}

/* Writes the nodes of a column and of what is below it. */
static __attribute__((unused)) void ws_put_column(ws_tables *t, const ws_builder *b) {
  if (t->nodes + 2 > WS_MAX_NODES) ws_trap();
  ws_node *n = &t->node[t->nodes++];
  if (b->passed) {
    *n = (ws_node){WS_NULL, WS_NODE_PASSED, 0, 0, b->passed - 1, 0, 0};
    return;
  }
  *n = (ws_node){b->type, b->valid ? WS_NODE_NULLABLE : 0, b->rows, b->nulls, t->buffers, b->type == WS_MAP ? 1 : b->child_count, b->param};
  if (b->type == WS_NULL) return;
  ws_put_buffer(t, b->valid, (b->rows + 7) / 8);
  if (b->offsets) ws_put_buffer(t, b->offsets, (b->rows + 1) * 4);
  if (ws_has_bytes(b->type)) ws_put_buffer(t, b->data, b->len);
  else if (!b->child_count && b->type != WS_STRUCT) {
    ws_put_buffer(t, b->data, b->type == WS_BOOL ? (b->rows + 7) / 8 : b->rows * ws_width(b->type));
  }
  if (b->type == WS_MAP) { /* the struct of its entries */
    t->node[t->nodes++] = (ws_node){WS_STRUCT, 0, b->children[0]->rows, 0, t->buffers, 2, 0};
    ws_put_buffer(t, 0, 0);
  }
  for (uint32_t i = 0; i < b->child_count; i++) ws_put_column(t, b->children[i]);
}

/* Writes the tables of the output and gives what wstream_call returns. */
WS_FUNC int64_t ws_finish(ws_call *c) {
  if (c->parents) {
    ws_open_section(c, WS_SECTION_PARENTS, c->parents->rows);
    ws_section_add(c, c->parents);
  }
  if (c->errors[0]) {
    ws_open_section(c, WS_SECTION_ERRORS, c->errors[0]->rows);
    for (int i = 0; i < 3; i++) ws_section_add(c, c->errors[i]);
  }
  ws_header *h = (ws_header *)c->frame;
  ws_tables t = {c->frame, (ws_node *)(c->frame + sizeof *h), 0, 0, 0};
  t.buffer = (ws_buffer *)(t.node + WS_MAX_NODES);
  ws_section *section = (ws_section *)(t.buffer + 3 * WS_MAX_NODES);
  c->out_rows = c->parents ? c->parents->rows : c->rows;
  for (uint32_t i = 0; i < c->out_count; i++) {
    const ws_builder *b = c->out[i];
    if (i < c->out_main && !c->parents && !b->passed) c->out_rows = b->rows;
    ws_put_column(&t, b);
  }
  for (uint32_t i = 0; i < c->out_section_count; i++) section[i] = c->out_sections[i];
  *h = (ws_header){.magic = WS_MAGIC, .header_size = sizeof *h, .frame_size = (uint32_t)(ws_top - (uintptr_t)c->frame),
                   .kind = c->header->kind, .op = c->header->op, .flags = c->header->flags & (WS_FIRST | WS_LAST),
                   .rows = c->out_main ? c->out_rows : 0, .batch_id = c->header->batch_id, .watermark = c->header->watermark,
                   .columns = c->out_main, .nodes = t.nodes, .buffers = t.buffers, .sections = c->out_section_count,
                   .nodes_at = sizeof *h, .buffers_at = (uint32_t)((uint8_t *)t.buffer - c->frame),
                   .sections_at = (uint32_t)((uint8_t *)section - c->frame)};
  return (int64_t)((uint64_t)WS_AT(c->frame) << 32 | h->frame_size);
}

/* ---- Functions of one row, of one key, of one group: what ws_function.call may be made of ---- */

/* A filter: keep says of a row whether it stays, or gives a text that refuses it. */
WS_INLINE int64_t ws_filter_rows(ws_call *c, const char *(*keep)(ws_call *c, uint32_t row, int *stays)) {
  ws_builder *out = ws_bools(c);
  for (uint32_t row = 0; row < c->rows; row++) {
    int stays = 0;
    const char *refused = keep(c, row, &stays);
    if (refused) ws_refuse(c, row, 1, refused);
    ws_add_bool(out, stays && !refused);
  }
  return ws_finish(c);
}

/* A scalar: value adds the value of a row to out (ws_output, ws_output_of), or gives a text that refuses the row. */
WS_INLINE int64_t ws_scalar_rows(ws_call *c, ws_builder *out, const char *(*value)(ws_call *c, uint32_t row, ws_builder *out)) {
  for (uint32_t row = 0; row < c->rows; row++) {
    const char *refused = value(c, row, out);
    if (!refused) continue;
    ws_refuse(c, row, 1, refused);
    ws_undo(out, row);
    ws_add_null(out);
  }
  return ws_finish(c);
}

/* Parse and map functions: row adds any number of rows to the outputs, or gives a text that refuses the input row. */
WS_INLINE int64_t ws_parse_rows(ws_call *c, ws_builder **out, uint32_t columns,
                                const char *(*row)(ws_call *c, uint32_t row, ws_builder **out)) {
  ws_parents_none(c);
  for (uint32_t i = 0; i < c->rows; i++) {
    const char *refused = row(c, i, out);
    if (refused) {
      ws_refuse(c, i, 1, refused);
      for (uint32_t k = 0; k < columns; k++) ws_undo(out[k], c->parents->rows);
    }
    while (c->parents->rows < out[0]->rows) ws_parent(c, i);
  }
  return ws_finish(c);
}

/* An aggregate: a group's accumulator has size bytes, zero in a group that is new. update folds a row into it, merge
 * another accumulator, and finish adds the group's value to out, which is of the given type. */
WS_INLINE int64_t ws_aggregate_rows(ws_call *c, uint32_t size, uint16_t type, void (*update)(ws_call *c, uint32_t row, void *acc),
                                    void (*merge)(void *acc, const void *other), void (*finish)(const void *acc, ws_builder *out)) {
  const ws_column *in = ws_col(c, 0);
  uint32_t step = (size + 7) & ~7u, n = c->section_rows[WS_SECTION_ACCUMULATORS];
  uint8_t *one = ws_alloc_zero(step); /* aligned, as what lies among other bytes need not be */
  if (c->header->op == WS_OP_FINISH) {
    ws_builder *out = ws_output(c, type);
    for (uint32_t i = 0; i < c->rows; i++) {
      if (ws_null_at(in, i)) __builtin_memset(one, 0, size);
      else __builtin_memcpy(one, ws_bytes_at(in, i).p, size);
      finish(one, out);
    }
    return ws_finish(c);
  }
  const ws_column *old = ws_section_col(c, WS_SECTION_ACCUMULATORS, 0), *group = ws_section_col(c, WS_SECTION_GROUP_INDEX, 0);
  uint8_t *acc = ws_alloc_zero(n * step);
  for (uint32_t i = 0; i < n; i++) {
    if (!ws_null_at(old, i)) __builtin_memcpy(acc + i * step, ws_bytes_at(old, i).p, size);
  }
  for (uint32_t i = 0; i < c->rows; i++) {
    uint8_t *a = acc + (uint32_t)ws_i32_at(group, i) * step;
    if (c->header->op != WS_OP_MERGE) update(c, i, a);
    else if (!ws_null_at(in, i)) {
      __builtin_memcpy(one, ws_bytes_at(in, i).p, size);
      merge(a, one);
    }
  }
  ws_builder *out = ws_new_builder(WS_BINARY, n, n * size);
  for (uint32_t i = 0; i < n; i++) ws_add_bytes(out, acc + i * step, size);
  ws_open_section(c, WS_SECTION_ACCUMULATORS, n);
  ws_section_add(c, out);
  return ws_finish(c);
}

typedef struct { /* a key of a state function's call */
  ws_call *call;
  uint32_t index, from, to; /* its number, what ws_parent takes; its rows */
  int has_state, timed_out; /* whether there is an old state; whether it is called since its time-out has passed */
  int64_t timeout;          /* that it had */
  int8_t action_;
  int64_t wanted_;
} ws_group;

/* Column i of the key, and of the old state: row index of it counts. */
WS_INLINE const ws_column *ws_key(const ws_group *g, uint32_t i) { return ws_section_col(g->call, WS_SECTION_GROUPS, 3 + i); }
WS_INLINE const ws_column *ws_old(const ws_group *g, uint32_t i) { return ws_section_col(g->call, WS_SECTION_STATE, i); }
/* The key's state is set: add one value to each builder of the state. */
WS_INLINE void ws_set(ws_group *g) { g->action_ = WS_STATE_SET; }
WS_INLINE void ws_remove(ws_group *g) { g->action_ = WS_STATE_REMOVE; }
/* Asks for a call when the watermark (or the time) has passed t, in microseconds. It lasts until the key's next call. */
WS_INLINE void ws_set_timeout(ws_group *g, int64_t t) { g->wanted_ = t; }

/* A state function: key looks at one key, adds rows to the outputs with ws_parent(c, g->index) for each, and says what
 * becomes of the state, whose columns are built by the given builders. A text fails the batch. */
WS_INLINE int64_t ws_groups(ws_call *c, ws_builder **state, uint32_t states, ws_builder **out,
                            const char *(*key)(ws_call *c, ws_group *g, ws_builder **state, ws_builder **out)) {
  uint32_t n = c->section_rows[WS_SECTION_GROUPS], from = 0;
  const ws_column *end = ws_section_col(c, WS_SECTION_GROUPS, 0), *flags = ws_section_col(c, WS_SECTION_GROUPS, 1),
                  *timeout = ws_section_col(c, WS_SECTION_GROUPS, 2);
  ws_builder *action = ws_new_builder(WS_INT8, n, 0), *wanted = ws_new_builder(WS_INT64, n, 0);
  ws_parents_none(c);
  for (uint32_t i = 0; i < n; i++) {
    int8_t f = ws_i8_at(flags, i);
    ws_group g = {c, i, from, (uint32_t)ws_i32_at(end, i), (f & WS_HAS_STATE) != 0, (f & WS_TIMED_OUT) != 0, ws_i64_at(timeout, i),
                  WS_STATE_KEEP, WS_NO_TIMEOUT};
    const char *failed = key(c, &g, state, out);
    if (failed) return ws_fail(WS_FAILED, failed);
    ws_add_i8(action, g.action_);
    ws_add_i64(wanted, g.wanted_);
    for (uint32_t k = 0; k < states && g.action_ != WS_STATE_SET; k++) ws_add_null(state[k]);
    from = g.to;
  }
  ws_open_section(c, WS_SECTION_STATE, n);
  ws_section_add(c, action);
  ws_section_add(c, wanted);
  for (uint32_t k = 0; k < states; k++) ws_section_add(c, state[k]);
  return ws_finish(c);
}

/* ---- Capabilities ---- */

WS_FUNC void ws_log(int32_t level, const char *text) { ws_log_write(level, text, ws_strlen(text)); }

/* Runs a statement for every row of the input. */
WS_FUNC int64_t ws_exec(ws_call *c, ws_bytes connection, const char *statement) {
  return ws_sql_exec_(connection.p, connection.n, statement, ws_strlen(statement), c->header, c->header->frame_size);
}

/* Runs a statement without parameters once: for a frame of one row without columns. */
WS_FUNC int64_t ws_exec_once(ws_call *c, ws_bytes connection, const char *statement) {
  ws_header *h = ws_alloc_zero(sizeof *h);
  *h = (ws_header){.magic = WS_MAGIC, .header_size = sizeof *h, .frame_size = sizeof *h, .kind = c->header->kind, .rows = 1,
                   .batch_id = c->header->batch_id};
  return ws_sql_exec_(connection.p, connection.n, statement, ws_strlen(statement), h, sizeof *h);
}

/* ---- Bind ---- */

typedef struct { ws_bytes json; } ws_bind;

/* Finds a string setting of the config; empty (p is 0) when there is none. Escapes are left as they are. */
WS_FUNC ws_bytes ws_config(const ws_bind *b, const char *key) {
  /* The request is {"function":…,"input":[…],"config":{"key":"value",…},…}: look behind "config". */
  static const char mark[] = "\"config\":{";
  const uint8_t *p = b->json.p, *e = p + b->json.n;
  uint32_t m = sizeof mark - 1, k = ws_strlen(key);
  while (p + m <= e && !ws_same(p, (const uint8_t *)mark, m)) p++;
  for (p += m; p < e && *p == '"';) {
    const uint8_t *name = ++p;
    while (p < e && *p != '"') p += *p == '\\' ? 2 : 1;
    int found = (uint32_t)(p - name) == k && ws_same(name, (const uint8_t *)key, k);
    p += 3; /* ":" */
    const uint8_t *value = p;
    while (p < e && *p != '"') p += *p == '\\' ? 2 : 1;
    if (found && p < e) return (ws_bytes){value, (uint32_t)(p - value)};
    p++;
    if (p < e && *p == ',') p++;
  }
  return (ws_bytes){0, 0};
}

/* Makes a copy that stays. */
WS_FUNC ws_bytes ws_keep_bytes(ws_bytes b) {
  uint8_t *p = ws_keep(b.n);
  if (p && b.n) __builtin_memcpy(p, b.p, b.n);
  return (ws_bytes){p, b.n};
}

/* ---- The module ---- */

typedef struct {
  const char *name;
  /* Optional: gives what ws_call.bound is, or sets *status (with ws_fail) to refuse. */
  void *(*bind)(const ws_bind *b, int64_t *status);
  int64_t (*call)(ws_call *c);
} ws_function;

enum { WS_MAX_BOUND = 256 };
static struct { const ws_function *f; void *bound; } ws_bounds[WS_MAX_BOUND];
static uint32_t ws_bound_count;
static uint8_t *ws_input;
static uint32_t ws_input_size;

WS_FUNC uint32_t ws_module_buffer(uint32_t min) {
  if (min > ws_input_size || !ws_input) {
    uint32_t n = min + (min >> 1) + 4096;
    uint8_t *p = ws_keep(n);
    if (!p) p = ws_keep(n = min);
    if (!p) return 0;
    ws_input = p;
    ws_input_size = n;
  }
  return WS_AT(ws_input);
}

WS_FUNC int64_t ws_module_bind(const ws_function *functions, uint32_t count, const uint8_t *p, uint32_t n) {
  static const char mark[] = "{\"function\":\"";
  uint32_t m = sizeof mark - 1;
  if (n < m || !ws_same(p, (const uint8_t *)mark, m)) return ws_fail(WS_BAD_FRAME, "not a bind request");
  const uint8_t *name = p + m;
  uint32_t len = 0;
  while (name + len < p + n && name[len] != '"') len++;
  if (ws_bound_count == WS_MAX_BOUND) return ws_fail(WS_NO_MEMORY, "too many bound functions");
  for (uint32_t i = 0; i < count; i++) {
    if (!ws_is((ws_bytes){name, len}, functions[i].name)) continue;
    int64_t status = 0;
    void *bound = 0;
    if (functions[i].bind) bound = functions[i].bind(&(ws_bind){{p, n}}, &status);
    if (status < 0) return status;
    ws_bounds[ws_bound_count].f = &functions[i];
    ws_bounds[ws_bound_count].bound = bound;
    return ws_bound_count++;
  }
  return ws_fail(WS_UNKNOWN_FUNCTION, "no such function");
}

/* Reads the tables of a frame, which is the host's and so in order. The answer begins where the call's memory does. */
WS_FUNC void ws_open(ws_call *c, const uint8_t *p) {
  const ws_header *h = (const ws_header *)p;
  const ws_node *node = (const ws_node *)(p + h->nodes_at);
  const ws_buffer *buffer = (const ws_buffer *)(p + h->buffers_at);
  const ws_section *section = (const ws_section *)(p + h->sections_at);
  __builtin_memset(c, 0, sizeof *c);
  c->header = h;
  c->rows = h->rows;
  c->frame = ws_alloc(WS_TABLES);
  c->main_count = h->columns;
  c->columns = ws_alloc(h->nodes * sizeof(ws_column) + 1);
  c->main = ws_alloc(h->columns * 4 + 1);
  uint32_t i = h->nodes;
  while (i--) { /* backwards, so that children know where they end */
    const ws_node *d = &node[i];
    ws_column *k = &c->columns[i];
    *k = (ws_column){.type = d->type, .flags = d->flags, .length = d->length, .nulls = d->nulls, .children = d->children,
                     .param = d->param, .index = i, .next = i + 1};
    for (uint32_t j = 0; j < d->children; j++) k->next = c->columns[k->next].next;
    if (d->type == WS_NULL) continue;
    const ws_buffer *f = &buffer[d->buffer];
    if (f[0].length) k->valid = p + (size_t)f[0].offset;
    if (ws_has_bytes(d->type)) { k->offsets = (const int32_t *)(p + (size_t)f[1].offset); k->data = p + (size_t)f[2].offset; }
    else if (d->type == WS_LIST || d->type == WS_MAP) k->offsets = (const int32_t *)(p + (size_t)f[1].offset);
    else if (d->type != WS_STRUCT) k->data = p + (size_t)f[1].offset;
  }
  uint32_t at = 0;
  for (i = 0; i < h->columns; i++) { c->main[i] = at; at = c->columns[at].next; }
  for (i = 0; i < h->sections; i++) {
    if (section[i].id < 8) { c->section_of[section[i].id] = at; c->section_rows[section[i].id] = section[i].rows; }
    for (uint32_t j = 0; j < section[i].columns; j++) at = c->columns[at].next;
  }
}

WS_FUNC int64_t ws_module_call(uint32_t handle, const uint8_t *p, uint32_t n) {
  static ws_call c;
  if (handle >= ws_bound_count) return ws_fail(WS_FAILED, "unknown handle");
  if (!ws_kept) ws_kept = WS_HEAP;
  ws_top = ws_kept;
  const ws_header *h = (const ws_header *)p;
  if (n < sizeof *h || h->magic != WS_MAGIC || h->frame_size > n) return ws_fail(WS_BAD_FRAME, "not a frame");
  ws_open(&c, p);
  c.bound = ws_bounds[handle].bound;
  return ws_bounds[handle].f->call(&c);
}

#ifndef __wasm__
/* ---- Unit tests, natively ----
 *
 *     ws_call *t = ws_trial();
 *     ws_add_f64(ws_add_column(t, WS_FLOAT64, 1, 0), 60);
 *     const ws_call *r = ws_try(t, big, 0);
 *     assert(ws_bool(r, 0, 0));
 *
 * Input is built as output is: columns, then sections. ws_try calls a function through the bytes of a frame and gives its
 * answer to be read as input is; rows that it refused are in WS_SECTION_ERRORS. 0 where it failed (ws_error_text) or had
 * no answer. What the function asks of the host is denied. Kind, op, flags and watermark may be set in ws_trial_header. */
static ws_header ws_trial_header;

static __attribute__((unused)) ws_call *ws_trial(void) {
  static ws_call t;
  ws_kept = ws_top = WS_HEAP;
  ws_error_len = 0;
  ws_trial_header = (ws_header){.magic = WS_MAGIC, .watermark = WS_NO_WATERMARK};
  memset(&t, 0, sizeof t);
  t.header = &ws_trial_header;
  t.frame = ws_alloc(WS_TABLES);
  return &t;
}

static __attribute__((unused)) const ws_call *ws_try(ws_call *t, int64_t (*call)(ws_call *c), void *bound) {
  static ws_call c, r;
  uint32_t n = (uint32_t)ws_finish(t);
  const uint8_t *in = t->frame;
  ws_kept = ws_top = (uintptr_t)in + n;
  ws_open(&c, in);
  c.bound = bound;
  int64_t answer = call(&c);
  if (answer <= 0) return 0;
  ws_open(&r, ws_arena + (answer >> 32));
  return &r;
}
#endif

#define WS_MODULE(manifest, functions)                                                                                    \
  static const char ws_manifest_text[] = manifest;                                                                        \
  WS_EXPORT("wstream_abi_v1") void ws_abi_v1_(void) {}                                                                     \
  WS_EXPORT("wstream_manifest") int64_t ws_manifest_(void) {                                                               \
    return (int64_t)((uint64_t)WS_AT(ws_manifest_text) << 32 | (sizeof ws_manifest_text - 1));                         \
  }                                                                                                                        \
  WS_EXPORT("wstream_buffer") uint32_t ws_buffer_(uint32_t min) { return ws_module_buffer(min); }                           \
  WS_EXPORT("wstream_bind") int64_t ws_bind_(const uint8_t *p, uint32_t n) {                                               \
    return ws_module_bind(functions, sizeof(functions) / sizeof(functions)[0], p, n);                                      \
  }                                                                                                                        \
  WS_EXPORT("wstream_call") int64_t ws_call_(uint32_t handle, const uint8_t *p, uint32_t n) {                              \
    return ws_module_call(handle, p, n);                                                                                   \
  }                                                                                                                        \
  WS_EXPORT("wstream_error") int64_t ws_error_(void) {                                                                     \
    return (int64_t)((uint64_t)WS_AT(ws_error_text) << 32 | ws_error_len);                                             \
  }

#endif
