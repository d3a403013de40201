//! Marks: how much of a log is on the disk for certain, each in its place.

use std::io::Read;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::fields::number;
use crate::{FileError, Input};

/// Bytes of the head of a log, its checksum included: whole sectors.
pub(super) const HEAD: usize = 3072;
/// Bytes of a mark: a sector, so that it is written whole.
const MARK: usize = 512;
/// Turns that no log comes to: at a million a second it would take centuries.
const MOST_TURNS: u64 = 1 << 63;
/// Where the marks are: that of an even turn, that of an odd one.
pub(super) const MARKS: [u64; 2] = [HEAD as u64, (HEAD + MARK) as u64];
/// Where the first frame is.
pub const FRAMES: u64 = (HEAD + 2 * MARK) as u64;

/// How much of a log is on the disk for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) end: u64,
    pub(super) turn: u64,
}

impl Mark {
    /// That of an empty log.
    pub(super) const FIRST: Self = Self { end: FRAMES, turn: 1 };

    /// Where it is written.
    pub(super) fn place(self) -> u64 {
        MARKS[(self.turn % 2) as usize]
    }

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
        // No log is synced so often; the next turn must be a number too.
        let counts = mark.end >= FRAMES && mark.turn < MOST_TURNS;
        (mark.bytes(at) == bytes && counts).then_some(mark)
    }

    /// The mark of a log that counts.
    pub(super) fn latest(input: &mut Input<impl Read>) -> Result<Self, FileError> {
        let mut latest: Option<Self> = None;
        for at in MARKS {
            let mark = Self::read(&input.bytes(MARK as u64)?, at)
                .ok_or_else(|| FileError::damaged(at, "this mark's checksum is wrong"))?;
            latest = latest.filter(|other| other.turn > mark.turn).or(Some(mark));
        }
        latest.ok_or_else(|| FileError::damaged(MARKS[0], "no mark"))
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
        let last = Mark { end: 5000, turn: u64::MAX };
        assert_eq!(Mark::read(&last.bytes(MARKS[1]), MARKS[1]), None, "it has no next turn");
        for at in 0..MARK {
            let mut flipped = bytes;
            flipped[at] ^= 4;
            assert_eq!(Mark::read(&flipped, MARKS[1]), None, "byte {at}");
        }
    }
}
