//! What is said of inputs of which no record could be used: what the first ones hold, and what is likely wrong.

use crate::error::DedupError;
use crate::read::Fields;
use crate::report::Summary;
use serde_json::Value;

/// Fields that a message names; more of them tell nothing new.
const NAMED: usize = 12;
/// How deep a text is looked for in a record.
const DEPTH: usize = 4;

/// The first rejected records, as far as they explain why all were rejected.
#[derive(Default)]
pub(super) struct Seen {
    looked_at: usize,
    not_utf8: usize,
    array: bool,
    /// Keys of the top level.
    fields: Vec<String>,
    /// Paths to strings, each with the longest one's bytes.
    texts: Vec<(String, usize)>,
}

impl Seen {
    /// Looks at a rejected record, unless enough were looked at.
    pub(super) fn look(&mut self, line: &[u8]) {
        if self.looked_at == Summary::REPORTED {
            return;
        }
        self.looked_at += 1;
        let Ok(text) = std::str::from_utf8(line) else {
            self.not_utf8 += 1;
            return;
        };
        if self.looked_at == 1 {
            self.array = text.trim_start().starts_with('[');
        }
        let Ok(record @ Value::Object(_)) = serde_json::from_str::<Value>(text) else { return };
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
        let (hint, text_in) = self.hint(fields);
        Some(DedupError::NoRecords { rejected: summary.rejected, first, hint, text_in })
    }

    /// What is likely wrong, and the field that may hold the text instead.
    fn hint(&self, fields: &Fields) -> (String, Option<String>) {
        if self.fields.is_empty() {
            let what = if self.not_utf8 == self.looked_at {
                "they are no UTF-8; convert the input first, for example: iconv -f GB18030 -t UTF-8 FILE"
            } else if self.array {
                "the input looks like one JSON array; write a record per line first, for example: jq -c '.[]' FILE"
            } else {
                "their lines are no JSON objects, and one text per line is not read yet; make records of them first, for \
                 example: jq -Rc '{text: .}' FILE"
            };
            return (what.to_owned(), None);
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
