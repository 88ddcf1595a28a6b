import { Builder } from "./builder";
import { BUFFER, hasBytes, hasOffsets, HEADER, MAGIC, NODE, SECTION, Type } from "./frame";

/** Columns beside the main ones. */
export class Section {
  constructor(public id: u32, public rows: u32, public columns: Builder[]) {}
}

/** Where the last frame lies; it is used again by the next one. */
export let frameAt: usize = 0;
let frameRoom: u32 = 0;

function reserve(n: u32): void {
  if (n <= frameRoom) return;
  if (frameAt) heap.free(frameAt);
  frameRoom = n + (n >> 1);
  frameAt = heap.alloc(frameRoom);
}

class Tables {
  nodes: u32 = 0;
  buffers: u32 = 0;
  bytes: u32 = 0;
  node: usize = 0;
  buffer: usize = 0;
  at: u32 = 0;

  /** Counts what a column needs. */
  count(b: Builder): void {
    this.nodes += b.type == Type.MAP ? 2 : 1;
    if (b.passed >= 0 || b.type == Type.NULL) return;
    this.buffers += hasBytes(b.type) ? 3 : b.type == Type.STRUCT ? 1 : b.type == Type.MAP ? 3 : 2;
    this.bytes += b.dataSize() + ((b.rows + 1) << 2) + ((b.rows + 7) >> 3) + 3 * 64;
    for (let i = 0; i < b.children.length; i++) this.count(b.children[i]);
  }

  private data(from: usize, n: u32): void {
    const e = this.buffer + this.buffers * BUFFER;
    store<u64>(e, this.at);
    store<u64>(e, n, 8);
    memory.copy(frameAt + this.at, from, n);
    const end = this.at + n;
    this.at = (end + 63) & ~63;
    memory.fill(frameAt + end, 0, this.at - end); // what lies between buffers is the same each time
    this.buffers++;
  }

  private head(type: u16, rows: u32, children: u32): usize {
    const n = this.node + this.nodes * NODE;
    this.nodes++;
    store<u16>(n, type);
    store<u32>(n, rows, 4);
    store<u32>(n, this.buffers, 12);
    store<u32>(n, children, 16);
    return n;
  }

  /** Writes a column and what is below it. */
  put(b: Builder): void {
    if (b.passed >= 0) {
      const n = this.head(Type.NULL, 0, 0);
      store<u16>(n, 2, 2);
      store<u32>(n, b.passed, 12);
      return;
    }
    const n = this.head(b.type, b.rows, b.type == Type.MAP ? 1 : b.children.length);
    store<u16>(n, b.valid ? 1 : 0, 2);
    store<u32>(n, b.nulls, 8);
    store<u32>(n, b.param, 20);
    if (b.type == Type.NULL) return;
    this.data(b.valid, b.valid ? (b.rows + 7) >> 3 : 0);
    if (hasOffsets(b.type)) this.data(b.offsets, (b.rows + 1) << 2);
    if (!b.children.length && b.type != Type.STRUCT) this.data(b.data, b.dataSize());
    if (b.type == Type.MAP) { // the struct of its entries
      this.head(Type.STRUCT, b.children[0].rows, 2);
      this.data(0, 0);
    }
    for (let i = 0; i < b.children.length; i++) this.put(b.children[i]);
  }
}

/** Writes a frame to frameAt and gives its size; the rest of its header is zero. */
export function encode(columns: Builder[], sections: Section[], rows: u32): u32 {
  const t = new Tables();
  for (let i = 0; i < columns.length; i++) t.count(columns[i]);
  for (let i = 0; i < sections.length; i++) {
    for (let k = 0; k < sections[i].columns.length; k++) t.count(sections[i].columns[k]);
  }
  const nodes = t.nodes, buffers = t.buffers, buffersAt = HEADER + NODE * nodes, sectionsAt = buffersAt + BUFFER * buffers;
  t.at = (sectionsAt + SECTION * <u32>sections.length + 63) & ~63;
  reserve(t.at + t.bytes);
  const f = frameAt;
  memory.fill(f, 0, t.at);
  t.node = f + HEADER;
  t.buffer = f + buffersAt;
  t.nodes = t.buffers = 0;
  for (let i = 0; i < columns.length; i++) t.put(columns[i]);
  for (let i = 0; i < sections.length; i++) {
    const s = sections[i], e = f + sectionsAt + <u32>i * SECTION;
    store<u32>(e, s.id);
    store<u32>(e, s.rows, 4);
    store<u32>(e, s.columns.length, 8);
    for (let k = 0; k < s.columns.length; k++) t.put(s.columns[k]);
  }
  store<u32>(f, MAGIC);
  store<u32>(f, HEADER, 4);
  store<u32>(f, t.at, 8);
  store<u32>(f, rows, 20);
  store<u32>(f, columns.length, 72);
  store<u32>(f, nodes, 76);
  store<u32>(f, buffers, 80);
  store<u32>(f, sections.length, 84);
  store<u32>(f, HEADER, 88);
  store<u32>(f, buffersAt, 92);
  store<u32>(f, sectionsAt, 96);
  return t.at;
}
