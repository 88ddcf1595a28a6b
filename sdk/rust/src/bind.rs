use crate::json::Reader;
use crate::Fail;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a function was told at bind.
#[derive(Default)]
pub struct Bind {
    pub function: String,
    pub input: Vec<InputColumn>,
    pub config: Vec<(String, String)>,
    pub timezone: String,
}

/// A column of the input. The type is DDL.
pub struct InputColumn {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
}

impl Bind {
    /// A setting of the module's config.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.config.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    pub(crate) fn parse(text: &[u8]) -> Result<Bind, Fail> {
        let mut b = Bind { function: String::new(), input: Vec::new(), config: Vec::new(), timezone: String::new() };
        let mut r = Reader::new(text);
        b.read(&mut r).ok_or(Fail { status: -5, text: "malformed bind request".into() })?;
        Ok(b)
    }

    fn read(&mut self, r: &mut Reader) -> Option<()> {
        r.object(|r, key| match key {
            b"function" => r.string().map(|s| self.function = s),
            b"timezone" => r.string().map(|s| self.timezone = s),
            b"config" => r.object(|r, key| {
                let key = core::str::from_utf8(key).ok()?.to_string();
                r.string().map(|v| self.config.push((key, v)))
            }),
            b"input" => r.array(|r| {
                let mut c = InputColumn { name: String::new(), ty: String::new(), nullable: true };
                r.object(|r, key| match key {
                    b"name" => r.string().map(|s| c.name = s),
                    b"type" => r.string().map(|s| c.ty = s),
                    b"nullable" => r.boolean().map(|v| c.nullable = v),
                    _ => r.skip(),
                })?;
                self.input.push(c);
                Some(())
            }),
            _ => r.skip(),
        })
    }
}
