// The guest of ../../c/clicks in AssemblyScript: parse reads JSON, is_human leaves out what robots did, domain is a scalar
// for SQL, upsert keeps a table of counts per window and url.
import { add, Builder, Call, Column, Field, module, parseJson, statement, Type } from "../../../sdk/assemblyscript/assembly";
export { wstream_abi_v1, wstream_manifest, wstream_buffer, wstream_bind, wstream_call, wstream_error } from "../../../sdk/assemblyscript/assembly";

const CREATE = "CREATE TABLE IF NOT EXISTS clicks_per_window (window_start TIMESTAMP NOT NULL, window_end TIMESTAMP NOT NULL, url VARCHAR(700) NOT NULL, cnt BIGINT NOT NULL, PRIMARY KEY (window_start, url))";
const UPSERT = "INSERT INTO clicks_per_window (window_start, window_end, url, cnt) VALUES ($1, $2, $3, $4) ON CONFLICT (window_start, url) DO UPDATE SET window_end = excluded.window_end, cnt = excluded.cnt";

const BOT: StaticArray<u8> = [0x62, 0x6f, 0x74], CRAWL: StaticArray<u8> = [0x63, 0x72, 0x61, 0x77, 0x6c],
  SPIDER: StaticArray<u8> = [0x73, 0x70, 0x69, 0x64, 0x65, 0x72];

const FIELDS = [
  new Field("user_id", Type.STRING), new Field("event_time", Type.TIMESTAMP), new Field("url", Type.STRING),
  new Field("amount", Type.FLOAT64), new Field("ua", Type.STRING),
];

module("clicks", "1.0.0");
statement(CREATE);
statement(UPSERT);
add("parse", "parse", "value BINARY", "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING", parse).doc("clicks from JSON");
add("is_human", "filter", "amount DOUBLE, ua STRING", "", isHuman);
add("domain", "scalar", "url STRING", "domain STRING", domain);
add("upsert", "foreachBatch", "window_start TIMESTAMP, window_end TIMESTAMP, url STRING, cnt BIGINT", "", upsert);

function parse(c: Call): void { parseJson(c, 0, FIELDS); }

function isHuman(c: Call): void {
  const least = c.config.has("min_amount") ? parseFloat(c.config.get("min_amount")) : 0;
  if (isNaN(least)) {
    c.fail("min_amount is not a number");
    return;
  }
  const amount = c.column(0), ua = c.column(1), keep = c.bools();
  for (let row: u32 = 0; row < c.rows; row++) {
    keep.bool((amount.isNull(row) || amount.f64(row) >= least) && (ua.isNull(row) || !robot(ua.at(row), ua.size(row))));
  }
}

/** Whether the word (of lower-case letters) stands at an address, in any case. */
function has(at: usize, end: usize, word: StaticArray<u8>): bool {
  if (at + word.length > end) return false;
  for (let i = 0; i < word.length; i++) if ((load<u8>(at + i) | 32) != unchecked(word[i])) return false;
  return true;
}

/** Finds bot, crawl or spider in any case. */
function robot(at: usize, n: u32): bool {
  for (const end = at + n; at < end; at++) {
    const c = load<u8>(at) | 32;
    if (c == 0x62 && has(at, end, BOT)) return true;
    if (c == 0x63 && has(at, end, CRAWL)) return true;
    if (c == 0x73 && has(at, end, SPIDER)) return true;
  }
  return false;
}

/** What stands between "://" and the next '/', '?', '#' or ':', without "user@"; null for none. */
function domain(c: Call): void {
  const url = c.column(0), out = c.output(Type.STRING);
  for (let row: u32 = 0; row < c.rows; row++) {
    if (url.isNull(row)) out.null();
    else host(url, row, out);
  }
}

function host(url: Column, row: u32, out: Builder): void {
  let at = url.at(row);
  const end = at + url.size(row);
  while (at + 3 <= end && !(load<u8>(at) == 0x3a && load<u8>(at, 1) == 0x2f && load<u8>(at, 2) == 0x2f)) at++;
  if (at + 3 > end) {
    out.null();
    return;
  }
  let from = at + 3, to = from;
  for (; to < end; to++) {
    const c = load<u8>(to);
    if (c == 0x2f || c == 0x3f || c == 0x23) break; // / ? #
    if (c == 0x40) from = to + 1; // @
  }
  for (let i = from; i < to; i++) {
    if (load<u8>(i) == 0x3a) {
      to = i;
      break;
    }
  }
  out.bytes(from, <u32>(to - from));
}

function upsert(c: Call): void {
  const connection = c.config.has("connection") ? c.config.get("connection") : "analytics";
  if (c.commit) return;
  if (c.first && c.execOnce(connection, CREATE) < 0) {
    c.fail("create table");
    return;
  }
  if (c.rows > 0 && c.exec(connection, UPSERT) < 0) c.fail("upsert");
}
