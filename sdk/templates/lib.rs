//! NAME: a guest of wstream. keep is a filter: it says of each row whether it stays.
#![no_std]

use wstream::{Bind, Fail, Input, Output};

fn keep(input: &Input, out: &mut Output, _: &Bind) -> Result<(), Fail> {
    let amount = input.column(0);
    out.filter_rows(input, |row| Ok(!amount.is_null(row) && amount.f64s()[row] > 0.0))
}

wstream::module! {
    name: "NAME", version: "0.1.0",
    functions: [
        { call: keep, name: "keep", kind: "filter", input: "amount DOUBLE" },
    ],
}
