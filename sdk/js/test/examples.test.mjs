import assert from "node:assert/strict";
import { test } from "node:test";
import { Trial } from "../trial.mjs";

const t = new Trial(new URL("../examples/examples.js", import.meta.url));
const plain = (v) => JSON.parse(JSON.stringify(v));

test("parse", () => {
  const r = t.call("parse", [{ value: Buffer.from('{"user_id":"ann","event_time":"1970-01-01T00:00:01Z","amount":2.5}') }, { value: Buffer.from("no click") }]);
  assert.deepEqual(plain(r.rows), [{ user_id: "ann", event_time: 1_000_000, url: null, amount: 2.5 }]);
  assert.equal(r.refused[0].row, 1);
});
test("is_human", () => assert.deepEqual(plain(t.call("is_human", [{ ua: "Mozilla" }, { ua: "Googlebot" }, { ua: null }]).keep), [true, false, true]));
test("upsert is denied", () => assert.throws(() => t.call("upsert", [{ user_id: "ann", visits: 3 }]), /denied/));
test("sessions", () => {
  const first = t.key("sessions", { user_id: "ann" }, [{ user_id: "ann", ts: 120_000_000 }, { user_id: "ann", ts: 60_000_000 }]);
  assert.deepEqual(plain(first), { rows: [], state: { clicks: 2, last: 120_000_000 }, timeout: 420_000_000 });
  const second = t.key("sessions", { user_id: "ann" }, [], { state: first.state, timedOut: true });
  assert.deepEqual(plain(second), { rows: [{ user_id: "ann", clicks: 2 }], state: null, timeout: null });
});
test("domain", () => {
  const r = t.call("domain", [{ url: "https://a.b/c" }, { url: null }, { url: "nothing" }]);
  assert.deepEqual(plain(r.rows), [{ domain: "a.b" }, { domain: null }, { domain: null }]);
  assert.deepEqual(plain(r.refused), [{ row: 2, text: "no URL" }]);
});
test("mean", () => assert.equal(t.aggregate("mean", [{ x: 1 }, { x: null }, { x: 3 }]), 2));
test("basket", () => {
  const r = t.call("basket", [{ items: [{ price: 1.5, quantity: 2 }, null, { price: 2, quantity: null }] }, { items: null }]);
  assert.deepEqual(plain(r.rows), [{ total: 3 }, { total: null }]);
});
test("links", () => {
  const r = t.call("links", [{ url: "https://a.b/x/y?k=v&l=w" }]);
  assert.deepEqual(plain(r.rows), [{ path: ["x", "y"], query: { k: "v", l: "w" }, place: { host: "a.b", length: 7 } }]);
});
test("a value of another type", () => {
  const r = t.call("parse", [{ value: Buffer.from('{"amount":"2"}') }]);
  assert.match(r.refused[0].text, /column amount: expected DOUBLE/);
});
