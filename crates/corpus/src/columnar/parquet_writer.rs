//! Kept rows of Parquet: row group by row group, each column read and written as it is stored.

use super::parquet::{Table, damaged, rows_of};
use crate::error::malformed;
use crate::format::Format;
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescriptor;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows that are read at once.
const ROWS: usize = 256;

pub(super) struct Writer<W: Write> {
    inputs: Vec<(PathBuf, Arc<Table>)>,
    to: SerializedFileWriter<W>,
    /// The input and the row group whose rows are gathered, and its first row.
    input: usize,
    group: usize,
    first: u64,
    /// Rows that are kept, from that one on.
    kept: Vec<u64>,
}

impl<W: Write + Send> Writer<W> {
    /// The compression of each column, and whether its values are numbered, are those of the first row group.
    pub(super) fn new(inputs: Vec<(PathBuf, Arc<Table>)>, to: W) -> io::Result<Self> {
        let Some((_, table)) = inputs.first() else { return Err(malformed("no table")) };
        let about = table.about.file_metadata();
        let mut properties =
            WriterProperties::builder().set_key_value_metadata(about.key_value_metadata().cloned());
        let group = table.about.row_groups().first();
        for column in group.into_iter().flat_map(RowGroupMetaData::columns) {
            let path = column.column_path().clone();
            let numbered = column.encodings().any(|encoding| {
                matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
            });
            let compression = match column.compression() {
                Compression::LZ4 => Compression::LZ4_RAW,
                compression => compression,
            };
            properties = properties
                .set_column_compression(path.clone(), compression)
                .set_column_dictionary_enabled(path, numbered);
        }
        let properties = properties
            .set_sorting_columns(group.and_then(|group| group.sorting_columns().cloned()))
            .build();
        let schema = about.schema_descr().root_schema_ptr();
        let to = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(failed)?;
        Ok(Self { inputs, to, input: 0, group: 0, first: 0, kept: Vec::new() })
    }

    /// Of this input this row, from 0; those that follow are later ones.
    pub(super) fn keep(&mut self, input: usize, row: u64) -> io::Result<()> {
        while input > self.input {
            self.write()?;
            (self.input, self.group, self.first) = (self.input + 1, 0, 0);
        }
        loop {
            let about = &self.inputs[input].1.about;
            if self.group >= about.num_row_groups() {
                return Err(malformed("it has fewer rows than before"));
            }
            let rows = rows_of(about, self.group)?;
            if row < self.first + rows {
                break;
            }
            self.write()?;
            self.group += 1;
            self.first += rows;
        }
        self.kept.push(row - self.first);
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write()?;
        self.to.into_inner().map_err(failed)
    }

    /// Writes the rows of a row group.
    fn write(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        if kept.is_empty() {
            return Ok(());
        }
        let (name, table) = &self.inputs[self.input];
        let mut to = self.to.next_row_group().map_err(failed)?;
        let mut leaf = 0;
        while let Some(mut column) = to.next_column().map_err(failed)? {
            let from = table.reader(self.group, leaf, &Arc::default());
            let from = from.map_err(|error| super::of_input(name, error))?;
            let about = table.about.row_group(self.group).column(leaf).column_descr();
            let copy = Copy { about, kept: &kept, name };
            super::again(name, Format::Parquet, || copy.column(from, column.untyped()))?;
            column.close().map_err(failed)?;
            leaf += 1;
        }
        to.close().map_err(failed)?;
        Ok(())
    }
}

/// An error of the library while it writes; one of the operating system, or of the output, stays what it is.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

/// One column of a row group.
struct Copy<'a> {
    about: &'a ColumnDescriptor,
    kept: &'a [u64],
    name: &'a PathBuf,
}

impl Copy<'_> {
    fn column(&self, from: ColumnReader, to: &mut ColumnWriter<'_>) -> io::Result<()> {
        use ColumnReader as R;
        use ColumnWriter as W;
        match (from, to) {
            (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => self.typed(from, to),
            (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => self.typed(from, to),
            (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => self.typed(from, to),
            (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => self.typed(from, to),
            (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => self.typed(from, to),
            (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => self.typed(from, to),
            (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => self.typed(from, to),
            (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
                self.typed(from, to)
            }
            _ => {
                Err(super::of_input(self.name, malformed("its columns are other ones than before")))
            }
        }
    }

    /// Reads all rows, some at a time, and writes those that are kept.
    fn typed<T: DataType>(
        &self,
        mut from: ColumnReaderImpl<T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> io::Result<()> {
        let (full, deep) = (self.about.max_def_level(), self.about.max_rep_level());
        let (mut values, mut levels, mut depths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut kept, mut before) = (self.kept.iter().peekable(), 0u64);
        while let Some(&&next) = kept.peek() {
            let skipped = (next - before) as usize;
            if skipped > 0 {
                let passed = from.skip_records(skipped).map_err(|error| self.broken(error))?;
                if passed < skipped {
                    return Err(self.short());
                }
                before = next;
            }
            // As many rows as follow each other.
            let mut rows = 0;
            while rows < ROWS && kept.peek() == Some(&&(before + rows as u64)) {
                kept.next();
                rows += 1;
            }
            values.clear();
            levels.clear();
            depths.clear();
            let read = from.read_records(rows, Some(&mut levels), Some(&mut depths), &mut values);
            let (read, ..) = read.map_err(|error| self.broken(error))?;
            if read < rows {
                return Err(self.short());
            }
            let levels = (full > 0).then_some(&levels[..]);
            let depths = (deep > 0).then_some(&depths[..]);
            to.write_batch(&values, levels, depths).map_err(failed)?;
            before += rows as u64;
        }
        Ok(())
    }

    fn broken(&self, error: ParquetError) -> io::Error {
        super::of_input(self.name, damaged(error))
    }

    fn short(&self) -> io::Error {
        let reason = "damaged Parquet: a column has fewer rows than its row group";
        super::of_input(self.name, malformed(reason))
    }
}
