//! JSON without a library: a reader, and `parse`, which reads objects, one a row, into columns.

use crate::{Builder, Fail, Input, Output, Type};
use alloc::string::String;
use alloc::vec::Vec;

/// A field of the objects that `parse` reads: STRING, DOUBLE, BIGINT, INT, BOOLEAN or TIMESTAMP.
pub struct Field {
    pub name: &'static str,
    pub ty: Type,
}

const SYNTAX: i32 = 1;
const TYPE: i32 = 2;
const RANGE: i32 = 3;

enum Value {
    Null,
    Bytes(core::ops::Range<usize>), // of the row's text
    Text(Vec<u8>),                  // with escapes resolved
    Bits(u64),
}

/// Parses column `column` of the input into columns for `fields`. A missing field and null are null; of a repeated field
/// the last value counts; members that no field names are skipped. A row that is no object, or has a value of another
/// type, is refused with a text that names the field.
pub fn parse(input: &Input, out: &mut Output, column: usize, fields: &[Field]) -> Result<(), Fail> {
    let mut builders: Vec<Builder> = fields.iter().map(|f| Builder::new(f.ty, input.rows)).collect();
    let mut values: Vec<Value> = fields.iter().map(|_| Value::Null).collect();
    let keys: Vec<Vec<u8>> = fields.iter().map(|f| alloc::format!("\"{}\":", f.name).into_bytes()).collect();
    let mut refused = false;
    let texts = input.column(column);
    for row in 0..input.rows {
        let text: &[u8] = if texts.is_null(row) { b"" } else { texts.bytes(row) };
        values.iter_mut().for_each(|v| *v = Value::Null);
        let mut at = None;
        if let Err(code) = object(text, fields, &keys, &mut values, &mut at) {
            if !refused {
                refused = true;
                out.parents();
                (0..row).for_each(|r| out.parent(r));
            }
            match at {
                None => out.refuse(row, code, "not a JSON object"),
                Some(i) => {
                    let fields: &[Field] = fields;
                    let what = match code {
                        TYPE => "the value is of another type",
                        RANGE => "the number is out of range",
                        _ => "not JSON",
                    };
                    out.refuse(row, code, &alloc::format!("field \"{}\": {}", fields[i].name, what));
                }
            }
            continue;
        }
        if refused {
            out.parent(row);
        }
        for (b, v) in builders.iter_mut().zip(&values) {
            match v {
                Value::Null => b.null(),
                Value::Bytes(r) => b.bytes(&text[r.clone()]),
                Value::Text(t) => b.bytes(t),
                Value::Bits(v) if b.ty == Type::BOOL => b.bool(*v != 0),
                Value::Bits(v) if b.ty == Type::INT32 => b.i32(*v as i32),
                Value::Bits(v) => b.i64(*v as i64),
            }
        }
    }
    out.columns.append(&mut builders);
    Ok(())
}

/// Reads a row's object. Members mostly come in the order of the fields, with their keys as `keys` has them.
fn object(text: &[u8], fields: &[Field], keys: &[Vec<u8>], values: &mut [Value], at: &mut Option<usize>) -> Result<(), i32> {
    let mut r = Reader::new(text);
    let mut next = 0;
    if !r.take(b'{') {
        return Err(SYNTAX);
    }
    if !r.take(b'}') {
        loop {
            let found = if next < keys.len() && text[r.p..].starts_with(&keys[next]) {
                r.p += keys[next].len();
                Some(next)
            } else {
                r.peek();
                let (range, plain) = r.raw_string().ok_or(SYNTAX)?;
                if !r.take(b':') {
                    return Err(SYNTAX);
                }
                if plain {
                    fields.iter().position(|f| f.name.as_bytes() == &text[range.clone()])
                } else {
                    let key = unescape(&text[range]).ok_or(SYNTAX)?;
                    fields.iter().position(|f| f.name.as_bytes() == key)
                }
            };
            match found {
                Some(i) => {
                    next = i + 1;
                    *at = found;
                    values[i] = value(&mut r, fields[i].ty)?;
                    *at = None;
                }
                None => r.skip().ok_or(SYNTAX)?,
            }
            if r.take(b'}') {
                break;
            }
            if !r.take(b',') {
                return Err(SYNTAX);
            }
        }
    }
    r.blank();
    if r.p == text.len() {
        return Ok(());
    }
    Err(SYNTAX)
}

fn value(r: &mut Reader, ty: Type) -> Result<Value, i32> {
    let c = r.peek().ok_or(SYNTAX)?;
    if c == b'n' {
        return r.word(b"null").map(|_| Value::Null).ok_or(SYNTAX);
    }
    if ty == Type::STRING || ty == Type::TIMESTAMP {
        if c != b'"' {
            return Err(TYPE);
        }
        let (range, plain) = r.raw_string().ok_or(SYNTAX)?;
        if ty == Type::TIMESTAMP {
            return timestamp(&r.b[range]).map(|us| Value::Bits(us as u64)).ok_or(TYPE);
        }
        if plain {
            return Ok(Value::Bytes(range));
        }
        return unescape(&r.b[range]).map(Value::Text).ok_or(SYNTAX);
    }
    if ty == Type::BOOL {
        return r.boolean().map(|v| Value::Bits(v as u64)).ok_or(TYPE);
    }
    if c != b'-' && !c.is_ascii_digit() {
        return Err(TYPE);
    }
    let (text, whole) = r.number().ok_or(SYNTAX)?;
    let text = core::str::from_utf8(text).map_err(|_| SYNTAX)?;
    if ty == Type::FLOAT64 {
        let v: f64 = text.parse().map_err(|_| SYNTAX)?;
        return if v.is_finite() { Ok(Value::Bits(v.to_bits())) } else { Err(RANGE) };
    }
    if !whole {
        return Err(TYPE);
    }
    let v: i64 = text.parse().map_err(|_| RANGE)?;
    if ty == Type::INT32 && i32::try_from(v).is_err() {
        return Err(RANGE);
    }
    Ok(Value::Bits(v as u64))
}

/// Reads `YYYY-MM-DD[T ]HH:MM:SS[.f…][zone]`, zone Z, ±HH:MM, ±HHMM or ±HH, UTC where there is none, in microseconds since
/// the epoch.
pub fn timestamp(b: &[u8]) -> Option<i64> {
    fn two(b: &[u8], at: usize) -> Option<i64> {
        let (x, y) = (b.get(at)?.wrapping_sub(b'0'), b.get(at + 1)?.wrapping_sub(b'0'));
        (x < 10 && y < 10).then(|| x as i64 * 10 + y as i64)
    }
    if b.len() < 19 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b' ') || b[13] != b':' || b[16] != b':' {
        return None;
    }
    let (year, month, day) = (two(b, 0)? * 100 + two(b, 2)?, two(b, 5)?, two(b, 8)?);
    let (hour, minute, second) = (two(b, 11)?, two(b, 14)?, two(b, 17)?);
    let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let last = if month == 2 { 28 + leap as i64 } else { 30 + ((month + (month >> 3)) & 1) };
    if month < 1 || month > 12 || day < 1 || day > last || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (y, m) = if month <= 2 { (year - 1, month + 12) } else { (year, month) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m - 3) + 2) / 5 + day - 719469;
    let mut us = (days * 86400 + hour * 3600 + minute * 60 + second) * 1_000_000;
    let mut i = 19;
    if b.get(i) == Some(&b'.') {
        i += 1;
        let (from, mut unit) = (i, 100_000);
        while i < b.len() && b[i].is_ascii_digit() {
            us += (b[i] - b'0') as i64 * unit;
            unit /= 10;
            i += 1;
        }
        if i == from {
            return None;
        }
    }
    match b.get(i) {
        None => return Some(us),
        Some(b'Z') => return (i + 1 == b.len()).then_some(us),
        Some(b'+') | Some(b'-') => {}
        _ => return None,
    }
    let sign = if b[i] == b'-' { -1 } else { 1 };
    let hours = two(b, i + 1)?;
    i += 3;
    if b.get(i) == Some(&b':') {
        i += 1;
    }
    let minutes = if i < b.len() { two(b, i)? } else { 0 };
    i = if i < b.len() { i + 2 } else { i };
    (hours <= 18 && minutes <= 59 && i == b.len()).then(|| us - sign * (hours * 3600 + minutes * 60) * 1_000_000)
}

fn unescape(s: &[u8]) -> Option<Vec<u8>> {
    fn hex4(s: &[u8]) -> Option<u32> {
        let t = core::str::from_utf8(s.get(..4)?).ok()?;
        t.bytes().all(|c| c.is_ascii_hexdigit()).then(|| u32::from_str_radix(t, 16).ok()).flatten()
    }
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    while i < s.len() {
        if s[i] != b'\\' {
            out.push(s[i]);
            i += 1;
            continue;
        }
        let c = *s.get(i + 1)?;
        i += 2;
        let plain = match c {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => c,
            b'u' => {
                let mut v = hex4(&s[i..])?;
                i += 4;
                if (0xd800..0xdc00).contains(&v) && s.get(i..i + 2) == Some(b"\\u") {
                    if let Some(w) = hex4(&s[i + 2..]).filter(|w| (0xdc00..0xe000).contains(w)) {
                        v = 0x10000 + ((v - 0xd800) << 10) + (w - 0xdc00);
                        i += 6;
                    }
                }
                let c = char::from_u32(v).unwrap_or('\u{fffd}'); // half a surrogate pair
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        };
        out.push(plain);
    }
    Some(out)
}

/// How many bytes at the front are neither quotes, backslashes, control characters nor beyond ASCII; some at the end may be
/// left out.
fn ordinary(b: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut n = 0;
    for chunk in b.chunks_exact(8) {
        let w = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
        let (q, s) = (w ^ (ONES * b'"' as u64), w ^ (ONES * b'\\' as u64));
        let stop = ((q.wrapping_sub(ONES) & !q) | (s.wrapping_sub(ONES) & !s) | w.wrapping_sub(ONES * b' ' as u64) | w) & (ONES << 7);
        if stop != 0 {
            return n + (stop.trailing_zeros() >> 3) as usize;
        }
        n += 8;
    }
    n
}

/// Reads JSON from a text. Every method gives nothing where the text is not what it should be.
pub struct Reader<'a> {
    pub b: &'a [u8],
    pub p: usize,
}

impl<'a> Reader<'a> {
    pub fn new(b: &'a [u8]) -> Reader<'a> {
        Reader { b, p: 0 }
    }

    /// Passes over white space.
    pub fn blank(&mut self) {
        while self.p < self.b.len() && matches!(self.b[self.p], b' ' | b'\n' | b'\t' | b'\r') {
            self.p += 1;
        }
    }

    /// The next byte that is not white space.
    pub fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.b.get(self.p).copied()
    }

    fn take(&mut self, c: u8) -> bool {
        let found = self.peek() == Some(c);
        self.p += found as usize;
        found
    }

    fn word(&mut self, w: &[u8]) -> Option<()> {
        self.b[self.p..].starts_with(w).then(|| self.p += w.len())
    }

    /// Reads an object; `member` reads the value of a key.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        if !self.take(b'{') {
            return None;
        }
        if self.take(b'}') {
            return Some(());
        }
        loop {
            self.peek()?;
            let (range, plain) = self.raw_string()?;
            if !self.take(b':') {
                return None;
            }
            self.peek()?;
            let b = self.b;
            if plain {
                member(self, &b[range])?;
            } else {
                member(self, &unescape(&b[range])?)?;
            }
            if self.take(b'}') {
                return Some(());
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// Reads an array; `item` reads an element.
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if !self.take(b'[') {
            return None;
        }
        if self.take(b']') {
            return Some(());
        }
        loop {
            self.peek()?;
            item(self)?;
            if self.take(b']') {
                return Some(());
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// Reads true or false.
    pub fn boolean(&mut self) -> Option<bool> {
        if self.word(b"true").is_some() {
            return Some(true);
        }
        self.word(b"false").map(|_| false)
    }

    /// Reads a string.
    pub fn string(&mut self) -> Option<String> {
        self.peek()?;
        let (range, _) = self.raw_string()?;
        String::from_utf8(unescape(&self.b[range])?).ok()
    }

    /// Reads a string as it stands between its quotes, and whether it has no escapes. It is UTF-8.
    fn raw_string(&mut self) -> Option<(core::ops::Range<usize>, bool)> {
        if self.b.get(self.p) != Some(&b'"') {
            return None;
        }
        let from = self.p + 1;
        let (mut p, mut plain, mut ascii) = (from, true, true);
        loop {
            p += ordinary(self.b.get(p..)?);
            match *self.b.get(p)? {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    p += 2;
                }
                c if c < b' ' => return None,
                c => {
                    ascii &= c < 0x80;
                    p += 1;
                }
            }
        }
        self.p = p + 1;
        if !ascii {
            core::str::from_utf8(&self.b[from..p]).ok()?;
        }
        Some((from..p, plain))
    }

    /// Reads a number as it stands, and whether it is whole.
    pub fn number(&mut self) -> Option<(&'a [u8], bool)> {
        let from = self.p;
        let mut whole = true;
        let digits = |r: &mut Self| {
            let at = r.p;
            while r.p < r.b.len() && r.b[r.p].is_ascii_digit() {
                r.p += 1;
            }
            r.p - at
        };
        self.p += (self.b.get(self.p) == Some(&b'-')) as usize;
        let first = self.b.get(self.p).copied();
        let n = digits(self);
        if n == 0 || n > 1 && first == Some(b'0') {
            return None;
        }
        if self.b.get(self.p) == Some(&b'.') {
            self.p += 1;
            whole = false;
            if digits(self) == 0 {
                return None;
            }
        }
        if matches!(self.b.get(self.p), Some(b'e' | b'E')) {
            self.p += 1;
            whole = false;
            self.p += matches!(self.b.get(self.p), Some(b'+' | b'-')) as usize;
            if digits(self) == 0 {
                return None;
            }
        }
        Some((&self.b[from..self.p], whole))
    }

    /// Passes over a value, without recursion.
    pub fn skip(&mut self) -> Option<()> {
        let mut stack: Vec<u8> = Vec::new();
        loop {
            match self.peek()? {
                c @ (b'{' | b'[') => {
                    self.p += 1;
                    if !self.take(c + 2) {
                        stack.push(c);
                        if c == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => {
                    self.raw_string()?;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => {
                    self.number()?;
                }
            }
            loop {
                let Some(&open) = stack.last() else { return Some(()) };
                if self.take(open + 2) {
                    stack.pop();
                    continue;
                }
                if !self.take(b',') {
                    return None;
                }
                if open == b'{' {
                    self.key()?;
                }
                break;
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.peek()?;
        self.raw_string()?;
        self.take(b':').then_some(())
    }
}
