import { BUFFER, hasBytes, hasOffsets, NODE, Type } from "./frame";

/** A column that is read. Addresses are those of the host's bytes, valid during the call. */
export class Column {
  type: u16 = 0;
  length: u32 = 0;
  /** Of decimals: precision | scale << 8. */
  param: u32 = 0;
  valid: usize = 0;
  offsets: usize = 0;
  data: usize = 0;
  private children: Column[] = [];

  /** Whether row i is null. */
  isNull(i: u32): bool {
    return this.type == Type.NULL || (this.valid != 0 && ((<u32>load<u8>(this.valid + (i >> 3)) >> (i & 7)) & 1) == 0);
  }
  bool(i: u32): bool { return ((<u32>load<u8>(this.data + (i >> 3)) >> (i & 7)) & 1) != 0; }
  i8(i: u32): i8 { return load<i8>(this.data + i); }
  i16(i: u32): i16 { return load<i16>(this.data + (<usize>i << 1)); }
  i32(i: u32): i32 { return load<i32>(this.data + (<usize>i << 2)); }
  i64(i: u32): i64 { return load<i64>(this.data + (<usize>i << 3)); }
  f32(i: u32): f32 { return load<f32>(this.data + (<usize>i << 2)); }
  f64(i: u32): f64 { return load<f64>(this.data + (<usize>i << 3)); }
  /** Where the bytes of row i of a STRING or BINARY column begin … */
  at(i: u32): usize { return this.data + load<u32>(this.offsets + (<usize>i << 2)); }
  /** … and how many they are. */
  size(i: u32): u32 { return load<u32>(this.offsets + (<usize>i << 2), 4) - load<u32>(this.offsets + (<usize>i << 2)); }
  /** Row i of a STRING column as a string, which is a copy. */
  string(i: u32): string { return String.UTF8.decodeUnsafe(this.at(i), this.size(i)); }

  /** The column below: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct. */
  child(i: i32): Column { return this.type == Type.MAP ? this.children[0].children[i] : this.children[i]; }
  /** Where the elements of row i of a list or map begin in its children (a member's row i belongs to row i) … */
  from(i: u32): u32 { return load<u32>(this.offsets + (<usize>i << 2)); }
  /** … and where they end. */
  to(i: u32): u32 { return load<u32>(this.offsets + (<usize>i << 2), 4); }

  /** Opens the node at an index and what is below it; `after` is the node that follows. */
  static open(frame: usize, index: u32): Column {
    const c = new Column(), node = frame + load<u32>(frame, 88) + index * NODE;
    c.type = load<u16>(node);
    c.length = load<u32>(node, 4);
    c.param = load<u32>(node, 20);
    if (c.type != Type.NULL) {
      const b = frame + load<u32>(frame, 92) + load<u32>(node, 12) * BUFFER;
      if (load<u64>(b, 8)) c.valid = frame + <usize>load<u64>(b);
      if (hasOffsets(c.type)) {
        c.offsets = frame + <usize>load<u64>(b, 16);
        if (hasBytes(c.type)) c.data = frame + <usize>load<u64>(b, 32);
      } else if (c.type != Type.STRUCT) c.data = frame + <usize>load<u64>(b, 16);
    }
    Column.after = index + 1;
    for (let k = load<u32>(node, 16); k > 0; k--) c.children.push(Column.open(frame, Column.after));
    return c;
  }
  static after: u32 = 0;
}
