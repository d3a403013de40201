//! A stream of bytes to blocks of whole records.
//!
//! One buffer holds many records, and records are ranges of it: no allocation and no copy per record.
//! What follows the last whole one is carried to the next block. A record longer than a block makes its
//! block grow, up to the longest that may be: of a longer one only the beginning is kept, so memory is bounded whatever comes.

use crate::csv::Columns;
use crate::cut::{self, Cut, Piece};
use crate::encoding::Encoding;
use crate::error::malformed;
use crate::format::Format;
use crate::layout::Layout;
use crate::record::Record;
use crate::spare::Spare;
use crate::unpack::refused;
use crate::utf16::Utf16;
use simdutf8::basic::from_utf8;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes per block: large enough that queues and dispatch cost nothing per record, small enough that
/// five blocks in flight are noise in memory.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

/// What is kept of a record that is too long, to be recognised by.
const HEAD_BYTES: usize = 1 << 10;

/// Whole records of one input.
pub struct Block {
    /// Which input.
    pub input: u32,
    /// What is known of it.
    pub layout: Arc<Layout>,
    /// Position of `bytes[0]` in the input, decompressed and, where it was UTF-16, in UTF-8.
    pub offset: u64,
    /// As they came.
    pub bytes: Vec<u8>,
    /// Bytes of the input that it stands for: those of `bytes`, and those left out of a record that is too long.
    pub length: u64,
    /// The records, in order.
    pub lines: Vec<Line>,
    spare: Arc<Spare>,
}

impl Drop for Block {
    fn drop(&mut self) {
        self.spare.give_back(std::mem::take(&mut self.bytes));
    }
}

/// A record: a line, or what stands for one in its format.
pub struct Line {
    /// From 1: its line, of rows the first one, blank lines counted; of an array its place.
    pub number: u64,
    /// Without what separates records; of a line a carriage return before the newline belongs to it (it is written back as it came).
    pub range: Range<usize>,
    /// Why it is no record.
    pub fault: Option<Box<str>>,
}

impl Block {
    /// The bytes of one of its records.
    pub fn bytes_of(&self, line: &Line) -> &[u8] {
        &self.bytes[line.range.clone()]
    }

    /// The block, of which it is known whether all of it is UTF-8. One pass over its bytes: to be called once for a block.
    pub fn checked(&self) -> Checked<'_> {
        let is_utf_8 = self.layout.record_encoding() == Encoding::UTF_8;
        Checked { block: self, text: is_utf_8.then(|| from_utf8(&self.bytes).ok()).flatten() }
    }
}

/// A block that was looked at as a whole: where all of it is UTF-8, its records are not looked at again.
#[derive(Clone, Copy)]
pub struct Checked<'b> {
    block: &'b Block,
    text: Option<&'b str>,
}

impl<'b> Checked<'b> {
    /// What one of its records says.
    ///
    /// # Errors
    /// Why it is none.
    pub fn record(&self, line: &Line) -> Result<Record<'b>, String> {
        match self.text.and_then(|text| text.get(line.range.clone())) {
            Some(text) => self.block.layout.parse(text),
            None => self.block.layout.record(self.block.bytes_of(line)),
        }
    }
}

/// Cuts one input into blocks.
pub(crate) struct Reader<'r> {
    input: u32,
    layout: Arc<Layout>,
    from: Box<dyn Read + Send + 'r>,
    block_bytes: usize,
    offset: u64,
    carry: Vec<u8>,
    /// Bytes of `carry` that were looked at.
    seen: usize,
    ended: bool,
    /// `None`: nothing has been read yet.
    cutter: Option<Box<dyn Cut>>,
    /// The first row names the columns, and has not come yet.
    header: bool,
    /// Records of the block before.
    records: usize,
    spare: Arc<Spare>,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(input: u32, layout: Arc<Layout>, from: impl Read + Send + 'r) -> Self {
        Self::with_blocks(input, layout, Box::new(from), BLOCK_BYTES)
    }

    fn with_blocks(
        input: u32,
        layout: Arc<Layout>,
        from: Box<dyn Read + Send + 'r>,
        block_bytes: usize,
    ) -> Self {
        let (offset, carry, seen, cutter) = (0, Vec::new(), 0, None);
        let (ended, header, records) = (false, false, 0);
        let spare = Arc::new(Spare::new(block_bytes));
        Self {
            input,
            layout,
            from,
            block_bytes,
            offset,
            carry,
            seen,
            ended,
            cutter,
            header,
            records,
            spare,
        }
    }

    /// The next block, or `None` at the end. The last record need not end with a newline.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let mut bytes = self.spare.take(self.carry.len());
        let mut filled = self.carry.len();
        bytes[..filled].copy_from_slice(&self.carry);
        let mut lines = Vec::with_capacity(self.records + self.records / 8);
        let (mut start, mut seen) = (0, self.seen);
        loop {
            filled = self.fill(&mut bytes, filled)?;
            if self.cutter.is_none() {
                bytes.truncate(filled);
                start = self.begin(&mut bytes)?;
                (seen, filled) = (start, bytes.len());
            }
            self.find_encoding(&bytes[seen..filled]);
            self.cut(&bytes[..filled], &mut start, seen, &mut lines)?;
            if self.ended || start > 0 {
                break;
            }
            // All of it is one record.
            if filled > self.layout.form.max_record {
                bytes.truncate(filled);
                return self.rest_of_long_record(bytes).map(Some);
            }
            seen = filled;
        }
        if filled == 0 {
            return Ok(None);
        }
        self.carry.clear();
        self.carry.extend_from_slice(&bytes[start..filled]);
        (self.seen, self.records) = (self.carry.len(), lines.len());
        bytes.truncate(start);
        let length = bytes.len() as u64;
        Ok(Some(self.block(bytes, length, lines)))
    }

    /// Reads a block more behind the bytes that are filled, in place of whatever is there; how many are filled then.
    fn fill(&mut self, bytes: &mut Vec<u8>, filled: usize) -> io::Result<usize> {
        let (mut at, end) = (filled, filled + self.block_bytes);
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        while at < end {
            match self.from.read(&mut bytes[at..end]) {
                Ok(0) => break,
                Ok(more) => at += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.ended = at == filled;
        Ok(at)
    }

    fn block(&mut self, bytes: Vec<u8>, length: u64, lines: Vec<Line>) -> Block {
        let (input, layout, offset) = (self.input, Arc::clone(&self.layout), self.offset);
        self.offset += length;
        let spare = Arc::clone(&self.spare);
        Block { input, layout, offset, bytes, length, lines, spare }
    }

    /// Learns from the first bytes what the input is; where its records begin.
    fn begin(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let layout = Arc::clone(&self.layout);
        if let Some(reason) = refused(bytes) {
            return Err(malformed(reason));
        }
        let named = layout.form.encoding;
        let mark = Encoding::of_mark(bytes);
        let mut start = 0;
        let format = layout.format().filter(|it| it.is_columnar() && layout.table.get().is_none());
        // Behind the mark of Parquet the first page begins.
        let tail: &[u8] = if bytes.get(4) == Some(&0x15) { b"PAR1" } else { b"" };
        let seen = || Format::of_table(bytes, tail).filter(|_| layout.form.format.is_none());
        if let Some(format) = format.or_else(seen) {
            return Err(malformed(format!("{format} is read from a file, not from a stream")));
        }
        if let Some(encoding) = utf_16(named, bytes) {
            // What comes from here on is UTF-8.
            let _ = (layout.encoding.set(encoding), layout.turned.set(()));
            let skipped = mark.map_or(0, |(_, length)| length);
            let first = io::Cursor::new(bytes.split_off(skipped));
            let rest = std::mem::replace(&mut self.from, Box::new(io::empty()));
            self.from = Box::new(Utf16::new(first.chain(rest), encoding.is_big_endian()));
            let filled = self.fill(bytes, 0)?;
            bytes.truncate(filled);
        } else if let Some((encoding, length)) =
            mark.filter(|&(found, _)| named.is_none_or(|named| named == found))
        {
            let _ = (layout.encoding.set(encoding), layout.marked.set(()));
            start = length;
        }
        let format = layout
            .format
            .get_or_init(|| Format::of_content(&bytes[start..]).unwrap_or(layout.form.otherwise));
        if matches!(format, Format::Csv | Format::Tsv) {
            self.header = layout.form.header;
            if !self.header {
                let _ = layout.columns.set(Columns::numbered(&layout.fields)?);
            }
        }
        self.cutter = Some(cut::of(&layout, *format));
        Ok(start)
    }

    /// Looks for the encoding, until bytes have come that say it.
    fn find_encoding(&mut self, new: &[u8]) {
        if self.layout.encoding.get().is_none()
            && let Some(found) = Encoding::of_bytes(new, self.ended)
        {
            let _ = self.layout.encoding.set(found);
        }
    }

    /// Notes the records that end in `bytes`.
    fn cut(
        &mut self,
        bytes: &[u8],
        start: &mut usize,
        seen: usize,
        lines: &mut Vec<Line>,
    ) -> io::Result<()> {
        let Self { cutter, layout, header, ended, .. } = self;
        let Some(cutter) = cutter else { return Ok(()) };
        let most = layout.form.max_record;
        cutter.each(bytes, *start, seen, *ended, &mut |Piece { number, range, next }| {
            *start = next;
            let Some(number) = number else { return Ok(()) };
            if std::mem::take(header) {
                return layout.name_columns(&bytes[range]);
            }
            let length = range.len();
            lines.push(if length <= most {
                Line { number, range, fault: None }
            } else {
                let range = range.start..range.start + HEAD_BYTES.min(length);
                Line { number, range, fault: Some(too_long(length as u64, most)) }
            });
            Ok(())
        })
    }

    /// Reads on to the end of a record that is too long, whose beginning is `bytes`, and keeps its head alone.
    fn rest_of_long_record(&mut self, mut bytes: Vec<u8>) -> io::Result<Block> {
        let mut record_bytes = bytes.len() as u64;
        bytes.truncate(HEAD_BYTES);
        bytes.shrink_to_fit();
        let mut more = vec![0; self.block_bytes + 1];
        let most = self.layout.form.max_record;
        loop {
            if let Some(reason) = self.cutter.as_ref().and_then(|cutter| cutter.endless()) {
                return Err(malformed(reason));
            }
            // In place of the record so far.
            more[0] = b'x';
            let filled = self.fill(&mut more, 1)?;
            let Some(cutter) = &mut self.cutter else { continue };
            let found = cutter.next(&more[..filled], 0, 1, self.ended)?;
            let Some(Piece { number, range, next }) = found else {
                record_bytes += filled as u64 - 1;
                continue;
            };
            record_bytes += range.end as u64 - 1;
            let length = record_bytes + (next - range.end) as u64;
            self.carry = more[next..filled].to_vec();
            self.seen = 0;
            let fault = Some(too_long(record_bytes, most));
            let line = Line { number: number.unwrap_or_default(), range: 0..bytes.len(), fault };
            return Ok(self.block(bytes, length, vec![line]));
        }
    }
}

/// UTF-16 as it is named, or as the first bytes say.
pub(crate) fn utf_16(named: Option<Encoding>, head: &[u8]) -> Option<Encoding> {
    let marked = Encoding::of_mark(head).map(|(encoding, _)| encoding);
    match (named, marked) {
        (Some(named), _) if !named.is_utf_16() => None,
        // The mark knows the order of the bytes.
        (_, Some(marked)) => marked.is_utf_16().then_some(marked),
        (Some(named), None) => Some(named),
        (None, None) => Encoding::of_lanes(head),
    }
}

fn too_long(bytes: u64, most: usize) -> Box<str> {
    let counted = |bytes| format!("{} byte{}", grouped(bytes), if bytes == 1 { "" } else { "s" });
    let longest = if most.is_multiple_of(1 << 20) {
        format!("{} MiB", most >> 20)
    } else {
        counted(most as u64)
    };
    format!("longer than {longest}: {}", counted(bytes)).into()
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
