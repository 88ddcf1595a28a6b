import { Builder } from "./builder";
import { Call } from "./call";
import { Type } from "./frame";
import { decimal } from "./number";
import { NO_TIME, timestamp } from "./timestamp";

const SYNTAX: i32 = 1;
const TYPE: i32 = 2;
const RANGE: i32 = 3;

/** A member of the objects that parseJson reads: STRING, DOUBLE, BIGINT, INT, BOOLEAN or TIMESTAMP. */
export class Field {
  name: ArrayBuffer = new ArrayBuffer(0);
  has: bool = false;
  at: usize = 0; // of a string
  size: u32 = 0;
  bits: u64 = 0; // of anything else
  constructor(public text: string, public type: u16) {
    this.name = String.UTF8.encode(text);
  }
}

let p: usize = 0;
let end: usize = 0;
let plain: bool = false; // whether the string read last has no escapes
let stringAt: usize = 0;
let stringEnd: usize = 0;
let scratch: usize = 0; // texts whose escapes were resolved
let scratchRoom: u32 = 0;
let scratchSize: u32 = 0;
let stack: StaticArray<u8> = new StaticArray<u8>(64);

/** Parses column i of the input into columns for the fields. A missing field and null are null; of a repeated field the last
 * value counts; members that no field names are skipped. A row that is no object, or has a value of another type, is refused
 * with a text that names the field. */
export function parseJson(c: Call, i: i32, fields: Field[]): void {
  const input = c.column(i), out: Builder[] = [];
  for (let k = 0; k < fields.length; k++) out.push(c.output(fields[k].type));
  let refused = false;
  for (let row: u32 = 0; row < c.rows; row++) {
    const code = input.isNull(row) ? refuseAt(SYNTAX, -1) : readObject(input.at(row), input.size(row), fields);
    if (code) {
      if (!refused) {
        refused = true;
        c.parents();
        for (let r: u32 = 0; r < row; r++) c.parent(r);
      }
      c.refuse(row, code, failedField < 0 ? "not a JSON object" : 'field "' + fields[failedField].text +
        (code == TYPE ? '": the value is of another type' : code == RANGE ? '": the number is out of range' : '": not JSON'));
      continue;
    }
    if (refused) c.parent(row);
    for (let k = 0; k < fields.length; k++) {
      const f = unchecked(fields[k]), b = unchecked(out[k]);
      if (!f.has) b.null();
      else if (f.type == Type.STRING) b.bytes(f.at, f.size);
      else if (f.type == Type.BOOL) b.bool(f.bits != 0);
      else if (f.type == Type.INT32) b.i32(<i32>f.bits);
      else b.i64(f.bits);
    }
  }
}

let failedField: i32 = -1;
function refuseAt(code: i32, field: i32): i32 {
  failedField = field;
  return code;
}

// @ts-ignore: decorator
@inline
function blank(): void {
  while (p < end) {
    const c = load<u8>(p);
    if (c != 0x20 && c != 0x0a && c != 0x09 && c != 0x0d) break;
    p++;
  }
}

function take(c: u8): bool {
  if (p < end && load<u8>(p) == c) { p++; return true; }
  blank();
  if (p < end && load<u8>(p) == c) { p++; return true; }
  return false;
}

function same(at: usize, name: ArrayBuffer): bool {
  return memory.compare(at, changetype<usize>(name), name.byteLength) == 0;
}

function readObject(at: usize, size: u32, fields: Field[]): i32 {
  p = at;
  end = at + size;
  scratchSize = 0;
  if (scratchRoom < size) { // it may not move while fields point into it: a row's texts are never longer than the row
    if (scratch) heap.free(scratch);
    scratchRoom = size + 1024;
    scratch = heap.alloc(scratchRoom);
  }
  for (let k = 0; k < fields.length; k++) unchecked(fields[k]).has = false;
  if (!take(0x7b)) return refuseAt(SYNTAX, -1);
  if (take(0x7d)) return rest();
  let next = 0;
  while (true) {
    blank();
    if (!readText()) return refuseAt(SYNTAX, -1);
    let from = stringAt, n = <u32>(stringEnd - stringAt);
    if (!plain) {
      from = scratch + scratchSize;
      const m = unescape(stringAt, stringEnd);
      if (m < 0) return refuseAt(SYNTAX, -1);
      n = m;
    }
    if (!take(0x3a)) return refuseAt(SYNTAX, -1);
    let found = -1;
    for (let k = 0; k < fields.length; k++) { // members mostly come in the order of the fields
      const i = next + k < fields.length ? next + k : next + k - fields.length;
      const name = unchecked(fields[i]).name;
      if (<u32>name.byteLength == n && same(from, name)) { found = i; break; }
    }
    blank();
    if (found < 0) {
      if (!skip()) return refuseAt(SYNTAX, -1);
    } else {
      next = found + 1;
      const code = readValue(unchecked(fields[found]));
      if (code) return refuseAt(code, found);
    }
    if (take(0x2c)) continue;
    if (take(0x7d)) return rest();
    return refuseAt(SYNTAX, -1);
  }
}

function rest(): i32 {
  blank();
  return p == end ? 0 : refuseAt(SYNTAX, -1);
}

function readValue(f: Field): i32 {
  if (p >= end) return SYNTAX;
  const c = load<u8>(p);
  if (c == 0x6e) {
    f.has = false;
    return word(0x6e, 0x75, 0x6c, 0x6c, 0) ? 0 : SYNTAX;
  }
  f.has = true;
  if (f.type == Type.STRING || f.type == Type.TIMESTAMP) {
    if (c != 0x22) return TYPE;
    if (!readText()) return SYNTAX;
    if (f.type == Type.TIMESTAMP) {
      f.bits = timestamp(stringAt, <u32>(stringEnd - stringAt));
      return <i64>f.bits == NO_TIME ? TYPE : 0;
    }
    f.at = stringAt;
    f.size = <u32>(stringEnd - stringAt);
    if (!plain) {
      f.at = scratch + scratchSize;
      const n = unescape(stringAt, stringEnd);
      if (n < 0) return SYNTAX;
      f.size = n;
    }
    return 0;
  }
  if (f.type == Type.BOOL) {
    if (word(0x74, 0x72, 0x75, 0x65, 0)) { f.bits = 1; return 0; }
    f.bits = 0;
    return word(0x66, 0x61, 0x6c, 0x73, 0x65) ? 0 : TYPE;
  }
  if (c != 0x2d && <u32>c - 0x30 > 9) return TYPE;
  const from = p;
  if (!readNumber()) return SYNTAX;
  if (f.type == Type.FLOAT64) {
    const v = decimal(from, <u32>(p - from));
    if (v == Infinity || v == -Infinity) return RANGE;
    f.bits = reinterpret<u64>(v);
    return 0;
  }
  if (!whole) return TYPE;
  const negative = c == 0x2d;
  let v: u64 = 0;
  for (let i = negative ? from + 1 : from; i < p; i++) {
    const digit = <u64>(load<u8>(i) - 0x30);
    if (v > 922337203685477580) return RANGE;
    v = v * 10 + digit;
  }
  if (v > (negative ? <u64>1 << 63 : u64.MAX_VALUE >> 1)) return RANGE;
  const x = negative ? <i64>(0 - v) : <i64>v;
  if (f.type == Type.INT32 && x != <i64><i32>x) return RANGE;
  f.bits = x;
  return 0;
}

/** Passes over a word of four or five letters. */
function word(a: u8, b: u8, c: u8, d: u8, e: u8): bool {
  const n: usize = e ? 5 : 4;
  if (end - p < n || load<u8>(p) != a || load<u8>(p, 1) != b || load<u8>(p, 2) != c || load<u8>(p, 3) != d || (e && load<u8>(p, 4) != e)) return false;
  p += n;
  return true;
}

let whole: bool = false;
function digits(): bool {
  const from = p;
  while (p < end && <u32>load<u8>(p) - 0x30 < 10) p++;
  return p > from;
}

/** Passes over a number. */
function readNumber(): bool {
  whole = true;
  if (p < end && load<u8>(p) == 0x2d) p++;
  const first = p;
  if (!digits() || (p > first + 1 && load<u8>(first) == 0x30)) return false;
  if (p < end && load<u8>(p) == 0x2e) {
    p++;
    whole = false;
    if (!digits()) return false;
  }
  if (p < end && (load<u8>(p) | 32) == 0x65) {
    p++;
    whole = false;
    if (p < end && (load<u8>(p) == 0x2b || load<u8>(p) == 0x2d)) p++;
    if (!digits()) return false;
  }
  return true;
}

/** Passes over a string; stringAt and stringEnd are set to what is between its quotes, which is UTF-8. */
function readText(): bool {
  if (p >= end || load<u8>(p) != 0x22) return false;
  stringAt = ++p;
  plain = true;
  let ascii = true;
  while (true) {
    while (p + 16 <= end) { // 16 bytes at once: quotes, backslashes, control characters and what is beyond ASCII stop
      const v = v128.load(p);
      const stop = i8x16.bitmask(v128.or(v128.or(i8x16.eq(v, i8x16.splat(0x22)), i8x16.eq(v, i8x16.splat(0x5c))), i8x16.lt_s(v, i8x16.splat(0x20))));
      if (stop) { p += ctz(stop); break; }
      p += 16;
    }
    if (p >= end) return false;
    const c = load<u8>(p);
    if (c == 0x22) break;
    if (c < 0x20) return false;
    if (c == 0x5c) {
      plain = false;
      p += 2;
    } else {
      if (c >= 0x80) ascii = false;
      p++;
    }
  }
  stringEnd = p++;
  return ascii || utf8(stringAt, stringEnd);
}

function utf8(at: usize, end: usize): bool {
  while (at < end) {
    const c = <u32>load<u8>(at);
    if (c < 0x80) { at++; continue; }
    const n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || at + n > end) return false;
    const second = <u32>load<u8>(at, 1);
    if (second < (c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80) || second > (c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf)) return false;
    for (let i = 2; i < n; i++) if ((load<u8>(at + i) & 0xc0) != 0x80) return false;
    at += n;
  }
  return true;
}

function hex4(at: usize, end: usize): i32 {
  if (at + 4 > end) return -1;
  let v = 0;
  for (let i: usize = 0; i < 4; i++) {
    const c = <u32>load<u8>(at + i), d = c - 0x30 < 10 ? c - 0x30 : (c | 32) - 0x61 < 6 ? (c | 32) - 0x61 + 10 : 16;
    if (d > 15) return -1;
    v = (v << 4) | d;
  }
  return v;
}

/** Appends a text with its escapes resolved to the scratch; its length, or -1. */
function unescape(at: usize, end: usize): i32 {
  const from = scratch + scratchSize;
  let o = from;
  while (at < end) {
    const c = load<u8>(at++);
    if (c != 0x5c) { store<u8>(o++, c); continue; }
    if (at >= end) return -1;
    const e = load<u8>(at++);
    switch (e) {
      case 0x22: case 0x5c: case 0x2f: store<u8>(o++, e); break;
      case 0x6e: store<u8>(o++, 0x0a); break;
      case 0x74: store<u8>(o++, 0x09); break;
      case 0x72: store<u8>(o++, 0x0d); break;
      case 0x62: store<u8>(o++, 0x08); break;
      case 0x66: store<u8>(o++, 0x0c); break;
      case 0x75: {
        let v = hex4(at, end);
        if (v < 0) return -1;
        at += 4;
        if (v >= 0xd800 && v < 0xdc00 && at + 6 <= end && load<u8>(at) == 0x5c && load<u8>(at, 1) == 0x75) {
          const w = hex4(at + 2, end);
          if (w >= 0xdc00 && w < 0xe000) {
            v = 0x10000 + ((v - 0xd800) << 10) + (w - 0xdc00);
            at += 6;
          }
        }
        if (v >= 0xd800 && v < 0xe000) v = 0xfffd; // half a surrogate pair
        if (v < 0x80) store<u8>(o++, <u8>v);
        else if (v < 0x800) {
          store<u8>(o++, <u8>(0xc0 | (v >> 6)));
          store<u8>(o++, <u8>(0x80 | (v & 63)));
        } else if (v < 0x10000) {
          store<u8>(o++, <u8>(0xe0 | (v >> 12)));
          store<u8>(o++, <u8>(0x80 | ((v >> 6) & 63)));
          store<u8>(o++, <u8>(0x80 | (v & 63)));
        } else {
          store<u8>(o++, <u8>(0xf0 | (v >> 18)));
          store<u8>(o++, <u8>(0x80 | ((v >> 12) & 63)));
          store<u8>(o++, <u8>(0x80 | ((v >> 6) & 63)));
          store<u8>(o++, <u8>(0x80 | (v & 63)));
        }
        break;
      }
      default: return -1;
    }
  }
  scratchSize += <u32>(o - from);
  return <i32>(o - from);
}

/** Passes over a value, without recursion. */
function skip(): bool {
  let depth = 0;
  while (true) {
    blank();
    if (p >= end) return false;
    const c = load<u8>(p);
    if (c == 0x7b || c == 0x5b) {
      p++;
      if (!take(c + 2)) {
        if (depth == stack.length) {
          const more = new StaticArray<u8>(depth << 1);
          for (let i = 0; i < depth; i++) more[i] = stack[i];
          stack = more;
        }
        stack[depth++] = c;
        if (c == 0x7b && !key()) return false;
        continue;
      }
    } else if (c == 0x22) {
      if (!readText()) return false;
    } else if (c == 0x74) {
      if (!word(0x74, 0x72, 0x75, 0x65, 0)) return false;
    } else if (c == 0x66) {
      if (!word(0x66, 0x61, 0x6c, 0x73, 0x65)) return false;
    } else if (c == 0x6e) {
      if (!word(0x6e, 0x75, 0x6c, 0x6c, 0)) return false;
    } else if (!readNumber()) return false;
    while (true) {
      if (!depth) return true;
      const open = stack[depth - 1];
      if (take(open + 2)) { depth--; continue; }
      if (!take(0x2c)) return false;
      if (open == 0x7b && !key()) return false;
      break;
    }
  }
}

function key(): bool {
  blank();
  return readText() && take(0x3a);
}
