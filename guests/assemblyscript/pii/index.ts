// Masks what tells who somebody is, in texts of any kind: mask hides e-mail addresses (all but the first letter and the domain)
// and card numbers (all but the last four digits of 13 to 19 that have a right check digit).
import { add, Builder, Call, module, Type } from "../../../sdk/assemblyscript/assembly";
export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "../../../sdk/assemblyscript/assembly";

module("pii", "1.0.0");
add("mask", "scalar", "text STRING", "masked STRING", mask).doc("e-mail addresses and card numbers hidden");

function digit(c: u8): bool { return <u32>c - 0x30 < 10; }
/** Letters, digits and what else an address has; bytes beyond ASCII are letters. */
function letter(c: u8): bool {
  return digit(c) || (<u32>c | 32) - 0x61 < 26 || c >= 0x80 || c == 0x2e || c == 0x5f || c == 0x2b || c == 0x2d;
}

function mask(c: Call): void {
  c.scalarRows(new Builder(Type.STRING, c.rows), (c: Call, row: u32, out: Builder): void => {
    if (c.column(0).isNull(row)) {
      out.null();
      return;
    }
    const n = c.column(0).size(row), text = heap.alloc(n + 1);
    memory.copy(text, c.column(0).at(row), n);
    emails(text, text + n);
    cards(text, text + n);
    out.bytes(text, n);
    heap.free(text);
  });
}

/** Hides letter for letter, so that lengths stay; a character of several bytes becomes as many stars. */
function emails(from: usize, end: usize): void {
  for (let at = from; at < end; at++) {
    if (load<u8>(at) != 0x40 || at + 1 == end || !letter(load<u8>(at, 1))) continue;
    let begin = at;
    while (begin > from && letter(load<u8>(begin - 1))) begin--;
    for (let i = load<u8>(begin) < 0x80 ? begin + 1 : begin; i < at; i++) store<u8>(i, 0x2a);
  }
}

function cards(from: usize, end: usize): void {
  for (let at = from; at < end; at++) {
    if (!digit(load<u8>(at)) || (at > from && digit(load<u8>(at - 1)))) continue;
    let count = 0, to = at;
    for (let i = at; i < end; i++) { // digits, with single blanks or hyphens between
      const c = load<u8>(i);
      if (digit(c)) {
        count++;
        to = i + 1;
      } else if ((c != 0x20 && c != 0x2d) || i + 1 == end || !digit(load<u8>(i, 1))) break;
    }
    if (count < 13 || count > 19 || !luhn(at, to)) {
      continue;
    }
    let left = count - 4;
    for (let i = at; left > 0; i++) {
      if (!digit(load<u8>(i))) continue;
      store<u8>(i, 0x2a);
      left--;
    }
    at = to - 1;
  }
}

/** Whether the check digit is right. */
function luhn(at: usize, to: usize): bool {
  let sum: u32 = 0, double = false;
  for (let i = to; i > at; i--) {
    const c = load<u8>(i - 1);
    if (!digit(c)) continue;
    let d = <u32>c - 0x30;
    if (double) {
      d *= 2;
      if (d > 9) d -= 9;
    }
    sum += d;
    double = !double;
  }
  return sum % 10 == 0;
}
