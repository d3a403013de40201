//! Kept rows of Arrow: batch by batch.

use super::arrow::{Batches, Table, damaged};
use crate::error::malformed;
use crate::format::Format;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) struct Writer<W: Write> {
    inputs: Vec<(PathBuf, Arc<Table>)>,
    to: To<W>,
    /// The input whose rows are gathered, its batch at hand, and the batch's first row.
    input: usize,
    batches: Batches,
    batch: Option<RecordBatch>,
    first: u64,
    /// By row of the batch.
    kept: Vec<bool>,
}

enum To<W: Write> {
    /// How batches are compressed is not known yet.
    New(Option<W>),
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> Writer<W> {
    pub(super) fn new(inputs: Vec<(PathBuf, Arc<Table>)>, to: W) -> io::Result<Self> {
        let Some((_, table)) = inputs.first() else { return Err(malformed("no table")) };
        let batches = table.batches(None, Arc::default());
        let (to, kept) = (To::New(Some(to)), Vec::new());
        Ok(Self { inputs, to, input: 0, batches, batch: None, first: 0, kept })
    }

    /// Of this input this row, from 0; those that follow are later ones.
    pub(super) fn keep(&mut self, input: usize, row: u64) -> io::Result<()> {
        while input > self.input {
            self.write()?;
            (self.input, self.first, self.batch) = (self.input + 1, 0, None);
            self.batches = self.inputs[self.input].1.batches(None, Arc::default());
        }
        loop {
            let rows = self.batch.as_ref().map_or(0, RecordBatch::num_rows) as u64;
            if row < self.first + rows {
                break;
            }
            self.write()?;
            self.first += rows;
            let name = &self.inputs[input].0;
            let of_input = |error| super::of_input(name, error);
            let batch =
                super::again(name, Format::Arrow, || self.batches.next().map_err(of_input))?;
            let Some(batch) = batch else {
                return Err(of_input(malformed("it has fewer rows than before")));
            };
            self.kept = vec![false; batch.num_rows()];
            self.batch = Some(batch);
        }
        self.kept[(row - self.first) as usize] = true;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write()?;
        self.open()?;
        match self.to {
            To::New(to) => to.ok_or_else(|| io::Error::other("no output")),
            To::File(writer) => writer.into_inner().map_err(failed),
            To::Stream(writer) => writer.into_inner().map_err(failed),
        }
    }

    /// Writes what is kept of the batch at hand.
    fn write(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        let Some(batch) = self.batch.take().filter(|_| kept.contains(&true)) else { return Ok(()) };
        self.open()?;
        let batch = if kept.contains(&false) {
            let name = &self.inputs[self.input].0;
            filter_record_batch(&batch, &BooleanArray::from(kept))
                .map_err(|error| super::of_input(name, damaged(error)))?
        } else {
            batch
        };
        match &mut self.to {
            To::New(_) => Ok(()),
            To::File(writer) => writer.write(&batch).map_err(failed),
            To::Stream(writer) => writer.write(&batch).map_err(failed),
        }
    }

    /// Begins the output, with the compression of the last batch.
    fn open(&mut self) -> io::Result<()> {
        let To::New(to) = &mut self.to else { return Ok(()) };
        let Some(to) = to.take() else { return Ok(()) };
        let options = IpcWriteOptions::default()
            .try_with_compression(self.batches.packed)
            .map_err(failed)?
            .with_dictionary_handling(DictionaryHandling::Delta);
        let table = &self.inputs[0].1;
        self.to = if table.is_file {
            let mut writer =
                FileWriter::try_new_with_options(to, &table.schema, options).map_err(failed)?;
            for (key, value) in &table.remarks {
                writer.write_metadata(key, value);
            }
            To::File(writer)
        } else {
            let writer = StreamWriter::try_new_with_options(to, &table.schema, options);
            To::Stream(writer.map_err(failed)?)
        };
        Ok(())
    }
}

/// An error of the library while it writes; one of the operating system, or of the output, stays what it is.
pub(super) fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        ArrowError::InvalidArgumentError(reason) if reason.contains("Dictionary replacement") => {
            io::Error::other(
                "the inputs have dictionaries of their own, of which an Arrow file can hold one; write them as streams, or without dictionaries",
            )
        }
        error => io::Error::other(error),
    }
}
