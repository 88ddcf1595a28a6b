//! What a guest may ask of the host.

use crate::{Fail, Input};

#[cfg(target_arch = "wasm32")]
mod import {
    #[link(wasm_import_module = "wstream_log_v1")]
    extern "C" {
        #[link_name = "write"]
        pub fn log(level: i32, text: *const u8, len: usize);
    }
    #[link(wasm_import_module = "wstream_sql_v1")]
    extern "C" {
        #[link_name = "exec"]
        pub fn exec(c: *const u8, cn: usize, s: *const u8, sn: usize, f: *const u8, fnn: usize) -> i64;
    }
    #[link(wasm_import_module = "wstream_metric_v1")]
    extern "C" {
        #[link_name = "add"]
        pub fn metric_add(name: *const u8, n: usize, value: f64) -> i32;
        #[link_name = "observe"]
        pub fn metric_observe(name: *const u8, n: usize, value: f64) -> i32;
    }
    #[link(wasm_import_module = "wstream_produce_v1")]
    extern "C" {
        #[link_name = "produce"]
        pub fn produce(t: *const u8, tn: usize, f: *const u8, fnn: usize) -> i64;
    }
    #[link(wasm_import_module = "wstream_kv_v1")]
    extern "C" {
        #[link_name = "get"]
        pub fn get(ns: *const u8, nn: usize, k: *const u8, kn: usize, b: *mut u8, room: usize) -> i64;
        #[link_name = "put"]
        pub fn put(ns: *const u8, nn: usize, k: *const u8, kn: usize, v: *const u8, vn: usize) -> i64;
        #[link_name = "delete"]
        pub fn delete(ns: *const u8, nn: usize, k: *const u8, kn: usize) -> i64;
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod import {
    // Natively, as in unit tests, the host denies everything.
    pub unsafe fn log(_: i32, _: *const u8, _: usize) {}
    pub unsafe fn metric_add(_: *const u8, _: usize, _: f64) -> i32 {
        -7
    }
    pub unsafe fn metric_observe(_: *const u8, _: usize, _: f64) -> i32 {
        -7
    }
    pub unsafe fn produce(_: *const u8, _: usize, _: *const u8, _: usize) -> i64 {
        -7
    }
    pub unsafe fn delete(_: *const u8, _: usize, _: *const u8, _: usize) -> i64 {
        -7
    }
    pub unsafe fn exec(_: *const u8, _: usize, _: *const u8, _: usize, _: *const u8, _: usize) -> i64 {
        -7
    }
    pub unsafe fn get(_: *const u8, _: usize, _: *const u8, _: usize, _: *mut u8, _: usize) -> i64 {
        -7
    }
    pub unsafe fn put(_: *const u8, _: usize, _: *const u8, _: usize, _: *const u8, _: usize) -> i64 {
        -7
    }
}

pub(crate) fn log_bytes(level: i32, text: &[u8]) {
    unsafe { import::log(level, text.as_ptr(), text.len()) }
}

/// Writes a line to the host's log. Level is 0 debug, 1 info, 2 warning, 3 error.
pub fn log(level: i32, text: &str) {
    log_bytes(level, text.as_bytes());
}

fn status(n: i64) -> Result<i64, Fail> {
    let text = match n {
        0.. => return Ok(n),
        -7 => "denied",
        -8 => "not declared in the manifest",
        _ => "failed",
    };
    Err(Fail { status: n, text: text.into() })
}

/// Runs an SQL statement of the manifest for every row of the input, whose columns are `$1`, `$2`, …
pub fn exec(input: &Input, connection: &str, statement: &str) -> Result<i64, Fail> {
    run(connection, statement, input.frame)
}

/// Runs a statement without parameters once.
pub fn exec_once(connection: &str, statement: &str) -> Result<i64, Fail> {
    let mut frame = [0u8; 128];
    for (at, v) in [(0, 0x3146_5357u32), (4, 128), (8, 128), (20, 1)] {
        frame[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }
    run(connection, statement, &frame)
}

fn run(c: &str, s: &str, f: &[u8]) -> Result<i64, Fail> {
    status(unsafe { import::exec(c.as_ptr(), c.len(), s.as_ptr(), s.len(), f.as_ptr(), f.len()) })
}

/// Reads a value of a namespace.
pub fn get(namespace: &str, key: &[u8]) -> Result<Option<alloc::vec::Vec<u8>>, Fail> {
    let mut buf = alloc::vec![0u8; 256];
    loop {
        let n = unsafe { import::get(namespace.as_ptr(), namespace.len(), key.as_ptr(), key.len(), buf.as_mut_ptr(), buf.len()) };
        if n == -8 {
            return Ok(None);
        }
        let n = status(n)? as usize;
        if n <= buf.len() {
            buf.truncate(n);
            return Ok(Some(buf));
        }
        buf.resize(n, 0);
    }
}

/// Writes a value of a namespace.
pub fn put(namespace: &str, key: &[u8], value: &[u8]) -> Result<(), Fail> {
    status(unsafe { import::put(namespace.as_ptr(), namespace.len(), key.as_ptr(), key.len(), value.as_ptr(), value.len()) }).map(|_| ())
}

/// Removes a value of a namespace.
pub fn delete(namespace: &str, key: &[u8]) -> Result<(), Fail> {
    status(unsafe { import::delete(namespace.as_ptr(), namespace.len(), key.as_ptr(), key.len()) }).map(|_| ())
}

/// Sends the input's rows to a topic, within the batch's transaction.
pub fn produce(input: &Input, topic: &str) -> Result<i64, Fail> {
    status(unsafe { import::produce(topic.as_ptr(), topic.len(), input.frame.as_ptr(), input.frame.len()) })
}

/// Adds to a metric of the manifest.
pub fn add(metric: &str, delta: f64) {
    unsafe { import::metric_add(metric.as_ptr(), metric.len(), delta) };
}

/// Notes a value of a metric of the manifest.
pub fn observe(metric: &str, value: f64) {
    unsafe { import::metric_observe(metric.as_ptr(), metric.len(), value) };
}
