//! What the exports of `module!` do.

use crate::{Bind, Fail, Function, Input, Output};
use alloc::vec::Vec;
use core::cell::UnsafeCell;

struct State {
    input: Vec<Block>,
    answer: Vec<u8>,
    error: Vec<u8>,
    bound: Vec<(&'static Function, Bind)>,
}

/// Memory in pieces that begin at multiples of 64.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Block(#[allow(dead_code)] pub(crate) [u8; 64]);

struct Global(UnsafeCell<State>);

// A guest has one thread, and the host never calls into a call.
unsafe impl Sync for Global {}

static STATE: Global = Global(UnsafeCell::new(State { input: Vec::new(), answer: Vec::new(), error: Vec::new(), bound: Vec::new() }));

fn state() -> &'static mut State {
    unsafe { &mut *STATE.0.get() }
}

fn region(b: &[u8]) -> i64 {
    ((b.as_ptr() as usize as u64) << 32 | b.len() as u64) as i64
}

fn fail(f: Fail) -> i64 {
    let s = state();
    s.error.clear();
    s.error.extend_from_slice(f.text.as_bytes());
    f.status
}

pub fn manifest(text: &'static str) -> i64 {
    // The macro begins its lists with null, to have no trouble with commas.
    let s = state();
    s.answer.clear();
    s.answer.extend_from_slice(text.replace("[null,", "[").replace("[null]", "[]").as_bytes());
    region(&s.answer)
}

pub fn buffer(min: u32) -> u32 {
    let s = state();
    let blocks = min as usize / 64 + 1;
    if s.input.len() < blocks {
        s.input = alloc::vec![Block([0; 64]); blocks + blocks / 2 + 64];
    }
    s.input.as_ptr() as usize as u32
}

fn input(len: u32) -> &'static [u8] {
    let s = state();
    unsafe { core::slice::from_raw_parts(s.input.as_ptr() as *const u8, len as usize) }
}

pub fn bind(functions: &'static [Function], len: u32) -> i64 {
    let b = match Bind::parse(input(len)) {
        Ok(b) => b,
        Err(f) => return fail(f),
    };
    match functions.iter().find(|f| f.name == b.function) {
        Some(f) => {
            let s = state();
            s.bound.push((f, b));
            s.bound.len() as i64 - 1
        }
        None => fail(Fail { status: -2, text: "no such function".into() }),
    }
}

pub fn call(handle: u32, len: u32) -> i64 {
    let s = state();
    let Some((f, b)) = s.bound.get(handle as usize) else {
        return fail(Fail::new("unknown handle"));
    };
    let input = Input::open(input(len));
    let mut out = Output::default();
    if let Err(e) = (f.call)(&input, &mut out, b) {
        return fail(e);
    }
    if out.is_empty() {
        return 0;
    }
    out.encode(&input, &mut s.answer);
    region(&s.answer)
}

pub fn error() -> i64 {
    region(&state().error)
}
