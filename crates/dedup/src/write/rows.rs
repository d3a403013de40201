//! Rows of Parquet and Arrow, which are copied from the inputs.

use super::Output;
use super::framing::Row;
use crate::error::DedupError;
use crate::parallel;
use crate::read::Layout;
use simhash_corpus::{CorpusError, TableWriter};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Writes rows to an output.
pub(super) struct RowWriter<'a> {
    table: TableWriter<Poured<'a>>,
    /// The output, for messages.
    name: PathBuf,
}

impl<'a> RowWriter<'a> {
    /// Of these inputs; the output comes back where they are other ones than it seems: reading will say so.
    pub(super) fn new(
        inputs: &[Arc<Layout>],
        output: Output<'a>,
        cancel: &'a AtomicBool,
    ) -> Result<Result<Self, Output<'a>>, DedupError> {
        let name = output.name().to_owned();
        match TableWriter::new(inputs, Poured { output, cancel }) {
            Ok(Ok(table)) => Ok(Ok(Self { table, name })),
            Ok(Err(poured)) => Ok(Err(poured.output)),
            Err(error) => Err(told(error, &name)),
        }
    }

    /// A row that is kept; later ones follow.
    pub(super) fn keep(&mut self, row: &Row) -> Result<(), DedupError> {
        let kept = self.table.keep(row.input as usize, row.line);
        kept.map_err(|error| told(error, &self.name))
    }

    /// The output with all of them.
    pub(super) fn finish(self) -> Result<Output<'a>, DedupError> {
        let Self { table, name } = self;
        table.finish().map(|poured| poured.output).map_err(|error| told(error, &name))
    }
}

/// What is wrong: with an input that is read again, with the output, or with what is written to it.
pub(super) fn told(error: io::Error, name: &Path) -> DedupError {
    match error.downcast::<DedupError>().map_err(io::Error::downcast::<CorpusError>) {
        Ok(error) => error,
        Err(Ok(error)) => error.into(),
        Err(Err(error)) => DedupError::output(name, error),
    }
}

/// An output to write to.
pub(super) struct Poured<'a> {
    pub(super) output: Output<'a>,
    pub(super) cancel: &'a AtomicBool,
}

impl Write for Poured<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = parallel::check(self.cancel).and_then(|()| self.output.write(bytes));
        written.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
