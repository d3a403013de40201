//! Lines of a file for a sample: pieces that lie as far from each other as the file is long. What comes first in a file is seldom like the rest:
//! files are sorted, and joined from several.

use crate::origin::Origin;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a piece: as much as a block of input.
const PIECE: u64 = 1 << 20;
/// Bytes by which a piece is extended to the end of its last line, at a time.
const STEP: u64 = 1 << 16;
/// A line is not followed further than this: a longer one is no record anyway ([`Form::max_record`](crate::Form)).
const LONGEST: u64 = 64 << 20;

/// Reads whole lines of about so many bytes of a file.
pub(crate) struct Pieces {
    origin: Arc<Origin>,
    /// Bytes of the lines that were read.
    consumed: Arc<AtomicU64>,
    /// How many pieces there are, and which is next.
    parts: u64,
    next: u64,
    /// Where the last one has ended in the file.
    end: u64,
    piece: io::Cursor<Vec<u8>>,
}

impl Pieces {
    pub(crate) fn new(origin: Arc<Origin>, consumed: Arc<AtomicU64>, most: u64) -> Self {
        let piece = io::Cursor::default();
        Self { origin, consumed, parts: most.div_ceil(PIECE).max(1), next: 0, end: 0, piece }
    }

    /// The lines that begin in the next piece.
    fn advance(&mut self) -> io::Result<()> {
        let length = self.origin.length();
        let begins = part(length, self.next, self.parts);
        self.next += 1;
        // What the piece before took of this one is not read twice.
        let from = begins.max(self.end);
        let to = (begins + PIECE).min(length).max(from);
        let mut bytes = vec![0; (to - from) as usize];
        self.origin.read_exact_at(&mut bytes, from)?;
        if from > self.end {
            let line = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
            bytes.drain(..line);
        }
        let mut to = to;
        while !bytes.is_empty() && !bytes.ends_with(b"\n") && to < length.min(from + LONGEST) {
            let at = bytes.len();
            let more = STEP.min(length - to);
            bytes.resize(at + more as usize, 0);
            self.origin.read_exact_at(&mut bytes[at..], to)?;
            to += more;
            if let Some(line) = memchr::memchr(b'\n', &bytes[at..]) {
                let rest = bytes.len() - (at + line + 1);
                to -= rest as u64;
                bytes.truncate(at + line + 1);
            }
        }
        self.end = to;
        self.consumed.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.piece = io::Cursor::new(bytes);
        Ok(())
    }
}

/// `of * part / parts`, of which the product may be larger than a `u64`.
fn part(of: u64, part: u64, parts: u64) -> u64 {
    (u128::from(of) * u128::from(part) / u128::from(parts)) as u64
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() || self.next == self.parts {
                return Ok(read);
            }
            self.advance()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    /// The lines of a sample of `most` bytes of this text, and the bytes that were counted.
    fn sampled(text: &[u8], most: u64) -> (Vec<u8>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, text).unwrap();
        let file = File::open(&path).unwrap();
        let about = file.metadata().unwrap();
        let origin = Arc::new(Origin::new(&path, file, &about));
        let count = Arc::new(AtomicU64::new(0));
        let mut read = Vec::new();
        Pieces::new(origin, count.clone(), most).read_to_end(&mut read).unwrap();
        (read, count.load(Ordering::Relaxed))
    }

    #[test]
    fn a_sample_is_whole_lines_each_once_from_all_of_the_file() {
        let lines: Vec<String> = (0..400_000)
            .map(|n| {
                let width = 8 + n % 50;
                format!("{n:0>width$}\n")
            })
            .collect();
        let text = lines.concat();
        let (read, count) = sampled(text.as_bytes(), 4 * PIECE);
        assert_eq!(count, read.len() as u64);
        assert!((4 * PIECE - 200..4 * PIECE + 200).contains(&count), "{count}");
        let numbers: Vec<usize> =
            str::from_utf8(&read).unwrap().lines().map(|line| line.parse().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "each line once, in order");
        assert!(numbers.iter().all(|&n| read.len() > 8 && lines[n].len() == 9 + n % 50));
        let jumps = numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert_eq!((numbers[0], jumps), (0, 3));
        assert!(*numbers.last().unwrap() > 300_000);
    }

    #[test]
    fn pieces_that_meet_are_the_file() {
        for last in ["", "the last line has no end"] {
            let text = "0123456789\n".repeat(300_000) + last;
            assert_eq!(sampled(text.as_bytes(), 16 * PIECE).0, text.as_bytes());
        }
        assert_eq!(sampled(b"", 1).0, b"");
    }

    #[test]
    fn a_line_longer_than_pieces_is_read_once_and_whole() {
        let long = "x".repeat(3 * PIECE as usize);
        let text = format!("first\n{long}\nlast\n");
        let (read, _) = sampled(text.as_bytes(), 3 * PIECE);
        assert_eq!(read, text.as_bytes());
    }
}
