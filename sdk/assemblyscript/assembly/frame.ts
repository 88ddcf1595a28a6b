// Numbers of the contract; docs/abi.md explains them.

export namespace Type {
  export const NULL: u16 = 0;
  export const BOOL: u16 = 1;
  export const INT8: u16 = 2;
  export const INT16: u16 = 3;
  export const INT32: u16 = 4;
  export const INT64: u16 = 5;
  export const FLOAT32: u16 = 6;
  export const FLOAT64: u16 = 7;
  export const DECIMAL: u16 = 8;
  export const DATE: u16 = 9;
  export const TIMESTAMP: u16 = 10;
  export const TIMESTAMP_NTZ: u16 = 11;
  export const STRING: u16 = 12;
  export const BINARY: u16 = 13;
  export const LIST: u16 = 14;
  export const MAP: u16 = 15;
  export const STRUCT: u16 = 16;
  export const TIME: u16 = 17;
  export const YEAR_MONTH: u16 = 18;
  export const DAY_TIME: u16 = 19;
  export const CALENDAR: u16 = 20;
  export const VARIANT: u16 = 21;
}

/** What `Call.watermark` is where there is none, and a key's time-out where it has none. */
export const NONE: i64 = i64.MIN_VALUE;

export const MAGIC: u32 = 0x31465357;
export const HEADER: u32 = 128;
export const NODE: u32 = 24;
export const BUFFER: u32 = 16;
export const SECTION: u32 = 16;
export const PARENTS: u32 = 1;
export const ERRORS: u32 = 2;
export const GROUPS: u32 = 3;
export const STATE: u32 = 4;
export const ACCUMULATORS: u32 = 5;
export const GROUP_INDEX: u32 = 6;

/** The bytes of a value, 0 where values have no fixed width. */
export function width(type: u16): u32 {
  switch (type) {
    case Type.INT8: return 1;
    case Type.INT16: return 2;
    case Type.INT32: case Type.FLOAT32: case Type.DATE: case Type.YEAR_MONTH: return 4;
    case Type.INT64: case Type.FLOAT64: case Type.TIMESTAMP: case Type.TIMESTAMP_NTZ: case Type.TIME: case Type.DAY_TIME: return 8;
    case Type.DECIMAL: case Type.CALENDAR: return 16;
  }
  return 0;
}

/** Whether a value is bytes of any length. */
export function hasBytes(type: u16): bool {
  return type == Type.STRING || type == Type.BINARY || type == Type.VARIANT;
}

/** Whether the type has a buffer of offsets. */
export function hasOffsets(type: u16): bool {
  return hasBytes(type) || type == Type.LIST || type == Type.MAP;
}

/** Where text begins, as UTF-8, at an address: the address, or 0. */
export function find(at: usize, end: usize, text: StaticArray<u8>): usize {
  const n = text.length;
  for (; at + n <= end; at++) {
    let i = 0;
    while (i < n && load<u8>(at + i) == unchecked(text[i])) i++;
    if (i == n) return at;
  }
  return 0;
}
