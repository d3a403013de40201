//! Ids of documents, and maps to them: what every kind of index is built of.
//!
//! Ids are 64 bits and never reused; inside, an id is its low 32 bits ([`records`]). [`holders`] lists the ids that have
//! something in common, [`lines`] maps a hash to an id or to another number of 32 bits.

pub(crate) mod holders;
pub(crate) mod lines;
pub(crate) mod records;

use std::hash::{BuildHasher, RandomState};

use crate::IndexError;

/// Which ids there are, and who of them is alive.
pub trait Ids {
    /// The id that the next addition gets.
    fn next(&self) -> u64;

    /// The oldest id that something may still refer to.
    fn oldest(&self) -> u64;

    /// How many are alive.
    fn live(&self) -> u64;

    /// Whether the id of this short form is alive.
    fn is_alive(&self, short: u32) -> bool;

    /// The full id of a short one.
    fn id(&self, short: u32) -> u64 {
        self.oldest() + u64::from(short.wrapping_sub(self.oldest() as u32))
    }

    /// The short form of an id that is still within reach.
    fn short(&self, id: u64) -> Option<u32> {
        (self.oldest()..self.next()).contains(&id).then_some(id as u32)
    }

    /// Whether this id is alive.
    fn has(&self, id: u64) -> bool {
        self.short(id).is_some_and(|short| self.is_alive(short))
    }

    /// Which ids are alive now: a bit for each.
    fn alive(&self) -> Alive;

    /// Whether so many more ids fit.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        if self.next() - self.oldest() + more >= u64::from(u32::MAX) {
            return Err(IndexError::Full { oldest: self.oldest() });
        }
        Ok(())
    }
}

/// Which ids of an index were alive at one moment.
#[derive(Debug, Clone, Default)]
pub struct Alive {
    first: u64,
    words: Vec<u64>,
}

impl Alive {
    /// Whether this id was.
    pub fn has(&self, id: u64) -> bool {
        let at = id.checked_sub(self.first).map(|at| (at / 64, at % 64));
        let word = at.and_then(|(word, _)| self.words.get(usize::try_from(word).ok()?));
        word.zip(at).is_some_and(|(word, (_, bit))| word >> bit & 1 == 1)
    }
}

impl Alive {
    /// Those of both; each begins at a multiple of 64, and this one first.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        let from = (other.first.saturating_sub(self.first) / 64) as usize;
        let length = self.words.len().max(from + other.words.len());
        self.words.resize(length, 0);
        for (word, more) in self.words[from..].iter_mut().zip(&other.words) {
            *word |= more;
        }
        self
    }
}

/// An odd constant with mixed bits: the golden ratio in 64 bits.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A seed of its own for each map, so that no input can be crafted to fill one line.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(GOLDEN)
}

#[inline]
pub(crate) fn mix(value: u64, seed: u64) -> u64 {
    let wide = u128::from(value ^ seed) * u128::from(GOLDEN);
    let folded = (wide as u64 ^ (wide >> 64) as u64).wrapping_mul(GOLDEN);
    folded ^ (folded >> 32)
}
