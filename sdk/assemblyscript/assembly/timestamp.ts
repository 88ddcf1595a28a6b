/** What timestamp gives for a text that is none. */
export const NO_TIME: i64 = i64.MIN_VALUE;

function two(at: usize): i32 {
  const x = <u32>load<u8>(at) - 0x30, y = <u32>load<u8>(at, 1) - 0x30;
  return x < 10 && y < 10 ? <i32>(x * 10 + y) : 1000;
}

/** Reads `YYYY-MM-DD[T ]HH:MM:SS[.f…][zone]`, zone Z, ±HH:MM, ±HHMM or ±HH, UTC where there is none, in microseconds since
 * the epoch; i64.MIN_VALUE where it is none. */
export function timestamp(at: usize, n: u32): i64 {
  if (n < 19 || load<u8>(at, 4) != 0x2d || load<u8>(at, 7) != 0x2d || (load<u8>(at, 10) != 0x54 && load<u8>(at, 10) != 0x20) ||
    load<u8>(at, 13) != 0x3a || load<u8>(at, 16) != 0x3a) return NO_TIME;
  const high = two(at), low = two(at + 2), month = two(at + 5), day = two(at + 8);
  const hour = two(at + 11), minute = two(at + 14), second = two(at + 17);
  if (high > 99 || low > 99 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return NO_TIME;
  const year = high * 100 + low, leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const last = month == 2 ? 28 + <i32>leap : 30 + ((month + (month >> 3)) & 1);
  if (day > last) return NO_TIME;
  const y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 12 : month;
  // Of year 0, January and February: dates before the epoch of the formula need no floor, since y is at least -1 there.
  const days = <i64>(365 * y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + (153 * (m - 3) + 2) / 5 + day) - 719469;
  let us = (days * 86400 + hour * 3600 + minute * 60 + second) * 1000000;
  let i: u32 = 19;
  if (i < n && load<u8>(at + i) == 0x2e) {
    const from = ++i;
    for (let unit: i64 = 100000; i < n && <u32>load<u8>(at + i) - 0x30 < 10; i++) {
      us += <i64>(load<u8>(at + i) - 0x30) * unit;
      unit /= 10;
    }
    if (i == from) return NO_TIME;
  }
  if (i == n) return us;
  const sign = load<u8>(at + i);
  if (sign == 0x5a) return i + 1 == n ? us : NO_TIME;
  if ((sign != 0x2b && sign != 0x2d) || i + 3 > n) return NO_TIME;
  const hours = two(at + i + 1);
  i += 3;
  if (i < n && load<u8>(at + i) == 0x3a) i++;
  let minutes = 0;
  if (i < n) {
    if (i + 2 > n) return NO_TIME;
    minutes = two(at + i);
    i += 2;
  } else if (load<u8>(at + i - 1) == 0x3a) return NO_TIME;
  if (hours > 18 || minutes > 59 || i != n) return NO_TIME;
  const offset = <i64>(hours * 3600 + minutes * 60) * 1000000;
  return sign == 0x2d ? us + offset : us - offset;
}

function floorDiv(a: i32, b: i32): i32 { return a < 0 ? -((b - 1 - a) / b) : a / b; }
