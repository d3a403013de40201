//! Kept documents by their normalised text (a 128-bit hash of it).
//!
//! The hashes lie in order of keeping; beside them a table of positions in open addressing. 16 bytes
//! per document for its hash and 8 to 16 for the table (4-byte slots, filled between a quarter and a
//! half) instead of 50 or more for a general map with a 16-byte key.
//!
//! Slots are chosen by a keyed hash, so that crafted texts cannot pile up on one slot.

use crate::error::DedupError;
use ahash::RandomState;

const FREE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct EqualTexts {
    hashes: Vec<u128>,
    slots: Vec<u32>,
    key: RandomState,
}

impl EqualTexts {
    /// The kept document with this text.
    pub(crate) fn get(&self, exact: u128) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(exact);
        loop {
            match self.slots[slot] {
                FREE => return None,
                ordinal if self.hashes[ordinal as usize] == exact => return Some(ordinal),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Adds a document whose text is not yet there; returns its number of keeping.
    pub(crate) fn push(&mut self, exact: u128) -> Result<u32, DedupError> {
        debug_assert!(self.get(exact).is_none(), "an equal text is a duplicate");
        let ordinal = self.len();
        if ordinal == FREE {
            return Err(DedupError::TooMany);
        }
        self.hashes.push(exact);
        if self.hashes.len() * 2 > self.slots.len() {
            self.grow();
        } else {
            self.place(ordinal);
        }
        Ok(ordinal)
    }

    /// How many documents have a number.
    pub(crate) fn len(&self) -> u32 {
        self.hashes.len() as u32
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.hashes.capacity() * size_of::<u128>() + self.slots.capacity() * size_of::<u32>()
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(16);
        self.slots = vec![FREE; slots];
        for ordinal in 0..self.len() {
            self.place(ordinal);
        }
    }

    fn place(&mut self, ordinal: u32) {
        let mut slot = self.slot(self.hashes[ordinal as usize]);
        while self.slots[slot] != FREE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = ordinal;
    }

    fn slot(&self, exact: u128) -> usize {
        self.key.hash_one(exact) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_pushed_and_nothing_else() {
        let mut texts = EqualTexts::default();
        for n in 0..10_000u32 {
            let exact = u128::from(n) * u128::from(u64::MAX);
            assert_eq!(texts.get(exact), None);
            assert_eq!(texts.push(exact).unwrap(), n);
            assert_eq!(texts.get(exact), Some(n));
        }
        assert_eq!(texts.get(1), None);
        assert_eq!(texts.len(), 10_000);
    }
}
