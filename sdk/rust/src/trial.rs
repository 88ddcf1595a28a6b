use crate::frame::*;
use crate::output::{encode, Section};
use crate::runtime::Block;
use crate::{Bind, Builder, Fail, Input, Output, NONE};
use alloc::string::ToString;
use alloc::vec::Vec;

/// A call outside of the host, for unit tests. Input is built as output is; it goes through the bytes of a frame in both
/// directions. What a function asks of the host is denied, as the host does by default.
///
/// ```
/// use wstream::{Builder, Trial, Type};
/// let mut amount = Builder::new(Type::FLOAT64, 0);
/// amount.f64(60.0);
/// let answer = Trial::new(vec![amount]).call(|input, out, _| {
///     out.filter_rows(input, |row| Ok(input.column(0).f64(row) > 50.0))
/// }).unwrap();
/// assert!(answer.open().column(0).bool(0));
/// ```
pub struct Trial {
    pub columns: Vec<Builder>,
    pub bind: Bind,
    pub batch_id: i64,
    pub watermark: i64,
    pub first: bool,
    pub last: bool,
    op: u16,
    sections: Vec<(u32, usize, Vec<Builder>)>,
}

/// What a function answered.
pub struct Answer {
    blocks: Vec<Block>,
    len: usize,
}

impl Answer {
    fn new(frame: &[u8]) -> Answer {
        let mut blocks = Vec::with_capacity(frame.len() / 64 + 1);
        for chunk in frame.chunks(64) {
            let mut b = Block([0; 64]);
            b.0[..chunk.len()].copy_from_slice(chunk);
            blocks.push(b);
        }
        Answer { blocks, len: frame.len() }
    }

    /// The answer, to be read as input is; see also `Input::refused`.
    pub fn open(&self) -> Input<'_> {
        Input::open(unsafe { core::slice::from_raw_parts(self.blocks.as_ptr() as *const u8, self.len) })
    }
}

impl Trial {
    /// A call with columns.
    pub fn new(columns: Vec<Builder>) -> Trial {
        Trial { columns, bind: Bind::default(), batch_id: 0, watermark: NONE, first: false, last: false, op: 0, sections: Vec::new() }
    }

    /// Adds a setting of the module's config.
    pub fn setting(mut self, key: &str, value: &str) -> Trial {
        self.bind.config.push((key.to_string(), value.to_string()));
        self
    }

    /// Makes it a call of an aggregate: old accumulators, null where a group is new, and the group of each row.
    pub fn aggregate(mut self, accumulators: Builder, group: Builder) -> Trial {
        self.sections.push((ACCUMULATORS, accumulators.rows(), alloc::vec![accumulators]));
        self.sections.push((GROUP_INDEX, group.rows(), alloc::vec![group]));
        self
    }

    /// Folds accumulators, which are the only column, into those of `aggregate`.
    pub fn merge(mut self) -> Trial {
        self.op = 1;
        self
    }

    /// Asks for the values of accumulators, which are the only column.
    pub fn finish(mut self) -> Trial {
        self.op = 2;
        self
    }

    /// Makes it a call of a state function: for each key where its rows end, whether it has an old state, whether its
    /// time-out has passed; then the columns of the key and of the old state.
    pub fn groups(mut self, groups: &[(usize, bool, bool)], key: Vec<Builder>, state: Vec<Builder>) -> Trial {
        let mut columns = alloc::vec![Builder::new(Type::INT32, 0), Builder::new(Type::INT8, 0), Builder::new(Type::INT64, 0)];
        for (end, has_state, timed_out) in groups {
            columns[0].i32(*end as i32);
            columns[1].i8(*has_state as i8 | (*timed_out as i8) << 1);
            columns[2].i64(NONE);
        }
        columns.extend(key);
        self.sections.push((GROUPS, groups.len(), columns));
        self.sections.push((STATE, groups.len(), state));
        self
    }

    /// Calls a function.
    pub fn call(&self, f: impl FnOnce(&Input, &mut Output, &Bind) -> Result<(), Fail>) -> Result<Answer, Fail> {
        let sections: Vec<Section> = self.sections.iter().map(|s| (s.0, s.1, s.2.iter().collect())).collect();
        let mut bytes = Vec::new();
        encode(&self.columns, &sections, self.columns.first().map_or(0, |b| b.rows()), &mut bytes);
        put(&mut bytes, 14, &self.op.to_le_bytes());
        put(&mut bytes, 16, &(self.first as u32 | (self.last as u32) << 1).to_le_bytes());
        put(&mut bytes, 24, &self.batch_id.to_le_bytes());
        put(&mut bytes, 40, &self.watermark.to_le_bytes());
        let frame = Answer::new(&bytes);
        let input = frame.open();
        let mut out = Output::default();
        f(&input, &mut out, &self.bind)?;
        out.encode(&input, &mut bytes);
        Ok(Answer::new(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Builder {
        let mut b = Builder::new(Type::STRING, 0);
        values.iter().for_each(|v| b.str(v));
        b
    }

    #[test]
    fn undone_rows_leave_no_trace() {
        let frames: Vec<Vec<u8>> = [false, true]
            .into_iter()
            .map(|with| {
                let mut l = Builder::list(Builder::structure(alloc::vec![Builder::new(Type::BOOL, 0), texts(&[])]));
                for i in 0..3 {
                    if with {
                        l.child(0).child(0).null();
                        l.child(0).child(1).str("gone");
                        l.child(0).end();
                        l.end();
                        l.null();
                        l.child(0).null();
                        l.child(0).child(0).bool(true);
                        l.undo(i);
                    }
                    l.child(0).child(0).bool(i == 1);
                    l.child(0).child(1).str("kept");
                    l.child(0).end();
                    l.end();
                }
                let mut bytes = Vec::new();
                encode(&[l], &[], 3, &mut bytes);
                bytes
            })
            .collect();
        assert!(frames[0] == frames[1]);
    }

    #[test]
    fn copies_of_nested_rows() {
        let mut m = Builder::map(texts(&[]), Builder::list(Builder::new(Type::INT64, 0)));
        for i in 0..3 {
            m.child(0).str("k");
            (0..i).for_each(|v| m.child(1).child(0).i64(v));
            m.child(1).end();
        }
        m.end();
        m.null();
        let t = Trial::new(alloc::vec![m]);
        let a = t
            .call(|input, out, _| {
                let b = out.output_of(Builder::map(texts(&[]), Builder::list(Builder::new(Type::INT64, 0))));
                (0..2).for_each(|i| b.from(input.column(0), i));
                Ok(())
            })
            .unwrap();
        let r = a.open();
        let c = r.column(0);
        assert!(c.range(0) == (0..3) && c.is_null(1) && c.child(1).range(2) == (1..3) && c.child(1).child(0).i64(2) == 1);
    }

    #[test]
    fn refused_rows_take_back_what_they_added() {
        let mut x = Builder::new(Type::INT32, 0);
        (0..3).for_each(|i| x.i32(i));
        let t = Trial::new(alloc::vec![x]);
        let a = t
            .call(|input, out, _| {
                out.parse_rows(input, alloc::vec![Builder::list(Builder::new(Type::INT32, 0))], |row, out| {
                    out[0].child(0).i32(input.column(0).i32(row));
                    if row == 1 {
                        return Err("one".to_string());
                    }
                    out[0].end();
                    Ok(())
                })
            })
            .unwrap();
        let r = a.open();
        assert!(r.rows == 2 && r.column(0).child(0).i32(1) == 2);
        assert_eq!(r.refused(), [(1, 1, "one".to_string())]);
    }

    #[test]
    fn bind_requests() {
        let b = Bind::parse(br#"{"function":"f","input":[{"name":"a\"b","type":"ARRAY<INT>","nullable":false}],"config":{"k":"\u00e9\n"},"timezone":"UTC"}"#).unwrap();
        assert!(b.function == "f" && b.input[0].name == "a\"b" && !b.input[0].nullable && b.setting("k") == Some("é\n"));
        assert_eq!(Bind::parse(b"{\"function\":").err().unwrap().status, -5);
    }
}
