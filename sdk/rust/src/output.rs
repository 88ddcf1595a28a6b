use crate::frame::*;
use crate::{Fail, Input, NONE};
use alloc::string::String;
use alloc::vec::Vec;

/// One call's output.
#[derive(Default)]
pub struct Output {
    /// The main columns, in the order of the declared output.
    pub columns: Vec<Builder>,
    parents: Option<Builder>,
    errors: Option<[Builder; 3]>,
    state: Option<(Builder, Builder, Vec<Builder>)>,
}

/// Collects the rows of an output column.
pub struct Builder {
    pub ty: Type,
    /// Of decimals: precision | scale << 8.
    pub param: u32,
    rows: usize,
    nulls: usize,
    valid: Vec<u8>, // empty until the first null
    offsets: Vec<i32>,
    data: Vec<u8>,
    passed: Option<u32>,
}

impl Builder {
    /// A builder with room for some rows; it grows as needed.
    pub fn new(ty: Type, rows: usize) -> Builder {
        let mut b = Builder { ty, param: 0, rows: 0, nulls: 0, valid: Vec::new(), offsets: Vec::new(), data: Vec::new(), passed: None };
        if ty.has_bytes() {
            b.offsets.reserve(rows + 1);
            b.offsets.push(0);
            b.data.reserve(rows * 8);
        } else {
            b.data.reserve(if ty == Type::BOOL { rows / 8 + 1 } else { rows * ty.width() });
        }
        b
    }

    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn bit(bits: &mut Vec<u8>, row: usize, v: bool) {
        if row & 7 == 0 {
            bits.push(0);
        }
        bits[row >> 3] |= (v as u8) << (row & 7);
    }

    fn row(&mut self) {
        if self.nulls > 0 {
            Self::bit(&mut self.valid, self.rows, true);
        }
        self.rows += 1;
    }

    /// Adds a null.
    pub fn null(&mut self) {
        if self.nulls == 0 {
            self.valid = alloc::vec![0xff; (self.rows + 7) / 8];
            if self.rows & 7 != 0 {
                self.valid[self.rows >> 3] = (1 << (self.rows & 7)) - 1;
            }
        }
        self.nulls += 1;
        Self::bit(&mut self.valid, self.rows, false);
        if self.ty == Type::BOOL {
            Self::bit(&mut self.data, self.rows, false);
        } else if self.ty.has_bytes() {
            self.offsets.push(self.data.len() as i32);
        } else {
            self.data.extend_from_slice(&[0; 16][..self.ty.width()]);
        }
        self.rows += 1;
    }

    pub fn bool(&mut self, v: bool) {
        Self::bit(&mut self.data, self.rows, v);
        self.row();
    }

    pub fn i8(&mut self, v: i8) {
        self.data.push(v as u8);
        self.row();
    }

    pub fn i32(&mut self, v: i32) {
        self.fixed(&v.to_le_bytes());
    }

    pub fn i64(&mut self, v: i64) {
        self.fixed(&v.to_le_bytes());
    }

    pub fn f64(&mut self, v: f64) {
        self.fixed(&v.to_le_bytes());
    }

    /// Adds a value of any type with a fixed width, little-endian.
    pub fn fixed(&mut self, v: &[u8]) {
        self.data.extend_from_slice(v);
        self.row();
    }

    /// Adds a STRING.
    pub fn str(&mut self, v: &str) {
        self.bytes(v.as_bytes());
    }

    /// Adds a BINARY, or a STRING that is UTF-8.
    pub fn bytes(&mut self, v: &[u8]) {
        self.data.extend_from_slice(v);
        self.offsets.push(self.data.len() as i32);
        self.row();
    }

    /// Adds row i of an input column of the same type.
    pub fn from(&mut self, c: &crate::Column, i: usize) {
        if c.is_null(i) {
            self.null();
        } else if self.ty == Type::BOOL {
            self.bool(c.bool(i));
        } else if self.ty.has_bytes() {
            self.bytes(c.bytes(i));
        } else {
            self.fixed(c.value(i));
        }
    }

    fn buffers(&self) -> ([&[u8]; 3], usize) {
        let offsets = unsafe { core::slice::from_raw_parts(self.offsets.as_ptr() as *const u8, self.offsets.len() * 4) };
        if self.passed.is_some() || self.ty == Type::NULL {
            ([&[]; 3], 0)
        } else if self.ty.has_bytes() {
            ([&self.valid, offsets, &self.data], 3)
        } else {
            ([&self.valid, &self.data, &[]], 2)
        }
    }
}

impl Output {
    /// Adds a column and gives its place in `columns`.
    pub fn add(&mut self, ty: Type, rows: usize) -> &mut Builder {
        self.columns.push(Builder::new(ty, rows));
        self.columns.last_mut().unwrap()
    }

    /// Adds input column i untouched, in map functions.
    pub fn pass(&mut self, i: usize) {
        let mut b = Builder::new(Type::NULL, 0);
        b.passed = Some(i as u32);
        self.columns.push(b);
    }

    /// Says which input row (or key) the next output row comes from: once for each output row, in rising order.
    pub fn parent(&mut self, row: usize) {
        self.parents().i32(row as i32);
    }

    /// Makes the output one that is not row for row, even if it has no row.
    pub fn parents(&mut self) -> &mut Builder {
        self.parents.get_or_insert_with(|| Builder::new(Type::INT32, 0))
    }

    /// Refuses an input row: it goes where the pipeline's onError says.
    pub fn refuse(&mut self, row: usize, code: i32, text: &str) {
        let e = self.errors.get_or_insert_with(|| [Builder::new(Type::INT32, 0), Builder::new(Type::INT32, 0), Builder::new(Type::STRING, 0)]);
        e[0].i32(row as i32);
        e[1].i32(code);
        e[2].str(text);
    }

    /// The output of a filter: `keep` says of each row whether it stays, or why it is refused.
    pub fn filter_rows(&mut self, input: &Input, mut keep: impl FnMut(usize) -> Result<bool, String>) -> Result<(), Fail> {
        let mut b = Builder::new(Type::BOOL, input.rows);
        for row in 0..input.rows {
            match keep(row) {
                Ok(v) => b.bool(v),
                Err(text) => {
                    b.bool(false);
                    self.refuse(row, 1, &text);
                }
            }
        }
        self.columns.push(b);
        Ok(())
    }

    /// Says what becomes of a key's state, key by key, in order. The first call fixes the types of the state.
    pub fn keep_state(&mut self, types: &[Type], timeout: i64) {
        self.state_row(types, 0, timeout, |b, _| b.null());
    }

    /// Removes the state of the next key.
    pub fn remove_state(&mut self, types: &[Type]) {
        self.state_row(types, 2, NONE, |b, _| b.null());
    }

    /// Sets the state of the next key: `value` adds the value of column i to its builder.
    pub fn set_state(&mut self, types: &[Type], timeout: i64, value: impl Fn(&mut Builder, usize)) {
        self.state_row(types, 1, timeout, value);
    }

    fn state_row(&mut self, types: &[Type], action: i8, timeout: i64, value: impl Fn(&mut Builder, usize)) {
        let s = self.state.get_or_insert_with(|| {
            (Builder::new(Type::INT8, 0), Builder::new(Type::INT64, 0), types.iter().map(|t| Builder::new(*t, 0)).collect())
        });
        s.0.i8(action);
        s.1.i64(timeout);
        for (i, b) in s.2.iter_mut().enumerate() {
            value(b, i);
        }
    }

    /// Whether there is nothing to answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.errors.is_none() && self.state.is_none()
    }

    /// Writes the frame.
    pub(crate) fn encode(&self, input: &Input, dst: &mut Vec<u8>) {
        let mut sections: Vec<(u32, usize, Vec<&Builder>)> = Vec::new();
        if let Some(s) = &self.state {
            sections.push((STATE, s.0.rows, [&s.0, &s.1].into_iter().chain(s.2.iter()).collect()));
        }
        if let Some(p) = &self.parents {
            sections.push((PARENTS, p.rows, alloc::vec![p]));
        }
        if let Some(e) = &self.errors {
            sections.push((ERRORS, e[0].rows, e.iter().collect()));
        }
        let all: Vec<&Builder> = self.columns.iter().chain(sections.iter().flat_map(|s| s.2.iter().copied())).collect();
        let rows = match &self.parents {
            Some(p) => p.rows,
            None => self.columns.iter().filter(|b| b.passed.is_none()).last().map_or(if self.columns.is_empty() { 0 } else { input.rows }, |b| b.rows),
        };
        let count: usize = all.iter().map(|b| b.buffers().1).sum();
        let nodes = HEADER;
        let buffers = nodes + NODE * all.len();
        let sections_at = buffers + BUFFER * count;
        dst.clear();
        dst.resize(sections_at + SECTION * sections.len(), 0);
        let mut first = 0;
        for (i, b) in all.iter().enumerate() {
            let n = nodes + i * NODE;
            if let Some(p) = b.passed {
                put(dst, n + 2, &NODE_PASSED.to_le_bytes());
                put(dst, n + 12, &p.to_le_bytes());
                continue;
            }
            put(dst, n, &b.ty.0.to_le_bytes());
            put(dst, n + 2, &(if b.nulls > 0 { NODE_NULLABLE } else { 0 }).to_le_bytes());
            put(dst, n + 4, &(b.rows as u32).to_le_bytes());
            put(dst, n + 8, &(b.nulls as u32).to_le_bytes());
            put(dst, n + 12, &(first as u32).to_le_bytes());
            put(dst, n + 20, &b.param.to_le_bytes());
            let (parts, k) = b.buffers();
            for data in &parts[..k] {
                if !data.is_empty() {
                    dst.resize((dst.len() + ALIGN - 1) & !(ALIGN - 1), 0);
                    let at = dst.len();
                    dst.extend_from_slice(data);
                    put(dst, buffers + first * BUFFER, &(at as u64).to_le_bytes());
                    put(dst, buffers + first * BUFFER + 8, &(data.len() as u64).to_le_bytes());
                }
                first += 1;
            }
        }
        for (i, s) in sections.iter().enumerate() {
            let e = sections_at + i * SECTION;
            put(dst, e, &s.0.to_le_bytes());
            put(dst, e + 4, &(s.1 as u32).to_le_bytes());
            put(dst, e + 8, &(s.2.len() as u32).to_le_bytes());
        }
        let size = dst.len() as u32;
        for (at, v) in [(0, MAGIC), (4, HEADER as u32), (8, size), (20, rows as u32), (72, self.columns.len() as u32), (76, all.len() as u32), (80, count as u32), (84, sections.len() as u32), (88, nodes as u32), (92, buffers as u32), (96, sections_at as u32)] {
            put(dst, at, &v.to_le_bytes());
        }
        put(dst, 12, &input.kind.to_le_bytes());
        put(dst, 14, &input.op.to_le_bytes());
    }
}
