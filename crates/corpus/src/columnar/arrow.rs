//! Arrow's messages, in a stream or in a file, which is a stream between a mark and a footer: batches to rows.

use super::cells::{self, Chosen};
use super::{Asked, BATCH_BYTES, Rows, Source, Use};
use crate::error::malformed;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{CompressionType, Endianness, MessageHeader};
use arrow_schema::{DataType, Field, Fields, Schema};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a file begins and ends with.
const MAGIC: &[u8; 6] = b"ARROW1";
/// What every message begins with, but for those of old writers.
const CONTINUES: [u8; 4] = [0xff; 4];
/// Most bytes of what describes a message or a file.
const ABOUT_BYTES: usize = 64 << 20;
/// Bytes of lines that are made at once, about.
const AT_ONCE: usize = 1 << 20;

/// A file or a stream, by its first message.
pub(super) struct Table {
    source: Source,
    pub(super) schema: Arc<Schema>,
    /// It has a footer.
    pub(super) is_file: bool,
    /// What the footer says beside the schema.
    pub(super) remarks: Vec<(String, String)>,
    /// Behind the schema, and where the footer begins or the stream ends.
    begin: u64,
    end: u64,
}

impl Table {
    pub(super) fn open(source: Source) -> io::Result<Self> {
        let length = source.origin.length();
        let head = source.bytes(0, length.min(8) as usize)?;
        let is_file = head.starts_with(MAGIC);
        if !is_file {
            let mut messages = Messages { source: source.clone(), at: 0, end: length };
            let Some(message) = messages.next()? else {
                return Err(malformed("it is no Arrow file: it has no schema"));
            };
            let Some(schema) = message.schema()? else {
                return Err(malformed("it is no Arrow file: it does not begin with a schema"));
            };
            let (begin, remarks) = (messages.at, Vec::new());
            return Ok(Self { source, schema, is_file, remarks, begin, end: length });
        }
        let Footer { begin: end, schema, remarks } = footer(&source)?;
        let mut begin = 8;
        // Padded to a multiple of eight.
        while begin + 8 < end && source.bytes(begin, 8)? == [0; 8] {
            begin += 8;
        }
        // Writers in JavaScript leave out the schema here: the footer has it.
        let mut messages = Messages { source: source.clone(), at: begin, end };
        if let Some(message) = messages.next()?
            && message.schema()?.is_some()
        {
            begin = messages.at;
        }
        Ok(Self { source, schema, is_file, remarks, begin, end })
    }

    /// Bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.source.origin.length()
    }

    /// A line for each column.
    pub(super) fn columns(&self) -> Vec<String> {
        let of = |field: &Arc<Field>| {
            let null = if field.is_nullable() { "" } else { " not null" };
            format!("{}: {}{null}", field.name(), field.data_type())
        };
        self.schema.fields().iter().map(of).collect()
    }

    /// Its batches, of all columns or of these.
    pub(super) fn batches(&self, columns: Option<Vec<usize>>, count: Arc<AtomicU64>) -> Batches {
        let source = Source { origin: Arc::clone(&self.source.origin), count };
        let messages = Messages { source, at: self.begin, end: self.end };
        let (schema, dictionaries) = (Arc::clone(&self.schema), HashMap::new());
        Batches { messages, schema, columns, dictionaries, packed: None }
    }

    pub(super) fn rows(
        &self,
        asked: &[Asked],
        longest: usize,
        count: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Rows>> {
        let fields = self.schema.fields();
        let (mut columns, mut chosen): (Vec<usize>, Vec<(Vec<usize>, Chosen)>) = Default::default();
        for Asked { path, used, optional } in asked {
            let Some((mut places, field)) = find(fields, path) else {
                if *optional {
                    continue;
                }
                return Err(cells::missing(path, *used, &all(fields, &|_| true)));
            };
            if !is_suited(field.data_type(), *used) {
                let texts = all(fields, &|field| is_suited(field.data_type(), Use::Text));
                let is = field.data_type().to_string();
                return Err(malformed(cells::unsuited(path, &is, *used, &texts)));
            }
            let known = columns.iter().position(|&column| column == places[0]);
            let place = known.unwrap_or_else(|| {
                columns.push(places[0]);
                columns.len() - 1
            });
            places[0] = place;
            if chosen.iter().all(|(others, _)| *others != places) {
                chosen.push((places, Chosen::new(path)));
            }
        }
        // They come in the order of the schema.
        let batches = self.batches(Some(columns), count);
        Ok(Box::new(Reading { batches, chosen, longest, cells: Vec::new(), row: 0, rows: 0 }))
    }
}

/// What stands at the end of a file.
struct Footer {
    /// Where it begins.
    begin: u64,
    schema: Arc<Schema>,
    remarks: Vec<(String, String)>,
}

fn footer(source: &Source) -> io::Result<Footer> {
    let length = source.origin.length();
    let cut = || malformed("it was cut off, or is no Arrow file: it does not end with ARROW1");
    let tail = source.bytes(length.saturating_sub(10), length.min(10) as usize)?;
    let Some((size, magic)) = tail.split_first_chunk::<4>() else { return Err(cut()) };
    let size = u64::from(u32::from_le_bytes(*size));
    if magic != MAGIC || size + 18 > length || size > ABOUT_BYTES as u64 {
        return Err(cut());
    }
    let begin = length - 10 - size;
    let about = source.bytes(begin, size as usize)?;
    let about = arrow_ipc::root_as_footer(&about).map_err(damaged)?;
    let of = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let remarks = about.custom_metadata().into_iter().flatten();
    let remarks = remarks.map(|remark| (of(remark.key()), of(remark.value()))).collect();
    let Some(schema) = about.schema() else {
        return Err(malformed("damaged Arrow: a footer without a schema"));
    };
    Ok(Footer { begin, schema: readable(schema)?, remarks })
}

/// A schema whose numbers this machine reads.
fn readable(schema: arrow_ipc::Schema<'_>) -> io::Result<Arc<Schema>> {
    if schema.endianness() != Endianness::Little {
        let reason = "its numbers are big-endian; write it on the machine that reads it";
        return Err(malformed(reason));
    }
    Ok(Arc::new(try_fb_to_schema(schema).map_err(damaged)?))
}

/// The places of a column, or of a field within columns, on the way to it.
fn find<'f>(fields: &'f Fields, path: &str) -> Option<(Vec<usize>, &'f Field)> {
    if let Some((place, field)) = fields.find(path) {
        return Some((vec![place], field));
    }
    path.match_indices('.').find_map(|(dot, _)| {
        let (place, field) = fields.find(&path[..dot])?;
        let DataType::Struct(within) = field.data_type() else { return None };
        let (places, found) = find(within, &path[dot + 1..])?;
        Some(([vec![place], places].concat(), found))
    })
}

/// The paths of fields that can be named.
fn all(fields: &Fields, wanted: &dyn Fn(&Field) -> bool) -> Vec<String> {
    fields
        .iter()
        .flat_map(|field| match field.data_type() {
            DataType::Struct(within) => {
                let paths = all(within, wanted).into_iter();
                paths.map(|path| format!("{}.{path}", field.name())).collect()
            }
            _ if wanted(field) => vec![field.name().clone()],
            _ => Vec::new(),
        })
        .collect()
}

/// Whether a column has such cells.
fn is_suited(kind: &DataType, used: Use) -> bool {
    use DataType::{
        Binary, BinaryView, Date32, Date64, Dictionary, Duration, Float32, Float64, LargeBinary,
        LargeUtf8, Time32, Time64, Timestamp, Utf8, Utf8View,
    };
    match kind {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => true,
        Dictionary(_, values) => is_suited(values, used),
        Float32 | Float64 => used == Use::Rank,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) => used != Use::Text,
        kind => used != Use::Text && kind.is_integer(),
    }
}

/// An error of the library.
pub(super) fn damaged(error: impl fmt::Display) -> io::Error {
    malformed(format!("damaged Arrow: {error}"))
}

/// One message after the other.
struct Messages {
    source: Source,
    at: u64,
    end: u64,
}

struct Message {
    about: Vec<u8>,
    /// Where its body lies.
    body: u64,
    length: u64,
}

impl Message {
    /// The schema that it is, if it is one.
    fn schema(&self) -> io::Result<Option<Arc<Schema>>> {
        let about = arrow_ipc::root_as_message(&self.about).map_err(damaged)?;
        about.header_as_schema().map(readable).transpose()
    }
}

impl Messages {
    fn next(&mut self) -> io::Result<Option<Message>> {
        if self.at == self.end {
            return Ok(None);
        }
        let mut size = self.take(4)?;
        if size == CONTINUES {
            size = self.take(4)?;
        }
        let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
        if size == 0 {
            return Ok(None);
        }
        if size > ABOUT_BYTES {
            return Err(malformed(format!(
                "damaged Arrow: a message with a header of {size} bytes"
            )));
        }
        let about = self.take(size)?;
        let length = arrow_ipc::root_as_message(&about).map_err(damaged)?.bodyLength();
        let left = self.end - self.at;
        let length =
            u64::try_from(length).ok().filter(|&length| length <= left).ok_or_else(|| {
                malformed(format!(
                    "damaged Arrow: a message of {length} bytes, and {left} are left"
                ))
            })?;
        let body = self.at;
        self.at += length;
        Ok(Some(Message { about, body, length }))
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length as u64 > self.end - self.at {
            return Err(malformed("damaged Arrow: it ends within a message"));
        }
        let bytes = self.source.bytes(self.at, length)?;
        self.at += length as u64;
        Ok(bytes)
    }

    fn body(&self, message: &Message) -> io::Result<Buffer> {
        check_size(message.length)?;
        let mut body = MutableBuffer::from_len_zeroed(message.length as usize);
        self.source.origin.read_exact_at(body.as_slice_mut(), message.body)?;
        self.source.count.fetch_add(message.length, Ordering::Relaxed);
        Ok(body.into())
    }
}

fn check_size(bytes: u64) -> io::Result<()> {
    if bytes <= BATCH_BYTES {
        return Ok(());
    }
    let reason = format!(
        "a batch of {bytes} bytes, and {BATCH_BYTES} are the most; write it in smaller batches"
    );
    Err(malformed(reason))
}

/// One batch after the other.
pub(super) struct Batches {
    messages: Messages,
    schema: Arc<Schema>,
    columns: Option<Vec<usize>>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// How the last one was compressed.
    pub(super) packed: Option<CompressionType>,
}

impl Batches {
    pub(super) fn next(&mut self) -> io::Result<Option<RecordBatch>> {
        while let Some(message) = self.messages.next()? {
            let about = arrow_ipc::root_as_message(&message.about).map_err(damaged)?;
            let (schema, version) = (Arc::clone(&self.schema), about.version());
            match about.header_type() {
                MessageHeader::RecordBatch => {
                    let Some(batch) = about.header_as_record_batch() else { continue };
                    let body = self.messages.body(&message)?;
                    self.packed = batch.compression().map(|packed| packed.codec());
                    check_buffers(&batch, &body)?;
                    let columns = self.columns.as_deref();
                    let dictionaries = &self.dictionaries;
                    let read =
                        read_record_batch(&body, batch, schema, dictionaries, columns, &version);
                    return read.map(Some).map_err(damaged);
                }
                MessageHeader::DictionaryBatch => {
                    let Some(batch) = about.header_as_dictionary_batch() else { continue };
                    let body = self.messages.body(&message)?;
                    if let Some(data) = batch.data() {
                        check_buffers(&data, &body)?;
                    }
                    read_dictionary(&body, batch, &schema, &mut self.dictionaries, &version)
                        .map_err(damaged)?;
                }
                _ => return Err(malformed("damaged Arrow: a message that is no batch")),
            }
        }
        Ok(None)
    }
}

/// Refuses a batch whose buffers lie elsewhere, or would unpack to more than may be: each packed one says its size first.
fn check_buffers(batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> io::Result<()> {
    let mut all = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let at = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length = usize::try_from(buffer.length()).unwrap_or(usize::MAX);
        let Some(bytes) = body.get(at..).and_then(|rest| rest.get(..length)) else {
            return Err(malformed("damaged Arrow: a buffer that lies beyond its batch"));
        };
        if batch.compression().is_some()
            && let Some(size) = bytes.first_chunk::<8>()
        {
            // Less than none stands for what is not packed.
            all = all.saturating_add(i64::from_le_bytes(*size).try_into().unwrap_or(0));
        }
    }
    check_size(all)
}

/// The chosen columns of one batch after the other.
struct Reading {
    batches: Batches,
    /// With the places on the way to each.
    chosen: Vec<(Vec<usize>, Chosen)>,
    longest: usize,
    cells: Vec<Cells>,
    row: usize,
    rows: usize,
}

impl Rows for Reading {
    fn next(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        while self.row == self.rows {
            let Some(batch) = self.batches.next()? else { return Ok(false) };
            (self.row, self.rows) = (0, batch.num_rows());
            let of = |(places, _): &(Vec<usize>, Chosen)| Cells::new(&batch, places);
            self.cells = self.chosen.iter().map(of).collect();
        }
        while self.row < self.rows && lines.len() < AT_ONCE {
            lines.push(b'{');
            for ((_, chosen), cells) in self.chosen.iter().zip(&self.cells) {
                cells.write(self.row, chosen, lines, self.longest);
            }
            lines.extend(b"}\n");
            self.row += 1;
        }
        Ok(true)
    }
}

/// The cells of a column of a batch.
struct Cells {
    /// What it lies within: where one of these is null, so is the cell.
    around: Vec<ArrayRef>,
    values: ArrayRef,
    /// Of a dictionary: which of the values, by row.
    keys: Option<Vec<usize>>,
    /// Of numbers, from the first one on.
    numbers: Option<Buffer>,
}

impl Cells {
    fn new(batch: &RecordBatch, places: &[usize]) -> Self {
        let mut values = Arc::clone(batch.column(places[0]));
        let mut around = Vec::new();
        for &place in &places[1..] {
            let within = Arc::clone(values.as_struct().column(place));
            around.push(std::mem::replace(&mut values, within));
        }
        let mut keys = None;
        if let Some(numbered) = values.as_any_dictionary_opt() {
            let of =
                if numbered.values().is_empty() { Vec::new() } else { numbered.normalized_keys() };
            keys = Some(of);
            let named = Arc::clone(numbered.values());
            around.push(std::mem::replace(&mut values, named));
        }
        let is_number = values.data_type().is_primitive();
        let numbers = is_number.then(|| {
            let data = values.to_data();
            let width = data.data_type().primitive_width().unwrap_or(1);
            data.buffers()[0].slice(data.offset() * width)
        });
        Self { around, values, keys, numbers }
    }

    fn write(&self, row: usize, chosen: &Chosen, line: &mut Vec<u8>, longest: usize) {
        if self.around.iter().any(|array| array.is_null(row)) {
            return;
        }
        let row =
            self.keys.as_ref().map_or(row, |keys| keys.get(row).copied().unwrap_or(usize::MAX));
        if row >= self.values.len() || self.values.is_null(row) {
            return;
        }
        if let Some(bytes) = bytes_of(&self.values, row) {
            chosen.begin(line);
            cells::text(line, bytes, longest);
        } else if let Some(numbers) = &self.numbers
            && let Some(number) = number_in(self.values.data_type(), numbers, row)
        {
            chosen.begin(line);
            line.extend(number.bytes());
        }
    }
}

fn bytes_of(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => return None,
    })
}

/// A number as it is stored: a date as days, a time as its units.
fn number_in(kind: &DataType, data: &Buffer, row: usize) -> Option<String> {
    use DataType::{
        Date32, Float32, Float64, Int8, Int16, Int32, Time32, UInt8, UInt16, UInt32, UInt64,
    };
    fn at<T: ArrowNativeType>(data: &Buffer, row: usize) -> Option<T> {
        data.typed_data::<T>().get(row).copied()
    }
    match kind {
        Int8 => at::<i8>(data, row).map(|it| it.to_string()),
        Int16 => at::<i16>(data, row).map(|it| it.to_string()),
        Int32 | Date32 | Time32(_) => at::<i32>(data, row).map(|it| it.to_string()),
        UInt8 => at::<u8>(data, row).map(|it| it.to_string()),
        UInt16 => at::<u16>(data, row).map(|it| it.to_string()),
        UInt32 => at::<u32>(data, row).map(|it| it.to_string()),
        UInt64 => at::<u64>(data, row).map(|it| it.to_string()),
        Float32 => at::<f32>(data, row).and_then(|it| cells::float(it.into())),
        Float64 => at::<f64>(data, row).and_then(cells::float),
        // Those that are left have eight bytes.
        _ => at::<i64>(data, row).map(|it| it.to_string()),
    }
}
