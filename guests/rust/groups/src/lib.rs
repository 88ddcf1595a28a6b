//! The guest of ../../c/groups in Rust: functions with state by key, over rows of ts TIMESTAMP, k STRING, v INT, the key
//! being k.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use wstream::{Bind, Builder, Fail, Group, Input, Output, Type};

const MINUTE: i64 = 60_000_000;

/// The sum of the group's values that are not null.
fn total_of(input: &Input, g: &Group) -> i64 {
    let v = input.column(2);
    (g.from..g.to).filter(|&i| !v.is_null(i)).map(|i| v.i32s()[i] as i64).sum()
}

/// The group's times in whole milliseconds, as time-outs are.
fn times<'a>(input: &'a Input, g: &Group) -> impl Iterator<Item = i64> + 'a {
    let ts = input.column(0);
    (g.from..g.to).filter(move |&i| !ts.is_null(i)).map(move |i| ts.i64s()[i].div_euclid(1000) * 1000)
}

/// Value i of the old state, or `none`.
fn old(g: &Group, i: usize, none: i64) -> i64 {
    if g.has_state { g.old[i].i64s()[g.index] } else { none }
}

fn columns(types: &[Type]) -> Vec<Builder> {
    types.iter().map(|t| Builder::new(*t, 0)).collect()
}

/// Counts rows and adds up v; emits the new values each time.
fn running_count(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let rows = columns(&[Type::STRING, Type::INT64, Type::INT64]);
    out.groups(input, columns(&[Type::INT64, Type::INT64]), rows, |g, state, out| {
        let new = [old(g, 0, 0) + (g.to - g.from) as i64, old(g, 1, 0) + total_of(input, g)];
        out.columns[0].from(&g.key[0], g.index);
        g.set();
        for i in 0..2 {
            out.columns[1 + i].i64(new[i]);
            state[i].i64(new[i]);
        }
        out.parent(g.index);
        Ok(())
    })
}

/// Emits the v of a key's first row, ever.
fn first(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    out.groups(input, columns(&[Type::BOOL]), columns(&[Type::STRING, Type::INT32]), |g, state, out| {
        if !g.has_state {
            out.columns[0].from(&g.key[0], g.index);
            out.columns[1].from(input.column(2), g.from);
            out.parent(g.index);
            g.set();
            state[0].bool(true);
        }
        Ok(())
    })
}

/// Emits each v that is greater than all before it.
fn maxima(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let v = input.column(2);
    out.groups(input, columns(&[Type::INT32]), columns(&[Type::STRING, Type::INT32]), |g, state, out| {
        let mut best = g.has_state.then(|| g.old[0].i32(g.index));
        let mut found = false;
        for i in (g.from..g.to).filter(|&i| !v.is_null(i)) {
            if best.map_or(true, |b| v.i32(i) > b) {
                best = Some(v.i32(i));
                found = true;
                out.columns[0].from(&g.key[0], g.index);
                out.columns[1].i32(v.i32(i));
                out.parent(g.index);
            }
        }
        if let Some(best) = best.filter(|_| found) {
            g.set();
            state[0].i32(best);
        }
        Ok(())
    })
}

/// Sessions with a gap of five minutes: emitted, and forgotten, once the watermark has passed their end.
fn sessions(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let rows = columns(&[Type::STRING, Type::TIMESTAMP, Type::TIMESTAMP, Type::INT64]);
    out.groups(input, columns(&[Type::TIMESTAMP, Type::TIMESTAMP, Type::INT64]), rows, |g, state, out| {
        if g.timed_out {
            out.columns[0].from(&g.key[0], g.index);
            for i in 0..3 {
                out.columns[1 + i].from(&g.old[i], g.index);
            }
            out.parent(g.index);
            g.remove();
            return Ok(());
        }
        let begin = times(input, g).fold(old(g, 0, i64::MAX), i64::min);
        let last = times(input, g).fold(old(g, 1, i64::MIN), i64::max);
        g.set();
        state[0].i64(begin);
        state[1].i64(last);
        state[2].i64(old(g, 2, 0) + (g.to - g.from) as i64);
        g.set_timeout(last.saturating_add(5 * MINUTE));
        Ok(())
    })
}

/// Emits 'over' when the sum of v reaches ten, or 'idle' when ten minutes pass without a row.
fn alert(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let rows = columns(&[Type::STRING, Type::STRING, Type::INT64]);
    out.groups(input, columns(&[Type::INT64]), rows, |g, state, out| {
        let total = old(g, 0, 0) + if g.timed_out { 0 } else { total_of(input, g) };
        if g.timed_out || total >= 10 {
            out.columns[0].from(&g.key[0], g.index);
            out.columns[1].str(if g.timed_out { "idle" } else { "over" });
            out.columns[2].i64(total);
            out.parent(g.index);
            g.remove();
            return Ok(());
        }
        let last = times(input, g).fold(i64::MIN, i64::max);
        g.set();
        state[0].i64(total);
        g.set_timeout(last.saturating_add(10 * MINUTE));
        Ok(())
    })
}

wstream::module! {
    name: "groups", version: "1.0.0",
    functions: [
        { call: running_count, name: "running_count", kind: "state", input: "ts TIMESTAMP, k STRING, v INT", key: "k STRING",
          mode: "update", timeout: "none", time: "ts", state: "cnt BIGINT, total BIGINT", output: "k STRING, cnt BIGINT, total BIGINT" },
        { call: first, name: "first", kind: "state", input: "ts TIMESTAMP, k STRING, v INT", key: "k STRING",
          mode: "append", timeout: "none", time: "ts", state: "seen BOOLEAN", output: "k STRING, v INT" },
        { call: maxima, name: "maxima", kind: "state", input: "ts TIMESTAMP, k STRING, v INT", key: "k STRING",
          mode: "append", timeout: "none", time: "ts", state: "best INT", output: "k STRING, v INT" },
        { call: sessions, name: "sessions", kind: "state", input: "ts TIMESTAMP, k STRING, v INT", key: "k STRING",
          mode: "append", timeout: "event", time: "ts", state: "begin TIMESTAMP, last TIMESTAMP, cnt BIGINT",
          output: "k STRING, begin TIMESTAMP, last TIMESTAMP, cnt BIGINT" },
        { call: alert, name: "alert", kind: "state", input: "ts TIMESTAMP, k STRING, v INT", key: "k STRING",
          mode: "update", timeout: "event", time: "ts", state: "total BIGINT", output: "k STRING, what STRING, total BIGINT" },
    ],
}
