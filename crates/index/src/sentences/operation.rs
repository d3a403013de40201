//! Changes, as they are written down: what is replayed in the same order gives the same state.
//!
//! ```text
//! 1 advance  time u64     2 add  item     3 touch  id u64     4 delete  id u64     5 expire  time u64
//! 6 overlook  item, sentences shared with its best match u64
//! item: sentences u8 (1 to 64), u64 each | 0: empty | 255: text u128
//! ```
//! Ids, groups and who leaves a window are not written: they follow. An addition and a touch take the time of the last
//! `advance`.

use simhash_store::{FileError, Section};

use super::{SentenceItem, SentenceMap, Shared};
use crate::live::Change;

/// The first byte of a text in place of sentences.
const TEXT: u8 = 255;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Advance(u64),
    Add(SentenceItem),
    Touch(u64),
    Delete(u64),
    Expire(u64),
    Overlook(SentenceItem, u32),
}

/// Appends an item; sentences beyond `most` are left out.
pub(super) fn write_item(item: &SentenceItem, most: usize, out: &mut Vec<u8>) {
    match item {
        SentenceItem::Sentences(sentences) => {
            let mut kept: Vec<u64> = Vec::with_capacity(most.min(sentences.len()));
            for &sentence in sentences {
                if kept.len() < most && !kept.contains(&sentence) {
                    kept.push(sentence);
                }
            }
            out.push(kept.len() as u8);
            out.extend(kept.iter().flat_map(|sentence| sentence.to_le_bytes()));
        }
        SentenceItem::Empty => out.push(0),
        SentenceItem::Exact(text) => {
            out.push(TEXT);
            out.extend(text.to_le_bytes());
        }
    }
}

/// Reads an item of at most so many sentences.
pub(super) fn read_item(input: &mut Section, most: usize) -> Result<SentenceItem, FileError> {
    match input.byte()? {
        0 => Ok(SentenceItem::Empty),
        TEXT => {
            let (low, high) = (input.number()?, input.number()?);
            Ok(SentenceItem::Exact(u128::from(high) << 64 | u128::from(low)))
        }
        count if usize::from(count) <= most => {
            let sentences: Result<_, _> = (0..count).map(|_| input.number()).collect();
            Ok(SentenceItem::Sentences(sentences?))
        }
        count => Err(input.damaged(format!("a document of {count} sentences"))),
    }
}

impl Operation {
    /// The change that was written down as this.
    pub(super) fn as_change(&self) -> Change<'_, SentenceMap> {
        match self {
            Self::Advance(at) => Change::Advance(*at),
            Self::Add(item) => Change::Add(item),
            Self::Touch(id) => Change::Touch(*id),
            Self::Delete(id) => Change::Delete(*id),
            Self::Expire(before) => Change::Expire(*before),
            Self::Overlook(item, shared) => {
                Change::Overlook(item, Shared { id: 0, shared: *shared })
            }
        }
    }

    pub(super) fn of(change: &Change<'_, SentenceMap>) -> Self {
        match *change {
            Change::Advance(at) => Self::Advance(at),
            Change::Add(item) => Self::Add(item.clone()),
            Change::Touch(id) => Self::Touch(id),
            Change::Delete(id) => Self::Delete(id),
            Change::Expire(before) => Self::Expire(before),
            Change::Overlook(item, near) => Self::Overlook(item.clone(), near.shared),
        }
    }

    pub(super) fn write(&self, most: usize, out: &mut Vec<u8>) {
        let (kind, number) = match self {
            Self::Advance(at) => (1, at),
            Self::Add(item) => {
                out.push(2);
                return write_item(item, most, out);
            }
            Self::Touch(id) => (3, id),
            Self::Delete(id) => (4, id),
            Self::Expire(before) => (5, before),
            Self::Overlook(item, shared) => {
                out.push(6);
                write_item(item, most, out);
                return out.extend(u64::from(*shared).to_le_bytes());
            }
        };
        out.push(kind);
        out.extend(number.to_le_bytes());
    }

    pub(super) fn read(input: &mut Section, most: usize) -> Result<Self, FileError> {
        Ok(match input.byte()? {
            1 => Self::Advance(input.number()?),
            2 => Self::Add(read_item(input, most)?),
            3 => Self::Touch(input.number()?),
            4 => Self::Delete(input.number()?),
            5 => Self::Expire(input.number()?),
            6 => {
                let item = read_item(input, most)?;
                Self::Overlook(item, u32::try_from(input.number()?).unwrap_or(u32::MAX))
            }
            kind => return Err(input.damaged(format!("a change of kind {kind}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let changes = [
            Operation::Advance(u64::MAX),
            Operation::Add(SentenceItem::Sentences((0..64).rev().collect())),
            Operation::Add(SentenceItem::Exact(u128::MAX - 5)),
            Operation::Add(SentenceItem::Empty),
            Operation::Touch(7),
            Operation::Delete(1 << 40),
            Operation::Expire(3),
            Operation::Overlook(SentenceItem::Sentences(vec![1, 2]), 1),
        ];
        let mut bytes = Vec::new();
        for change in &changes {
            change.write(64, &mut bytes);
        }
        let mut input = Section::new(bytes, 100);
        for change in &changes {
            assert_eq!(Operation::read(&mut input, 64).unwrap(), *change);
        }
        input.end().unwrap();
    }

    #[test]
    fn more_sentences_than_are_kept_are_not_written_and_are_damage_when_read() {
        let mut bytes = Vec::new();
        Operation::Add(SentenceItem::Sentences(vec![3, 3, 2, 1])).write(2, &mut bytes);
        let read = Operation::read(&mut Section::new(bytes.clone(), 0), 2).unwrap();
        assert_eq!(read, Operation::Add(SentenceItem::Sentences(vec![3, 2])));
        let error = Operation::read(&mut Section::new(bytes, 10), 1).unwrap_err();
        assert!(matches!(error, FileError::Damaged { offset: 12, .. }), "{error}");
    }
}
