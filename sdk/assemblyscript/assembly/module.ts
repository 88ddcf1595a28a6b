import { Call, getError, setError } from "./call";

class Bound {
  constructor(public entry: Entry, public config: Map<string, string>) {}
}

/** A function of the module. */
export class Entry {
  private more: string = "";
  constructor(public name: string, private kind: string, private input: string, private output: string, public run: (c: Call) => void) {}

  /** Adds a line for people. */
  doc(text: string): Entry { return this.member("doc", text); }
  /** What a state function declares beside: the columns of key and state, the mode (append or update), the kind of time-out
   * (none, event or processing) and the event-time column. */
  state(key: string, state: string, mode: string, timeout: string, time: string): Entry {
    this.member("key", key).member("state", state).member("mode", mode).member("timeout", timeout);
    return time.length ? this.member("time", time) : this;
  }
  private member(name: string, value: string): Entry {
    this.more += "," + quote(name) + ":" + quote(value);
    return this;
  }
  manifest(): string {
    let out = '{"name":' + quote(this.name) + ',"kind":' + quote(this.kind) + ',"input":' + quote(this.input);
    if (this.output.length) out += ',"output":' + quote(this.output);
    return out + this.more + "}";
  }
}

let head = "";
let statements = "";
let metrics = "";
const entries: Entry[] = [];
const bound: Bound[] = [];
let manifestBytes = new ArrayBuffer(0);
let inputAt: usize = 0;
let inputSize: u32 = 0;

function quote(s: string): string {
  return '"' + s.replaceAll("\\", "\\\\").replaceAll('"', '\\"') + '"';
}

/** Names the module. */
export function module(name: string, version: string): void {
  head = '{"abi":1,"name":' + quote(name) + ',"version":' + quote(version);
}

/** Adds a function. Schemas are DDL; output is "" for kinds without one. */
export function add(name: string, kind: string, input: string, output: string, run: (c: Call) => void): Entry {
  const e = new Entry(name, kind, input, output, run);
  entries.push(e);
  return e;
}

/** Declares an SQL statement that the module may run. */
export function statement(text: string): void {
  if (statements.length) statements += ",";
  statements += quote(text);
}

/** Declares a metric that the module may use. */
export function metric(name: string): void {
  if (metrics.length) metrics += ",";
  metrics += quote(name);
}

function region(b: ArrayBuffer): i64 {
  return (<i64>changetype<usize>(b) << 32) | b.byteLength;
}

export function wstream_abi_v1(): void {}

export function wstream_manifest(): i64 {
  let listed = "";
  for (let i = 0; i < entries.length; i++) listed += (i ? "," : "") + entries[i].manifest();
  manifestBytes = String.UTF8.encode(head + ',"functions":[' + listed + '],"statements":[' + statements + '],"metrics":[' + metrics + "]}");
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
    if (text.charCodeAt(i) != 0x5c) {
      out += text.charAt(i);
      continue;
    }
    i++;
    const c = text.charCodeAt(i);
    if (c == 0x75) { // \uXXXX
      out += String.fromCharCode(<i32>parseInt(text.substr(i + 1, 4), 16));
      i += 4;
    } else out += c == 0x6e ? "\n" : c == 0x74 ? "\t" : c == 0x72 ? "\r" : text.charAt(i);
  }
  end = i + 1;
  return out;
}

export function wstream_bind(at: usize, n: u32): i64 {
  const text = String.UTF8.decodeUnsafe(at, n);
  const name = readString(text, 12); // behind {"function":
  const config = new Map<string, string>();
  let i = text.lastIndexOf('"config":{') + 10;
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
  return region(getError());
}
