//! The guest of ../../c/clicks in Rust: parse reads JSON, is_human leaves out what robots did, domain is a scalar for SQL,
//! upsert keeps a table of counts per window and url.
#![no_std]

use wstream::json::{self, Field};
use wstream::{host, Bind, Fail, Input, Output, Type};

const FIELDS: &[Field] = &[
    Field { name: "user_id", ty: Type::STRING },
    Field { name: "event_time", ty: Type::TIMESTAMP },
    Field { name: "url", ty: Type::STRING },
    Field { name: "amount", ty: Type::FLOAT64 },
    Field { name: "ua", ty: Type::STRING },
];

fn parse(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    json::parse(input, out, 0, FIELDS)
}

fn is_human(input: &Input, out: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let least: f64 = bind.setting("min_amount").unwrap_or("0").parse().map_err(|_| Fail::config("min_amount is not a number"))?;
    let (amount, ua) = (input.column(0), input.column(1));
    out.filter_rows(input, |row| {
        Ok((amount.is_null(row) || amount.f64s()[row] >= least) && (ua.is_null(row) || !robot(ua.bytes(row))))
    })
}

/// Finds bot, crawl or spider in any case.
fn robot(ua: &[u8]) -> bool {
    let has = |at: usize, word: &[u8]| ua[at..].len() >= word.len() && ua[at..].iter().zip(word).all(|(a, b)| a | 32 == *b);
    (0..ua.len()).any(|i| match ua[i] | 32 {
        b'b' => has(i, b"bot"),
        b'c' => has(i, b"crawl"),
        b's' => has(i, b"spider"),
        _ => false,
    })
}

/// What stands between "://" and the next '/', '?', '#' or ':', without "user@"; null for none.
fn domain(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let url = input.column(0);
    let b = out.output(Type::STRING, input.rows);
    for row in 0..input.rows {
        let text: &[u8] = if url.is_null(row) { b"" } else { url.bytes(row) };
        let Some(at) = text.windows(3).position(|w| w == b"://") else {
            b.null();
            continue;
        };
        let host = text[at + 3..].split(|c| matches!(c, b'/' | b'?' | b'#')).next().unwrap_or(b"");
        let host = host.rsplit(|c| *c == b'@').next().unwrap_or(b"");
        b.bytes(host.split(|c| *c == b':').next().unwrap_or(b""));
    }
    Ok(())
}


fn upsert(input: &Input, _: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let connection = bind.setting("connection").unwrap_or("analytics");
    if input.first() {
        host::exec_once(connection, "CREATE TABLE IF NOT EXISTS clicks_per_window (window_start TIMESTAMP NOT NULL, window_end TIMESTAMP NOT NULL, url VARCHAR(700) NOT NULL, cnt BIGINT NOT NULL, PRIMARY KEY (window_start, url))")?;
    }
    if input.rows > 0 {
        host::exec(
            input,
            connection,
            "INSERT INTO clicks_per_window (window_start, window_end, url, cnt) VALUES ($1, $2, $3, $4) ON CONFLICT (window_start, url) DO UPDATE SET window_end = excluded.window_end, cnt = excluded.cnt",
        )?;
    }
    Ok(())
}

wstream::module! {
    name: "clicks", version: "1.0.0",
    functions: [
        { call: parse, name: "parse", kind: "parse", doc: "clicks from JSON", input: "value BINARY",
          output: "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING" },
        { call: is_human, name: "is_human", kind: "filter", doc: "no robots; config min_amount", input: "amount DOUBLE, ua STRING" },
        { call: domain, name: "domain", kind: "scalar", doc: "the host of a URL", input: "url STRING", output: "domain STRING" },
        { call: upsert, name: "upsert", kind: "foreachBatch",
          doc: "counts per window and url into clicks_per_window; config connection",
          input: "window_start TIMESTAMP, window_end TIMESTAMP, url STRING, cnt BIGINT" },
    ],
    statements: [
        "CREATE TABLE IF NOT EXISTS clicks_per_window (window_start TIMESTAMP NOT NULL, window_end TIMESTAMP NOT NULL, url VARCHAR(700) NOT NULL, cnt BIGINT NOT NULL, PRIMARY KEY (window_start, url))",
        "INSERT INTO clicks_per_window (window_start, window_end, url, cnt) VALUES ($1, $2, $3, $4) ON CONFLICT (window_start, url) DO UPDATE SET window_end = excluded.window_end, cnt = excluded.cnt",
    ],
}
