// One guest with a function of each kind, the same in every language that has an SDK: see sdk/go/examples, sdk/rust/examples,
// sdk/c/examples and sdk/assemblyscript/examples.
module("examples", "1.0.0");

// Clicks from JSON; what is no click is refused.
add("parse", "parse", "value BINARY", "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE", parseRows((row) => {
  if (row.value === null) throw new Error("null");
  const click = JSON.parse(utf8(row.value));
  if (typeof click !== "object" || click === null) throw new Error("not a JSON object");
  return click;
}));

// A filter that leaves out robots.
add("is_human", "filter", "ua STRING", "", filterRows((row) => !row.ua?.includes("bot")));

// The rows of a batch into a table, in the batch's transaction.
const UPSERT = statement("INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits");
add("upsert", "foreachBatch", "user_id STRING, visits BIGINT", "", foreachBatch((c) => {
  if (c.rows > 0) c.exec("analytics", UPSERT);
}));

// A state function: a visit comes out five minutes after its last click.
add("sessions", "state", "user_id STRING, ts TIMESTAMP", "user_id STRING, clicks BIGINT", groups((g) => {
  if (g.timedOut) {
    g.remove();
    return { user_id: g.key.user_id, clicks: g.state.clicks };
  }
  let clicks = g.state?.clicks ?? 0, last = g.state?.last ?? -Infinity;
  for (const row of g.rows()) clicks++, last = Math.max(last, row.ts);
  g.set({ clicks, last });
  g.setTimeout(last + 5 * 60_000_000);
})).state("user_id STRING", "clicks BIGINT, last TIMESTAMP", "append", "event", "ts");

// A scalar, the host of a URL.
add("domain", "scalar", "url STRING", "domain STRING", scalarRows((row) => {
  if (row.url === null) return null;
  const [, rest] = row.url.split("://");
  if (rest === undefined) throw new Error("no URL");
  return rest.split("/")[0];
}));

// An aggregate; the accumulator is a sum and a count.
add("mean", "aggregate", "x DOUBLE", "mean DOUBLE", aggregateRows({
  zero: () => ({ sum: 0, n: 0 }),
  update(acc, row) { if (row.x !== null) acc.sum += row.x, acc.n++; },
  merge(acc, other) { acc.sum += other.sum, acc.n += other.n; },
  finish: (acc) => (acc.n ? acc.sum / acc.n : null),
}));

// A scalar that reads an array of structs.
add("basket", "scalar", "items ARRAY<STRUCT<price: DOUBLE, quantity: INT>>", "total DOUBLE", scalarRows((row) =>
  row.items?.reduce((sum, i) => (i?.price == null || i.quantity == null ? sum : sum + i.price * i.quantity), 0)));

// A map function that builds an array, a map and a struct of a URL.
add("links", "map", "url STRING", "path ARRAY<STRING>, query MAP<STRING, STRING>, place STRUCT<host: STRING, length: INT>", mapRows((row) => {
  if (row.url === null) return { path: null, query: null, place: null };
  const [before, pairs = ""] = (row.url.split("://")[1] ?? "").split("?");
  const [host, ...path] = before.split("/");
  const query = {};
  for (const pair of pairs.split("&")) {
    const at = pair.indexOf("=");
    if (at >= 0) query[pair.slice(0, at)] = pair.slice(at + 1);
  }
  const length = [...before].reduce((n, c) => n + (c < "\x80" ? 1 : c < "\u0800" ? 2 : c < "\u{10000}" ? 3 : 4), 0);
  return { path: path.length ? path : [""], query, place: { host, length } };
}));
