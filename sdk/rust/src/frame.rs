//! Numbers of the contract; docs/abi.md explains them.

pub const MAGIC: u32 = 0x3146_5357;
pub const HEADER: usize = 128;
pub const NODE: usize = 24;
pub const BUFFER: usize = 16;
pub const SECTION: usize = 16;
pub const ALIGN: usize = 64;

pub const PARENTS: u32 = 1;
pub const ERRORS: u32 = 2;
pub const GROUPS: u32 = 3;
pub const STATE: u32 = 4;
pub const ACCUMULATORS: u32 = 5;
pub const GROUP_INDEX: u32 = 6;

pub const KEEP: i8 = 0;
pub const SET: i8 = 1;
pub const REMOVE: i8 = 2;

pub const NODE_NULLABLE: u16 = 1;
pub const NODE_PASSED: u16 = 2;

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type(pub u16);

impl Type {
    pub const NULL: Type = Type(0);
    pub const BOOL: Type = Type(1);
    pub const INT8: Type = Type(2);
    pub const INT16: Type = Type(3);
    pub const INT32: Type = Type(4);
    pub const INT64: Type = Type(5);
    pub const FLOAT32: Type = Type(6);
    pub const FLOAT64: Type = Type(7);
    pub const DECIMAL: Type = Type(8);
    pub const DATE: Type = Type(9);
    pub const TIMESTAMP: Type = Type(10);
    pub const TIMESTAMP_NTZ: Type = Type(11);
    pub const STRING: Type = Type(12);
    pub const BINARY: Type = Type(13);
    pub const LIST: Type = Type(14);
    pub const MAP: Type = Type(15);
    pub const STRUCT: Type = Type(16);
    pub const TIME: Type = Type(17);
    pub const YEAR_MONTH: Type = Type(18);
    pub const DAY_TIME: Type = Type(19);
    pub const CALENDAR: Type = Type(20);
    pub const VARIANT: Type = Type(21);

    /// The bytes of a value, 0 where values have no fixed width.
    pub fn width(self) -> usize {
        match self.0 {
            2 => 1,
            3 => 2,
            4 | 6 | 9 | 18 => 4,
            5 | 7 | 10 | 11 | 17 | 19 => 8,
            8 | 20 => 16,
            _ => 0,
        }
    }

    pub(crate) fn has_bytes(self) -> bool {
        self == Type::STRING || self == Type::BINARY || self == Type::VARIANT
    }
}

pub fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

pub fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

pub fn u64_at(b: &[u8], at: usize) -> u64 {
    u32_at(b, at) as u64 | (u32_at(b, at + 4) as u64) << 32
}

pub fn put(b: &mut [u8], at: usize, v: &[u8]) {
    b[at..at + v.len()].copy_from_slice(v);
}
