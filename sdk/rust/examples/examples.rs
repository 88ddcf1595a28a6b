//! One guest with a function of each kind, the same in every language that has an SDK: see sdk/go/examples, sdk/c/examples
//! and sdk/assemblyscript/examples.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::{string::String, vec, vec::Vec};
use wstream::json::{self, Field};
use wstream::{host, Bind, Builder, Fail, Input, Output, Type};

/// Clicks from JSON; what is no click is refused.
fn parse(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    const CLICK: &[Field] = &[
        Field { name: "user_id", ty: Type::STRING },
        Field { name: "event_time", ty: Type::TIMESTAMP },
        Field { name: "url", ty: Type::STRING },
        Field { name: "amount", ty: Type::FLOAT64 },
    ];
    json::parse(input, out, 0, CLICK)
}

/// A filter that leaves out robots.
fn is_human(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let ua = input.column(0);
    out.filter_rows(input, |row| Ok(ua.is_null(row) || !ua.bytes(row).windows(3).any(|w| w == b"bot")))
}

/// The rows of a batch into a table, in the batch's transaction.
fn upsert(input: &Input, _: &mut Output, _: &Bind) -> Result<(), Fail> {
    if input.commit() || input.rows == 0 {
        return Ok(());
    }
    const UPSERT: &str = "INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits";
    host::exec(input, "analytics", UPSERT).map(|_| ())
}

/// A state function: a visit comes out five minutes after its last click.
fn sessions(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let state = vec![Builder::new(Type::INT64, 0), Builder::new(Type::TIMESTAMP, 0)];
    let columns = vec![Builder::new(Type::STRING, 0), Builder::new(Type::INT64, 0)];
    out.groups(input, state, columns, |g, state, out| {
        if g.timed_out {
            out.columns[0].from(&g.key[0], g.index);
            out.columns[1].from(&g.old[0], g.index);
            out.parent(g.index);
            g.remove();
            return Ok(());
        }
        let old = if g.has_state { (g.old[0].i64(g.index), g.old[1].i64(g.index)) } else { (0, i64::MIN) };
        let last = (g.from..g.to).map(|row| input.column(1).i64(row)).fold(old.1, i64::max);
        g.set();
        state[0].i64(old.0 + (g.to - g.from) as i64);
        state[1].i64(last);
        g.set_timeout(last + 5 * 60_000_000);
        Ok(())
    })
}

/// A scalar, the host of a URL.
fn domain(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let url = input.column(0);
    out.scalar_rows(input, Builder::new(Type::STRING, input.rows), |row, out| {
        if url.is_null(row) {
            out.null();
            return Ok(());
        }
        let (_, rest) = url.str(row).and_then(|u| u.split_once("://")).ok_or("no URL")?;
        out.str(rest.split('/').next().unwrap_or(""));
        Ok(())
    })
}

/// An aggregate; the accumulator is a sum and a count.
fn mean(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    fn total(acc: &[u8]) -> (f64, u64) {
        let word = |at: usize| <[u8; 8]>::try_from(&acc[at..at + 8]).unwrap_or_default();
        (f64::from_le_bytes(word(0)), u64::from_le_bytes(word(8)))
    }
    fn add(acc: &mut [u8], sum: f64, n: u64) {
        let (s, m) = total(acc);
        acc[..8].copy_from_slice(&(s + sum).to_le_bytes());
        acc[8..].copy_from_slice(&(m + n).to_le_bytes());
    }
    let x = input.column(0);
    out.aggregate_rows(
        input,
        16,
        Type::FLOAT64,
        |row, acc| {
            if !x.is_null(row) {
                add(acc, x.f64(row), 1)
            }
        },
        |acc, other| add(acc, total(other).0, total(other).1),
        |acc, out| match total(acc) {
            (_, 0) => out.null(),
            (sum, n) => out.f64(sum / n as f64),
        },
    )
}

/// A scalar that reads an array of structs.
fn basket(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let items = input.column(0);
    let item = items.child(0);
    let (price, quantity) = (item.child(0), item.child(1));
    out.scalar_rows(input, Builder::new(Type::FLOAT64, input.rows), |row, out| {
        if items.is_null(row) {
            out.null();
        } else {
            let there = items.range(row).filter(|&i| !item.is_null(i) && !price.is_null(i) && !quantity.is_null(i));
            out.f64(there.fold(0.0, |sum, i| sum + price.f64(i) * quantity.i32(i) as f64));
        }
        Ok(())
    })
}

/// A map function that builds an array, a map and a struct of a URL.
fn links(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let text = || Builder::new(Type::STRING, 0);
    let columns: Vec<Builder> = vec![
        Builder::list(text()),
        Builder::map(text(), text()),
        Builder::structure(vec![text(), Builder::new(Type::INT32, 0)]),
    ];
    let url = input.column(0);
    out.parse_rows(input, columns, |row, out| {
        if url.is_null(row) {
            out.iter_mut().for_each(|b| b.null());
            return Ok(());
        }
        let url = url.str(row).ok_or_else(|| String::from("not UTF-8"))?;
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let (rest, pairs) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, parts) = rest.split_once('/').unwrap_or((rest, ""));
        parts.split('/').for_each(|part| out[0].child(0).str(part));
        out[0].end();
        for (key, value) in pairs.split('&').filter_map(|pair| pair.split_once('=')) {
            out[1].child(0).str(key);
            out[1].child(1).str(value);
        }
        out[1].end();
        out[2].child(0).str(host);
        out[2].child(1).i32(rest.len() as i32);
        out[2].end();
        Ok(())
    })
}

wstream::module! {
    name: "examples", version: "1.0.0",
    functions: [
        { call: parse, name: "parse", kind: "parse", input: "value BINARY",
          output: "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE" },
        { call: is_human, name: "is_human", kind: "filter", input: "ua STRING" },
        { call: upsert, name: "upsert", kind: "foreachBatch", input: "user_id STRING, visits BIGINT" },
        { call: sessions, name: "sessions", kind: "state", input: "user_id STRING, ts TIMESTAMP", output: "user_id STRING, clicks BIGINT",
          key: "user_id STRING", state: "clicks BIGINT, last TIMESTAMP", mode: "append", timeout: "event", time: "ts" },
        { call: domain, name: "domain", kind: "scalar", input: "url STRING", output: "domain STRING" },
        { call: mean, name: "mean", kind: "aggregate", input: "x DOUBLE", output: "mean DOUBLE" },
        { call: basket, name: "basket", kind: "scalar", input: "items ARRAY<STRUCT<price: DOUBLE, quantity: INT>>", output: "total DOUBLE" },
        { call: links, name: "links", kind: "map", input: "url STRING",
          output: "path ARRAY<STRING>, query MAP<STRING, STRING>, place STRUCT<host: STRING, length: INT>" },
    ],
    statements: ["INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits"],
}

#[cfg(test)]
mod tests {
    use super::*;
    use wstream::Trial;

    fn texts(values: &[Option<&str>]) -> Builder {
        let mut b = Builder::new(Type::STRING, 0);
        for v in values {
            match v {
                Some(v) => b.str(v),
                None => b.null(),
            }
        }
        b
    }

    #[test]
    fn clicks_from_json() {
        let click = r#"{"user_id":"ann","event_time":"1970-01-01T00:00:01Z","amount":2.5}"#;
        let a = Trial::new(vec![texts(&[Some(click), Some("no click")])]).call(parse).unwrap();
        let r = a.open();
        assert!(r.rows == 1 && r.column(0).str(0) == Some("ann") && r.column(1).i64(0) == 1_000_000);
        assert!(r.column(2).is_null(0) && r.column(3).f64(0) == 2.5);
        assert_eq!(r.refused(), [(1, 1, String::from("not a JSON object"))]);
    }

    #[test]
    fn robots_are_left_out() {
        let a = Trial::new(vec![texts(&[Some("Mozilla"), Some("Googlebot"), None])]).call(is_human).unwrap();
        let r = a.open();
        assert_eq!([0, 1, 2].map(|i| r.column(0).bool(i)), [true, false, true]);
    }

    #[test]
    fn upserts_are_denied() {
        let mut visits = Builder::new(Type::INT64, 0);
        visits.i64(3);
        assert_eq!(Trial::new(vec![texts(&[Some("ann")]), visits]).call(upsert).err().unwrap().text, "denied");
    }

    #[test]
    fn hosts_of_urls() {
        let a = Trial::new(vec![texts(&[Some("https://a.b/c"), None, Some("nothing")])]).call(domain).unwrap();
        let r = a.open();
        assert!(r.column(0).str(0) == Some("a.b") && r.column(0).is_null(1) && r.column(0).is_null(2));
        assert_eq!(r.refused(), [(2, 1, String::from("no URL"))]);
    }

    #[test]
    fn totals_of_baskets() {
        let mut items = Builder::list(Builder::structure(vec![Builder::new(Type::FLOAT64, 0), Builder::new(Type::INT32, 0)]));
        for i in 1..3 {
            items.child(0).child(0).f64(1.5);
            items.child(0).child(1).i32(i);
            items.child(0).end();
        }
        items.end();
        items.null();
        items.end();
        let a = Trial::new(vec![items]).call(basket).unwrap();
        let r = a.open();
        assert!(r.column(0).f64(0) == 4.5 && r.column(0).is_null(1) && r.column(0).f64(2) == 0.0);
    }

    #[test]
    fn parts_of_links() {
        let a = Trial::new(vec![texts(&[Some("https://a.b/x/y?k=v&l=w"), None])]).call(links).unwrap();
        let r = a.open();
        let (path, query, place) = (r.column(0), r.column(1), r.column(2));
        assert!(path.range(0) == (0..2) && path.child(0).str(1) == Some("y") && path.is_null(1));
        assert!(query.range(0) == (0..2) && query.child(0).str(1) == Some("l") && query.child(1).str(1) == Some("w"));
        assert!(place.child(0).str(0) == Some("a.b") && place.child(1).i32(0) == 7 && place.is_null(1));
    }

    #[test]
    fn means() {
        let (mut x, mut group, mut old) = (Builder::new(Type::FLOAT64, 0), Builder::new(Type::INT32, 0), Builder::new(Type::BINARY, 0));
        for i in 0..3 {
            x.f64((i + 1) as f64);
            group.i32(i & 1);
        }
        old.null();
        old.bytes(&[10f64.to_le_bytes(), 2u64.to_le_bytes()].concat());
        let a = Trial::new(vec![x]).aggregate(old, group).call(mean).unwrap();
        assert!(a.open().rows == 0);
        let mut acc = Builder::new(Type::BINARY, 0);
        acc.bytes(&[12f64.to_le_bytes(), 3u64.to_le_bytes()].concat());
        acc.null();
        let a = Trial::new(vec![acc]).finish().call(mean).unwrap();
        let r = a.open();
        assert!(r.column(0).f64(0) == 4.0 && r.column(0).is_null(1));
    }

    #[test]
    fn visits() {
        let (mut ts, mut clicks, mut last) = (Builder::new(Type::TIMESTAMP, 0), Builder::new(Type::INT64, 0), Builder::new(Type::TIMESTAMP, 0));
        ts.i64(7);
        ts.i64(5);
        for _ in 0..2 {
            clicks.i64(3);
            last.i64(1);
        }
        let key = texts(&[Some("ann"), Some("bob")]);
        let trial = Trial::new(vec![texts(&[Some("ann"); 2]), ts]).groups(&[(2, false, false), (2, true, true)], vec![key], vec![clicks, last]);
        let a = trial.call(sessions).unwrap();
        let r = a.open();
        assert!(r.rows == 1 && r.column(0).str(0) == Some("bob") && r.column(1).i64(0) == 3);
    }
}
