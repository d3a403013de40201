//! What was found, as the lines of files that the command line writes.

use crate::rows::{Batches, LAST, column};
use crate::{Context, Failure};
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::Arc;

/// What comes in, sorted by `at`, then `part`: `at` is whom a line is about, `part` [`LAST`] says that a limit cut it, and where
/// `other` is null there is nothing but the line; `blob` has the Hamming distance.
const COLUMNS: [&str; 6] = ["at", "part", "id", "other", "similarity", "blob"];
/// Lines of a batch.
const LINES: usize = 4096;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cluster: `other` is the id of its representative, `id` that of a member.
    Cluster,
    /// A new document with its matches: `id` is its own, `other` that of a match.
    Matches,
}

impl Kind {
    /// The kind of lines that a stage of this name writes.
    pub fn of(stage: &str) -> Option<Self> {
        match stage {
            "clusters" => Some(Self::Cluster),
            "answers" => Some(Self::Matches),
            _ => None,
        }
    }

    fn begin(self, line: &mut String, id: &str, other: &str) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Cluster => {
                write!(line, r#"{{"representative":{other},"members":[{{"id":{other}}}"#)
            }
            Self::Matches => write!(line, r#"{{"id":{id},"matches":["#),
        };
    }
}

/// Writes them, a column `value`.
///
/// # Errors
/// Those of the streams.
pub fn lines(
    context: &Arc<Context>,
    from: impl Read + 'static,
    kind: Kind,
    to: impl Write,
) -> Result<(), Failure> {
    let unwritten = |error| Failure(format!("cannot write to standard output: {error}"));
    let schema = Arc::new(Schema::new(vec![Field::new("value", DataType::Utf8, false)]));
    let mut writer = StreamWriter::try_new(to, &schema).map_err(unwritten)?;
    let mut batches = Batches::new(from, &COLUMNS, context)?;
    let (mut line, mut last, mut is_first, mut cut) = (String::new(), None, true, false);
    let mut done: Vec<String> = Vec::new();
    let mut write = |done: &mut Vec<String>| {
        let mut values = StringBuilder::new();
        done.drain(..).for_each(|line| values.append_value(line));
        let values = Arc::new(values.finish()) as ArrayRef;
        let made = RecordBatch::try_new(Arc::clone(&schema), vec![values]);
        made.and_then(|made| writer.write(&made)).map_err(unwritten)
    };
    let ended = |line: &mut String, cut: &mut bool| {
        line.push_str(if std::mem::take(cut) { "],\"truncated\":true}" } else { "]}" });
        std::mem::take(line)
    };
    while let Some(batch) = batches.next()? {
        let at = column(&batch, "at", &DataType::Int64)?.as_primitive::<Int64Type>();
        let parts = column(&batch, "part", &DataType::Int32)?.as_primitive::<Int32Type>();
        let ids = column(&batch, "id", &DataType::Utf8)?.as_string::<i32>();
        let others = column(&batch, "other", &DataType::Utf8)?.as_string::<i32>();
        let similar = column(&batch, "similarity", &DataType::Float64)?;
        let similar = similar.as_primitive::<Float64Type>();
        let blobs = column(&batch, "blob", &DataType::Binary)?.as_binary::<i32>();
        for row in 0..batch.num_rows() {
            if last != Some(at.value(row)) {
                if last.replace(at.value(row)).is_some() {
                    done.push(ended(&mut line, &mut cut));
                    if done.len() >= LINES {
                        write(&mut done)?;
                    }
                }
                kind.begin(&mut line, ids.value(row), others.value(row));
                is_first = kind == Kind::Matches;
            }
            cut |= parts.is_valid(row) && parts.value(row) == LAST;
            if others.is_null(row) {
                continue;
            }
            let id = if kind == Kind::Cluster { ids.value(row) } else { others.value(row) };
            let between = if std::mem::take(&mut is_first) { "" } else { "," };
            let _ = write!(line, r#"{between}{{"id":{id}"#);
            if similar.is_valid(row) {
                let _ = write!(line, r#","similarity":{}"#, json!(similar.value(row)));
            }
            if let Some(&[distance]) = blobs.is_valid(row).then(|| blobs.value(row)) {
                let _ = write!(line, r#","distance":{distance}"#);
            }
            line.push('}');
        }
    }
    if last.is_some() {
        done.push(ended(&mut line, &mut cut));
    }
    write(&mut done)?;
    writer.finish().map_err(unwritten)
}
