//! Columns in frames: what a stage made, on its way to a checkpoint and back.
//!
//! ```text
//! NUMS  numbers, each u64        COLN  how many values u64, then some PART  their bytes, of some megabytes at most
//! ```

use super::damaged;
use crate::decide::Edge;
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_store::{Column, Fields, FileError, Input, Output, Room, Section};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

const NUMBERS: [u8; 4] = *b"NUMS";
const COLUMN: [u8; 4] = *b"COLN";
const PART: [u8; 4] = *b"PART";
/// Bytes of a part.
const PIECE: usize = 1 << 20;

/// A value that is written as it is: a column can hold it.
pub(crate) trait Plain: Copy {
    /// Bytes of each.
    const BYTES: usize;

    fn put(&self, bytes: &mut Vec<u8>);

    fn take(from: &mut Section) -> Result<Self, FileError>;
}

impl Plain for u32 {
    const BYTES: usize = 4;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        from.half()
    }
}

impl Plain for u64 {
    const BYTES: usize = 8;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        from.number()
    }
}

impl Plain for Edge {
    const BYTES: usize = 16;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.text.number.put(bytes);
        self.text.rank.put(bytes);
        self.similarity.to_bits().put(bytes);
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        let text = Candidate { number: from.half()?, rank: from.half()? };
        Ok(Self { text, similarity: f64::from_bits(from.number()?) })
    }
}

/// Where columns go.
pub(crate) struct Saving<'a> {
    pub(super) out: Output<'a>,
    pub(super) room: &'a Room,
    pub(super) cancel: &'a AtomicBool,
}

impl Saving<'_> {
    pub(crate) fn numbers(&mut self, numbers: &[u64]) -> Result<(), DedupError> {
        let mut fields = Fields::default();
        for &number in numbers {
            fields.number(number);
        }
        Ok(self.out.frame(NUMBERS, &fields.0)?)
    }

    /// So many values.
    pub(crate) fn column<T: Plain>(
        &mut self,
        count: usize,
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), DedupError> {
        self.out.frame(COLUMN, &(count as u64).to_le_bytes())?;
        let mut values = values.into_iter();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            values.by_ref().take(PIECE / T::BYTES).for_each(|value| value.put(&mut bytes));
            if bytes.is_empty() {
                return Ok(());
            }
            parallel::check(self.cancel)?;
            self.out.frame(PART, &bytes)?;
            self.room.relieve()?;
        }
    }
}

/// Where columns come from: in the order in which they were written.
pub(crate) struct Restoring {
    pub(super) input: Input<BufReader<File>>,
    pub(super) path: PathBuf,
    pub(super) room: Room,
}

impl Restoring {
    pub(crate) fn numbers<const N: usize>(&mut self) -> Result<[u64; N], DedupError> {
        let mut read = || {
            let mut fields = self.input.frame(NUMBERS)?;
            let mut numbers = [0; N];
            for number in &mut numbers {
                *number = fields.number()?;
            }
            fields.end()?;
            Ok(numbers)
        };
        read().map_err(|error| damaged(error, &self.path))
    }

    /// The next column; every value must be one for which `counts` says so.
    pub(crate) fn column<T: Plain>(
        &mut self,
        mut counts: impl FnMut(&T) -> bool,
    ) -> Result<Column<T>, DedupError> {
        let mut column = Column::new(&self.room)?;
        self.each(|value: T| {
            let is_right = counts(&value);
            column.push(value)?;
            Ok(is_right)
        })?;
        Ok(column)
    }

    /// Calls `take` with each value of the next column; how many they were. False: there is no such value.
    pub(crate) fn each<T: Plain>(
        &mut self,
        mut take: impl FnMut(T) -> Result<bool, DedupError>,
    ) -> Result<u64, DedupError> {
        let fail = |error: FileError, path: &PathBuf| damaged(error, path);
        let head = self.input.frame(COLUMN).and_then(|mut head| {
            let count = head.number()?;
            head.end().map(|()| count)
        });
        let count = head.map_err(|error| fail(error, &self.path))?;
        let mut left = count;
        while left > 0 {
            let mut part = self.input.frame(PART).map_err(|error| fail(error, &self.path))?;
            if part.is_empty() {
                return Err(fail(part.damaged("a part without values"), &self.path));
            }
            while !part.is_empty() {
                let at = part.offset();
                let wrong = |reason: &str| FileError::damaged(at, reason);
                let value = T::take(&mut part).map_err(|error| fail(error, &self.path))?;
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| fail(wrong("more values than there are"), &self.path))?;
                if !take(value)? {
                    return Err(fail(wrong("a value that cannot be"), &self.path));
                }
            }
            self.room.relieve()?;
        }
        Ok(count)
    }

    /// That what was read last does not go with the rest.
    pub(crate) fn wrong(&self, reason: &str) -> DedupError {
        damaged(FileError::damaged(self.input.offset(), reason), &self.path)
    }

    /// That nothing follows.
    pub(crate) fn end(self) -> Result<(), DedupError> {
        self.input.end().map_err(|error| damaged(error, &self.path))
    }
}
