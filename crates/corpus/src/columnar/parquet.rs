//! Parquet: columns to rows.

use super::cells::{self, Chosen};
use super::pages::{Headers, Pages};
use super::{Asked, Rows, Source, Use};
use crate::error::malformed;
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescriptor;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Most rows that are read at once.
const ROWS: usize = 256;
/// Bytes of rows that are read at once, about.
const AT_ONCE: usize = 1 << 20;
/// Most bytes of a footer.
const FOOTER_BYTES: u32 = 256 << 20;

/// A file, by its footer.
pub(super) struct Table {
    source: Source,
    pub(super) about: ParquetMetaData,
}

impl Table {
    pub(super) fn open(source: Source) -> io::Result<Self> {
        let length = source.origin.length();
        let tail = source.bytes(length.saturating_sub(8), length.min(8) as usize)?;
        let Some((size, b"PAR1")) = tail.split_first_chunk::<4>() else {
            return Err(malformed(
                "it is no Parquet file, or was cut off: it does not end with PAR1",
            ));
        };
        if u32::from_le_bytes(*size) > FOOTER_BYTES {
            return Err(malformed(format!("its footer has more than {FOOTER_BYTES} bytes")));
        }
        let about = ParquetMetaDataReader::new()
            .parse_and_finish(&Headers::new(source.clone()))
            .map_err(damaged)?;
        Ok(Self { source, about })
    }

    /// Bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.source.origin.length()
    }

    /// A line for each column.
    pub(super) fn schema(&self) -> Vec<String> {
        let mut printed = Vec::new();
        let root = self.about.file_metadata().schema();
        parquet::schema::printer::print_schema(&mut printed, root);
        let lines = String::from_utf8_lossy(&printed);
        lines.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    }

    /// The pages of a column of a row group.
    pub(super) fn reader(
        &self,
        group: usize,
        leaf: usize,
        count: &Arc<AtomicU64>,
    ) -> io::Result<ColumnReader> {
        let source = Source { origin: Arc::clone(&self.source.origin), count: Arc::clone(count) };
        let group = self.about.row_group(group);
        let pages = Pages::new(source, group, leaf).map_err(damaged)?;
        Ok(get_column_reader(group.column(leaf).column_descr_ptr(), Box::new(pages)))
    }

    pub(super) fn rows(
        self: &Arc<Self>,
        asked: &[Asked],
        longest: usize,
        count: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Rows>> {
        let leaves = self.about.file_metadata().schema_descr().columns();
        let mut chosen: Vec<(usize, Chosen)> = Vec::new();
        for Asked { path, used, optional } in asked {
            let Some(leaf) = leaves.iter().position(|leaf| leaf.path().string() == *path) else {
                if *optional {
                    continue;
                }
                let all: Vec<String> = leaves.iter().map(|leaf| leaf.path().string()).collect();
                return Err(cells::missing(path, *used, &all));
            };
            if !is_suited(&leaves[leaf], *used) {
                let texts = leaves.iter().filter(|leaf| is_suited(leaf, Use::Text));
                let texts: Vec<String> = texts.map(|leaf| leaf.path().string()).collect();
                let is = kind(&leaves[leaf]);
                return Err(malformed(cells::unsuited(path, &is, *used, &texts)));
            }
            if chosen.iter().all(|&(known, _)| known != leaf) {
                chosen.push((leaf, Chosen::new(path)));
            }
        }
        let careful = chosen.iter().any(|&(leaf, _)| {
            let groups = self.about.row_groups().iter();
            groups
                .flat_map(|group| group.column(leaf).encodings())
                .any(|it| it == Encoding::DELTA_BYTE_ARRAY)
        });
        let table = Arc::clone(self);
        let most = if careful { 8 } else { ROWS };
        let (columns, at_once) = (Vec::new(), 1);
        Ok(Box::new(Reading {
            table,
            chosen,
            longest,
            count,
            next: 0,
            left: 0,
            columns,
            at_once,
            most,
        }))
    }
}

/// Whether a column has such cells, one for each row.
fn is_suited(leaf: &ColumnDescriptor, used: Use) -> bool {
    let of = match leaf.physical_type() {
        Type::BYTE_ARRAY => leaf.converted_type() != ConvertedType::DECIMAL,
        Type::INT32 | Type::INT64 => used != Use::Text,
        Type::FLOAT | Type::DOUBLE => used == Use::Rank,
        _ => false,
    };
    of && leaf.max_rep_level() == 0
}

/// What a column is, for people.
fn kind(leaf: &ColumnDescriptor) -> String {
    let kind = match leaf.logical_type_ref() {
        Some(logical) => format!("{logical:?}"),
        None => leaf.physical_type().to_string(),
    };
    if leaf.max_rep_level() > 0 { format!("a list of {kind}") } else { kind }
}

/// An error of the library; one of the operating system stays what it is.
pub(super) fn damaged(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) if error.kind() == io::ErrorKind::InvalidData => {
                malformed(format!("damaged Parquet: {error}"))
            }
            Ok(error) => *error,
            Err(error) => malformed(format!("damaged Parquet: {error}")),
        },
        error => malformed(format!("damaged Parquet: {error}")),
    }
}

/// The chosen columns of one row group after the other.
struct Reading {
    table: Arc<Table>,
    chosen: Vec<(usize, Chosen)>,
    longest: usize,
    count: Arc<AtomicU64>,
    /// The row group that comes next.
    next: usize,
    /// Rows of this one.
    left: u64,
    columns: Vec<Column>,
    /// Rows to read at once, as long as they are, and the most.
    at_once: usize,
    most: usize,
}

impl Rows for Reading {
    fn next(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        while self.left == 0 {
            if self.next == self.table.about.num_row_groups() {
                return Ok(false);
            }
            self.left = rows_of(&self.table.about, self.next)?;
            self.columns.clear();
            for (leaf, _) in &self.chosen {
                let reader = self.table.reader(self.next, *leaf, &self.count)?;
                let about = self.table.about.row_group(self.next).column(*leaf).column_descr();
                self.columns.push(Column::new(reader, about)?);
            }
            self.next += 1;
        }
        let rows = self.at_once.min(self.left.try_into().unwrap_or(usize::MAX));
        for column in &mut self.columns {
            column.read(rows)?;
        }
        for row in 0..rows {
            lines.push(b'{');
            for ((_, chosen), column) in self.chosen.iter().zip(&mut self.columns) {
                column.cell(row, chosen, lines, self.longest);
            }
            lines.extend(b"}\n");
        }
        self.left -= rows as u64;
        let fit = AT_ONCE * rows / lines.len().max(1);
        self.at_once = fit.clamp(1, self.most).min(2 * rows);
        Ok(true)
    }
}

/// The rows of a row group.
pub(super) fn rows_of(about: &ParquetMetaData, group: usize) -> io::Result<u64> {
    let rows = about.row_group(group).num_rows();
    u64::try_from(rows).map_err(|_| malformed(format!("damaged Parquet: a group of {rows} rows")))
}

/// Some cells of a column.
struct Cells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
    /// The level of a cell that is there.
    full: i16,
    taken: usize,
}

/// One that can be chosen.
enum Column {
    Text(Cells<parquet::data_type::ByteArrayType>),
    Int32(Cells<parquet::data_type::Int32Type>, bool),
    Int64(Cells<parquet::data_type::Int64Type>, bool),
    Float(Cells<parquet::data_type::FloatType>),
    Double(Cells<parquet::data_type::DoubleType>),
}

impl Column {
    fn new(reader: ColumnReader, about: &ColumnDescriptor) -> io::Result<Self> {
        let (full, signed) = (about.max_def_level(), is_signed(about));
        Ok(match reader {
            ColumnReader::ByteArrayColumnReader(it) => Self::Text(Cells::new(it, full)),
            ColumnReader::Int32ColumnReader(it) => Self::Int32(Cells::new(it, full), signed),
            ColumnReader::Int64ColumnReader(it) => Self::Int64(Cells::new(it, full), signed),
            ColumnReader::FloatColumnReader(it) => Self::Float(Cells::new(it, full)),
            ColumnReader::DoubleColumnReader(it) => Self::Double(Cells::new(it, full)),
            // Such a column was refused.
            _ => return Err(malformed("a column that is no text and no number")),
        })
    }

    fn read(&mut self, rows: usize) -> io::Result<()> {
        match self {
            Self::Text(cells) => cells.read(rows),
            Self::Int32(cells, _) => cells.read(rows),
            Self::Int64(cells, _) => cells.read(rows),
            Self::Float(cells) => cells.read(rows),
            Self::Double(cells) => cells.read(rows),
        }
    }

    /// Appends the cell of a row, if it has one; each row is asked for once, in order.
    fn cell(&mut self, row: usize, chosen: &Chosen, line: &mut Vec<u8>, longest: usize) {
        let number = match self {
            Self::Text(cells) => {
                if let Some(value) = cells.take(row) {
                    chosen.begin(line);
                    cells::text(line, value.data(), longest);
                }
                return;
            }
            Self::Int32(cells, true) => cells.take(row).map(ToString::to_string),
            Self::Int32(cells, false) => cells.take(row).map(|it| it.cast_unsigned().to_string()),
            Self::Int64(cells, true) => cells.take(row).map(ToString::to_string),
            Self::Int64(cells, false) => cells.take(row).map(|it| it.cast_unsigned().to_string()),
            Self::Float(cells) => cells.take(row).and_then(|&it| cells::float(it.into())),
            Self::Double(cells) => cells.take(row).and_then(|&it| cells::float(it)),
        };
        if let Some(number) = number {
            chosen.begin(line);
            line.extend(number.bytes());
        }
    }
}

fn is_signed(leaf: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    let unsigned =
        matches!(leaf.logical_type_ref(), Some(LogicalType::Integer(it)) if !it.is_signed);
    !unsigned && ![UINT_8, UINT_16, UINT_32, UINT_64].contains(&leaf.converted_type())
}

impl<T: DataType> Cells<T> {
    fn new(reader: ColumnReaderImpl<T>, full: i16) -> Self {
        Self { reader, values: Vec::new(), levels: Vec::new(), full, taken: 0 }
    }

    fn read(&mut self, rows: usize) -> io::Result<()> {
        self.values.clear();
        self.levels.clear();
        self.taken = 0;
        let read = self.reader.read_records(rows, Some(&mut self.levels), None, &mut self.values);
        let (read, ..) = read.map_err(damaged)?;
        if read < rows {
            return Err(malformed("damaged Parquet: a column has fewer rows than its row group"));
        }
        Ok(())
    }

    fn take(&mut self, row: usize) -> Option<&T::T> {
        if self.full > 0 && self.levels.get(row) != Some(&self.full) {
            return None;
        }
        self.taken += 1;
        self.values.get(self.taken - 1)
    }
}
