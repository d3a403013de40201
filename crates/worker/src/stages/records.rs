//! Lines that somebody else has read to documents: the rules of records are those of all files.

use crate::lines::{is_blank, parse};
use crate::rows::{Batches, COLUMN, column};
use crate::{Context, Failure};
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use simhash_corpus::{Fields, Layout, Rank};
use std::io::{Read, Write};
use std::sync::Arc;

/// The columns that come out; `id` is JSON, `key` a text and `number` a number by which a keep rule orders, `rejected` why a line is no record.
const COLUMNS: [&str; 6] = ["line", "text", "id", "key", "number", "rejected"];

/// Documents on their way.
struct Made<W: Write> {
    writer: StreamWriter<W>,
    schema: SchemaRef,
    positions: Int64Builder,
    columns: [StringBuilder; COLUMNS.len()],
    /// Bytes of the lines, of which no other cell is longer.
    bytes: usize,
}

fn unwritten(error: &ArrowError) -> Failure {
    Failure(format!("cannot write to standard output: {error}"))
}

impl<W: Write> Made<W> {
    fn new(to: W) -> Result<Self, Failure> {
        let own = COLUMNS.iter().map(|&name| Field::new(name, DataType::Utf8, true));
        let own = std::iter::once(Field::new("pos", DataType::Int64, false)).chain(own);
        let schema = Arc::new(Schema::new(own.collect::<Vec<Field>>()));
        let writer = StreamWriter::try_new(to, &schema).map_err(|error| unwritten(&error))?;
        let (positions, columns) = (Int64Builder::new(), Default::default());
        Ok(Self { writer, schema, positions, columns, bytes: 0 })
    }

    /// Adds a document; the first cell is its line.
    fn put(
        &mut self,
        pos: i64,
        cells: [Option<&str>; COLUMNS.len()],
        sizes: Sizes,
    ) -> Result<(), Failure> {
        let bytes = cells[0].map_or(0, str::len);
        if bytes > sizes.line {
            return Err(Failure(format!(
                "the line at pos {pos} has {bytes} bytes as UTF-8, and a column of Arrow takes {}",
                sizes.line
            )));
        }
        if self.bytes + bytes > sizes.batch {
            self.flush()?;
        }
        self.bytes += bytes;
        self.positions.append_value(pos);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.append_option(cell);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.bytes = 0;
        let cells = self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let all = std::iter::once(Arc::new(self.positions.finish()) as ArrayRef).chain(cells);
        let made = RecordBatch::try_new(Arc::clone(&self.schema), all.collect());
        let made = made.map_err(|error| unwritten(&error))?;
        if made.num_rows() == 0 {
            return Ok(());
        }
        self.writer.write(&made).map_err(|error| unwritten(&error))
    }
}

/// Bytes of the lines of a batch of several, and of a line, at most.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    line: usize,
}

/// Where a line is no UTF-8, three bytes stand for one: what a column took in may be more than one takes that goes out.
const SIZES: Sizes = Sizes { batch: 256 << 20, line: COLUMN };

/// `pos` and `line`, its bytes, to documents: with the line feed at its end or without. Blank lines are none.
///
/// # Errors
/// Those of the streams, and a line of more than 2^31 - 1 bytes as UTF-8.
pub fn records(
    context: &Arc<Context>,
    from: impl Read + 'static,
    fields: &Fields,
    to: impl Write,
) -> Result<(), Failure> {
    records_of(context, from, fields, to, SIZES)
}

fn records_of(
    context: &Arc<Context>,
    from: impl Read + 'static,
    fields: &Fields,
    to: impl Write,
    sizes: Sizes,
) -> Result<(), Failure> {
    let (mut made, layout) = (Made::new(to)?, Layout::json_lines(fields));
    let mut batches = Batches::new(from, &["pos", "line"], context)?;
    while let Some(batch) = batches.next()? {
        let positions = column(&batch, "pos", &DataType::Int64)?.as_primitive::<Int64Type>();
        let lines = column(&batch, "line", &DataType::Binary)?.as_binary::<i32>();
        let rows = 0..batch.num_rows();
        for row in rows.filter(|&row| lines.is_valid(row) && !is_blank(lines.value(row))) {
            let (pos, line) = (positions.value(row), lines.value(row));
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let given = String::from_utf8_lossy(line);
            let mut cells = [Some(&*given), None, None, None, None, None];
            let parsed = parse(&layout, line, pos.cast_unsigned());
            match &parsed {
                Ok(parsed) => {
                    (cells[1], cells[2]) = (Some(&*parsed.text), parsed.id.as_deref());
                    match &parsed.rank {
                        Rank::Missing => {}
                        Rank::Text(text) => cells[3] = Some(text),
                        Rank::Number(number) => cells[4] = Some(number),
                    }
                }
                Err(reason) => cells[5] = Some(reason),
            }
            made.put(pos, cells, sizes)?;
        }
        made.flush()?;
    }
    made.writer.finish().map_err(|error| unwritten(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use arrow_array::{BinaryArray, Int64Array};
    use arrow_ipc::reader::StreamReader;

    fn made(lines: &[&[u8]], sizes: Sizes) -> Result<Vec<Vec<String>>, Failure> {
        let fields = [("pos", DataType::Int64), ("line", DataType::Binary)];
        let fields = fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec();
        let schema = Arc::new(Schema::new(fields));
        let positions = (0..).take(lines.len()).collect::<Int64Array>();
        let columns: Vec<ArrayRef> =
            vec![Arc::new(positions), Arc::new(BinaryArray::from(lines.to_vec()))];
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
        let input = std::io::Cursor::new(writer.into_inner().unwrap());
        let context = Arc::new(Context { recipe: Recipe::new("{}")?, parts: 1, memory: 1 << 30 });
        let mut out = Vec::new();
        records_of(&context, input, &Fields::default(), &mut out, sizes)?;
        let all = StreamReader::try_new(out.as_slice(), None).unwrap();
        let lines = |batch: RecordBatch| {
            batch.column(1).as_string::<i32>().iter().map(|line| line.unwrap().to_owned()).collect()
        };
        Ok(all.map(|batch| lines(batch.unwrap())).collect())
    }

    #[test]
    fn batches_are_cut_by_the_bytes_that_go_out() {
        let wrong = [b'\xFF'; 9];
        let lines: [&[u8]; 4] = [br#"{"text":"a"}"#, &wrong, &wrong, br#"{"text":"b"}"#];
        let whole = made(&lines, SIZES).unwrap();
        assert_eq!((whole.len(), whole[0].len()), (1, 4));
        assert_eq!(whole[0][1], "\u{FFFD}".repeat(9));
        let cut = made(&lines, Sizes { batch: 40, ..SIZES }).unwrap();
        assert_eq!(cut.concat(), whole[0]);
        assert_eq!(cut.iter().map(Vec::len).collect::<Vec<usize>>(), [2, 2]);
        assert_eq!(made(&lines, Sizes { batch: 38, ..SIZES }).unwrap().len(), 4);
        let failure = made(&lines, Sizes { line: 26, ..SIZES }).unwrap_err().to_string();
        assert!(failure.contains("the line at pos 1 has 27 bytes as UTF-8"), "{failure}");
    }
}
