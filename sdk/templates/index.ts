// NAME: a guest of wstream. keep is a filter: it says of each row whether it stays.
import { add, Call, module } from "./wstream";
export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "./wstream";

module("NAME", "0.1.0");
add("keep", "filter", "amount DOUBLE", "", (c: Call): void => {
  const amount = c.column(0), out = c.bools();
  for (let row: u32 = 0; row < c.rows; row++) out.bool(!amount.isNull(row) && amount.f64(row) > 0);
});
