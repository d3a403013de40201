//! Frames and marks: bytes with their checksum, in their place.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::super::SentenceError;
use super::header::HEADER;
use crate::image::frame::Section;

/// Bytes of a mark: a sector, so that it is written whole.
pub(super) const MARK: usize = 512;
/// Where the marks are: that of an even turn, that of an odd one.
pub(super) const MARKS: [u64; 2] = [HEADER as u64, (HEADER + MARK) as u64];
/// Where the first frame is.
pub(super) const FRAMES: u64 = (HEADER + 2 * MARK) as u64;

/// Kinds of frames: a whole, and changes.
pub(super) const WHOLE: u64 = 1;
pub(super) const CHANGES: u64 = 2;

/// Bytes around a body.
pub(super) const AROUND: u64 = 24;
/// Bytes read at a time: a length that lies cannot make the reader allocate more than is there.
const PIECE: usize = 1 << 20;

/// The head of a frame, and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: u64,
    pub(super) at: u64,
}

impl Frame {
    /// The whole frame.
    pub(super) fn bytes(self, body: &[u8]) -> Vec<u8> {
        let (head, sum) = self.around(body);
        [&head[..], body, &sum[..]].concat()
    }

    /// Writes the whole frame.
    pub(super) fn write(self, body: &[u8], out: &mut impl Write) -> io::Result<()> {
        let (head, sum) = self.around(body);
        [&head[..], body, &sum[..]].into_iter().try_for_each(|part| out.write_all(part))
    }

    /// What is before a body, and behind it.
    fn around(self, body: &[u8]) -> ([u8; 16], [u8; 8]) {
        let mut head = [0; 16];
        head[..8].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[8..].copy_from_slice(&self.kind.to_le_bytes());
        let mut sum = Xxh3::with_seed(self.at);
        sum.update(&head);
        sum.update(body);
        (head, sum.digest().to_le_bytes())
    }
}

/// How much of the file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) end: u64,
    pub(super) turn: u64,
}

impl Mark {
    /// The whole sector at this place.
    pub(super) fn bytes(self, at: u64) -> [u8; MARK] {
        let mut bytes = [0; MARK];
        bytes[..8].copy_from_slice(&self.end.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.turn.to_le_bytes());
        let sum = xxh3_64_with_seed(&bytes[..16], at);
        bytes[16..24].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8], at: u64) -> Option<Self> {
        let mark = Self { end: number(bytes), turn: number(&bytes[8..]) };
        (mark.bytes(at) == bytes).then_some(mark)
    }
}

pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes[..8].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A file on its way in.
pub(super) struct Input<'a, R> {
    file: R,
    path: &'a Path,
    length: u64,
    at: u64,
}

impl<'a, R: Read + Seek> Input<'a, R> {
    /// A file from its beginning to `length`.
    pub(super) fn new(file: R, path: &'a Path, length: u64) -> Self {
        Self { file, path, length, at: 0 }
    }

    /// Where the next byte is.
    pub(super) fn offset(&self) -> u64 {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.length
    }

    /// The file stands at this place already.
    pub(super) fn skip_to(&mut self, at: u64) {
        self.at = at;
    }

    /// Everything from a place to the end.
    pub(super) fn rest(&mut self, at: u64) -> Result<Vec<u8>, SentenceError> {
        let sought = self.file.seek(SeekFrom::Start(at));
        sought.map_err(|error| SentenceError::read(self.path, error))?;
        self.at = at;
        self.take(self.length - at)
    }

    fn damaged(&self, offset: u64, reason: impl Into<String>) -> SentenceError {
        SentenceError::damaged(self.path, offset, reason)
    }

    fn take(&mut self, count: u64) -> Result<Vec<u8>, SentenceError> {
        let left = self.length.saturating_sub(self.at);
        if count > left {
            let reason = format!("{count} bytes are wanted here, the file has {left}");
            return Err(self.damaged(self.at, reason));
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < count {
            let from = bytes.len();
            bytes.resize(from + (count - from as u64).min(PIECE as u64) as usize, 0);
            self.file.read_exact(&mut bytes[from..]).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => self.damaged(self.at, "the file became shorter"),
                _ => SentenceError::read(self.path, error),
            })?;
        }
        self.at += count;
        Ok(bytes)
    }

    /// The first bytes: a header, or all that there is.
    pub(super) fn header(&mut self) -> Result<Vec<u8>, SentenceError> {
        self.take(self.length.min(HEADER as u64))
    }

    /// The mark that counts.
    pub(super) fn mark(&mut self) -> Result<Mark, SentenceError> {
        let mut latest: Option<Mark> = None;
        for at in MARKS {
            let bytes = self.take(MARK as u64)?;
            let mark = Mark::read(&bytes, at)
                .ok_or_else(|| self.damaged(at, "this mark's checksum is wrong"))?;
            latest = Some(match latest {
                Some(other) if other.turn > mark.turn => other,
                _ => mark,
            });
        }
        let Some(mark) = latest else { return Err(self.damaged(MARKS[0], "no mark")) };
        if mark.end > self.length {
            let reason = format!("the file ends here, but what counts ends at {}", mark.end);
            return Err(self.damaged(self.length, reason));
        }
        Ok(mark)
    }

    /// The next frame, of this kind; its body.
    pub(super) fn frame(&mut self, kind: u64) -> Result<Section, SentenceError> {
        let at = self.at;
        let head = self.take(16)?;
        let (length, found) = (number(&head), number(&head[8..]));
        if found != kind {
            return Err(self.damaged(at, format!("a frame of kind {found} in place of {kind}")));
        }
        let room = (self.length - self.at).saturating_sub(8);
        if length > room {
            return Err(self.damaged(at, format!("a frame of {length} bytes, {room} are left")));
        }
        let body = self.take(length)?;
        let mut sum = Xxh3::with_seed(at);
        sum.update(&head);
        sum.update(&body);
        if number(&self.take(8)?) != sum.digest() {
            return Err(self.damaged(at, "the checksum of this frame is wrong"));
        }
        Ok(Section::new(body, at + 16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_in_its_place_and_as_it_was_written_only() {
        let mark = Mark { end: 5000, turn: 9 };
        let bytes = mark.bytes(MARKS[1]);
        assert_eq!(Mark::read(&bytes, MARKS[1]), Some(mark));
        assert_eq!(Mark::read(&bytes, MARKS[0]), None);
        for at in 0..MARK {
            let mut flipped = bytes;
            flipped[at] ^= 4;
            assert_eq!(Mark::read(&flipped, MARKS[1]), None, "byte {at}");
        }
    }
}
