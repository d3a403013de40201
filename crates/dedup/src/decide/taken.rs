//! The different texts taken in: their numbers, their candidates, and whose candidates a limit cut.

use super::equal::EqualTexts;
use super::lists::Lists;
use super::{Decider, Document};
use crate::error::DedupError;
use std::sync::atomic::AtomicBool;

/// The number of a document whose text is empty: none.
pub(crate) const ALONE: u32 = u32::MAX;

/// What is known of the different texts.
#[derive(Default)]
pub(super) struct Taken {
    /// Numbers by exact text.
    pub(super) equal: EqualTexts,
    /// Number by the method's own: texts without a sketch are not known to it.
    sketched: Vec<u32>,
    /// Candidates of the texts of the batch.
    pub(super) lists: Lists,
    /// A bit for each text: a limit cut its candidates.
    cut: Vec<u64>,
    /// How many were cut.
    pub(super) truncated: u64,
}

impl Taken {
    /// Whether a limit cut the candidates of a text.
    pub(super) fn is_cut(&self, text: u32) -> bool {
        self.cut.get(text as usize / 64).is_some_and(|bits| bits >> (text % 64) & 1 == 1)
    }

    fn set_cut(&mut self, text: u32) {
        let place = text as usize / 64;
        self.cut.resize(self.cut.len().max(place + 1), 0);
        self.cut[place] |= 1 << (text % 64);
        self.truncated += 1;
    }

    pub(super) fn bytes(&self) -> usize {
        let numbers = self.sketched.capacity() * size_of::<u32>();
        self.equal.bytes() + numbers + self.cut.capacity() * 8
    }
}

impl Decider {
    /// Takes documents in: the number of each one's text, or [`ALONE`].
    pub(super) fn take(
        &mut self,
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<Vec<u32>, DedupError> {
        let taken = &mut self.taken;
        let first = taken.equal.len();
        let (mut numbers, mut sketches) = (Vec::with_capacity(documents.len()), Vec::new());
        let mut known = taken.sketched.len();
        for Document { prepared, .. } in documents {
            // Two empty texts are not equal.
            let number = if prepared.is_empty {
                ALONE
            } else if let Some(number) = taken.equal.get(prepared.exact) {
                number
            } else {
                let number = taken.equal.push(prepared.exact)?;
                if !prepared.sketch.is_none() {
                    sketches.push(&prepared.sketch);
                    taken.sketched.push(number);
                }
                number
            };
            numbers.push(number);
        }
        let (most, threads) = (self.options.max_verifications, self.options.threads);
        let found = self.sieve.take(&sketches, most, threads, cancel)?;
        taken.lists.start(first);
        let mut found = found.into_iter();
        for text in first..taken.equal.len() {
            // Texts without a sketch have no candidates.
            let own = if taken.sketched.get(known) == Some(&text) { found.next() } else { None };
            known += usize::from(own.is_some());
            let mut own = own.unwrap_or_default();
            for candidate in &mut own.candidates {
                candidate.number = taken.sketched[candidate.number as usize];
            }
            taken.lists.push(own.candidates);
            if own.cut {
                taken.set_cut(text);
            }
        }
        Ok(numbers)
    }
}
