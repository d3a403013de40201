//! Parquet and Arrow: the columns that count are read as JSON lines, a line for each row; kept rows are written with all columns.
//!
//! ```text
//! file ──► text, id and ranking columns ──► JSON lines ──► blocks, as of any other lines
//! file ──► all columns, row group by row group or batch by batch ──► kept rows ──► file with the same schema
//! ```
//!
//! The file is read twice: rows are found again by their numbers, and their texts in the copy of the lines that all inputs have
//! whose bytes are not text. Nothing that a file says of its own lengths is believed: pages and batches have limits, and a decoder
//! that panics is an error.

mod arrow;
mod arrow_writer;
mod cells;
mod maker;
mod pages;
mod parquet;
mod parquet_writer;

pub use self::maker::TableMaker;
use crate::error::{CorpusError, malformed};
use crate::field::Fields;
use crate::format::Format;
use crate::layout::Layout;
use crate::origin::Origin;
use crate::unpack::expansion::{OF_INPUT, beyond, is_beyond};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes that a page of Parquet may unpack to, and that the buffers of a batch of Arrow may have: 256 MiB and 1 GiB.
const PAGE_BYTES: usize = 256 << 20;
const BATCH_BYTES: u64 = 1 << 30;

/// A file of rows and columns, its schema known.
pub(crate) struct Table {
    name: PathBuf,
    kind: Kind,
}

enum Kind {
    Parquet(Arc<parquet::Table>),
    Arrow(Arc<arrow::Table>),
}

/// The next rows, chosen columns of them.
trait Rows: Send {
    /// Appends them as JSON lines; false at the end.
    fn next(&mut self, lines: &mut Vec<u8>) -> io::Result<bool>;
}

/// Bytes of a file, counted.
#[derive(Clone)]
struct Source {
    origin: Arc<Origin>,
    count: Arc<AtomicU64>,
}

impl Source {
    /// These bytes, which the file must have.
    fn bytes(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        if at.checked_add(length as u64).is_none_or(|end| end > self.origin.length()) {
            return Err(malformed("it ends before what it says it has"));
        }
        let mut bytes = vec![0; length];
        self.origin.read_exact_at(&mut bytes, at)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// What a column is read for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Text,
    Id,
    Rank,
}

/// A column that is asked for.
struct Asked {
    path: String,
    used: Use,
    /// Nobody named it: there may be none.
    optional: bool,
}

fn asked(fields: &Fields) -> Vec<Asked> {
    let of = |path: String, used, optional| Asked { path, used, optional };
    let mut asked: Vec<Asked> =
        fields.text_paths().map(|path| of(path, Use::Text, false)).collect();
    let id = fields.id_path();
    let optional = id == "id";
    asked.push(of(id, Use::Id, optional));
    asked.extend(fields.key_path().map(|path| of(path, Use::Rank, false)));
    asked
}

impl Table {
    /// Opens a file by its footer, or by its first message.
    pub(crate) fn open(name: PathBuf, origin: &Arc<Origin>, format: Format) -> io::Result<Self> {
        let source = Source { origin: Arc::clone(origin), count: Arc::default() };
        let kind = guarded(format, || {
            Ok(match format {
                Format::Arrow => Kind::Arrow(Arc::new(arrow::Table::open(source)?)),
                _ => Kind::Parquet(Arc::new(parquet::Table::open(source)?)),
            })
        })?;
        Ok(Self { name, kind })
    }

    fn format(&self) -> Format {
        match self.kind {
            Kind::Parquet(_) => Format::Parquet,
            Kind::Arrow(_) => Format::Arrow,
        }
    }

    /// The lines of its rows, each with the columns that `fields` name.
    ///
    /// # Errors
    /// A column that is not there, or holds nothing that can be used.
    pub(crate) fn lines(
        &self,
        fields: &Fields,
        longest: usize,
        count: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let format = self.format();
        let asked = asked(fields);
        let rows = guarded(format, || match &self.kind {
            Kind::Parquet(table) => table.rows(&asked, longest, count),
            Kind::Arrow(table) => table.rows(&asked, longest, count),
        })?;
        let length = match &self.kind {
            Kind::Parquet(table) => table.length(),
            Kind::Arrow(table) => table.length(),
        };
        Ok(Box::new(Lines {
            format,
            rows,
            length,
            all: 0,
            made: Vec::new(),
            taken: 0,
            ended: false,
        }))
    }

    /// What is different about the columns of another one; `None`: nothing.
    pub(crate) fn differs(&self, other: &Self) -> Option<(String, String)> {
        let (a, b) = match (&self.kind, &other.kind) {
            (Kind::Parquet(a), Kind::Parquet(b)) => (a.schema(), b.schema()),
            (Kind::Arrow(a), Kind::Arrow(b)) => (a.columns(), b.columns()),
            _ => return None,
        };
        let different = a.iter().zip(&b).find(|(a, b)| a != b);
        let none = || "no further column".to_owned();
        match different {
            Some((a, b)) => Some((a.clone(), b.clone())),
            None if a.len() == b.len() => None,
            None => {
                let at = a.len().min(b.len());
                let of = |all: &[String]| all.get(at).cloned().unwrap_or_else(none);
                Some((of(&a), of(&b)))
            }
        }
    }
}

/// What a decoder gives, or that it gave up.
fn guarded<T>(format: Format, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(malformed(format!("damaged {format}: it cannot be decoded"))))
}

/// The same of an input that is read again: damage is an error of that input. (Those of an output are of another kind.)
fn again<T>(name: &Path, format: Format, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    guarded(format, read).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => of_input(name, error),
        _ => error,
    })
}

struct Lines {
    format: Format,
    rows: Box<dyn Rows>,
    /// Bytes of the file, and of all lines so far.
    length: u64,
    all: u64,
    made: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.made.len() {
            if self.ended {
                return Ok(0);
            }
            self.made.clear();
            self.taken = 0;
            let Self { format, rows, made, .. } = self;
            self.ended = !guarded(*format, || rows.next(made))?;
            self.all += self.made.len() as u64;
            // One text in a dictionary may stand in as many rows as a file says it has.
            if is_beyond(self.all, self.length, OF_INPUT) {
                let what = format!("{}, as JSON lines,", self.format);
                return Err(beyond(&what, self.all, self.length, "turn it into JSON lines first"));
            }
        }
        let rest = &self.made[self.taken..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.taken += read;
        Ok(read)
    }
}

/// An error of an input, while an output is written.
fn of_input(name: &Path, error: io::Error) -> io::Error {
    io::Error::other(CorpusError::input(name, error))
}

/// Writes kept rows of Parquet or Arrow inputs, with all their columns, in the format, the schema and the compression of the first.
pub struct TableWriter<W: Write>(Writer<W>);

enum Writer<W: Write> {
    Parquet(Box<parquet_writer::Writer<W>>),
    Arrow(Box<arrow_writer::Writer<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Of these inputs, which have one schema. `to` comes back where they are of no such format.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(inputs: &[Arc<Layout>], to: W) -> io::Result<Result<Self, W>> {
        let tables: Vec<&Table> = inputs.iter().filter_map(|it| it.table.get()).collect();
        let Some(format) = tables.first().map(|table| table.format()) else { return Ok(Err(to)) };
        let (mut parquets, mut arrows) = (Vec::new(), Vec::new());
        for Table { name, kind } in tables {
            match kind {
                Kind::Parquet(table) => parquets.push((name.clone(), Arc::clone(table))),
                Kind::Arrow(table) => arrows.push((name.clone(), Arc::clone(table))),
            }
        }
        guarded(format, || {
            Ok(Ok(Self(match format {
                Format::Arrow => Writer::Arrow(Box::new(arrow_writer::Writer::new(arrows, to)?)),
                _ => Writer::Parquet(Box::new(parquet_writer::Writer::new(parquets, to)?)),
            })))
        })
    }

    /// Writes a row, by its input and its number there, from 1; rows come in order.
    ///
    /// # Errors
    /// Those of `to`, and a [`CorpusError`] where an input cannot be read again.
    pub fn keep(&mut self, input: usize, row: u64) -> io::Result<()> {
        let row = row.saturating_sub(1);
        match &mut self.0 {
            Writer::Parquet(writer) => guarded(Format::Parquet, || writer.keep(input, row)),
            Writer::Arrow(writer) => guarded(Format::Arrow, || writer.keep(input, row)),
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// As [`TableWriter::keep`].
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Writer::Parquet(writer) => guarded(Format::Parquet, || writer.finish()),
            Writer::Arrow(writer) => guarded(Format::Arrow, || writer.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same row again and again.
    struct Same(Vec<u8>);

    impl Rows for Same {
        fn next(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
            lines.extend_from_slice(&self.0);
            Ok(true)
        }
    }

    #[test]
    fn rows_without_end_end_at_a_limit() {
        let rows = Box::new(Same(vec![b'x'; 1 << 20]));
        let (made, format) = (Vec::new(), Format::Parquet);
        let mut lines = Lines { format, rows, length: 5, all: 0, made, taken: 0, ended: false };
        let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
        let told = loop {
            match lines.read(&mut buffer) {
                Ok(read) => all += read as u64,
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(all, OF_INPUT);
        assert!(told.starts_with("Parquet, as JSON lines, after 107"), "{told}");
        assert!(told.contains("they come of 5,"), "{told}");
    }
}
