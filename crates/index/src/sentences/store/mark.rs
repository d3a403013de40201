//! Marks: how much of the file counts, each in its place.

use std::io::Read;

use simhash_store::fields::number;
use simhash_store::{FileError, Input};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::header::HEADER;

/// Bytes of a mark: a sector, so that it is written whole.
pub(super) const MARK: usize = 512;
/// Where the marks are: that of an even turn, that of an odd one.
pub(super) const MARKS: [u64; 2] = [HEADER as u64, (HEADER + MARK) as u64];
/// Where the first frame is.
pub(super) const FRAMES: u64 = (HEADER + 2 * MARK) as u64;

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

    /// The mark of a file that counts.
    pub(super) fn latest(input: &mut Input<impl Read>) -> Result<Self, FileError> {
        let mut latest: Option<Self> = None;
        for at in MARKS {
            let mark = Self::read(&input.bytes(MARK as u64)?, at)
                .ok_or_else(|| FileError::damaged(at, "this mark's checksum is wrong"))?;
            latest = latest.filter(|other| other.turn > mark.turn).or(Some(mark));
        }
        let mark = latest.ok_or_else(|| FileError::damaged(MARKS[0], "no mark"))?;
        let length = input.offset() + input.left();
        if mark.end > length {
            let reason = format!("the file ends here, but what counts ends at {}", mark.end);
            return Err(FileError::damaged(length, reason));
        }
        Ok(mark)
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
