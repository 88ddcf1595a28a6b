import { Builder } from "./builder";
import { Column } from "./column";
import { encode, frameAt, Section } from "./encode";
import { ACCUMULATORS, ERRORS, GROUP_INDEX, GROUPS, HEADER, MAGIC, NONE, PARENTS, SECTION, STATE, Type } from "./frame";
import { execute, produceRows } from "./host";

let errorBytes = new ArrayBuffer(0);

/** Keeps the text of a negative status. */
export function setError(text: string): void { errorBytes = String.UTF8.encode(text); }
export function getError(): ArrayBuffer { return errorBytes; }

/** One call of a function: its input, its output, and what it may ask of the host. */
export class Call {
  rows: u32;
  status: i64 = 0;
  private columns: Column[] = [];
  private sectionIds: u32[] = [];
  private sectionRows: u32[] = [];
  private sectionColumns: Column[][] = [];
  private out: Builder[] = [];
  private outSections: Section[] = [];
  private parentsOf: Builder | null = null;
  private errors: Builder[] = [];
  /** The row that was refused last, or -1. */
  refusedRow: i64 = -1;

  /** Opens a frame of the host. */
  constructor(public frame: usize, public config: Map<string, string>) {
    if (load<u32>(frame) != MAGIC) throw new Error("not a frame");
    this.rows = load<u32>(frame, 20);
    Column.after = 0;
    for (let n = load<u32>(frame, 72); n > 0; n--) this.columns.push(Column.open(frame, Column.after));
    let e = frame + load<u32>(frame, 96);
    for (let n = load<u32>(frame, 84); n > 0; n--) {
      const columns: Column[] = [];
      for (let k = load<u32>(e, 8); k > 0; k--) columns.push(Column.open(frame, Column.after));
      this.sectionIds.push(load<u32>(e));
      this.sectionRows.push(load<u32>(e, 4));
      this.sectionColumns.push(columns);
      e += SECTION;
    }
  }

  get batchId(): i64 { return load<i64>(this.frame, 24); }
  /** Microseconds since the epoch. */
  get batchTime(): i64 { return load<i64>(this.frame, 48); }
  /** Microseconds since the epoch, or NONE. */
  get watermark(): i64 { return load<i64>(this.frame, 40); }
  /** Whether this is the first slice of a batch. */
  get first(): bool { return (load<u32>(this.frame, 16) & 1) != 0; }
  /** Whether this is the last slice of a batch. */
  get last(): bool { return (load<u32>(this.frame, 16) & 2) != 0; }
  /** Whether a foreachBatch function is called to commit. */
  get commit(): bool { return load<u16>(this.frame, 14) == 3; }
  /** 0 call, 1 merge, 2 finish, 3 commit. */
  get op(): u16 { return load<u16>(this.frame, 14); }

  /** Input column i. */
  column(i: i32): Column { return this.columns[i]; }
  /** The rows of a section, 0 where there is none. */
  sectionSize(id: u32): u32 { const i = this.sectionIds.indexOf(id); return i < 0 ? 0 : this.sectionRows[i]; }
  /** The columns of a section. */
  section(id: u32): Column[] { return this.sectionColumns[this.sectionIds.indexOf(id)]; }

  /** In an answer: how many rows were refused … */
  get refusedRows(): u32 { return this.sectionSize(ERRORS); }
  /** … and the text of the i-th, behind its row and ": ". */
  refused(i: u32): string { return this.section(ERRORS)[0].i32(i).toString() + ": " + this.section(ERRORS)[2].string(i); }

  /** Adds an output column. */
  output(type: u16): Builder { return this.outputOf(new Builder(type, this.rows)); }
  /** Adds an output column that Builder.list, map or structure made. */
  outputOf(b: Builder): Builder {
    this.out.push(b);
    return b;
  }
  /** The only output column of a filter. */
  bools(): Builder { return this.output(Type.BOOL); }
  /** Adds input column i untouched, in map functions. */
  pass(i: i32): void { this.output(Type.NULL).passed = i; }

  /** Says which input row (or key) the next output row comes from. */
  parent(row: u32): void { this.parents().i32(row); }
  /** Makes the answer one that is not row for row, even if it has no row. */
  parents(): Builder {
    if (!this.parentsOf) this.parentsOf = new Builder(Type.INT32, this.rows);
    return this.parentsOf!;
  }

  /** Refuses a row. */
  refuse(row: u32, code: i32, text: string): void {
    if (!this.errors.length) this.errors = [new Builder(Type.INT32), new Builder(Type.INT32), new Builder(Type.STRING)];
    this.errors[0].i32(row);
    this.errors[1].i32(code);
    this.errors[2].string(text);
    this.refusedRow = row;
  }

  /** Fails the batch. */
  fail(text: string): void {
    this.status = -1;
    setError(text);
  }

  /** A filter: keep says of a row whether it stays, or refuses it. */
  filterRows(keep: (c: Call, row: u32) => bool): void {
    const out = this.bools();
    for (let row: u32 = 0; row < this.rows; row++) {
      const stays = keep(this, row);
      out.bool(stays && this.refusedRow != row);
    }
  }

  /** A scalar: value adds the value of a row to the column, or refuses the row. */
  scalarRows(column: Builder, value: (c: Call, row: u32, out: Builder) => void): void {
    const out = this.outputOf(column);
    for (let row: u32 = 0; row < this.rows; row++) {
      value(this, row, out);
      if (this.refusedRow != row) continue;
      out.undo(row);
      out.null();
    }
  }

  /** Parse and map functions: row adds any number of rows to the columns, or refuses the input row. */
  parseRows(columns: Builder[], row: (c: Call, row: u32, out: Builder[]) => void): void {
    for (let i = 0; i < columns.length; i++) this.outputOf(columns[i]);
    const parents = this.parents();
    for (let i: u32 = 0; i < this.rows; i++) {
      row(this, i, columns);
      if (this.refusedRow == i) {
        for (let k = 0; k < columns.length; k++) columns[k].undo(parents.rows);
      }
      while (parents.rows < columns[0].rows) parents.i32(i);
    }
  }

  /** An aggregate: a group's accumulator has size bytes at an address, zero in a group that is new. update folds a row into
   * it, merge another accumulator, and finish adds the group's value to out, which is of the given type. */
  aggregateRows(size: u32, type: u16, update: (c: Call, row: u32, acc: usize) => void, merge: (acc: usize, other: usize) => void,
    finish: (acc: usize, out: Builder) => void): void {
    const one = heap.alloc(size), step = (size + 15) & ~15;
    if (this.op == 2) {
      const out = this.output(type), column = this.column(0);
      for (let row: u32 = 0; row < this.rows; row++) {
        memory.fill(one, 0, size);
        if (!column.isNull(row)) memory.copy(one, column.at(row), size);
        finish(one, out);
      }
      heap.free(one);
      return;
    }
    const n = this.sectionSize(ACCUMULATORS), old = this.section(ACCUMULATORS)[0], group = this.section(GROUP_INDEX)[0];
    const all = heap.alloc(n * step + 1);
    memory.fill(all, 0, n * step);
    for (let i: u32 = 0; i < n; i++) if (!old.isNull(i)) memory.copy(all + i * step, old.at(i), size);
    for (let row: u32 = 0; row < this.rows; row++) {
      const acc = all + <u32>group.i32(row) * step;
      if (this.op != 1) update(this, row, acc);
      else if (!this.column(0).isNull(row)) {
        memory.copy(one, this.column(0).at(row), size);
        merge(acc, one);
      }
    }
    const out = new Builder(Type.BINARY, n);
    for (let i: u32 = 0; i < n; i++) out.bytes(all + i * step, size);
    this.outSections.push(new Section(ACCUMULATORS, n, [out]));
    heap.free(all);
    heap.free(one);
  }

  /** A state function: key looks at one key, adds rows to out with parent(g.index) for each, and says by g.set, g.remove and
   * g.setTimeout what becomes of it. Where it calls set it adds one value to each of state; for all other keys nothing. */
  groups(state: Builder[], out: Builder[], key: (c: Call, g: Group, state: Builder[], out: Builder[]) => void): void {
    for (let i = 0; i < out.length; i++) this.outputOf(out[i]);
    this.parents();
    const n = this.sectionSize(GROUPS), columns = this.section(GROUPS), old = this.section(STATE);
    const action = new Builder(Type.INT8, n), timeout = new Builder(Type.INT64, n), keys = columns.slice(3);
    let from: u32 = 0;
    for (let i: u32 = 0; i < n; i++) {
      const to = <u32>columns[0].i32(i), flags = columns[1].i8(i);
      const g = new Group(i, from, to, (flags & 1) != 0, (flags & 2) != 0, columns[2].i64(i), keys, old);
      key(this, g, state, out);
      action.i8(g.action);
      timeout.i64(g.wanted);
      if (g.action != 1) for (let k = 0; k < state.length; k++) state[k].null();
      from = to;
    }
    const all = [action, timeout];
    this.outSections.push(new Section(STATE, n, all.concat(state)));
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

  /** Sends the input's rows to a topic, within the batch's transaction. */
  produce(topic: string): i64 { return produceRows(topic, this.frame, load<u32>(this.frame, 8)); }

  /** Writes the answer; 0 where there is none. */
  answer(): i64 {
    const sections = this.outSections.slice(0);
    if (this.parentsOf) sections.push(new Section(PARENTS, this.parentsOf!.rows, [this.parentsOf!]));
    if (this.errors.length) sections.push(new Section(ERRORS, this.errors[0].rows, this.errors));
    if (!this.out.length && !sections.length) return 0;
    let rows: u32 = this.out.length ? this.rows : 0;
    for (let i = 0; i < this.out.length; i++) if (this.out[i].passed < 0) rows = this.out[i].rows;
    if (this.parentsOf) rows = this.parentsOf!.rows;
    const n = encode(this.out, sections, rows);
    store<u32>(frameAt, load<u32>(this.frame, 12), 12);
    for (let i = 0; i < this.out.length; i++) this.out[i].free();
    for (let i = 0; i < sections.length; i++) {
      for (let k = 0; k < sections[i].columns.length; k++) sections[i].columns[k].free();
    }
    return (<i64>frameAt << 32) | n;
  }
}

/** A key of a state function's call: its rows are from … to - 1; row index of key is the key, of old its old state. */
export class Group {
  action: i8 = 0;
  wanted: i64 = NONE;
  constructor(public index: u32, public from: u32, public to: u32, public hasState: bool, public timedOut: bool, public timeout: i64,
    public key: Column[], public old: Column[]) {}
  /** Says that the key's state is set; then add one value to each builder of the state. */
  set(): void { this.action = 1; }
  /** Removes the key's state. */
  remove(): void { this.action = 2; }
  /** Asks for a call when the watermark (or the time) has passed t, in microseconds. It lasts until the key's next call. */
  setTimeout(t: i64): void { this.wanted = t; }
}
