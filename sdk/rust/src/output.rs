use crate::frame::*;
use crate::{Column, Fail, Group, Input};
use alloc::string::String;
use alloc::vec::Vec;

/// One call's output.
#[derive(Default)]
pub struct Output {
    /// The main columns, in the order of the declared output.
    pub columns: Vec<Builder>,
    parents: Option<Builder>,
    errors: Option<[Builder; 3]>,
    sections: Vec<(u32, usize, Vec<Builder>)>,
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
    children: Vec<Builder>,
}

impl Builder {
    /// A builder with room for some rows; it grows as needed.
    pub fn new(ty: Type, rows: usize) -> Builder {
        let mut b = Builder { ty, param: 0, rows: 0, nulls: 0, valid: Vec::new(), offsets: Vec::new(), data: Vec::new(), passed: None, children: Vec::new() };
        if ty.has_bytes() {
            b.offsets.reserve(rows + 1);
            b.offsets.push(0);
            b.data.reserve(rows * 8);
        } else {
            b.data.reserve(if ty == Type::BOOL { rows / 8 + 1 } else { rows * ty.width() });
        }
        b
    }

    fn nested(ty: Type, children: Vec<Builder>) -> Builder {
        let mut b = Builder::new(ty, 0);
        if ty != Type::STRUCT {
            b.offsets.push(0);
        }
        b.children = children;
        b
    }

    /// A builder of ARRAY rows: for each row add any number of values to `child(0)`, then call `end`.
    pub fn list(element: Builder) -> Builder {
        Self::nested(Type::LIST, alloc::vec![element])
    }

    /// A builder of MAP rows: for each row add any number of keys, not null, to `child(0)` and as many values to
    /// `child(1)`, then call `end`.
    pub fn map(key: Builder, value: Builder) -> Builder {
        Self::nested(Type::MAP, alloc::vec![key, value])
    }

    /// A builder of STRUCT rows: for each row add one value to each `child(i)`, then call `end`.
    pub fn structure(members: Vec<Builder>) -> Builder {
        Self::nested(Type::STRUCT, members)
    }

    /// The builder below: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct.
    pub fn child(&mut self, i: usize) -> &mut Builder {
        &mut self.children[i]
    }

    /// Ends a row of a list, map or struct: the row holds what was added below since the last one. Panics where a
    /// struct's members, or a map's keys and values, do not fit each other.
    pub fn end(&mut self) {
        let n = if self.ty == Type::STRUCT { self.rows + 1 } else { self.children[0].rows };
        assert!(self.children.iter().all(|c| c.rows == n), "the columns below a row do not fit each other");
        if self.ty != Type::STRUCT {
            self.offsets.push(n as i32);
        }
        self.row();
    }

    /// Takes back what was added beyond n rows, and below a nested column what belongs to none of them.
    pub(crate) fn undo(&mut self, n: usize) {
        if self.rows < n {
            return;
        }
        let below = if self.ty == Type::LIST || self.ty == Type::MAP { self.offsets[n] as usize } else { n };
        self.children.iter_mut().for_each(|c| c.undo(below));
        let cut = |bits: &mut Vec<u8>| {
            bits.truncate((n + 7) / 8);
            if n & 7 != 0 {
                bits[n >> 3] &= (1 << (n & 7)) - 1;
            }
        };
        if !self.valid.is_empty() {
            let valid = &self.valid;
            self.nulls -= (n..self.rows).filter(|i| valid[i >> 3] >> (i & 7) & 1 == 0).count();
            if self.nulls > 0 { cut(&mut self.valid) } else { self.valid.clear() }
        }
        if !self.offsets.is_empty() {
            self.offsets.truncate(n + 1);
            if self.ty.has_bytes() {
                self.data.truncate(self.offsets[n] as usize);
            }
        } else if self.ty == Type::BOOL {
            cut(&mut self.data);
        } else {
            self.data.truncate(n * self.ty.width());
        }
        self.rows = n;
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
        } else if self.ty == Type::STRUCT {
            let rows = self.rows;
            self.children.iter_mut().for_each(|c| {
                c.undo(rows);
                c.null()
            });
        } else if self.ty == Type::LIST || self.ty == Type::MAP {
            let at = self.offsets[self.rows];
            self.children.iter_mut().for_each(|c| c.undo(at as usize));
            self.offsets.push(at);
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

    pub fn i16(&mut self, v: i16) {
        self.fixed(&v.to_le_bytes());
    }

    pub fn i32(&mut self, v: i32) {
        self.fixed(&v.to_le_bytes());
    }

    pub fn i64(&mut self, v: i64) {
        self.fixed(&v.to_le_bytes());
    }

    pub fn f32(&mut self, v: f32) {
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
    pub fn from(&mut self, c: &Column, i: usize) {
        if c.is_null(i) {
            self.null();
        } else if self.ty == Type::BOOL {
            self.bool(c.bool(i));
        } else if !self.children.is_empty() {
            let range = if self.ty == Type::STRUCT { i..i + 1 } else { c.range(i) };
            for (k, child) in self.children.iter_mut().enumerate() {
                range.clone().for_each(|j| child.from(c.child(k), j));
            }
            self.end();
        } else if self.ty.has_bytes() {
            self.bytes(c.bytes(i));
        } else {
            self.fixed(c.value(i));
        }
    }
}

impl Output {
    /// Adds a column with room for some rows, and gives its place in `columns`.
    pub fn output(&mut self, ty: Type, rows: usize) -> &mut Builder {
        self.output_of(Builder::new(ty, rows))
    }

    /// Adds a column that `Builder::list`, `map` or `structure` made.
    pub fn output_of(&mut self, b: Builder) -> &mut Builder {
        self.columns.push(b);
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

    /// The output of a scalar: `value` adds the value of a row to the builder, or says why the row is refused.
    pub fn scalar_rows(&mut self, input: &Input, column: Builder, mut value: impl FnMut(usize, &mut Builder) -> Result<(), String>) -> Result<(), Fail> {
        let mut b = column;
        for row in 0..input.rows {
            if let Err(text) = value(row, &mut b) {
                self.refuse(row, 1, &text);
                b.undo(row);
                b.null();
            }
        }
        self.columns.push(b);
        Ok(())
    }

    /// The output of a parse or map function: `row` adds any number of rows to the columns, or says why the row is refused.
    pub fn parse_rows(&mut self, input: &Input, columns: Vec<Builder>, mut row: impl FnMut(usize, &mut [Builder]) -> Result<(), String>) -> Result<(), Fail> {
        let mut columns = columns;
        let mut rows = self.parents().rows;
        for i in 0..input.rows {
            if let Err(text) = row(i, &mut columns) {
                self.refuse(i, 1, &text);
                columns.iter_mut().for_each(|b| b.undo(rows));
            }
            while rows < columns[0].rows {
                self.parent(i);
                rows += 1;
            }
        }
        self.columns.append(&mut columns);
        Ok(())
    }

    /// The output of an aggregate: a group's accumulator has `size` bytes, zero in a group that is new. `update` folds a row
    /// into it, `merge` another accumulator, and `finish` adds the group's value to a column of type `ty`.
    pub fn aggregate_rows(
        &mut self, input: &Input, size: usize, ty: Type, mut update: impl FnMut(usize, &mut [u8]), mut merge: impl FnMut(&mut [u8], &[u8]),
        mut finish: impl FnMut(&[u8], &mut Builder),
    ) -> Result<(), Fail> {
        let malformed = || Fail { status: -5, text: "a section is missing".into() };
        let zero = alloc::vec![0; size];
        if input.op == 2 {
            let column = input.column(0);
            let b = self.output(ty, input.rows);
            for row in 0..input.rows {
                finish(if column.is_null(row) { &zero } else { column.bytes(row) }, b);
            }
            return Ok(());
        }
        let (n, old) = input.section(ACCUMULATORS);
        let (old, group) = (old.first().ok_or_else(malformed)?, input.section(GROUP_INDEX).1.first().ok_or_else(malformed)?);
        let mut all = alloc::vec![0; n * size];
        for (i, acc) in all.chunks_exact_mut(size).enumerate().filter(|(i, _)| !old.is_null(*i)) {
            acc.copy_from_slice(old.bytes(i));
        }
        for row in 0..input.rows {
            let at = group.i32s()[row] as usize * size;
            let acc = &mut all[at..at + size];
            if input.op != 1 {
                update(row, acc);
            } else if !input.column(0).is_null(row) {
                merge(acc, input.column(0).bytes(row));
            }
        }
        let mut b = Builder::new(Type::BINARY, n);
        all.chunks_exact(size).for_each(|acc| b.bytes(acc));
        self.sections.push((ACCUMULATORS, n, alloc::vec![b]));
        Ok(())
    }

    /// The output of a state function: `key` looks at one key, adds rows to `Output::columns` with `Output::parent(g.index)`
    /// for each, and says with `Group::set`, `remove` and `set_timeout` what becomes of it. Where it calls `set` it must add
    /// one value to each of the state's builders; for all other keys nothing.
    pub fn groups(
        &mut self, input: &Input, state: Vec<Builder>, columns: Vec<Builder>,
        mut key: impl FnMut(&mut Group, &mut [Builder], &mut Output) -> Result<(), Fail>,
    ) -> Result<(), Fail> {
        let mut state = state;
        self.columns = columns;
        self.parents();
        let n = input.section(GROUPS).0;
        let (mut action, mut timeout) = (Builder::new(Type::INT8, n), Builder::new(Type::INT64, n));
        for mut g in input.groups() {
            key(&mut g, &mut state, self)?;
            action.i8(g.action);
            timeout.i64(g.wanted);
            if g.action != SET {
                state.iter_mut().for_each(|b| b.null());
            }
        }
        state.insert(0, timeout);
        state.insert(0, action);
        self.sections.push((STATE, n, state));
        Ok(())
    }

    /// Whether there is nothing to answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.errors.is_none() && self.sections.is_empty()
    }

    /// Writes the frame.
    pub(crate) fn encode(&self, input: &Input, dst: &mut Vec<u8>) {
        let mut sections: Vec<Section> = self.sections.iter().map(|s| (s.0, s.1, s.2.iter().collect())).collect();
        if let Some(p) = &self.parents {
            sections.push((PARENTS, p.rows, alloc::vec![p]));
        }
        if let Some(e) = &self.errors {
            sections.push((ERRORS, e[0].rows, e.iter().collect()));
        }
        let rows = match &self.parents {
            Some(p) => p.rows,
            None => self.columns.iter().filter(|b| b.passed.is_none()).last().map_or(if self.columns.is_empty() { 0 } else { input.rows }, |b| b.rows),
        };
        encode(&self.columns, &sections, rows, dst);
        put(dst, 12, &input.kind.to_le_bytes());
        put(dst, 14, &input.op.to_le_bytes());
    }
}

pub(crate) type Section<'a> = (u32, usize, Vec<&'a Builder>);

/// A node of a frame: a builder's, or the struct of a map's entries, which has none of its own.
struct Node<'a> {
    b: &'a Builder,
    entries: bool,
}

fn nodes<'a>(b: &'a Builder, list: &mut Vec<Node<'a>>) {
    list.push(Node { b, entries: false });
    if b.ty == Type::MAP {
        list.push(Node { b, entries: true });
    }
    b.children.iter().for_each(|c| nodes(c, list));
}

impl Node<'_> {
    fn buffers(&self) -> ([&[u8]; 3], usize) {
        let b = self.b;
        let offsets = unsafe { core::slice::from_raw_parts(b.offsets.as_ptr() as *const u8, b.offsets.len() * 4) };
        if self.entries {
            ([&[]; 3], 1)
        } else if b.passed.is_some() || b.ty == Type::NULL {
            ([&[]; 3], 0)
        } else if b.ty == Type::STRUCT {
            ([&b.valid, &[], &[]], 1)
        } else if b.ty.has_bytes() {
            ([&b.valid, offsets, &b.data], 3)
        } else if b.ty == Type::LIST || b.ty == Type::MAP {
            ([&b.valid, offsets, &[]], 2)
        } else {
            ([&b.valid, &b.data, &[]], 2)
        }
    }
}

/// Writes a frame of the main columns and the sections; the rest of its header is zero.
pub(crate) fn encode(columns: &[Builder], sections: &[Section], rows: usize, dst: &mut Vec<u8>) {
    let mut all = Vec::new();
    columns.iter().chain(sections.iter().flat_map(|s| s.2.iter().copied())).for_each(|b| nodes(b, &mut all));
    let count: usize = all.iter().map(|n| n.buffers().1).sum();
    let buffers = HEADER + NODE * all.len();
    let sections_at = buffers + BUFFER * count;
    dst.clear();
    dst.resize(sections_at + SECTION * sections.len(), 0);
    let mut first = 0;
    for (i, node) in all.iter().enumerate() {
        let (n, b) = (HEADER + i * NODE, node.b);
        if let Some(p) = b.passed {
            put(dst, n + 2, &NODE_PASSED.to_le_bytes());
            put(dst, n + 12, &p.to_le_bytes());
            continue;
        }
        let children = if b.ty == Type::MAP && !node.entries { 1 } else { b.children.len() };
        let (ty, rows, nulls) = if node.entries { (Type::STRUCT, b.children[0].rows, 0) } else { (b.ty, b.rows, b.nulls) };
        put(dst, n, &ty.0.to_le_bytes());
        put(dst, n + 2, &(if nulls > 0 { NODE_NULLABLE } else { 0 }).to_le_bytes());
        put(dst, n + 20, &(if node.entries { 0 } else { b.param }).to_le_bytes());
        for (at, v) in [(4, rows), (8, nulls), (12, first), (16, children)] {
            put(dst, n + at, &(v as u32).to_le_bytes());
        }
        let (parts, k) = node.buffers();
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
    let counts = [(72, columns.len()), (76, all.len()), (80, count), (84, sections.len()), (88, HEADER), (92, buffers), (96, sections_at)];
    for (at, v) in [(0, MAGIC), (4, HEADER as u32), (8, size), (20, rows as u32)].into_iter().chain(counts.map(|(at, v)| (at, v as u32))) {
        put(dst, at, &v.to_le_bytes());
    }
}
