//! What was found, as the lines of files that the command line writes.

use crate::rows::{Batches, COLUMN, LAST, column};
use crate::{Context, Failure};
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::Arc;

/// What comes in, sorted by `at`, then `part`: `at` is whom a line is about, `part` [`LAST`] says that a limit cut it, and where
/// `other` is null there is nothing but the line; `blob` has the Hamming distance.
const COLUMNS: [&str; 6] = ["at", "part", "id", "other", "similarity", "blob"];
/// How much of lines comes together.
#[derive(Clone, Copy)]
struct Sizes {
    /// Lines of a batch, at most.
    lines: usize,
    /// Bytes of a batch of several lines, at most.
    batch: usize,
    /// Bytes of a line, at most.
    line: usize,
}

/// A batch of texts counts its bytes by 31 bits, and so does a string of who reads it.
const SIZES: Sizes = Sizes { lines: 4096, batch: 8 << 20, line: COLUMN };

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

/// Lines on their way.
struct Written<W: Write> {
    writer: StreamWriter<W>,
    schema: SchemaRef,
    sizes: Sizes,
    done: Vec<String>,
    bytes: usize,
}

fn unwritten(error: &ArrowError) -> Failure {
    Failure(format!("cannot write to standard output: {error}"))
}

impl<W: Write> Written<W> {
    fn new(to: W, sizes: Sizes) -> Result<Self, Failure> {
        let schema = Arc::new(Schema::new(vec![Field::new("value", DataType::Utf8, false)]));
        let writer = StreamWriter::try_new(to, &schema).map_err(|error| unwritten(&error))?;
        Ok(Self { writer, schema, sizes, done: Vec::new(), bytes: 0 })
    }

    fn put(&mut self, line: String) -> Result<(), Failure> {
        if self.done.len() >= self.sizes.lines || self.bytes + line.len() > self.sizes.batch {
            self.flush()?;
        }
        self.bytes += line.len();
        self.done.push(line);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.done.is_empty() {
            return Ok(());
        }
        let mut values = StringBuilder::with_capacity(self.done.len(), self.bytes);
        self.done.drain(..).for_each(|line| values.append_value(line));
        self.bytes = 0;
        let values = Arc::new(values.finish()) as ArrayRef;
        let made = RecordBatch::try_new(Arc::clone(&self.schema), vec![values]);
        made.and_then(|made| self.writer.write(&made)).map_err(|error| unwritten(&error))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        self.writer.finish().map_err(|error| unwritten(&error))
    }
}

/// A line that is being made.
struct Line {
    kind: Kind,
    /// Whom it is about, as JSON.
    about: String,
    text: String,
    is_first: bool,
    is_cut: bool,
}

impl Line {
    fn begin(kind: Kind, id: &str, other: &str) -> Self {
        let about = if kind == Kind::Cluster { other } else { id };
        let mut text = String::new();
        kind.begin(&mut text, id, other);
        Self { kind, about: about.into(), text, is_first: kind == Kind::Matches, is_cut: false }
    }

    /// Another member or match, by its id.
    fn add(
        &mut self,
        id: &str,
        similarity: Option<f64>,
        distance: Option<u8>,
        most: usize,
    ) -> Result<(), Failure> {
        let line = &mut self.text;
        // Writing to a string cannot fail.
        let between = if std::mem::take(&mut self.is_first) { "" } else { "," };
        let _ = write!(line, r#"{between}{{"id":{id}"#);
        if let Some(similarity) = similarity {
            let _ = write!(line, r#","similarity":{}"#, json!(similarity));
        }
        if let Some(distance) = distance {
            let _ = write!(line, r#","distance":{distance}"#);
        }
        line.push('}');
        self.check(most)
    }

    fn check(&self, most: usize) -> Result<(), Failure> {
        if self.text.len() <= most {
            return Ok(());
        }
        let (what, instead) = match self.kind {
            Kind::Cluster => ("cluster of", "take its members from the rows of kind mark"),
            Kind::Matches => ("matches of", "give the recipe a limit"),
        };
        Err(Failure(format!(
            "the line of the {what} document {} has more than {most} bytes, which no column of texts takes: {instead}",
            self.about
        )))
    }

    fn ended(mut self, most: usize) -> Result<String, Failure> {
        self.text.push_str(if self.is_cut { "],\"truncated\":true}" } else { "]}" });
        self.check(most)?;
        Ok(self.text)
    }
}

/// Writes them, a column `value`, some MiB at a time.
///
/// # Errors
/// Those of the streams, and a line of more than 2^31 - 1 bytes.
pub fn lines(
    context: &Arc<Context>,
    from: impl Read + 'static,
    kind: Kind,
    to: impl Write,
) -> Result<(), Failure> {
    lines_of(context, from, kind, to, SIZES)
}

fn lines_of(
    context: &Arc<Context>,
    from: impl Read + 'static,
    kind: Kind,
    to: impl Write,
    sizes: Sizes,
) -> Result<(), Failure> {
    let mut written = Written::new(to, sizes)?;
    let mut batches = Batches::new(from, &COLUMNS, context)?;
    let mut last: Option<(i64, Line)> = None;
    while let Some(batch) = batches.next()? {
        let at = column(&batch, "at", &DataType::Int64)?.as_primitive::<Int64Type>();
        let parts = column(&batch, "part", &DataType::Int32)?.as_primitive::<Int32Type>();
        let ids = column(&batch, "id", &DataType::Utf8)?.as_string::<i32>();
        let others = column(&batch, "other", &DataType::Utf8)?.as_string::<i32>();
        let similar = column(&batch, "similarity", &DataType::Float64)?;
        let similar = similar.as_primitive::<Float64Type>();
        let blobs = column(&batch, "blob", &DataType::Binary)?.as_binary::<i32>();
        for row in 0..batch.num_rows() {
            let own = at.value(row);
            if let Some((_, line)) = last.take_if(|(about, _)| *about != own) {
                written.put(line.ended(sizes.line)?)?;
            }
            let begin = || (own, Line::begin(kind, ids.value(row), others.value(row)));
            let (_, line) = last.get_or_insert_with(begin);
            line.is_cut |= parts.is_valid(row) && parts.value(row) == LAST;
            if others.is_null(row) {
                continue;
            }
            let id = if kind == Kind::Cluster { ids.value(row) } else { others.value(row) };
            let similarity = similar.is_valid(row).then(|| similar.value(row));
            let distance = match blobs.is_valid(row).then(|| blobs.value(row)) {
                Some(&[distance]) => Some(distance),
                _ => None,
            };
            line.add(id, similarity, distance, sizes.line)?;
        }
    }
    if let Some((_, line)) = last {
        written.put(line.ended(sizes.line)?)?;
    }
    written.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use arrow_array::{BinaryArray, Float64Array, Int32Array, Int64Array, StringArray};
    use arrow_ipc::reader::StreamReader;

    /// The lines of clusters with so many members each, by batch.
    fn batches(members: &[usize], sizes: Sizes) -> Result<Vec<Vec<String>>, Failure> {
        let abouts: Vec<i64> =
            (0..).zip(members).flat_map(|(at, &count)| vec![at; count - 1]).collect();
        let rows = abouts.len();
        let id = |number: i64| format!("\"d{number}\"");
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(abouts.clone())),
            Arc::new(Int32Array::from(vec![None; rows])),
            Arc::new((1000..).take(rows).map(|number| Some(id(number))).collect::<StringArray>()),
            Arc::new(abouts.iter().map(|&at| Some(id(at))).collect::<StringArray>()),
            Arc::new(Float64Array::from(vec![None; rows])),
            Arc::new(BinaryArray::from_opt_vec(vec![None; rows])),
        ];
        let fields = COLUMNS.iter().zip(&columns);
        let fields =
            fields.map(|(&name, column)| Field::new(name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
        let input = std::io::Cursor::new(writer.into_inner().unwrap());
        let context = Context { recipe: Recipe::new("{}")?, parts: 1, memory: 1 << 30 };
        let mut out = Vec::new();
        lines_of(&Arc::new(context), input, Kind::Cluster, &mut out, sizes)?;
        let all = StreamReader::try_new(out.as_slice(), None).unwrap();
        let texts = |batch: RecordBatch| {
            batch.column(0).as_string::<i32>().iter().map(|line| line.unwrap().to_owned()).collect()
        };
        Ok(all.map(|batch| texts(batch.unwrap())).collect())
    }

    #[test]
    fn batches_of_lines_are_cut_by_lines_and_by_bytes() {
        let members = [2, 2, 9, 2, 40, 2, 2, 2];
        let whole = batches(&members, SIZES).unwrap();
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].len(), members.len());
        assert_eq!(
            whole[0][0],
            r#"{"representative":"d0","members":[{"id":"d0"},{"id":"d1000"}]}"#
        );
        for (lines, batch) in [(1, 1 << 20), (3, 1 << 20), (4096, 0), (4096, 150), (2, 200)] {
            let cut = batches(&members, Sizes { lines, batch, ..SIZES }).unwrap();
            assert_eq!(cut.concat(), whole[0], "{lines}, {batch}");
            for own in &cut {
                let bytes: usize = own.iter().map(String::len).sum();
                assert!(own.len() <= lines && (own.len() == 1 || bytes <= batch));
            }
            assert!(cut.len() > 1);
        }
    }

    #[test]
    fn a_line_beyond_what_a_column_takes_is_refused_by_the_name_of_its_document() {
        let longest = batches(&[2, 9, 3], SIZES).unwrap()[0].iter().map(String::len).max().unwrap();
        assert!(batches(&[2, 9, 3], Sizes { line: longest, ..SIZES }).is_ok());
        for line in [longest - 1, longest - 2, 100] {
            let failure = batches(&[2, 9, 3], Sizes { line, ..SIZES }).unwrap_err().to_string();
            let expected = format!(r#"the cluster of document "d1" has more than {line} bytes"#);
            assert!(failure.contains(&expected), "{failure}");
        }
        assert_eq!(SIZES.line, 2_147_483_647);
    }
}
