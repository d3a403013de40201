//! A stream of bytes to blocks of whole lines.
//!
//! One buffer holds many lines, and lines are ranges of it: no allocation and no copy per line.
//! What follows the last newline is carried to the next block. A line longer than a block makes its
//! block grow, so memory is bounded by the block size plus the longest line.

use std::io::{self, Read};
use std::ops::Range;

/// Bytes per block: large enough that queues and dispatch cost nothing per line, small enough that
/// five blocks in flight are noise in memory.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whole lines of one input.
pub(crate) struct Block {
    /// Which input.
    pub(crate) input: u32,
    /// Position of `bytes[0]` in the (decompressed) input.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
    /// The lines that are not blank, in order.
    pub(crate) lines: Vec<Line>,
}

/// A line that is not blank.
pub(crate) struct Line {
    /// From 1, blank lines counted.
    pub(crate) number: u64,
    /// Without the newline; a carriage return before it belongs to the line (JSON ignores it, and
    /// it is written back as it came).
    pub(crate) range: Range<usize>,
}

impl Block {
    pub(crate) fn bytes_of(&self, line: &Line) -> &[u8] {
        &self.bytes[line.range.clone()]
    }
}

/// Cuts one input into blocks.
pub(crate) struct Reader<R> {
    input: u32,
    from: R,
    block_bytes: usize,
    offset: u64,
    lines_before: u64,
    carry: Vec<u8>,
    ended: bool,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: u32, from: R) -> Self {
        Self::with_block_bytes(input, from, BLOCK_BYTES)
    }

    pub(crate) fn with_block_bytes(input: u32, from: R, block_bytes: usize) -> Self {
        let carry = Vec::new();
        Self { input, from, block_bytes, offset: 0, lines_before: 0, carry, ended: false }
    }

    /// The next block, or `None` at the end. The last line need not end with a newline.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.carry);
        bytes.reserve(self.block_bytes);
        let whole = loop {
            let from = bytes.len();
            (&mut self.from).take(self.block_bytes as u64).read_to_end(&mut bytes)?;
            if bytes.len() == from {
                self.ended = true;
                break bytes.len();
            }
            // Only the new part can hold a newline: the carried one is the rest of a line.
            if let Some(last) = memchr::memrchr(b'\n', &bytes[from..]) {
                break from + last + 1;
            }
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        self.carry = bytes[whole..].to_vec();
        bytes.truncate(whole);
        let lines = self.split(&bytes);
        let block = Block { input: self.input, offset: self.offset, bytes, lines };
        self.offset += block.bytes.len() as u64;
        Ok(Some(block))
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
            if !is_blank(&bytes[start..end]) {
                lines.push(Line { number: self.lines_before, range: start..end });
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
        let mut reader = Reader::with_block_bytes(0, bytes, block_bytes);
        let mut lines = Vec::new();
        while let Some(block) = reader.next_block().unwrap() {
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

    #[test]
    fn positions_find_the_bytes_again() {
        let input = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \nlast without newline";
        for (number, at, line) in read_all(input, 5) {
            assert_eq!(&input[at as usize..at as usize + line.len()], line, "line {number}");
        }
    }
}
