//! Cells of a row as JSON.

use super::Use;
use crate::error::NoColumn;
use std::io;

/// A chosen column, where it is found.
pub(super) struct Chosen {
    /// With quotes and a colon.
    key: Vec<u8>,
}

impl Chosen {
    pub(super) fn new(path: &str) -> Self {
        let mut key = Vec::new();
        text(&mut key, path.as_bytes(), usize::MAX);
        key.push(b':');
        Self { key }
    }

    /// Begins a cell of a line that has a brace, and perhaps cells.
    pub(super) fn begin(&self, line: &mut Vec<u8>) {
        if line.last() != Some(&b'{') {
            line.push(b',');
        }
        line.extend_from_slice(&self.key);
    }
}

/// Appends a string. Bytes that are no UTF-8 stay as they are, and the line is no record; of a text that is longer than any may be there
/// is as much as makes the line too long.
pub(super) fn text(line: &mut Vec<u8>, bytes: &[u8], longest: usize) {
    let bytes = &bytes[..bytes.len().min(longest.saturating_add(1))];
    line.push(b'"');
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        line.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        match byte {
            b'"' | b'\\' => line.extend([b'\\', byte]),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            b'\t' => line.extend(b"\\t"),
            _ => line.extend(format!("\\u{byte:04x}").bytes()),
        }
    }
    line.extend_from_slice(&bytes[start..]);
    line.push(b'"');
}

/// The number as JSON; `None` for what is none.
pub(super) fn float(value: f64) -> Option<String> {
    serde_json::Number::from_f64(value).map(|number| number.to_string())
}

/// The error of a column that has no cells for what it is asked for.
pub(super) fn unsuited(path: &str, is: &str, used: Use, texts: &[String]) -> String {
    let needs = match used {
        Use::Text => "text",
        Use::Id => "a string or a whole number",
        Use::Rank => "a string or a number",
    };
    let others = match texts {
        [] => "no column holds text".to_owned(),
        texts => format!("columns with text are {}", texts.join(", ")),
    };
    format!("its column {path} is {is}, not {needs}; {others}")
}

/// The error of a column that is not there.
pub(super) fn missing(path: &str, used: Use, all: &[String]) -> io::Error {
    let argument = match used {
        Use::Text => Some("text_field"),
        Use::Id => Some("id_field"),
        Use::Rank => None,
    };
    NoColumn::error(argument, path, all, false)
}
