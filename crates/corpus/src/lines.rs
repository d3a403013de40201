//! A record on each line: JSON lines, and plain text.

use crate::cut::{Cut, Piece};
use crate::record::{Rank, Record};
use std::io;
use std::ops::Range;

/// Finds lines. A carriage return before the newline belongs to the line: JSON ignores it, and it is written back as it came.
pub(crate) struct Cutter {
    /// Whether a blank line is a record.
    blank: bool,
    before: u64,
}

impl Cutter {
    pub(crate) fn new(blank: bool) -> Self {
        Self { blank, before: 0 }
    }

    /// The next line.
    fn piece(&mut self, bytes: &[u8], range: Range<usize>, next: usize) -> Piece {
        self.before += 1;
        let is_record = self.blank || !is_blank(&bytes[range.clone()]);
        Piece { number: is_record.then_some(self.before), range, next }
    }
}

impl Cut for Cutter {
    fn next(
        &mut self,
        bytes: &[u8],
        start: usize,
        seen: usize,
        ended: bool,
    ) -> io::Result<Option<Piece>> {
        let (end, next) = match memchr::memchr(b'\n', &bytes[seen..]) {
            Some(at) => (seen + at, seen + at + 1),
            None if ended && start < bytes.len() => (bytes.len(), bytes.len()),
            None => return Ok(None),
        };
        Ok(Some(self.piece(bytes, start..end, next)))
    }

    /// One search for all line ends: a SIMD vector of bytes that has several of them is loaded once.
    fn each(
        &mut self,
        bytes: &[u8],
        mut start: usize,
        seen: usize,
        ended: bool,
        found: &mut dyn FnMut(Piece) -> io::Result<()>,
    ) -> io::Result<()> {
        for at in memchr::memchr_iter(b'\n', &bytes[seen..]) {
            let end = seen + at;
            found(self.piece(bytes, start..end, end + 1))?;
            start = end + 1;
        }
        self.next(bytes, start, bytes.len(), ended)?.map_or(Ok(()), found)
    }
}

/// Whether JSON sees nothing here.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// A line that is a text.
pub(crate) fn record(line: &str) -> Record<'_> {
    let text = line.strip_suffix('\r').unwrap_or(line).into();
    Record { text, id: None, key: Rank::Missing }
}
