// One guest with a function of each kind, the same in every language that has an SDK: see sdk/go/examples, sdk/rust/examples
// and sdk/c/examples.
import { add, Builder, Call, Field, Group, module, parseJson, statement, Type } from "../assembly";
export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "../assembly";

/** Clicks from JSON; what is no click is refused. */
const click = [new Field("user_id", Type.STRING), new Field("event_time", Type.TIMESTAMP), new Field("url", Type.STRING), new Field("amount", Type.FLOAT64)];
export function parse(c: Call): void { parseJson(c, 0, click); }

/** A filter that leaves out robots. */
export function isHuman(c: Call): void {
  c.filterRows((c: Call, row: u32): bool => c.column(0).isNull(row) || !c.column(0).string(row).includes("bot"));
}

/** The rows of a batch into a table, in the batch's transaction. */
const UPSERT = "INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits";
export function upsert(c: Call): void {
  if (!c.commit && c.rows > 0 && c.exec("analytics", UPSERT) < 0) c.fail("upsert");
}

/** A state function: a visit comes out five minutes after its last click. */
export function sessions(c: Call): void {
  c.groups([new Builder(Type.INT64), new Builder(Type.TIMESTAMP)], [new Builder(Type.STRING), new Builder(Type.INT64)],
    (c: Call, g: Group, state: Builder[], out: Builder[]): void => {
      if (g.timedOut) {
        out[0].from(g.key[0], g.index);
        out[1].from(g.old[0], g.index);
        c.parent(g.index);
        g.remove();
        return;
      }
      let clicks = <i64>(g.to - g.from), last = i64.MIN_VALUE;
      if (g.hasState) {
        clicks += g.old[0].i64(g.index);
        last = g.old[1].i64(g.index);
      }
      for (let row = g.from; row < g.to; row++) last = max(last, c.column(1).i64(row));
      g.set();
      state[0].i64(clicks);
      state[1].i64(last);
      g.setTimeout(last + 5 * 60000000);
    });
}

/** A scalar, the host of a URL. */
export function domain(c: Call): void {
  c.scalarRows(new Builder(Type.STRING, c.rows), (c: Call, row: u32, out: Builder): void => {
    if (c.column(0).isNull(row)) {
      out.null();
      return;
    }
    const url = c.column(0).string(row), at = url.indexOf("://");
    if (at < 0) c.refuse(row, 1, "no URL");
    else out.string(url.substring(at + 3).split("/")[0]);
  });
}

/** An aggregate; the accumulator is a sum and a count. */
export function mean(c: Call): void {
  c.aggregateRows(16, Type.FLOAT64, (c: Call, row: u32, acc: usize): void => {
    if (c.column(0).isNull(row)) return;
    store<f64>(acc, load<f64>(acc) + c.column(0).f64(row));
    store<u64>(acc, load<u64>(acc, 8) + 1, 8);
  }, (acc: usize, other: usize): void => {
    store<f64>(acc, load<f64>(acc) + load<f64>(other));
    store<u64>(acc, load<u64>(acc, 8) + load<u64>(other, 8), 8);
  }, (acc: usize, out: Builder): void => {
    if (load<u64>(acc, 8)) out.f64(load<f64>(acc) / <f64>load<u64>(acc, 8));
    else out.null();
  });
}

/** A scalar that reads an array of structs. */
export function basket(c: Call): void {
  c.scalarRows(new Builder(Type.FLOAT64, c.rows), (c: Call, row: u32, out: Builder): void => {
    const items = c.column(0), item = items.child(0), price = item.child(0), quantity = item.child(1);
    if (items.isNull(row)) {
      out.null();
      return;
    }
    let sum = 0.0;
    for (let i = items.from(row); i < items.to(row); i++) {
      if (!item.isNull(i) && !price.isNull(i) && !quantity.isNull(i)) sum += price.f64(i) * quantity.i32(i);
    }
    out.f64(sum);
  });
}

/** A map function that builds an array, a map and a struct of a URL. */
export function links(c: Call): void {
  c.parseRows([
    Builder.list(new Builder(Type.STRING)), Builder.map(new Builder(Type.STRING), new Builder(Type.STRING)),
    Builder.structure([new Builder(Type.STRING), new Builder(Type.INT32)]),
  ], (c: Call, row: u32, out: Builder[]): void => {
    const path = out[0], query = out[1], place = out[2];
    if (c.column(0).isNull(row)) {
      for (let i = 0; i < 3; i++) out[i].null();
      return;
    }
    const url = c.column(0).string(row), at = url.indexOf("://");
    const all = at < 0 ? "" : url.substring(at + 3), mark = all.indexOf("?");
    const rest = mark < 0 ? all : all.substring(0, mark), slash = rest.indexOf("/");
    const parts = slash < 0 ? [""] : rest.substring(slash + 1).split("/");
    for (let i = 0; i < parts.length; i++) path.child(0).string(parts[i]);
    path.end();
    const pairs = mark < 0 ? [""] : all.substring(mark + 1).split("&");
    for (let i = 0; i < pairs.length; i++) {
      const is = pairs[i].indexOf("=");
      if (is < 0) continue;
      query.child(0).string(pairs[i].substring(0, is));
      query.child(1).string(pairs[i].substring(is + 1));
    }
    query.end();
    place.child(0).string(slash < 0 ? rest : rest.substring(0, slash));
    place.child(1).i32(String.UTF8.byteLength(rest));
    place.end();
  });
}

module("examples", "1.0.0");
statement(UPSERT);
add("parse", "parse", "value BINARY", "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE", parse);
add("is_human", "filter", "ua STRING", "", isHuman);
add("upsert", "foreachBatch", "user_id STRING, visits BIGINT", "", upsert);
add("sessions", "state", "user_id STRING, ts TIMESTAMP", "user_id STRING, clicks BIGINT", sessions)
  .state("user_id STRING", "clicks BIGINT, last TIMESTAMP", "append", "event", "ts");
add("domain", "scalar", "url STRING", "domain STRING", domain);
add("mean", "aggregate", "x DOUBLE", "mean DOUBLE", mean);
add("basket", "scalar", "items ARRAY<STRUCT<price: DOUBLE, quantity: INT>>", "total DOUBLE", basket);
add("links", "map", "url STRING", "path ARRAY<STRING>, query MAP<STRING, STRING>, place STRUCT<host: STRING, length: INT>", links);
