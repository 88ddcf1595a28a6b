//! Guests for wstream in Rust, without the standard library.
//!
//! ```ignore
//! #![no_std]
//! use wstream::{Bind, Fail, Input, Output};
//!
//! fn big(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
//!     let amount = input.column(0);
//!     out.filter_rows(input, |row| Ok(!amount.is_null(row) && amount.f64s()[row] > 50.0))
//! }
//!
//! wstream::module! {
//!     name: "sample", version: "1.0.0",
//!     functions: [
//!         { call: big, name: "big", kind: "filter", input: "amount DOUBLE" },
//!     ],
//! }
//! ```
//!
//! A function is tried in unit tests, natively, with `Trial`. examples/examples.rs has a function of each kind.
//!
//! Built with `crate-type = ["cdylib"]` for `wasm32-unknown-unknown`. A function is called with many rows at once. What it
//! sees of the input is the host's bytes, borrowed for the call. A panic is a trap: the host finds the row that causes it
//! and refuses that row; its message goes to the log. The same input must give the same output.
#![no_std]

extern crate alloc;

mod bind;
mod frame;
pub mod host;
mod input;
pub mod json;
#[cfg(target_arch = "wasm32")]
mod memory;
mod output;
#[doc(hidden)]
pub mod runtime;
mod trial;

pub use bind::{Bind, InputColumn};
pub use frame::Type;
pub use input::{Column, Group, Input};
pub use output::{Builder, Output};
pub use trial::{Answer, Trial};

/// Why a batch, or bind, failed.
#[derive(Debug)]
pub struct Fail {
    pub status: i64,
    pub text: alloc::string::String,
}

impl Fail {
    /// The function cannot go on with this batch.
    pub fn new(text: &str) -> Fail {
        Fail { status: -1, text: text.into() }
    }

    /// A setting is missing or wrong.
    pub fn config(text: &str) -> Fail {
        Fail { status: -4, text: text.into() }
    }
}

/// `Input::watermark` where there is none, and a key's time-out where it has none.
pub const NONE: i64 = i64::MIN;

/// A function of a module, as the macro `module!` lists it.
pub struct Function {
    pub name: &'static str,
    pub call: fn(&Input, &mut Output, &Bind) -> Result<(), Fail>,
}

/// Exports a module. Each function has `call`, and then the fields of its entry in the manifest as literals: `name`
/// first, `kind`, `input`, `output`, `key`, `state`, `mode`, `timeout`, `time`, `doc`.
#[macro_export]
macro_rules! module {
    (name: $name:literal, version: $version:literal, functions: [
        $({ call: $call:path, name: $fname:literal $(, $key:ident: $value:literal)* $(,)? }),+ $(,)?
    ] $(, statements: [$($statement:literal),* $(,)?])? $(, metrics: [$($metric:literal),* $(,)?])? $(,)?) => {
        static WSTREAM_FUNCTIONS: &[$crate::Function] = &[$($crate::Function { name: $fname, call: $call }),+];
        static WSTREAM_MANIFEST: &str = concat!(
            "{\"abi\":1,\"name\":\"", $name, "\",\"version\":\"", $version, "\",\"functions\":[null",
            $(",{\"name\":\"", $fname, "\"" $(, ",\"", stringify!($key), "\":\"", $value, "\"")*, "}"),+,
            "],\"statements\":[null" $($(, ",\"", $statement, "\"")*)?,
            "],\"metrics\":[null" $($(, ",\"", $metric, "\"")*)?, "]}"
        );
        #[no_mangle]
        pub extern "C" fn wstream_abi_v1() {}
        #[no_mangle]
        pub extern "C" fn wstream_manifest() -> i64 {
            $crate::runtime::manifest(WSTREAM_MANIFEST)
        }
        #[no_mangle]
        pub extern "C" fn wstream_buffer(min: u32) -> u32 {
            $crate::runtime::buffer(min)
        }
        #[no_mangle]
        pub extern "C" fn wstream_bind(_: u32, len: u32) -> i64 {
            $crate::runtime::bind(WSTREAM_FUNCTIONS, len)
        }
        #[no_mangle]
        pub extern "C" fn wstream_call(handle: u32, _: u32, len: u32) -> i64 {
            $crate::runtime::call(handle, len)
        }
        #[no_mangle]
        pub extern "C" fn wstream_error() -> i64 {
            $crate::runtime::error()
        }
    };
}
