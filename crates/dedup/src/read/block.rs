//! A stream of bytes to blocks of whole lines.
//!
//! One buffer holds many lines, and lines are ranges of it: no allocation and no copy per line.
//! What follows the last newline is carried to the next block. A line longer than a block makes its
//! block grow, up to [`MAX_LINE_BYTES`]: of a longer one only the beginning is kept, so memory is bounded whatever comes.

use super::Format;
use std::io::{self, Read};
use std::ops::Range;

/// Bytes per block: large enough that queues and dispatch cost nothing per line, small enough that
/// five blocks in flight are noise in memory.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

/// Longest line that can be a record, in bytes without the newline: 64 MiB. A longer one is rejected.
pub const MAX_LINE_BYTES: usize = 64 << 20;
/// What is kept of a line that is too long, to be recognised by.
const HEAD_BYTES: usize = 1 << 10;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whole lines of one input.
pub(crate) struct Block {
    /// Which input.
    pub(crate) input: u32,
    /// What a line of it is.
    pub(crate) format: Format,
    /// Position of `bytes[0]` in the (decompressed) input.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the input that it stands for: those of `bytes`, and those left out of a line that is too long.
    pub(crate) length: u64,
    /// The lines, in order; of JSON those that are not blank.
    pub(crate) lines: Vec<Line>,
}

/// A line.
pub(crate) struct Line {
    /// From 1, blank lines counted.
    pub(crate) number: u64,
    /// Without the newline; a carriage return before it belongs to the line (JSON ignores it, and
    /// it is written back as it came).
    pub(crate) range: Range<usize>,
    /// Bytes of a line that is too long; `range` is its beginning then.
    pub(crate) too_long: Option<u64>,
}

impl Block {
    pub(crate) fn bytes_of(&self, line: &Line) -> &[u8] {
        &self.bytes[line.range.clone()]
    }
}

/// Cuts one input into blocks.
pub(crate) struct Reader<R> {
    input: u32,
    format: Format,
    from: R,
    block_bytes: usize,
    max_line: usize,
    offset: u64,
    lines_before: u64,
    carry: Vec<u8>,
    ended: bool,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: u32, format: Format, from: R) -> Self {
        Self { input, format, ..Self::with_limits(from, BLOCK_BYTES, MAX_LINE_BYTES) }
    }

    fn with_limits(from: R, block_bytes: usize, max_line: usize) -> Self {
        let (input, format, carry) = (0, Format::JsonLines, Vec::new());
        let (offset, lines_before, ended) = (0, 0, false);
        Self { input, format, from, block_bytes, max_line, offset, lines_before, carry, ended }
    }

    /// The next block, or `None` at the end. The last line need not end with a newline.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.carry);
        let carried = bytes.len();
        bytes.reserve(self.block_bytes);
        let whole = loop {
            let from = bytes.len();
            (&mut self.from).take(self.block_bytes as u64).read_to_end(&mut bytes)?;
            if bytes.len() == from {
                self.ended = true;
                break bytes.len();
            }
            // Only the new part can hold a newline: the carried one is the rest of a line, but for what follows one that
            // is too long.
            let unseen = if from == carried { 0 } else { from };
            if let Some(last) = memchr::memrchr(b'\n', &bytes[unseen..]) {
                break unseen + last + 1;
            }
            // All of it is one line.
            if bytes.len() > self.max_line + BOM.len() {
                return self.rest_of_long_line(bytes).map(Some);
            }
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        self.carry = bytes[whole..].to_vec();
        bytes.truncate(whole);
        let lines = self.split(&bytes);
        let length = bytes.len() as u64;
        let (input, format) = (self.input, self.format);
        let block = Block { input, format, offset: self.offset, bytes, length, lines };
        self.offset += length;
        Ok(Some(block))
    }

    /// Reads on to the end of a line that is too long, whose beginning is `bytes`, and keeps its head alone.
    fn rest_of_long_line(&mut self, mut bytes: Vec<u8>) -> io::Result<Block> {
        let marked = self.offset == 0 && bytes.starts_with(BOM);
        let start = if marked { BOM.len() } else { 0 };
        let mut line_bytes = (bytes.len() - start) as u64;
        bytes.truncate(start + HEAD_BYTES);
        bytes.shrink_to_fit();
        let mut newline = 0;
        let mut more = Vec::with_capacity(self.block_bytes);
        loop {
            more.clear();
            (&mut self.from).take(self.block_bytes as u64).read_to_end(&mut more)?;
            if more.is_empty() {
                self.ended = true;
                break;
            }
            if let Some(end) = memchr::memchr(b'\n', &more) {
                line_bytes += end as u64;
                newline = 1;
                self.carry = more.split_off(end + 1);
                break;
            }
            line_bytes += more.len() as u64;
        }
        self.lines_before += 1;
        let range = start..bytes.len();
        let line = Line { number: self.lines_before, range, too_long: Some(line_bytes) };
        let length = start as u64 + line_bytes + newline;
        let (input, format, offset) = (self.input, self.format, self.offset);
        self.offset += length;
        Ok(Block { input, format, offset, bytes, length, lines: vec![line] })
    }

    fn split(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut start = if self.offset == 0 && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let ends = memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len()));
        for end in ends {
            if end == bytes.len() && start == end {
                break; // the block ends with a newline
            }
            self.lines_before += 1;
            let number = self.lines_before;
            if end - start > self.max_line {
                let range = start..start + HEAD_BYTES.min(end - start);
                lines.push(Line { number, range, too_long: Some((end - start) as u64) });
            } else if self.format == Format::Lines || !is_blank(&bytes[start..end]) {
                lines.push(Line { number, range: start..end, too_long: None });
            }
            start = end + 1;
        }
        lines
    }
}

/// Whether JSON sees nothing here.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(bytes: &[u8], block_bytes: usize) -> Vec<(u64, u64, Vec<u8>)> {
        let mut reader = Reader::with_limits(bytes, block_bytes, MAX_LINE_BYTES);
        let mut lines = Vec::new();
        while let Some(block) = reader.next_block().unwrap() {
            assert_eq!(block.length, block.bytes.len() as u64);
            for line in &block.lines {
                let at = block.offset + line.range.start as u64;
                lines.push((line.number, at, block.bytes_of(line).to_vec()));
            }
        }
        lines
    }

    proptest! {
        #[test]
        fn block_size_changes_no_line(
            bytes in proptest::collection::vec(
                prop_oneof![3 => Just(b'\n'), 1 => Just(b' '), 1 => Just(b'\r'), 5 => any::<u8>()],
                0..200,
            ),
            bom in any::<bool>(),
        ) {
            let mut input = if bom { BOM.to_vec() } else { Vec::new() };
            input.extend(&bytes);
            let body = input.strip_prefix(BOM).unwrap_or(&input);
            let skipped = (input.len() - body.len()) as u64;
            let mut at = skipped;
            let mut expected = Vec::new();
            for (number, line) in (1..).zip(body.split(|&byte| byte == b'\n')) {
                if !is_blank(line) {
                    expected.push((number, at, line.to_vec()));
                }
                at += line.len() as u64 + 1;
            }
            for block_bytes in [3, 7, 64, 1 << 20] {
                prop_assert_eq!(read_all(&input, block_bytes), expected.clone());
            }
        }
    }

    proptest! {
        #[test]
        fn the_longest_line_is_one_limit_whatever_the_blocks(
            lengths in proptest::collection::vec(0usize..40, 0..12),
            bom in any::<bool>(),
            ended in any::<bool>(),
        ) {
            let mut input = if bom { BOM.to_vec() } else { Vec::new() };
            let mut expected = Vec::new();
            for (number, &length) in (1..).zip(&lengths) {
                let at = input.len() as u64;
                input.resize(input.len() + length, b'x');
                input.push(b'\n');
                if length > 0 {
                    expected.push((number, at, (length > 16).then_some(length as u64)));
                }
            }
            if !ended && input.ends_with(b"\n") {
                input.pop();
            }
            for block_bytes in [1, 3, 7, 64] {
                let mut reader = Reader::with_limits(&input[..], block_bytes, 16);
                let (mut lines, mut length) = (Vec::new(), 0);
                while let Some(block) = reader.next_block().unwrap() {
                    prop_assert_eq!(block.offset, length);
                    length += block.length;
                    for line in &block.lines {
                        let at = block.offset + line.range.start as u64;
                        lines.push((line.number, at, line.too_long));
                    }
                }
                prop_assert_eq!(length, input.len() as u64);
                prop_assert_eq!(&lines, &expected);
            }
        }
    }

    #[test]
    fn blank_lines_are_lines_of_text() {
        let lines = |format| {
            let mut reader = Reader { format, ..Reader::with_limits(&b"\n \r\nx\n\n"[..], 64, 64) };
            let block = reader.next_block().unwrap().unwrap();
            block.lines.iter().map(|line| line.number).collect::<Vec<_>>()
        };
        assert_eq!((lines(Format::JsonLines), lines(Format::Lines)), (vec![3], vec![1, 2, 3, 4]));
    }

    #[test]
    fn positions_find_the_bytes_again() {
        let input = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \nlast without newline";
        for (number, at, line) in read_all(input, 5) {
            assert_eq!(&input[at as usize..at as usize + line.len()], line, "line {number}");
        }
    }
}
