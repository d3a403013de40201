//! Where records are, in some five bytes each.

use crate::batch::varint;
use crate::error::DedupError;
use simhash_store::{Column, Room};

/// Records behind one known place: as many are gone over to find one of them, in a tenth of a microsecond.
const STEP: u32 = 32;

/// Which input, where, how long, which line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) length: u32,
    pub(super) input: u32,
}

impl Position {
    pub(super) fn end(&self) -> u64 {
        self.offset + u64::from(self.length)
    }
}

/// Positions, each as the difference to the one before it: lines further on, bytes further on, length; where another input begins its
/// number, and both from the beginning.
pub(super) struct Positions {
    bytes: Column<u8>,
    /// Before each step: the position, and the place of the next one's bytes.
    steps: Column<(Position, u64)>,
    last: Position,
    count: u32,
    encoded: Vec<u8>,
}

impl Positions {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        Ok(Self {
            bytes: Column::new(room)?,
            steps: Column::new(room)?,
            last: Position::default(),
            count: 0,
            encoded: Vec::new(),
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Adds the position of the next record: behind the last one, or in a later input.
    pub(super) fn push(&mut self, position: Position) -> Result<(), DedupError> {
        if self.count.is_multiple_of(STEP) {
            self.steps.push((self.last, self.bytes.len() as u64))?;
        }
        let Position { offset, line, length, input } = position;
        self.encoded.clear();
        let further = input - self.last.input;
        let (lines, end) = if further > 0 { (0, 0) } else { (self.last.line, self.last.end()) };
        varint::write((line - lines) << 1 | u64::from(further > 0), &mut self.encoded);
        if further > 0 {
            varint::write(further.into(), &mut self.encoded);
        }
        varint::write(offset - end, &mut self.encoded);
        varint::write(length.into(), &mut self.encoded);
        self.bytes.extend_from_slice(&self.encoded)?;
        self.last = position;
        self.count += 1;
        Ok(())
    }

    /// That of a record.
    pub(super) fn get(&self, number: u32) -> Position {
        self.from(number).next().unwrap_or_default()
    }

    /// Those of a record and of all behind it.
    pub(super) fn from(&self, number: u32) -> impl Iterator<Item = Position> {
        let (mut position, at) =
            self.steps.get((number / STEP) as usize).copied().unwrap_or_default();
        let mut rest = &self.bytes[at as usize..];
        let mut all = std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let mut next = || {
                let (value, behind) = varint::read(rest);
                rest = behind;
                value
            };
            let lines = next();
            if lines & 1 == 1 {
                position =
                    Position { input: position.input + next() as u32, ..Position::default() };
            }
            let offset = position.end() + next();
            let (line, length) = (position.line + (lines >> 1), next() as u32);
            position = Position { offset, line, length, ..position };
            Some(position)
        });
        for _ in 0..number % STEP {
            all.next();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_found_by_number(
            records in proptest::collection::vec((0u32..3, 0u64..300, 0u64..1 << 40, 0u32..1 << 20), 0..200),
            bounded in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let room = if bounded { Room::bounded(0, folder.path()).unwrap() } else { Room::default() };
            let (mut positions, mut expected) = (Positions::new(&room).unwrap(), Vec::new());
            let mut last = Position::default();
            for (input, line, gap, length) in records {
                // Seldom another input.
                let input = last.input + input / 2;
                if input != last.input {
                    last = Position::default();
                }
                last = Position { offset: last.end() + gap, line: last.line + line, length, input };
                positions.push(last).unwrap();
                expected.push(last);
            }
            room.relieve().unwrap();
            prop_assert_eq!(positions.len() as usize, expected.len());
            for (number, position) in (0..).zip(&expected) {
                prop_assert_eq!(&positions.get(number), position);
                prop_assert!(positions.from(number).eq(expected[number as usize..].iter().copied()));
            }
        }
    }
}
