// Guests for wstream in AssemblyScript. A guest registers its functions and exports the entry points:
//
//     import { Call, module, add } from "@wstream/sdk";
//     export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "@wstream/sdk";
//
//     module("sample", "1.0.0");
//     add("big", "filter", "amount DOUBLE", "", (c: Call): void => {
//       const amount = c.column(0);
//       const keep = c.bools();
//       for (let row = 0; row < c.rows; row++) keep.bool(!amount.isNull(row) && amount.f64(row) > 50);
//     });
//
//     asc sample.ts -o sample.wasm -O3 --enable simd --runtime minimal --exportStart _initialize --use abort=
//
// A function is called with many rows at once. Columns are the host's bytes, valid during the call. docs/abi.md is the
// contract. Where a function calls fail(), or throws (which traps), see "Rows that cannot be handled" there.

// ---- Numbers of the contract ----

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
}

const MAGIC: u32 = 0x31465357;
const HEADER: u32 = 128;
const NODE: u32 = 24;
const BUFFER: u32 = 16;
const SECTION: u32 = 16;
const PARENTS: u32 = 1;
const ERRORS: u32 = 2;

function width(type: u16): u32 {
  switch (type) {
    case Type.INT8: return 1;
    case Type.INT16: return 2;
    case Type.INT32: case Type.FLOAT32: case Type.DATE: return 4;
    case Type.INT64: case Type.FLOAT64: case Type.TIMESTAMP: case Type.TIMESTAMP_NTZ: return 8;
    case Type.DECIMAL: return 16;
  }
  return 0;
}

function hasBytes(type: u16): bool {
  return type == Type.STRING || type == Type.BINARY;
}

// ---- Input ----

/** An input column. Addresses are those of the host's bytes. */
export class Column {
  type: u16 = 0;
  length: u32 = 0;
  valid: usize = 0;
  offsets: usize = 0;
  data: usize = 0;

  /** Whether row i is null. */
  isNull(i: u32): bool {
    return this.type == Type.NULL || (this.valid != 0 && ((<u32>load<u8>(this.valid + (i >> 3)) >> (i & 7)) & 1) == 0);
  }
  bool(i: u32): bool { return ((<u32>load<u8>(this.data + (i >> 3)) >> (i & 7)) & 1) != 0; }
  i32(i: u32): i32 { return load<i32>(this.data + (<usize>i << 2)); }
  i64(i: u32): i64 { return load<i64>(this.data + (<usize>i << 3)); }
  f64(i: u32): f64 { return load<f64>(this.data + (<usize>i << 3)); }
  /** Where the bytes of row i of a STRING or BINARY column begin … */
  at(i: u32): usize { return this.data + load<u32>(this.offsets + (<usize>i << 2)); }
  /** … and how many they are. */
  size(i: u32): u32 { return load<u32>(this.offsets + (<usize>i << 2), 4) - load<u32>(this.offsets + (<usize>i << 2)); }
  /** Row i of a STRING column as a string, which is a copy. */
  string(i: u32): string { return String.UTF8.decodeUnsafe(this.at(i), this.size(i)); }
}

// ---- Output ----

/** Collects the rows of an output column. */
export class Builder {
  rows: u32 = 0;
  nulls: u32 = 0;
  size: u32 = 0; // bytes of data
  private capacity: u32;
  private room: u32;
  valid: usize = 0;
  offsets: usize = 0;
  data: usize = 0;

  constructor(public type: u16, rows: u32) {
    const n = max<u32>(rows, 8);
    this.capacity = n;
    this.room = hasBytes(type) ? n * 16 : type == Type.BOOL ? (n + 7) >> 3 : n * width(type);
    this.data = heap.alloc(this.room);
    if (type == Type.BOOL) memory.fill(this.data, 0, this.room);
    if (hasBytes(type)) {
      this.offsets = heap.alloc((n + 1) << 2);
      store<u32>(this.offsets, 0);
    }
  }

  private grow(): void {
    const n = this.capacity << 1;
    if (this.valid) {
      this.valid = heap.realloc(this.valid, (n + 7) >> 3);
      memory.fill(this.valid + ((this.capacity + 7) >> 3), 0, ((n + 7) >> 3) - ((this.capacity + 7) >> 3));
    }
    if (this.offsets) this.offsets = heap.realloc(this.offsets, (n + 1) << 2);
    else {
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
    if (this.offsets) store<u32>(this.offsets + ((this.rows + 1) << 2), this.size);
    else if (this.type != Type.BOOL) memory.fill(this.data + this.rows * width(this.type), 0, width(this.type));
    this.rows++;
  }
  bool(v: bool): void {
    this.open();
    store<u8>(this.data + (this.rows >> 3), load<u8>(this.data + (this.rows >> 3)) | <u8>(<u32>v << (this.rows & 7)));
    this.close();
  }
  i32(v: i32): void { this.open(); store<i32>(this.data + (this.rows << 2), v); this.close(); }
  i64(v: i64): void { this.open(); store<i64>(this.data + (this.rows << 3), v); this.close(); }
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

  free(): void {
    heap.free(this.data);
    if (this.valid) heap.free(this.valid);
    if (this.offsets) heap.free(this.offsets);
  }

  dataSize(): u32 {
    return this.offsets ? this.size : this.type == Type.BOOL ? (this.rows + 7) >> 3 : this.rows * width(this.type);
  }
}

/** One call of a function. */
export class Call {
  rows: u32;
  status: i64 = 0;
  private columns: Column[] = [];
  private out: Builder[] = [];
  private parents: Builder | null = null;
  private errorRows: Builder | null = null;
  private errorCodes: Builder | null = null;
  private errorTexts: Builder | null = null;

  /** Opens a frame of the host. Children of nested columns cannot be read. */
  constructor(public frame: usize, public config: Map<string, string>) {
    if (load<u32>(frame) != MAGIC) throw new Error("not a frame");
    this.rows = load<u32>(frame, 20);
    const nodes = frame + load<u32>(frame, 88), buffers = frame + load<u32>(frame, 92);
    let at: u32 = 0;
    for (let i: u32 = 0, n = load<u32>(frame, 72); i < n; i++) {
      const c = new Column(), node = nodes + at * NODE;
      c.type = load<u16>(node);
      c.length = load<u32>(node, 4);
      if (c.type != Type.NULL) {
        const b = buffers + load<u32>(node, 12) * BUFFER;
        if (load<u64>(b, 8)) c.valid = frame + <usize>load<u64>(b);
        const second = frame + <usize>load<u64>(b, 16);
        if (hasBytes(c.type)) {
          c.offsets = second;
          c.data = frame + <usize>load<u64>(b, 32);
        } else c.data = second;
      }
      this.columns.push(c);
      at = Call.after(nodes, at);
    }
  }

  private static after(nodes: usize, at: u32): u32 {
    let next = at + 1;
    for (let k = load<u32>(nodes + at * NODE, 16); k > 0; k--) next = Call.after(nodes, next);
    return next;
  }

  get batchId(): i64 { return load<i64>(this.frame, 24); }
  /** Microseconds since the epoch. */
  get batchTime(): i64 { return load<i64>(this.frame, 48); }
  get watermark(): i64 { return load<i64>(this.frame, 40); }
  /** Whether this is the first slice of a batch. */
  get first(): bool { return (load<u32>(this.frame, 16) & 1) != 0; }
  /** Whether a foreachBatch function is called to commit. */
  get commit(): bool { return load<u16>(this.frame, 14) == 3; }

  /** Input column i. */
  column(i: i32): Column { return this.columns[i]; }

  /** Adds an output column. */
  output(type: u16): Builder {
    const b = new Builder(type, this.rows);
    this.out.push(b);
    return b;
  }
  /** The only output column of a filter. */
  bools(): Builder { return this.output(Type.BOOL); }

  /** Says which input row the next output row comes from. */
  parent(row: u32): void {
    if (!this.parents) this.parents = new Builder(Type.INT32, this.rows);
    this.parents!.i32(row);
  }

  /** Refuses a row. */
  refuse(row: u32, code: i32, text: string): void {
    if (!this.errorRows) {
      this.errorRows = new Builder(Type.INT32, 8);
      this.errorCodes = new Builder(Type.INT32, 8);
      this.errorTexts = new Builder(Type.STRING, 8);
    }
    this.errorRows!.i32(row);
    this.errorCodes!.i32(code);
    this.errorTexts!.string(text);
  }

  /** Fails the batch. */
  fail(text: string): void {
    this.status = -1;
    setError(text);
  }

  /** Runs a statement of the manifest for every row of the input; negative where it failed. */
  exec(connection: string, statement: string): i64 {
    return execute(connection, statement, this.frame, load<u32>(this.frame, 8));
  }

  /** Runs a statement without parameters once. */
  execOnce(connection: string, statement: string): i64 {
    const frame = memory.data(128, 8);
    memory.fill(frame, 0, 128);
    store<u32>(frame, MAGIC);
    store<u32>(frame, HEADER, 4);
    store<u32>(frame, HEADER, 8);
    store<u32>(frame, 1, 20);
    return execute(connection, statement, frame, HEADER);
  }

  /** Writes the answer; 0 where there is none. */
  answer(): i64 {
    const all = this.out.slice(0);
    let sections: u32 = 0;
    if (this.parents) { all.push(this.parents!); sections++; }
    if (this.errorRows) { all.push(this.errorRows!); all.push(this.errorCodes!); all.push(this.errorTexts!); sections++; }
    if (all.length == 0) return 0;
    let buffers: u32 = 0, size: u32 = 0;
    for (let i = 0; i < all.length; i++) {
      const b = all[i];
      buffers += b.offsets ? 3 : 2;
      size += b.dataSize() + (b.offsets ? (b.rows + 1) << 2 : 0) + ((b.rows + 7) >> 3) + 3 * 64;
    }
    const buffersAt = HEADER + NODE * <u32>all.length, sectionsAt = buffersAt + BUFFER * buffers;
    let at = (sectionsAt + SECTION * sections + 63) & ~63;
    reserve(at + size);
    const f = answerAt;
    memory.fill(f, 0, at);
    let first: u32 = 0;
    for (let i = 0; i < all.length; i++) {
      const b = all[i], node = f + HEADER + <usize>i * NODE;
      store<u16>(node, b.type);
      store<u16>(node, b.valid ? 1 : 0, 2);
      store<u32>(node, b.rows, 4);
      store<u32>(node, b.nulls, 8);
      store<u32>(node, first, 12);
      for (let k = 0; k < 3; k++) {
        if (k == 1 && !b.offsets) continue;
        const from = k == 0 ? b.valid : k == 1 ? b.offsets : b.data;
        const n = k == 0 ? (b.valid ? (b.rows + 7) >> 3 : 0) : k == 1 ? (b.rows + 1) << 2 : b.dataSize();
        const e = f + buffersAt + first * BUFFER;
        store<u64>(e, at);
        store<u64>(e, n, 8);
        memory.copy(f + at, from, n);
        at = (at + n + 63) & ~63;
        first++;
      }
    }
    let e = f + sectionsAt;
    if (this.parents) {
      store<u32>(e, PARENTS);
      store<u32>(e, this.parents!.rows, 4);
      store<u32>(e, 1, 8);
      e += SECTION;
    }
    if (this.errorRows) {
      store<u32>(e, ERRORS);
      store<u32>(e, this.errorRows!.rows, 4);
      store<u32>(e, 3, 8);
    }
    store<u32>(f, MAGIC);
    store<u32>(f, HEADER, 4);
    store<u32>(f, at, 8);
    store<u32>(f, load<u32>(this.frame, 12), 12);
    store<u32>(f, this.parents ? this.parents!.rows : this.out.length ? this.out[0].rows : 0, 20);
    store<u32>(f, this.out.length, 72);
    store<u32>(f, all.length, 76);
    store<u32>(f, buffers, 80);
    store<u32>(f, sections, 84);
    store<u32>(f, HEADER, 88);
    store<u32>(f, buffersAt, 92);
    store<u32>(f, sectionsAt, 96);
    for (let i = 0; i < all.length; i++) all[i].free();
    return (<i64>f << 32) | at;
  }
}

// ---- The host ----

// @ts-ignore: decorator
@external("wstream_log_v1", "write")
declare function hostLog(level: i32, at: usize, n: u32): void;
// @ts-ignore: decorator
@external("wstream_sql_v1", "exec")
declare function hostExec(c: usize, cn: u32, s: usize, sn: u32, f: usize, fn: u32): i64;

/** Writes a line to the host's log. Level is 0 debug, 1 info, 2 warning, 3 error. */
export function log(level: i32, text: string): void {
  const b = String.UTF8.encode(text);
  hostLog(level, changetype<usize>(b), b.byteLength);
}

function execute(connection: string, statement: string, frame: usize, size: u32): i64 {
  const c = String.UTF8.encode(connection), s = String.UTF8.encode(statement);
  return hostExec(changetype<usize>(c), c.byteLength, changetype<usize>(s), s.byteLength, frame, size);
}

// ---- The module ----

class Entry {
  constructor(public name: string, public run: (c: Call) => void) {}
}
class Bound {
  constructor(public entry: Entry, public config: Map<string, string>) {}
}

let head = "";
let listed = "";
let statements = "";
const entries: Entry[] = [];
const bound: Bound[] = [];
let manifestBytes = new ArrayBuffer(0);
let errorBytes = new ArrayBuffer(0);
let inputAt: usize = 0;
let inputSize: u32 = 0;
let answerAt: usize = 0;
let answerSize: u32 = 0;

function quote(s: string): string {
  return '"' + s.replaceAll("\\", "\\\\").replaceAll('"', '\\"') + '"';
}

/** Names the module. */
export function module(name: string, version: string): void {
  head = '{"abi":1,"name":' + quote(name) + ',"version":' + quote(version);
}

/** Adds a function. Schemas are DDL; output is "" for kinds without one. */
export function add(name: string, kind: string, input: string, output: string, run: (c: Call) => void): void {
  if (listed.length) listed += ",";
  listed += '{"name":' + quote(name) + ',"kind":' + quote(kind) + ',"input":' + quote(input);
  if (output.length) listed += ',"output":' + quote(output);
  listed += "}";
  entries.push(new Entry(name, run));
}

/** Declares an SQL statement that the module may run. */
export function statement(text: string): void {
  if (statements.length) statements += ",";
  statements += quote(text);
}

function setError(text: string): void {
  errorBytes = String.UTF8.encode(text);
}

function region(b: ArrayBuffer): i64 {
  return (<i64>changetype<usize>(b) << 32) | b.byteLength;
}

function reserve(n: u32): void {
  if (n <= answerSize) return;
  if (answerAt) heap.free(answerAt);
  answerSize = n + (n >> 1);
  answerAt = heap.alloc(answerSize);
}

export function wstream_abi_v1(): void {}

export function wstream_manifest(): i64 {
  manifestBytes = String.UTF8.encode(head + ',"functions":[' + listed + '],"statements":[' + statements + "]}");
  return region(manifestBytes);
}

export function wstream_buffer(min: u32): u32 {
  if (min > inputSize) {
    if (inputAt) heap.free(inputAt);
    inputSize = min + (min >> 1) + 4096;
    inputAt = heap.alloc(inputSize);
  }
  return <u32>inputAt;
}

/** Reads the string that begins at text[at], which is a quote; `end` is set behind its closing quote. */
let end: i32 = 0;
function readString(text: string, at: i32): string {
  let out = "";
  let i = at + 1;
  for (; i < text.length && text.charCodeAt(i) != 0x22; i++) {
    if (text.charCodeAt(i) == 0x5c) i++; // escapes other than \" and \\ do not occur in names
    out += text.charAt(i);
  }
  end = i + 1;
  return out;
}

export function wstream_bind(at: usize, n: u32): i64 {
  const text = String.UTF8.decodeUnsafe(at, n);
  const name = readString(text, 12); // behind {"function":
  const config = new Map<string, string>();
  let i = text.indexOf('"config":{') + 10;
  while (i < text.length && text.charCodeAt(i) == 0x22) {
    const key = readString(text, i);
    config.set(key, readString(text, end + 1));
    i = end + 1;
  }
  for (let k = 0; k < entries.length; k++) {
    if (entries[k].name != name) continue;
    bound.push(new Bound(entries[k], config));
    return bound.length - 1;
  }
  setError("no function " + name);
  return -2;
}

export function wstream_call(handle: i32, at: usize, n: u32): i64 {
  __collect(); // what the last call left
  if (handle < 0 || handle >= bound.length) {
    setError("unknown handle");
    return -1;
  }
  const b = bound[handle];
  const c = new Call(at, b.config);
  b.entry.run(c);
  return c.status < 0 ? c.status : c.answer();
}

export function wstream_error(): i64 {
  return region(errorBytes);
}
