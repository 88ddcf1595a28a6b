// NAME: a guest of wstream. keep is a filter: it says of each row whether it stays.
#include "wstream.h"

static int64_t keep(ws_call *c) {
  const double *amount = ws_f64(c, 0);
  ws_builder *out = ws_bools(c);
  for (uint32_t row = 0; row < c->rows; row++) ws_add_bool(out, !ws_is_null(c, 0, row) && amount[row] > 0);
  return ws_finish(c);
}

static const ws_function functions[] = {{"keep", 0, keep}};

WS_MODULE("{\"abi\":1,\"name\":\"NAME\",\"version\":\"0.1.0\",\"functions\":["
          "{\"name\":\"keep\",\"kind\":\"filter\",\"input\":\"amount DOUBLE\"}]}",
          functions)
