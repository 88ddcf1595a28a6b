// Guests for wstream in AssemblyScript. A guest registers its functions and exports the entry points:
//
//     import { Call, module, add } from "@wstream/sdk/assembly";
//     export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "@wstream/sdk/assembly";
//
//     module("sample", "1.0.0");
//     add("big", "filter", "amount DOUBLE", "", (c: Call): void => {
//       c.filterRows((c: Call, row: u32): bool => !c.column(0).isNull(row) && c.column(0).f64(row) > 50);
//     });
//
//     asc sample.ts -o sample.wasm -O3 --enable simd --runtime minimal --exportStart _initialize --use abort=
//
// A function is called with many rows at once. Columns are the host's bytes, valid during the call. docs/abi.md is the
// contract. Where a function calls fail(), or throws (which traps), see "Rows that cannot be handled" there.

export { Builder } from "./builder";
export { Call, Group } from "./call";
export { Column } from "./column";
export { NONE, Type } from "./frame";
export { addMetric, get, log, observe, put, remove } from "./host";
export { Field, parseJson } from "./json";
export { decimal } from "./number";
export { timestamp } from "./timestamp";
export { Answer, Trial } from "./trial";
export {
  add, Entry, metric, module, statement,
  wstream_abi_v1, wstream_bind, wstream_buffer, wstream_call, wstream_error, wstream_manifest,
} from "./module";
