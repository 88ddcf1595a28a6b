// Decimal texts to f64, correctly rounded: exactly where mantissa and power of ten are small, else by comparing a first
// guess with the text in whole numbers of any size.

/** A whole number of any size, in words of 32 bits, the lowest first. */
class Big {
  words: Array<u32> = [];
  constructor(v: u64) {
    if (v) this.words.push(<u32>v);
    if (v >> 32) this.words.push(<u32>(v >> 32));
  }
  /** this = this * m + add */
  mul(m: u32, add: u32): void {
    let carry: u64 = add;
    for (let i = 0; i < this.words.length; i++) {
      carry += <u64>unchecked(this.words[i]) * m;
      unchecked(this.words[i] = <u32>carry);
      carry >>= 32;
    }
    if (carry) this.words.push(<u32>carry);
  }
  pow10(n: i32): void {
    for (; n >= 9; n -= 9) this.mul(1000000000, 0);
    for (; n > 0; n--) this.mul(10, 0);
  }
  shift(n: i32): void {
    for (; n >= 31; n -= 31) this.mul(0x80000000, 0);
    if (n) this.mul(<u32>1 << n, 0);
  }
  compare(o: Big): i32 {
    if (this.words.length != o.words.length) return this.words.length < o.words.length ? -1 : 1;
    for (let i = this.words.length - 1; i >= 0; i--) {
      if (this.words[i] != o.words[i]) return this.words[i] < o.words[i] ? -1 : 1;
    }
    return 0;
  }
}

const POW: StaticArray<f64> = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19, 1e20, 1e21, 1e22];

/** The value of n bytes at an address that are a JSON number. */
export function decimal(at: usize, n: u32): f64 {
  let mantissa: u64 = 0, exponent = 0, digits = 0, i: u32 = 0, point = false;
  const negative = load<u8>(at) == 0x2d;
  if (negative) i++;
  const from = i;
  for (; i < n; i++) {
    const c = <u32>load<u8>(at + i);
    if (c == 0x2e) { point = true; continue; }
    if (c - 0x30 > 9) break;
    if (mantissa || c != 0x30) digits++;
    if (digits <= 19) {
      mantissa = mantissa * 10 + (c - 0x30);
      if (point) exponent--;
    } else if (!point) exponent++;
  }
  const to = i;
  let e = 0;
  if (i < n) { // e or E
    i++;
    const minus = load<u8>(at + i) == 0x2d;
    if (minus || load<u8>(at + i) == 0x2b) i++;
    for (; i < n; i++) if (e < 100000) e = e * 10 + (load<u8>(at + i) - 0x30);
    if (minus) e = -e;
  }
  exponent += e;
  let v: f64;
  if (mantissa == 0) v = 0;
  else if (digits <= 19 && mantissa <= 9007199254740992 && exponent >= -22 && exponent <= 22) {
    v = exponent < 0 ? <f64>mantissa / unchecked(POW[-exponent]) : <f64>mantissa * unchecked(POW[exponent]);
  } else if (exponent > 310) v = Infinity;
  else if (exponent < -400) v = 0;
  else v = rounded(at, from, to, e, guess(mantissa, exponent));
  return negative ? -v : v;
}

function guess(mantissa: u64, exponent: i32): f64 {
  let v = <f64>mantissa;
  for (; exponent > 22; exponent -= 22) v *= 1e22;
  if (exponent > 0) v *= unchecked(POW[exponent]);
  for (; exponent < -22; exponent += 22) v /= 1e22;
  if (exponent < 0) v /= unchecked(POW[-exponent]);
  return v;
}

/** Moves a guess to the nearest number, to even where two are as near. */
function rounded(at: usize, from: u32, to: u32, exponent: i32, v: f64): f64 {
  const text = new Big(0);
  let point = false;
  for (let i = from; i < to; i++) {
    const c = <u32>load<u8>(at + i);
    if (c == 0x2e) { point = true; continue; }
    text.mul(10, c - 0x30);
    if (point) exponent--;
  }
  if (exponent > 0) text.pow10(exponent);
  if (v == Infinity) v = f64.MAX_VALUE;
  for (let tries = 0; tries < 64; tries++) {
    const bits = reinterpret<u64>(v);
    const above = half(text, exponent, bits);
    if (above > 0 || (above == 0 && (bits & 1))) {
      v = reinterpret<f64>(bits + 1);
      if (v == Infinity) return v;
      continue;
    }
    if (bits == 0) return v;
    const below = half(text, exponent, bits - 1);
    if (below < 0 || (below == 0 && (bits & 1))) {
      v = reinterpret<f64>(bits - 1);
      continue;
    }
    return v;
  }
  return v;
}

/** Compares text × 10^exponent (of which only a negative exponent is still to come) with what lies halfway between the number
 * of some bits and the next. */
function half(text: Big, exponent: i32, bits: u64): i32 {
  const e = <i32>(bits >> 52), m = bits & 0xfffffffffffff;
  const middle = new Big(((e ? m | 0x10000000000000 : m) << 1) + 1); // × 2^(max(e,1) - 1076)
  const power = max(e, 1) - 1076;
  const left = new Big(0);
  left.words = text.words.slice(0);
  if (exponent < 0) middle.pow10(-exponent);
  if (power > 0) middle.shift(power);
  else left.shift(-power);
  return left.compare(middle);
}
