import { Builder } from "./builder";
import { Call } from "./call";
import { encode, frameAt, Section } from "./encode";
import { ACCUMULATORS, GROUP_INDEX, GROUPS, NONE, STATE, Type } from "./frame";

/** A call outside of the host, for unit tests. Input is built as output is; it goes through the bytes of a frame in both
 * directions. The answer is read as input is: `answer.call.column(0)`, `answer.call.rows`,
 * `answer.call.refused(i)`. */
export class Trial {
  config: Map<string, string> = new Map<string, string>();
  watermark: i64 = NONE;
  op: u16 = 0;
  first: bool = false;
  private sections: Section[] = [];
  constructor(public columns: Builder[]) {}

  /** Makes it a call of an aggregate: old accumulators, null where a group is new, and the group of each row. */
  aggregate(accumulators: Builder, group: Builder): Trial {
    this.sections.push(new Section(ACCUMULATORS, accumulators.rows, [accumulators]));
    this.sections.push(new Section(GROUP_INDEX, group.rows, [group]));
    return this;
  }
  /** Folds accumulators, which are the only column, into those of `aggregate`. */
  merge(): Trial { this.op = 1; return this; }
  /** Asks for the values of accumulators, which are the only column. */
  finish(): Trial { this.op = 2; return this; }
  /** Makes it a call of a state function: for each key where its rows end and its flags (1 it has a state, 2 its time-out has
   * passed), then the columns of the key and of the old state. */
  groups(ends: i32[], flags: i8[], key: Builder[], state: Builder[]): Trial {
    const columns = [new Builder(Type.INT32), new Builder(Type.INT8), new Builder(Type.INT64)];
    for (let i = 0; i < ends.length; i++) {
      columns[0].i32(ends[i]);
      columns[1].i8(flags[i]);
      columns[2].i64(NONE);
    }
    this.sections.push(new Section(GROUPS, ends.length, columns.concat(key)));
    this.sections.push(new Section(STATE, ends.length, state));
    return this;
  }

  /** Calls a function. */
  call(f: (c: Call) => void): Answer {
    const n = encode(this.columns, this.sections, this.columns.length ? this.columns[0].rows : 0);
    store<u16>(frameAt, this.op, 14);
    store<u32>(frameAt, <u32>this.first, 16);
    store<i64>(frameAt, this.watermark, 40);
    const frame = heap.alloc(n); // the answer takes the place of the frame
    memory.copy(frame, frameAt, n);
    const c = new Call(frame, this.config);
    f(c);
    const size = c.status < 0 ? c.status : c.answer();
    return new Answer(c.status, size > 0 ? new Call(frameAt, this.config) : null);
  }
}

/** What a function answered: a negative status, or columns. */
export class Answer {
  constructor(public status: i64, private read: Call | null) {}
  /** Whether there is none. */
  get none(): bool { return !this.read; }
  get call(): Call { return this.read!; }
}
