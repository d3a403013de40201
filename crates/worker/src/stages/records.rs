//! Lines that somebody else has read to documents: the rules of records are those of all files.

use crate::lines::{is_blank, parse};
use crate::rows::{Batches, column};
use crate::{Context, Failure};
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use simhash_corpus::{Fields, Layout, Rank};
use std::io::{Read, Write};
use std::sync::Arc;

/// The columns that come out; `id` is JSON, `key` a text and `number` a number by which a keep rule orders, `rejected` why a line is no record.
const COLUMNS: [&str; 6] = ["line", "text", "id", "key", "number", "rejected"];

/// `pos` and `line`, its bytes, to documents: with the line feed at its end or without. Blank lines are none.
///
/// # Errors
/// Those of the streams.
pub fn records(
    context: &Arc<Context>,
    from: impl Read + 'static,
    fields: &Fields,
    to: impl Write,
) -> Result<(), Failure> {
    let unwritten = |error| Failure(format!("cannot write to standard output: {error}"));
    let own = COLUMNS.iter().map(|&name| Field::new(name, DataType::Utf8, true));
    let own = std::iter::once(Field::new("pos", DataType::Int64, false)).chain(own);
    let schema = Arc::new(Schema::new(own.collect::<Vec<Field>>()));
    let mut writer = StreamWriter::try_new(to, &schema).map_err(unwritten)?;
    let layout = Layout::json_lines(fields);
    let mut batches = Batches::new(from, &["pos", "line"], context)?;
    while let Some(batch) = batches.next()? {
        let positions = column(&batch, "pos", &DataType::Int64)?.as_primitive::<Int64Type>();
        let lines = column(&batch, "line", &DataType::Binary)?.as_binary::<i32>();
        let mut out = Int64Builder::new();
        let mut columns: [StringBuilder; COLUMNS.len()] = Default::default();
        let rows = 0..batch.num_rows();
        for row in rows.filter(|&row| lines.is_valid(row) && !is_blank(lines.value(row))) {
            let (pos, line) = (positions.value(row), lines.value(row));
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            out.append_value(pos);
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
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.append_option(cell);
            }
        }
        let cells = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let all = std::iter::once(Arc::new(out.finish()) as ArrayRef).chain(cells);
        let made = RecordBatch::try_new(Arc::clone(&schema), all.collect());
        made.and_then(|made| writer.write(&made)).map_err(unwritten)?;
    }
    writer.finish().map_err(unwritten)
}
