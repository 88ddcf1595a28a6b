// Unit tests of the SDK and the examples. tests/run.mjs calls every exported function that begins with "test".
import { Builder, Call, decimal, Field, parseJson, timestamp, Trial, Type } from "../assembly";
import * as examples from "../examples/examples";

function check(ok: bool, what: string): void { if (!ok) throw new Error(what); }

/** A column of strings, in which "-" is null. */
function texts(values: string[]): Builder {
  const b = new Builder(Type.STRING);
  for (let i = 0; i < values.length; i++) {
    if (values[i] == "-") b.null();
    else b.string(values[i]);
  }
  return b;
}

export function testParse(): void {
  const r = new Trial([texts(['{"user_id":"ann","event_time":"1970-01-01T00:00:01Z","amount":2.5}', "no click"])]).call(examples.parse).call;
  check(r.rows == 1 && r.column(0).string(0) == "ann" && r.column(1).i64(0) == 1000000 && r.column(2).isNull(0) && r.column(3).f64(0) == 2.5, "row");
  check(r.refusedRows == 1 && r.refused(0) == "1: not a JSON object", "refused");
}

export function testFilter(): void {
  const r = new Trial([texts(["Mozilla", "Googlebot", "-"])]).call(examples.isHuman).call;
  check(r.column(0).bool(0) && !r.column(0).bool(1) && r.column(0).bool(2), "rows");
}

export function testUpsertIsDenied(): void {
  const visits = new Builder(Type.INT64);
  visits.i64(3);
  check(new Trial([texts(["ann"]), visits]).call(examples.upsert).status == -1, "status");
}

export function testScalar(): void {
  const r = new Trial([texts(["https://a.b/c", "-", "nothing"])]).call(examples.domain).call;
  check(r.column(0).string(0) == "a.b" && r.column(0).isNull(1) && r.column(0).isNull(2) && r.refused(0) == "2: no URL", "rows");
}

export function testBasket(): void {
  const items = Builder.list(Builder.structure([new Builder(Type.FLOAT64), new Builder(Type.INT32)]));
  for (let i = 1; i <= 2; i++) {
    items.child(0).child(0).f64(1.5);
    items.child(0).child(1).i32(i);
    items.child(0).end();
  }
  items.end();
  items.null();
  items.end();
  const c = new Trial([items]).call(examples.basket).call.column(0);
  check(c.f64(0) == 4.5 && c.isNull(1) && c.f64(2) == 0, "rows");
}

export function testLinks(): void {
  const r = new Trial([texts(["https://a.b/x/y?k=v&l=w", "-"])]).call(examples.links).call;
  const path = r.column(0), query = r.column(1), place = r.column(2);
  check(path.from(0) == 0 && path.to(0) == 2 && path.child(0).string(1) == "y" && path.isNull(1), "path");
  check(query.to(0) == 2 && query.child(0).string(1) == "l" && query.child(1).string(1) == "w", "query");
  check(place.child(0).string(0) == "a.b" && place.child(1).i32(0) == 7 && place.isNull(1), "place");
}

export function testMean(): void {
  const acc = new Builder(Type.BINARY), at = memory.data(16, 8);
  store<f64>(at, 12);
  store<u64>(at, 3, 8);
  acc.bytes(at, 16);
  acc.null();
  const c = new Trial([acc]).finish().call(examples.mean).call.column(0);
  check(c.f64(0) == 4 && c.isNull(1), "finish");
  const x = new Builder(Type.FLOAT64), group = new Builder(Type.INT32), old = new Builder(Type.BINARY);
  for (let i = 0; i < 3; i++) {
    x.f64(i + 1);
    group.i32(i & 1);
  }
  old.null();
  old.bytes(at, 16);
  const a = new Trial([x]).aggregate(old, group).call(examples.mean).call.section(5)[0];
  check(load<f64>(a.at(0)) == 4 && load<u64>(a.at(0), 8) == 2 && load<f64>(a.at(1)) == 14 && load<u64>(a.at(1), 8) == 4, "update");
}

export function testSessions(): void {
  const ts = new Builder(Type.TIMESTAMP), clicks = new Builder(Type.INT64), last = new Builder(Type.TIMESTAMP);
  ts.i64(7);
  ts.i64(5);
  for (let i = 0; i < 2; i++) {
    clicks.i64(3);
    last.i64(1);
  }
  const r = new Trial([texts(["ann", "ann"]), ts]).groups([2, 2], [0, 3], [texts(["ann", "bob"])], [clicks, last]).call(examples.sessions).call;
  check(r.rows == 1 && r.column(0).string(0) == "bob" && r.column(1).i64(0) == 3, "rows");
  const s = r.section(4);
  check(s[0].i8(0) == 1 && s[0].i8(1) == 2 && s[1].i64(0) == 300000007 && s[2].i64(0) == 2 && s[2].isNull(1), "state");
}

export function testUndo(): void {
  const l = Builder.list(Builder.structure([new Builder(Type.BOOL), texts([])]));
  for (let i = 0; i < 3; i++) {
    l.child(0).child(0).null();
    l.child(0).child(1).string("gone");
    l.child(0).end();
    l.end();
    l.null();
    l.child(0).child(0).bool(true);
    l.undo(i);
    l.child(0).child(0).bool(i == 1);
    l.child(0).child(1).string("kept");
    l.child(0).end();
    l.end();
  }
  const c = new Trial([l]).call((c: Call): void => { c.outputOf(Builder.list(Builder.structure([new Builder(Type.BOOL), new Builder(Type.STRING)]))).from(c.column(0), 1); }).call.column(0);
  check(l.nulls == 0 && l.child(0).rows == 3 && c.to(0) == 1 && c.child(0).child(0).bool(0) && c.child(0).child(1).string(0) == "kept", "rows");
}

const one = [new Field("a", Type.FLOAT64), new Field("b", Type.STRING), new Field("c", Type.INT64), new Field("d", Type.BOOL), new Field("e", Type.INT32)];
function parseOne(c: Call): void { parseJson(c, 0, one); }
function refusedAs(text: string, what: string): void {
  const r = new Trial([texts([text])]).call(parseOne).call;
  check(r.refusedRows == 1 && r.refused(0) == "0: " + what, text + ": " + (r.refusedRows ? r.refused(0) : "taken"));
}

export function testJson(): void {
  const r = new Trial([texts([
    ' { "e" : -2147483648 , "x" : [ { "y" : [ ] , "z" : { } } , null , -1.5e+3 ] , "d" : true , "c" : -9223372036854775808 , "b" : "\\u00e9\\ud83d\\ude00\\ud800\\n\\/" , "a" : 1e2 } ',
    '{"\\u0061":1,"a":2,"b":null,"b":"x","b":null}', "{}",
  ])]).call(parseOne).call;
  check(r.rows == 3 && r.column(0).f64(0) == 100 && r.column(1).string(0) == "é😀\ufffd\n/" && r.column(2).i64(0) == i64.MIN_VALUE && r.column(3).bool(0) && r.column(4).i32(0) == i32.MIN_VALUE, "first");
  check(r.column(0).f64(1) == 2 && r.column(1).isNull(1) && r.column(0).isNull(2), "others");
  refusedAs("", "not a JSON object");
  refusedAs("[]", "not a JSON object");
  refusedAs('{"x":1,}', "not a JSON object");
  refusedAs('{"x":[}', "not a JSON object");
  refusedAs('{"x":1} 2', "not a JSON object");
  refusedAs('{"a":"1"}', 'field "a": the value is of another type');
  refusedAs('{"a":1e999}', 'field "a": the number is out of range');
  refusedAs('{"a":01}', 'field "a": not JSON');
  refusedAs('{"b":"\\x"}', 'field "b": not JSON');
  refusedAs('{"c":9223372036854775808}', 'field "c": the number is out of range');
  refusedAs('{"c":1.0}', 'field "c": the value is of another type');
  refusedAs('{"e":2147483648}', 'field "e": the number is out of range');
}

function number(text: string): f64 {
  const b = String.UTF8.encode(text);
  return decimal(changetype<usize>(b), b.byteLength);
}

export function testNumbers(): void {
  check(number("0.1") == 0.1 && number("-0") == 0 && number("123456789.125e-3") == 123456.789125, "plain");
  check(reinterpret<u64>(number("2.2250738585072011e-308")) == 0xfffffffffffff, "subnormal");
  check(reinterpret<u64>(number("9007199254740993")) == 0x4340000000000000 && reinterpret<u64>(number("9007199254740993.0000000000000000000000000001")) == 0x4340000000000001, "half");
  check(number("1.7976931348623157e308") == f64.MAX_VALUE && number("1.7976931348623159e308") == Infinity && number("4.9e-324") == reinterpret<f64>(1) && number("2e-324") == 0, "ends");
  check(reinterpret<u64>(number("8.41e21")) == reinterpret<u64>(8.41e21) && reinterpret<u64>(number("6.02214076e23")) == 0x44dfe185ca57c517, "large");
}

function time(text: string): i64 {
  const b = String.UTF8.encode(text);
  return timestamp(changetype<usize>(b), b.byteLength);
}

export function testTimestamps(): void {
  check(time("1970-01-01T00:00:00Z") == 0 && time("2000-02-29 12:00:00.1234567+01:30") == 951820200123456, "times");
  check(time("1969-12-31T23:59:59-0100") == 3599000000 && time("0000-01-01T00:00:00") == -62167219200000000, "before");
  check(time("2001-02-29T00:00:00Z") == i64.MIN_VALUE && time("2000-01-01T00:00:00.Z") == i64.MIN_VALUE && time("2000-01-01T00:00:00+1") == i64.MIN_VALUE, "none");
}
