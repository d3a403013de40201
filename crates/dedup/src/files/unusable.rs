//! What is said of inputs of which no record could be used: what the first ones hold, and what is likely wrong.

use crate::error::DedupError;
use crate::read::{Block, Fields, Format, Line};
use crate::report::Summary;
use serde_json::Value;

/// Fields that a message names; more of them tell nothing new.
const NAMED: usize = 12;
/// Bytes of a block that is not all of an input: a mebibyte of whole records.
const FIRST_BLOCK: u64 = 1 << 19;
/// How deep a text is looked for in a record.
const DEPTH: usize = 4;

/// The first rejected records, as far as they explain why all were rejected.
#[derive(Default)]
pub(super) struct Seen {
    /// Records that are too long, of which only the head is there.
    too_long: usize,
    looked_at: usize,
    /// Of these the bytes are no characters.
    undecoded: usize,
    /// What reads them.
    encoding: &'static str,
    is_json: bool,
    /// Keys of the top level.
    fields: Vec<String>,
    /// Paths to strings, each with the longest one's bytes.
    texts: Vec<(String, usize)>,
    /// Whether a record of the first block could be used; `None`: it has not come yet.
    used: Option<bool>,
}

impl Seen {
    /// Whether to go on behind a block, of which some records could be used or none: not where it is the first that has records, and none could. A
    /// whole block of what is no record is of another format, or holds its texts in another field; a small input may be one of several. Records
    /// that are too long say nothing of the others: one of them may be more than a block.
    pub(super) fn goes_on(&mut self, block: &Block, used: bool) -> bool {
        block.lines.iter().all(|line| line.fault.is_some())
            || (!used && self.used.is_none() && block.length < FIRST_BLOCK)
            || *self.used.get_or_insert(used)
    }

    /// Whether the first block had no record that could be used.
    pub(super) fn has_stopped(&self) -> bool {
        self.used == Some(false)
    }

    /// Looks at a rejected record, unless enough were looked at.
    pub(super) fn look(&mut self, block: &Block, line: &Line) {
        // What is cut off tells nothing of formats and fields.
        if line.fault.is_some() {
            self.too_long += 1;
            return;
        }
        if self.looked_at == Summary::REPORTED {
            return;
        }
        self.looked_at += 1;
        let layout = &block.layout;
        self.encoding = layout.encoding().name();
        self.is_json = layout.format().is_none_or(Format::is_json);
        let Some(text) = layout.decoded(block.bytes_of(line)) else {
            self.undecoded += 1;
            return;
        };
        let Ok(record @ Value::Object(_)) = serde_json::from_str::<Value>(&text) else { return };
        for key in record.as_object().into_iter().flat_map(serde_json::Map::keys) {
            if !self.fields.contains(key) {
                self.fields.push(key.clone());
            }
        }
        self.find_texts(&record, "", DEPTH);
    }

    fn find_texts(&mut self, value: &Value, path: &str, depth: usize) {
        match value {
            Value::String(text) => match self.texts.iter_mut().find(|(known, _)| known == path) {
                Some((_, longest)) => *longest = text.len().max(*longest),
                None => self.texts.push((path.to_owned(), text.len())),
            },
            Value::Object(members) if depth > 0 => {
                // A key that holds a dot cannot be named by a path.
                for (key, value) in members.iter().filter(|(key, _)| !key.contains('.')) {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.find_texts(value, &format!("{path}{dot}{key}"), depth - 1);
                }
            }
            _ => {}
        }
    }

    /// The error for a run that rejected all of its records; `None` where it did not.
    pub(super) fn error(&self, summary: &Summary, fields: &Fields) -> Option<DedupError> {
        if summary.rejected < summary.read {
            return None;
        }
        let first = summary.first_rejected.first()?.clone();
        let (mut hint, text_in) = self.hint(fields);
        if self.has_stopped() {
            hint.push_str(", and what follows was not read");
        }
        Some(DedupError::NoRecords { rejected: summary.rejected, first, hint, text_in })
    }

    /// What is likely wrong, and the field that may hold the text instead.
    fn hint(&self, fields: &Fields) -> (String, Option<String>) {
        if self.looked_at == 0 && self.too_long > 0 {
            return ("they are longer than a record may be; allow longer ones".into(), None);
        }
        if self.fields.is_empty() {
            let what = if self.undecoded == self.looked_at {
                format!("their bytes are no {}; name the encoding that they have", self.encoding)
            } else if self.is_json {
                "they are no JSON objects; if the lines are texts, or rows of CSV or TSV, name that format".into()
            } else {
                "look at the first of them, and name the format that they have".into()
            };
            return (what, None);
        }
        let named = self.fields.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
        let more = if self.fields.len() > NAMED { ", …" } else { "" };
        let names = format!("the first of them have the fields {}{more}", named.join(", "));
        let asked = fields.text_path();
        if self.texts.iter().any(|(path, _)| *path == asked) {
            return (names, None);
        }
        let longest = self.texts.iter().max_by_key(|&(_, bytes)| bytes);
        match longest {
            Some((path, _)) => (names, Some(path.clone())),
            None => (format!("{names}, and none of them holds text"), None),
        }
    }
}
