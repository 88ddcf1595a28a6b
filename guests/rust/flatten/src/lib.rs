//! JSON of any shape as rows and maps: leaves gives a row for each value with the path to it, fields a map of paths to
//! values. Config: separator (".") stands between the names of a path, depth (64) is how deep a text may be.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::{String, ToString};
use alloc::{format, vec};
use wstream::json::Reader;
use wstream::{Bind, Builder, Fail, Input, Output, Type};

struct Walk<'a> {
    separator: &'a str,
    depth: usize,
    path: String,
}

impl Walk<'_> {
    /// Reads a value; `leaf` gets each value that is neither an object nor an array, with its path and type. Empty objects
    /// and arrays are leaves, too, so that nothing is lost.
    fn value(&mut self, r: &mut Reader, depth: usize, leaf: &mut dyn FnMut(&str, Option<&str>, &str)) -> Option<()> {
        if depth > self.depth {
            return None;
        }
        let n = self.path.len();
        let mut count = 0;
        match r.peek()? {
            b'{' => {
                r.object(|r, key| {
                    count += 1;
                    if n > 0 {
                        self.path.push_str(self.separator);
                    }
                    self.path.push_str(core::str::from_utf8(key).ok()?);
                    self.value(r, depth + 1, leaf)?;
                    self.path.truncate(n);
                    Some(())
                })?;
                if count == 0 {
                    leaf(&self.path, Some("{}"), "object");
                }
            }
            b'[' => {
                r.array(|r| {
                    self.path.push_str(&format!("[{count}]"));
                    count += 1;
                    self.value(r, depth + 1, leaf)?;
                    self.path.truncate(n);
                    Some(())
                })?;
                if count == 0 {
                    leaf(&self.path, Some("[]"), "array");
                }
            }
            b'"' => leaf(&self.path, Some(&r.string()?), "string"),
            b't' | b'f' => leaf(&self.path, Some(if r.boolean()? { "true" } else { "false" }), "boolean"),
            b'n' => {
                r.skip()?;
                leaf(&self.path, None, "null");
            }
            _ => leaf(&self.path, Some(core::str::from_utf8(r.number()?.0).ok()?), "number"),
        }
        Some(())
    }
}

/// Calls `leaf` for the leaves of a text that is an object.
fn walk(text: &[u8], bind: &Bind, leaf: &mut dyn FnMut(&str, Option<&str>, &str)) -> Result<(), String> {
    let depth = bind.setting("depth").unwrap_or("64").parse().unwrap_or(64).min(500);
    let mut w = Walk { separator: bind.setting("separator").unwrap_or("."), depth, path: String::new() };
    let mut r = Reader::new(text);
    let whole = r.peek() == Some(b'{') && w.value(&mut r, 0, leaf).is_some() && r.peek().is_none();
    if whole { Ok(()) } else { Err(format!("not a JSON object of at most {depth} levels")) }
}

fn leaves(input: &Input, out: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let text = input.column(0);
    let columns = [0; 3].map(|_| Builder::new(Type::STRING, input.rows));
    out.parse_rows(input, columns.into(), |row, out| {
        if text.is_null(row) {
            return Err("null".to_string());
        }
        walk(text.bytes(row), bind, &mut |path, value, kind| {
            out[0].str(path);
            match value {
                Some(v) => out[1].str(v),
                None => out[1].null(),
            }
            out[2].str(kind);
        })
    })
}

fn fields(input: &Input, out: &mut Output, bind: &Bind) -> Result<(), Fail> {
    let text = input.column(0);
    let map = Builder::map(Builder::new(Type::STRING, 0), Builder::new(Type::STRING, 0));
    out.parse_rows(input, vec![map], |row, out| {
        if text.is_null(row) {
            return Err("null".to_string());
        }
        walk(text.bytes(row), bind, &mut |path, value, _| {
            out[0].child(0).str(path);
            match value {
                Some(v) => out[0].child(1).str(v),
                None => out[0].child(1).null(),
            }
        })?;
        out[0].end();
        Ok(())
    })
}

wstream::module! {
    name: "flatten", version: "1.0.0",
    functions: [
        { call: leaves, name: "leaves", kind: "parse", doc: "a row for each value of a JSON object, with its path; config separator, depth",
          input: "value BINARY", output: "path STRING, value STRING, type STRING" },
        { call: fields, name: "fields", kind: "parse", doc: "a JSON object as a map of paths to values; config separator, depth",
          input: "value BINARY", output: "fields MAP<STRING, STRING>" },
    ],
}

#[cfg(test)]
mod tests {
    use super::*;
    use wstream::Trial;

    #[test]
    fn every_value_has_a_path() {
        let mut text = Builder::new(Type::BINARY, 0);
        text.bytes(br#"{"a":{"b":[1,{"c":null}],"d":{}},"e":"x","f":true}"#);
        text.bytes(b"[1]");
        let a = Trial::new(vec![text]).setting("separator", "/").call(leaves).unwrap();
        let r = a.open();
        let rows: Vec<String> = (0..r.rows).map(|i| format!("{}={}", r.column(0).str(i).unwrap(), r.column(1).str(i).unwrap_or("?"))).collect();
        assert_eq!(rows, ["a/b[0]=1", "a/b[1]/c=", "a/d={}", "e=x", "f=true"]);
        assert!(r.column(1).is_null(1) && r.column(2).str(2) == Some("object"));
        assert_eq!(r.refused()[0].2, "not a JSON object of at most 64 levels");
    }

    #[test]
    fn depth_is_bounded() {
        let mut text = Builder::new(Type::BINARY, 0);
        text.str(&format!("{{\"a\":{}{}}}", "[".repeat(70), "]".repeat(70)));
        assert_eq!(Trial::new(vec![text]).call(fields).unwrap().open().refused().len(), 1);
    }
}
