// What a guest in JavaScript finds in its global scope: `/// <reference types="@wstream/js" />` in an editor.
type Row = Record<string, any>;
interface Call {
  readonly rows: number; readonly first: boolean; readonly last: boolean; readonly commit: boolean;
  readonly batchId: number; readonly attempt: number; readonly partition: number;
  readonly watermark: number | null; readonly batchTime: number; readonly config: Record<string, string>;
  row(n: number): Row;
  exec(connection: string, statement: string): number;
  execOnce(connection: string, statement: string): number;
  produce(topic: string): number;
}
interface Group {
  readonly key: Row; readonly state: Row | null; readonly hasState: boolean; readonly timedOut: boolean;
  rows(): Iterable<Row>;
  set(state: Row): void; remove(): void; setTimeout(micros: number | bigint): void;
}
type Handler = (c: Call) => boolean;
type Kind = "parse" | "filter" | "map" | "scalar" | "aggregate" | "state" | "foreachBatch";
interface Entry { state(key: string, state: string, mode: "append" | "update", timeout: "none" | "event" | "processing", time?: string): Entry; doc(text: string): Entry; }
declare function module(name: string, version: string): void;
declare function add(name: string, kind: Kind, input: string, output: string, call: Handler): Entry;
declare function statement(sql: string): string;
declare function metric(name: string): string;
declare function filterRows(keep: (row: Row, c: Call) => boolean): Handler;
declare function scalarRows(value: (row: Row, c: Call) => unknown): Handler;
declare function parseRows(make: (row: Row, c: Call) => Row | Row[] | null | void): Handler;
declare function mapRows(make: (row: Row, c: Call) => Row | Row[] | null | void): Handler;
declare function aggregateRows<A>(f: { zero(): A; update(acc: A, row: Row, c: Call): A | void; merge(acc: A, other: A): A | void; finish(acc: A): unknown }): Handler;
declare function groups(each: (g: Group, c: Call) => Row | Row[] | null | void): Handler;
declare function foreachBatch(write: (c: Call) => void, finish?: (c: Call) => void): Handler;
declare function utf8(bytes: Uint8Array | string): string;
declare function log(text: unknown, level?: 0 | 1 | 2 | 3): void;
declare function addMetric(name: string, delta: number): number;
declare function observe(name: string, value: number): number;
declare const kv: { get(namespace: string, key: string): string | null; put(namespace: string, key: string, value: string): void; delete(namespace: string, key: string): void };
