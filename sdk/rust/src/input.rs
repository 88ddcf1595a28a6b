use crate::frame::*;
use crate::NONE;
use alloc::string::String;
use alloc::vec::Vec;

/// One call's input: a batch of rows, and on whose behalf it is.
pub struct Input<'a> {
    /// The frame as the host wrote it, for `host::exec`.
    pub frame: &'a [u8],
    pub rows: usize,
    pub query_id: &'a [u8],
    pub batch_id: i64,
    pub partition: u32,
    pub attempt: u32,
    /// Microseconds since the epoch, or `NONE`.
    pub watermark: i64,
    /// Microseconds since the epoch.
    pub batch_time: i64,
    pub(crate) kind: u16,
    pub(crate) op: u16,
    flags: u32,
    columns: Vec<Column<'a>>,
    sections: Vec<(u32, usize, Vec<Column<'a>>)>,
}

impl<'a> Input<'a> {
    /// Opens a frame of the host, which is trusted: what is malformed panics.
    pub(crate) fn open(b: &'a [u8]) -> Input<'a> {
        assert!(u32_at(b, 0) == MAGIC, "not a frame");
        let mut r = Nodes { b, nodes: u32_at(b, 88) as usize, buffers: u32_at(b, 92) as usize, next: 0 };
        let columns = (0..u32_at(b, 72)).map(|_| r.column()).collect();
        let at = u32_at(b, 96) as usize;
        let sections = (0..u32_at(b, 84) as usize)
            .map(|i| {
                let e = at + i * SECTION;
                (u32_at(b, e), u32_at(b, e + 4) as usize, (0..u32_at(b, e + 8)).map(|_| r.column()).collect())
            })
            .collect();
        Input {
            frame: b,
            rows: u32_at(b, 20) as usize,
            query_id: &b[56..72],
            batch_id: u64_at(b, 24) as i64,
            attempt: u32_at(b, 32),
            partition: u32_at(b, 36),
            watermark: u64_at(b, 40) as i64,
            batch_time: u64_at(b, 48) as i64,
            kind: u16_at(b, 12),
            op: u16_at(b, 14),
            flags: u32_at(b, 16),
            columns,
            sections,
        }
    }

    /// Input column i.
    pub fn column(&self, i: usize) -> &Column<'a> {
        &self.columns[i]
    }

    /// Whether this is the first slice of a batch.
    pub fn first(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Whether this is the last slice of a batch.
    pub fn last(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Whether a foreachBatch function is called to commit, after the last slice.
    pub fn commit(&self) -> bool {
        self.op == 3
    }

    /// The rows that were refused, in an answer that `Trial::call` gives: row, code and text.
    pub fn refused(&self) -> Vec<(usize, i32, String)> {
        let (n, c) = self.section(ERRORS);
        (0..n).map(|i| (c[0].i32s()[i] as usize, c[1].i32s()[i], String::from(c[2].str(i).unwrap_or("")))).collect()
    }

    pub(crate) fn section(&self, id: u32) -> (usize, &[Column<'a>]) {
        self.sections.iter().find(|s| s.0 == id).map_or((0, &[]), |s| (s.1, &s.2))
    }

    /// The keys of a state function's call.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_, 'a>> {
        let (n, cols) = self.section(GROUPS);
        let (_, old) = self.section(STATE);
        let mut from = 0;
        (0..n).map(move |index| {
            let to = cols[0].i32s()[index] as usize;
            let flags = cols[1].data[index];
            let g = Group {
                index,
                from,
                to,
                has_state: flags & 1 != 0,
                timed_out: flags & 2 != 0,
                timeout: cols[2].i64s()[index],
                key: &cols[3..],
                old,
                action: KEEP,
                wanted: NONE,
            };
            from = to;
            g
        })
    }
}

/// A key of a state function's call: its rows are `from..to`, row `index` of `key` is the key, row `index` of `old` its
/// old state.
pub struct Group<'i, 'a> {
    pub index: usize,
    pub from: usize,
    pub to: usize,
    pub has_state: bool,
    pub timed_out: bool,
    pub timeout: i64,
    pub key: &'i [Column<'a>],
    pub old: &'i [Column<'a>],
    pub(crate) action: i8,
    pub(crate) wanted: i64,
}

impl Group<'_, '_> {
    /// Says that the key's state is set; then add one value to each builder of the state.
    pub fn set(&mut self) {
        self.action = SET;
    }

    /// Removes the key's state.
    pub fn remove(&mut self) {
        self.action = REMOVE;
    }

    /// Asks for a call when the watermark (or the time) has passed `t`, in microseconds. It lasts until the key's next call.
    pub fn set_timeout(&mut self, t: i64) {
        self.wanted = t;
    }
}

struct Nodes<'a> {
    b: &'a [u8],
    nodes: usize,
    buffers: usize,
    next: usize,
}

impl<'a> Nodes<'a> {
    fn column(&mut self) -> Column<'a> {
        let n = self.nodes + self.next * NODE;
        self.next += 1;
        let (ty, first) = (Type(u16_at(self.b, n)), u32_at(self.b, n + 12) as usize);
        let mut c = Column { ty, len: u32_at(self.b, n + 4) as usize, param: u32_at(self.b, n + 20), valid: &[], offsets: &[], data: &[], children: Vec::new() };
        if ty != Type::NULL {
            c.valid = self.bytes(first);
            if ty.has_bytes() || ty == Type::LIST || ty == Type::MAP {
                c.offsets = view(self.bytes(first + 1));
            }
            if ty.has_bytes() {
                c.data = self.bytes(first + 2);
            } else if c.offsets.is_empty() && ty != Type::STRUCT {
                c.data = self.bytes(first + 1);
            }
        }
        c.children = (0..u32_at(self.b, n + 16)).map(|_| self.column()).collect();
        c
    }

    fn bytes(&self, i: usize) -> &'a [u8] {
        let e = self.buffers + i * BUFFER;
        let (at, n) = (u64_at(self.b, e) as usize, u64_at(self.b, e + 8) as usize);
        if n == 0 {
            return &[];
        }
        &self.b[at..at + n]
    }
}

/// Sees bytes as numbers. Buffers begin at multiples of 64 of the frame, which the runtime aligns to 64.
fn view<T: Copy>(b: &[u8]) -> &[T] {
    let size = core::mem::size_of::<T>();
    debug_assert!(b.as_ptr() as usize % size == 0);
    unsafe { core::slice::from_raw_parts(b.as_ptr() as *const T, b.len() / size) }
}

/// An input column.
pub struct Column<'a> {
    pub ty: Type,
    pub len: usize,
    /// Of decimals: precision | scale << 8.
    pub param: u32,
    children: Vec<Column<'a>>,
    valid: &'a [u8],
    offsets: &'a [i32],
    pub(crate) data: &'a [u8],
}

impl<'a> Column<'a> {
    /// Whether row i is null.
    pub fn is_null(&self, i: usize) -> bool {
        self.ty == Type::NULL || !self.valid.is_empty() && self.valid[i >> 3] >> (i & 7) & 1 == 0
    }

    /// Row i of a STRING or BINARY column.
    pub fn bytes(&self, i: usize) -> &'a [u8] {
        &self.data[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Row i of a STRING column, or nothing where it is not UTF-8, which the engine allows.
    pub fn str(&self, i: usize) -> Option<&'a str> {
        core::str::from_utf8(self.bytes(i)).ok()
    }

    /// The column below: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct.
    pub fn child(&self, i: usize) -> &Column<'a> {
        if self.ty == Type::MAP { &self.children[0].children[i] } else { &self.children[i] }
    }

    /// Where the elements of row i of a list or map lie in its children; a member's row i belongs to row i of the struct.
    pub fn range(&self, i: usize) -> core::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Row i of a BOOLEAN column.
    pub fn bool(&self, i: usize) -> bool {
        self.data[i >> 3] >> (i & 7) & 1 != 0
    }

    /// Row i of a TINYINT column.
    pub fn i8(&self, i: usize) -> i8 {
        self.data[i] as i8
    }

    /// Row i of a SMALLINT column.
    pub fn i16(&self, i: usize) -> i16 {
        view::<i16>(self.data)[i]
    }

    /// Row i of an INT or DATE column.
    pub fn i32(&self, i: usize) -> i32 {
        self.i32s()[i]
    }

    /// Row i of a BIGINT or TIMESTAMP column.
    pub fn i64(&self, i: usize) -> i64 {
        self.i64s()[i]
    }

    /// Row i of a FLOAT column.
    pub fn f32(&self, i: usize) -> f32 {
        self.f32s()[i]
    }

    /// Row i of a DOUBLE column.
    pub fn f64(&self, i: usize) -> f64 {
        self.f64s()[i]
    }

    /// The values of an INT or DATE column; those of null rows mean nothing.
    pub fn i32s(&self) -> &'a [i32] {
        view(self.data)
    }

    /// The values of a BIGINT or TIMESTAMP column.
    pub fn i64s(&self) -> &'a [i64] {
        view(self.data)
    }

    /// The values of a FLOAT column.
    pub fn f32s(&self) -> &'a [f32] {
        view(self.data)
    }

    /// The values of a DOUBLE column.
    pub fn f64s(&self) -> &'a [f64] {
        view(self.data)
    }

    /// The bytes of row i of a column whose values have a fixed width.
    pub fn value(&self, i: usize) -> &'a [u8] {
        let w = self.ty.width();
        &self.data[i * w..(i + 1) * w]
    }
}
