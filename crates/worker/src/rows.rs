//! Rows between stages: one schema for all kinds.
//!
//! | column | |
//! |---|---|
//! | `kind` | what the row holds, as the [stages](crate::stages) say |
//! | `part` | rows of one kind and part have to come together |
//! | `pos` | a document: its place in the input |
//! | `original` | another one |
//! | `similarity` | of the two |
//! | `blob` | many packed entries, or what the [stages](crate::stages) say |
//!
//! The metadata of the schema have the recipe in words, where the engine keeps them; packed cells have its digest in any case.

use crate::lines::{Lines, document};
use crate::{Context, Failure};
use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use simhash_corpus::{Fields, Layout};
use simhash_dedup::Key;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// The key of the schema's metadata that has the recipe in words.
pub const RECIPE: &str = "simhash.recipe";
/// The part of rows that all parts are given.
pub const FOR_ALL: i32 = -1;
/// The part of a row that says of a document that a limit cut its matches; it comes behind these.
pub const LAST: i32 = i32::MAX;
/// Rows of a batch that is written.
const BATCH_ROWS: usize = 4096;
/// What is made of packed entries takes some so many times their bytes.
const MADE: u64 = 4;
/// Bytes of cells from which on a batch is written.
const BATCH_BYTES: usize = 8 << 20;
/// Bytes that a column takes, whose offsets have 31 bits.
pub(crate) const COLUMN: usize = i32::MAX as usize;

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What it holds.
    pub kind: String,
    /// With which others it has to come together.
    pub part: i32,
    /// A document.
    pub pos: Option<i64>,
    /// Another one.
    pub original: Option<i64>,
    /// Their similarity.
    pub similarity: Option<f64>,
    /// Packed entries, or what the stages say.
    pub blob: Option<Vec<u8>>,
}

impl Row {
    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        64 + self.blob.as_ref().map_or(0, Vec::len) as u64
    }
}

/// A document.
pub struct Document<'a> {
    /// Its place in the input.
    pub pos: i64,
    /// Its text; a record without one is rejected.
    pub text: Option<&'a str>,
    /// What the keep rule compares.
    pub key: Key,
    /// The part that asks for it, where the stream says so.
    pub part: Option<i32>,
}

/// The schema of rows.
pub fn schema(recipe: &str) -> SchemaRef {
    let metadata = HashMap::from([(RECIPE.to_owned(), recipe.to_owned())]);
    Arc::new(Schema::new_with_metadata(
        vec![
            Field::new("kind", DataType::Utf8, false),
            Field::new("part", DataType::Int32, false),
            Field::new("pos", DataType::Int64, true),
            Field::new("original", DataType::Int64, true),
            Field::new("similarity", DataType::Float64, true),
            Field::new("blob", DataType::Binary, true),
        ],
        metadata,
    ))
}

fn broken(name: &str, error: &ArrowError) -> Failure {
    Failure(format!("{name}: the Arrow stream is broken or ends too early: {error}"))
}

/// What a stream ends with. Without it the stream was cut, perhaps between two batches, where Arrow itself takes the end for one.
const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// Remembers the last bytes that were read.
struct Tail<R: Read> {
    from: R,
    last: Vec<u8>,
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(to)?;
        let new = &to[read.saturating_sub(END.len())..read];
        self.last.extend(new);
        self.last.drain(..self.last.len().saturating_sub(END.len()));
        Ok(read)
    }
}

/// One stream of batches.
struct Stream {
    reader: StreamReader<Tail<Box<dyn Read>>>,
    /// What it is, for people.
    name: String,
}

impl Stream {
    fn open(from: Box<dyn Read>, name: String, context: &Context) -> Result<Self, Failure> {
        let from = Tail { from, last: Vec::new() };
        let reader = StreamReader::try_new(from, None).map_err(|error| broken(&name, &error))?;
        let schema = reader.schema();
        let own = context.recipe.words();
        match schema.metadata().get(RECIPE) {
            Some(theirs) if theirs != own => Err(Failure(format!(
                "{name}: rows were made by another recipe: theirs is ({theirs}), that of this stage is ({own})"
            ))),
            _ => Ok(Self { reader, name }),
        }
    }

    /// The next batch, or the end, which has to be there.
    fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        match self.reader.next() {
            Some(batch) => batch.map(Some).map_err(|error| broken(&self.name, &error)),
            None if self.reader.get_ref().last == END => Ok(None),
            None => Err(Failure(format!(
                "{}: the Arrow stream ends without its end mark: whoever wrote it did not finish",
                self.name
            ))),
        }
    }
    /// The columns must be these, or some of them.
    fn check(&self, required: &[&str], known: &[&str]) -> Result<(), Failure> {
        let schema = self.reader.schema();
        let names = || schema.fields().iter().map(|field| field.name().as_str());
        if let Some(name) = names().find(|name| !known.contains(name)) {
            return Err(Failure(format!(
                "column {name} is not known here: there may be {}",
                known.join(", ")
            )));
        }
        match required.iter().find(|&&name| !names().any(|other| other == name)) {
            Some(name) => Err(Failure(format!("column {name} is missing"))),
            None => Ok(()),
        }
    }
}

/// What comes in.
pub struct Input {
    from: From,
    context: Arc<Context>,
    fields: Fields,
    bytes: u64,
    /// The stage, where it is one task.
    alone: Option<&'static str>,
    /// Not all that is read is kept.
    sifted: bool,
}

enum From {
    Stream(Box<dyn Read>),
    Files(Files),
    Lines(Lines),
}

/// Files of rows, of which some are read.
pub struct Files {
    /// Their paths.
    pub paths: Vec<PathBuf>,
    /// Rows of these kinds.
    pub kinds: Vec<String>,
    /// Rows of this part, where one is named; of others, those of all parts.
    pub part: Option<i32>,
}

impl Input {
    /// A stream.
    pub fn new(from: impl Read + 'static, context: &Arc<Context>) -> Self {
        Self::of(From::Stream(Box::new(from)), context)
    }

    /// Rows of files, as a stage of a scheduler reads them.
    pub fn files(files: Files, context: &Arc<Context>) -> Self {
        Self::of(From::Files(files), context)
    }

    /// Documents of a file of JSON lines.
    pub fn lines(lines: Lines, context: &Arc<Context>) -> Self {
        Self::of(From::Lines(lines), context)
    }

    fn of(from: From, context: &Arc<Context>) -> Self {
        let context = Arc::clone(context);
        Self { from, context, fields: Fields::default(), bytes: 0, alone: None, sifted: false }
    }

    /// What a stage reads that is one task, however many parts there are: too much of it is refused with advice that helps.
    #[must_use]
    pub fn alone(self, stage: &'static str) -> Self {
        Self { alone: Some(stage), ..self }
    }

    /// Where text and key are in the lines of documents.
    #[must_use]
    pub fn with_fields(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    /// Calls `each` with every document. A stream of them has `pos` and `text`, or `pos` and a `line` of JSON; `part`, where each is asked for.
    ///
    /// # Errors
    /// A broken stream, other columns, a text that is no UTF-8, a position below 0, or one of `each`.
    pub fn documents(
        self,
        mut each: impl FnMut(Document<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let from = match self.from {
            From::Stream(from) => from,
            From::Lines(lines) => return lines.documents(each),
            From::Files(_) => {
                return Err(Failure("this stage reads documents: name them by --file".into()));
            }
        };
        let mut stream = Stream::open(from, "standard input".into(), &self.context)?;
        let are_lines = stream.reader.schema().column_with_name("line").is_some();
        let own = ["pos", if are_lines { "line" } else { "text" }];
        let beside: &[&str] = if are_lines { &["part"] } else { &["part", "key", "number"] };
        stream.check(&own, &[&own, beside].concat())?;
        let layout = Layout::json_lines(&self.fields);
        while let Some(batch) = stream.next()? {
            let positions = column(&batch, "pos", &DataType::Int64)?.as_primitive::<Int64Type>();
            let position = |row: usize| {
                let pos = positions.is_valid(row).then(|| positions.value(row));
                pos.filter(|&pos| pos >= 0).ok_or_else(|| {
                    Failure("pos must be a whole number from 0 to 2^63 - 1 in every row".into())
                })
            };
            let parts =
                batch.column_by_name("part").map(|_| column(&batch, "part", &DataType::Int32));
            let parts = parts.transpose()?.map(AsArray::as_primitive::<Int32Type>);
            if parts.is_some_and(|parts| parts.null_count() > 0) {
                return Err(Failure("part must be a whole number in every row".into()));
            }
            let part = |row: usize| parts.map(|parts| parts.value(row));
            if are_lines {
                let lines = column(&batch, "line", &DataType::Binary)?.as_binary::<i32>();
                for row in (0..batch.num_rows()).filter(|&row| lines.is_valid(row)) {
                    let mut each = |own: Document<'_>| each(Document { part: part(row), ..own });
                    document(&layout, lines.value(row), position(row)?, &mut each)?;
                }
                continue;
            }
            let texts = Texts::new(&batch)?;
            for row in 0..batch.num_rows() {
                let (pos, key) = (position(row)?, key(&batch, row)?);
                each(Document { pos, text: texts.get(row), key, part: part(row) })?;
            }
        }
        Ok(())
    }

    /// Calls `each` with every row.
    ///
    /// # Errors
    /// A broken stream, other columns, more than the memory that a stage may take, or one of `each`.
    pub fn rows(self, mut each: impl FnMut(Row) -> Result<(), Failure>) -> Result<(), Failure> {
        self.read(|row| {
            // What others counted is not kept.
            let bytes = if row.kind == "count" { 0 } else { row.bytes() };
            each(row).map(|()| bytes)
        })
    }

    /// Calls `each` with every row, for stages that need some of what they read: it answers with the bytes that it keeps of a row.
    ///
    /// # Errors
    /// Those of [`rows`](Self::rows).
    pub fn sifted(self, each: impl FnMut(Row) -> Result<u64, Failure>) -> Result<(), Failure> {
        Self { sifted: true, ..self }.read(each)
    }

    fn read(mut self, mut each: impl FnMut(Row) -> Result<u64, Failure>) -> Result<(), Failure> {
        let all = |_: &str, _: i32| true;
        match std::mem::replace(&mut self.from, From::Stream(Box::new(std::io::empty()))) {
            From::Stream(from) => self.stream(from, "standard input".into(), all, &mut each),
            From::Lines(_) => Err(Failure("this stage reads rows: --file has documents".into())),
            From::Files(files) => {
                for path in &files.paths {
                    let name = path.display().to_string();
                    let file =
                        File::open(path).map_err(|error| Failure(format!("{name}: {error}")))?;
                    let is_wanted = |kind: &str, part: i32| {
                        files.kinds.iter().any(|own| own == kind)
                            && files.part.is_none_or(|own| own == part || part == FOR_ALL)
                    };
                    let file = BufReader::with_capacity(1 << 20, file);
                    self.stream(Box::new(file), name, is_wanted, &mut each)?;
                }
                Ok(())
            }
        }
    }

    fn stream(
        &mut self,
        from: Box<dyn Read>,
        name: String,
        is_wanted: impl Fn(&str, i32) -> bool,
        each: &mut impl FnMut(Row) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        let mut stream = Stream::open(from, name, &self.context)?;
        let all = ["kind", "part", "pos", "original", "similarity", "blob"];
        stream.check(&all, &all)?;
        while let Some(batch) = stream.next()? {
            let kinds = column(&batch, "kind", &DataType::Utf8)?.as_string::<i32>();
            let parts = column(&batch, "part", &DataType::Int32)?.as_primitive::<Int32Type>();
            let pos = column(&batch, "pos", &DataType::Int64)?.as_primitive::<Int64Type>();
            let originals =
                column(&batch, "original", &DataType::Int64)?.as_primitive::<Int64Type>();
            let similar = column(&batch, "similarity", &DataType::Float64)?;
            let similar = similar.as_primitive::<Float64Type>();
            let blobs = column(&batch, "blob", &DataType::Binary)?.as_binary::<i32>();
            for row in
                (0..batch.num_rows()).filter(|&row| is_wanted(kinds.value(row), parts.value(row)))
            {
                let blob = blobs.is_valid(row).then(|| blobs.value(row).to_vec());
                let row = Row {
                    kind: kinds.value(row).to_owned(),
                    part: parts.value(row),
                    pos: pos.is_valid(row).then(|| pos.value(row)),
                    original: originals.is_valid(row).then(|| originals.value(row)),
                    similarity: similar.is_valid(row).then(|| similar.value(row)),
                    blob,
                };
                // Of a row that is sifted there is the row itself, and what is kept.
                self.check(if self.sifted { row.bytes() } else { row.bytes() * MADE })?;
                self.bytes += each(row)?;
            }
        }
        self.check(0)
    }

    /// Whether what is kept of what was read, and these bytes, have room.
    fn check(&self, bytes: u64) -> Result<(), Failure> {
        let memory = self.context.memory;
        if self.bytes * MADE + bytes <= memory {
            return Ok(());
        }
        Err(Failure(match self.alone {
            Some(stage) => format!(
                "one task of stage {stage} has more than a quarter of --memory {memory}: give it more memory; more parts divide neither a component nor what is a single task"
            ),
            None => format!(
                "one part has more than a quarter of --memory {memory}: spread it over more than {} parts (--parts), or, where it is a single task, give it more memory",
                self.context.parts
            ),
        }))
    }
}

/// A column of a batch, which must be of this type.
pub(crate) fn column<'a>(
    batch: &'a RecordBatch,
    name: &str,
    as_a: &DataType,
) -> Result<&'a ArrayRef, Failure> {
    let column = batch.column_by_name(name);
    let column = column.ok_or_else(|| Failure(format!("column {name} is missing")))?;
    if column.data_type() == as_a {
        return Ok(column);
    }
    Err(Failure(format!("column {name} must be {as_a}, got {}", column.data_type())))
}

/// A column of texts.
enum Texts<'a> {
    Short(&'a arrow_array::StringArray),
    Long(&'a arrow_array::LargeStringArray),
}

impl<'a> Texts<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Self, Failure> {
        match batch.column_by_name("text") {
            Some(texts) if *texts.data_type() == DataType::LargeUtf8 => {
                Ok(Self::Long(texts.as_string()))
            }
            _ => Ok(Self::Short(column(batch, "text", &DataType::Utf8)?.as_string())),
        }
    }

    fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::Short(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Long(texts) => texts.is_valid(row).then(|| texts.value(row)),
        }
    }
}

/// What a document is kept by: the text of its `key`, or its `number`, as JSON writes it.
fn key(batch: &RecordBatch, row: usize) -> Result<Key, Failure> {
    let cell = |name: &str| -> Result<Option<&str>, Failure> {
        if batch.column_by_name(name).is_none() {
            return Ok(None);
        }
        let cells = column(batch, name, &DataType::Utf8)?.as_string::<i32>();
        Ok(cells.is_valid(row).then(|| cells.value(row)))
    };
    Ok(match (cell("key")?, cell("number")?) {
        (_, Some(number)) => Key::number(number),
        (Some(text), None) => Key::Text(text.into()),
        (None, None) => Key::Missing,
    })
}

/// What goes out.
pub struct Output<W: Write> {
    writer: StreamWriter<W>,
    schema: SchemaRef,
    rows: Vec<Row>,
    bytes: usize,
    /// Bytes that the cells of a batch have at most.
    most: usize,
}

fn unwritten(error: &ArrowError) -> Failure {
    Failure(format!("cannot write to standard output, whoever started this has ended: {error}"))
}

impl<W: Write> Output<W> {
    /// A stream of rows of this recipe.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn new(to: W, recipe: &str) -> Result<Self, Failure> {
        let schema = schema(recipe);
        let writer = StreamWriter::try_new(to, &schema).map_err(|error| unwritten(&error))?;
        Ok(Self { writer, schema, rows: Vec::new(), bytes: 0, most: COLUMN })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// It cannot be written, or its cell has more bytes than a column takes.
    pub fn row(&mut self, row: Row) -> Result<(), Failure> {
        let bytes = row.blob.as_ref().map_or(0, Vec::len);
        if bytes > self.most {
            let (kind, most) = (&row.kind, self.most);
            return Err(Failure(format!(
                "a cell of kind {kind} has {bytes} bytes, and a column of Arrow takes {most}: spread it over more parts (--parts)"
            )));
        }
        if self.bytes + bytes > self.most {
            self.flush()?;
        }
        self.bytes += bytes;
        self.rows.push(row);
        if self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes packed entries.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn blob(&mut self, kind: &str, part: i32, blob: Vec<u8>) -> Result<(), Failure> {
        let row = Row { kind: kind.into(), part, blob: Some(blob), ..Row::default() };
        self.row(row)
    }

    /// Writes what a stage counted.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn count(&mut self, name: &str, count: u64) -> Result<(), Failure> {
        let (pos, blob) = (Some(count.cast_signed()), Some(name.into()));
        self.row(Row { kind: "count".into(), pos, blob, ..Row::default() })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let rows = std::mem::take(&mut self.rows);
        let bytes = std::mem::take(&mut self.bytes);
        if rows.is_empty() {
            return Ok(());
        }
        let (mut kinds, mut parts) = (StringBuilder::new(), Int32Builder::new());
        let (mut positions, mut originals) = (Int64Builder::new(), Int64Builder::new());
        let mut similarities = Float64Builder::new();
        let mut blobs = BinaryBuilder::with_capacity(rows.len(), bytes);
        for row in &rows {
            kinds.append_value(&row.kind);
            parts.append_value(row.part);
            positions.append_option(row.pos);
            originals.append_option(row.original);
            similarities.append_option(row.similarity);
            blobs.append_option(row.blob.as_ref());
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(kinds.finish()),
            Arc::new(parts.finish()),
            Arc::new(positions.finish()),
            Arc::new(originals.finish()),
            Arc::new(similarities.finish()),
            Arc::new(blobs.finish()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let written = batch.and_then(|batch| self.writer.write(&batch));
        written.map_err(|error| unwritten(&error))
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<W, Failure> {
        self.flush()?;
        let ended = self.writer.finish().and_then(|()| self.writer.into_inner());
        let mut to = ended.map_err(|error| unwritten(&error))?;
        to.flush().map_err(|error| unwritten(&ArrowError::from(error)))?;
        Ok(to)
    }
}

/// The batches of a stream of other columns.
pub(crate) struct Batches(Stream);

impl Batches {
    /// A stream of exactly these columns.
    pub(crate) fn new(
        from: impl Read + 'static,
        columns: &[&str],
        context: &Context,
    ) -> Result<Self, Failure> {
        let stream = Stream::open(Box::new(from), "standard input".into(), context)?;
        stream.check(columns, columns)?;
        Ok(Self(stream))
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_beyond_a_column_go_into_batches_of_their_own_or_are_refused() {
        let mut output = Output::new(Vec::new(), "").unwrap();
        output.most = 10;
        for bytes in [4, 6, 1, 10, 0, 9] {
            output.blob("key", 0, vec![7; bytes]).unwrap();
        }
        let failure = output.blob("key", 0, vec![7; 11]).unwrap_err().to_string();
        assert!(failure.contains("a cell of kind key has 11 bytes"), "{failure}");
        let stream = output.finish().unwrap();
        let batches = StreamReader::try_new(stream.as_slice(), None).unwrap();
        let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows, [2, 1, 2, 1]);
    }
}
