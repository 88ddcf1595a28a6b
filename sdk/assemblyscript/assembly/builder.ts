import { Column } from "./column";
import { hasBytes, hasOffsets, Type, width } from "./frame";

/** Collects the rows of an output column. */
export class Builder {
  rows: u32 = 0;
  nulls: u32 = 0;
  size: u32 = 0; // bytes of data
  /** Of decimals: precision | scale << 8. */
  param: u32 = 0;
  /** The input column that is passed through, or -1. */
  passed: i32 = -1;
  children: Builder[] = [];
  valid: usize = 0;
  offsets: usize = 0;
  data: usize = 0;
  private capacity: u32;
  private room: u32;

  constructor(public type: u16, rows: u32 = 0) {
    const n = max<u32>(rows, 8);
    this.capacity = n;
    this.room = hasBytes(type) ? n * 16 : type == Type.BOOL ? (n + 7) >> 3 : n * width(type);
    if (this.room) this.data = heap.alloc(this.room);
    if (type == Type.BOOL) memory.fill(this.data, 0, this.room);
    if (hasOffsets(type)) {
      this.offsets = heap.alloc((n + 1) << 2);
      store<u32>(this.offsets, 0);
    }
  }

  /** A builder of ARRAY rows: for each row add any number of values to `child(0)`, then call `end`. */
  static list(element: Builder): Builder { return Builder.nested(Type.LIST, [element]); }
  /** A builder of MAP rows: for each row add keys, not null, to `child(0)` and as many values to `child(1)`, then call `end`. */
  static map(key: Builder, value: Builder): Builder { return Builder.nested(Type.MAP, [key, value]); }
  /** A builder of STRUCT rows: for each row add one value to each `child(i)`, then call `end`. */
  static structure(members: Builder[]): Builder { return Builder.nested(Type.STRUCT, members); }
  private static nested(type: u16, children: Builder[]): Builder {
    const b = new Builder(type);
    b.children = children;
    return b;
  }
  /** The builder below: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a struct. */
  child(i: i32): Builder { return this.children[i]; }

  private grow(): void {
    const n = this.capacity << 1;
    if (this.valid) {
      this.valid = heap.realloc(this.valid, (n + 7) >> 3);
      memory.fill(this.valid + ((this.capacity + 7) >> 3), 0, ((n + 7) >> 3) - ((this.capacity + 7) >> 3));
    }
    if (this.offsets) this.offsets = heap.realloc(this.offsets, (n + 1) << 2);
    else if (this.data) {
      const room = this.type == Type.BOOL ? (n + 7) >> 3 : n * width(this.type);
      this.data = heap.realloc(this.data, room);
      if (this.type == Type.BOOL) memory.fill(this.data + this.room, 0, room - this.room);
      this.room = room;
    }
    this.capacity = n;
  }

  private open(): void { if (this.rows == this.capacity) this.grow(); }
  private close(): void {
    if (this.valid) store<u8>(this.valid + (this.rows >> 3), load<u8>(this.valid + (this.rows >> 3)) | <u8>(<u32>1 << (this.rows & 7)));
    this.rows++;
  }

  /** Ends a row of a list, map or struct. Throws where a struct's members, or a map's keys and values, do not fit. */
  end(): void {
    this.open();
    const n = this.offsets ? this.children[0].rows : this.rows + 1;
    for (let i = 0; i < this.children.length; i++) {
      if (this.children[i].rows != n) throw new Error("the columns below a row do not fit each other");
    }
    if (this.offsets) store<u32>(this.offsets + ((this.rows + 1) << 2), n);
    this.close();
  }

  null(): void {
    this.open();
    if (!this.valid) {
      const n = (this.capacity + 7) >> 3;
      this.valid = heap.alloc(n);
      memory.fill(this.valid, 0, n);
      memory.fill(this.valid, 0xff, this.rows >> 3);
      if (this.rows & 7) store<u8>(this.valid + (this.rows >> 3), <u8>((<u32>1 << (this.rows & 7)) - 1));
    }
    this.nulls++;
    if (this.children.length) {
      const at = this.offsets ? load<u32>(this.offsets + (this.rows << 2)) : this.rows;
      for (let i = 0; i < this.children.length; i++) {
        this.children[i].undo(at);
        if (!this.offsets) this.children[i].null();
      }
      if (this.offsets) store<u32>(this.offsets + ((this.rows + 1) << 2), at);
    } else if (this.offsets) store<u32>(this.offsets + ((this.rows + 1) << 2), this.size);
    else if (this.type != Type.BOOL) memory.fill(this.data + this.rows * width(this.type), 0, width(this.type));
    this.rows++;
  }
  bool(v: bool): void {
    this.open();
    store<u8>(this.data + (this.rows >> 3), load<u8>(this.data + (this.rows >> 3)) | <u8>(<u32>v << (this.rows & 7)));
    this.close();
  }
  i8(v: i8): void { this.open(); store<i8>(this.data + this.rows, v); this.close(); }
  i16(v: i16): void { this.open(); store<i16>(this.data + (this.rows << 1), v); this.close(); }
  i32(v: i32): void { this.open(); store<i32>(this.data + (this.rows << 2), v); this.close(); }
  i64(v: i64): void { this.open(); store<i64>(this.data + (this.rows << 3), v); this.close(); }
  f32(v: f32): void { this.open(); store<f32>(this.data + (this.rows << 2), v); this.close(); }
  f64(v: f64): void { this.open(); store<f64>(this.data + (this.rows << 3), v); this.close(); }
  /** Adds n bytes as a BINARY, or as a STRING if they are UTF-8. */
  bytes(at: usize, n: u32): void {
    this.open();
    if (this.size + n > this.room) {
      this.room = max<u32>(this.room << 1, this.size + n);
      this.data = heap.realloc(this.data, this.room);
    }
    memory.copy(this.data + this.size, at, n);
    this.size += n;
    store<u32>(this.offsets + ((this.rows + 1) << 2), this.size);
    this.close();
  }
  string(v: string): void {
    const b = String.UTF8.encode(v);
    this.bytes(changetype<usize>(b), b.byteLength);
  }

  /** Adds row i of a column of the same type. */
  from(c: Column, i: u32): void {
    if (c.isNull(i)) this.null();
    else if (this.type == Type.BOOL) this.bool(c.bool(i));
    else if (this.children.length) {
      const from = this.offsets ? c.from(i) : i, to = this.offsets ? c.to(i) : i + 1;
      for (let k = 0; k < this.children.length; k++) {
        for (let j = from; j < to; j++) this.children[k].from(c.child(k), j);
      }
      this.end();
    } else if (this.offsets) this.bytes(c.at(i), c.size(i));
    else {
      const w = width(this.type);
      this.open();
      memory.copy(this.data + this.rows * w, c.data + i * w, w);
      this.close();
    }
  }

  /** Takes back what was added beyond n rows, and below a nested column what belongs to none of them. */
  undo(n: u32): void {
    if (this.rows < n) return;
    const below = this.offsets ? load<u32>(this.offsets + (n << 2)) : n;
    for (let i = 0; i < this.children.length; i++) this.children[i].undo(below);
    for (let i = n; i < this.rows; i++) {
      if (this.valid) {
        const bits = <u32>load<u8>(this.valid + (i >> 3));
        this.nulls -= 1 - ((bits >> (i & 7)) & 1);
        store<u8>(this.valid + (i >> 3), <u8>(bits & ~(<u32>1 << (i & 7))));
      }
      if (this.type == Type.BOOL) store<u8>(this.data + (i >> 3), <u8>(<u32>load<u8>(this.data + (i >> 3)) & ~(<u32>1 << (i & 7))));
    }
    if (hasBytes(this.type)) this.size = below;
    this.rows = n;
  }

  free(): void {
    if (this.data) heap.free(this.data);
    if (this.valid) heap.free(this.valid);
    if (this.offsets) heap.free(this.offsets);
    for (let i = 0; i < this.children.length; i++) this.children[i].free();
  }

  dataSize(): u32 {
    return hasBytes(this.type) ? this.size : this.type == Type.BOOL ? (this.rows + 7) >> 3 : this.rows * width(this.type);
  }
}
