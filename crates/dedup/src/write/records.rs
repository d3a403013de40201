//! The records and the rejects, block by block.

use super::{Duplicates, Outputs, Sink};
use crate::error::DedupError;
use crate::read::{Block, Id};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::json;
use std::path::PathBuf;

/// A block whose lines are all decided.
pub(crate) struct Decided {
    pub(crate) block: Block,
    /// One for each line.
    pub(crate) entries: Vec<Entry>,
}

/// What becomes of a line.
pub(crate) enum Entry {
    Kept,
    /// With the link that marks it, where duplicates are marked.
    Duplicate(Option<Link>),
    /// With the reason.
    Rejected(String),
}

/// What a mark says.
pub(crate) struct Link {
    pub(crate) of: Id,
    pub(crate) similarity: Option<f64>,
    pub(crate) distance: u32,
}

/// Writes decided blocks.
pub(crate) struct RecordWriter<'a> {
    records: Option<Sink<'a>>,
    rejects: Option<Sink<'a>>,
    duplicates: Duplicates,
    names: Vec<PathBuf>,
}

impl<'a> RecordWriter<'a> {
    pub(crate) fn open(outputs: &'a Outputs, names: Vec<PathBuf>) -> Result<Self, DedupError> {
        Ok(Self {
            records: outputs.records.as_ref().map(Sink::open).transpose()?,
            rejects: outputs.rejects.as_ref().map(Sink::open).transpose()?,
            duplicates: outputs.duplicates,
            names,
        })
    }

    pub(crate) fn write(&mut self, decided: &Decided) -> Result<(), DedupError> {
        let block = &decided.block;
        for (line, entry) in block.lines.iter().zip(&decided.entries) {
            let bytes = block.bytes_of(line);
            match entry {
                Entry::Kept => self.record(&[bytes])?,
                Entry::Duplicate(link) => {
                    if let (Duplicates::Mark, Some(link)) = (self.duplicates, link) {
                        let (head, tail) = split_at_brace(bytes);
                        self.record(&[head, mark(link).as_bytes(), tail])?;
                    }
                }
                Entry::Rejected(reason) => {
                    let Some(sink) = &mut self.rejects else { continue };
                    let file = self.names[block.input as usize].display().to_string();
                    let mut reject = json!({ "file": file, "line": line.number, "reason": reason });
                    match std::str::from_utf8(bytes) {
                        Ok(raw) => reject["raw"] = raw.into(),
                        Err(_) => reject["rawBase64"] = BASE64_STANDARD.encode(bytes).into(),
                    }
                    sink.write(reject.to_string().as_bytes())?;
                    sink.write(b"\n")?;
                }
            }
        }
        Ok(())
    }

    /// The open files, to be sealed and moved into place.
    pub(crate) fn into_sinks(self) -> impl Iterator<Item = Sink<'a>> {
        [self.records, self.rejects].into_iter().flatten()
    }

    fn record(&mut self, parts: &[&[u8]]) -> Result<(), DedupError> {
        let Some(sink) = &mut self.records else { return Ok(()) };
        for part in parts {
            sink.write(part)?;
        }
        sink.write(b"\n")
    }
}

/// Before and from the brace that closes the record.
fn split_at_brace(record: &[u8]) -> (&[u8], &[u8]) {
    let brace = memchr::memrchr(b'}', record).unwrap_or(record.len());
    record.split_at(brace)
}

/// The members a mark adds; the comma is right because a record has at least its text.
fn mark(link: &Link) -> String {
    let Link { of, similarity, distance } = link;
    let similarity =
        similarity.map_or_else(String::new, |value| format!(r#","similarity":{}"#, json!(value)));
    format!(r#","duplicateOf":{of}{similarity},"distance":{distance}"#)
}
