/* faulty: the guest of clicks with faults that a text in any of its rows sets off: "loop!" makes it run for ever, "nonsense!"
 * has it answer with what is no frame. Everything else is handled as clicks.c does it, so that a pipeline can go on with
 * clicks.wasm in its place. */
#include "wstream_json.h"

static int says(const uint8_t *p, uint32_t n, const char *word) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = 0;
    while (word[j] && i + j < n && p[i + j] == (uint8_t)word[j]) j++;
    if (!word[j]) return 1;
  }
  return 0;
}

static volatile uint32_t turns;

static __attribute__((noinline)) void turn_for_ever(void) { for (;;) turns++; }

static int64_t faulty_call(uint32_t handle, const uint8_t *p, uint32_t n) {
  if (says(p, n, "loop!")) turn_for_ever();
  if (says(p, n, "nonsense!")) return (int64_t)64 << 32 | 4096;
  return ws_module_call(handle, p, n);
}

#define ws_module_call faulty_call
#include "../../../guests/c/clicks/clicks.c"
