//! A batch of new texts, made ready for comparing each with its candidates.

use super::side::Side;
use super::taken::ALONE;
use super::{Decider, Document, Texts};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_sketch::{Material, Scratch};
use std::sync::atomic::AtomicBool;

/// A text that is new.
#[derive(Default)]
pub(super) struct Arrival {
    pub(super) text: u32,
    /// Its first document.
    document: usize,
    /// Whether it is a candidate of another one of the batch.
    is_wanted: bool,
    material: Material,
    side: Side,
}

/// A batch that was taken in.
pub(super) struct Arrived {
    /// By document: the number of its text, or [`ALONE`].
    pub(super) numbers: Vec<u32>,
    /// The number of the first new text.
    pub(super) first: u32,
    /// The new texts, in order.
    pub(super) texts: Vec<Arrival>,
    /// Candidates from this number on are not asked for.
    below: u32,
}

impl Arrived {
    /// The candidates of a text that are asked for.
    pub(super) fn candidates<'d>(
        &self,
        decider: &'d Decider,
        text: u32,
    ) -> impl Iterator<Item = &'d Candidate> + use<'d> {
        let below = self.below;
        decider.taken.lists.get(text).iter().filter(move |near| near.number < below)
    }
}

impl Decider {
    /// Takes documents in, and gathers what comparing each new text with its candidates below `below` will need.
    pub(super) fn arrive(
        &mut self,
        documents: &mut [Document<'_>],
        below: u32,
        cancel: &AtomicBool,
    ) -> Result<Arrived, DedupError> {
        let first = self.taken.equal.len();
        let numbers = self.take(documents, cancel)?;
        let mut texts: Vec<Arrival> = Vec::with_capacity((self.taken.equal.len() - first) as usize);
        for (document, &text) in numbers.iter().enumerate() {
            if text != ALONE && text == first + texts.len() as u32 {
                let material = std::mem::take(&mut documents[document].prepared.material);
                texts.push(Arrival { text, document, material, ..Arrival::default() });
            }
        }
        let mut arrived = Arrived { numbers, first, texts, below };
        for place in 0..arrived.texts.len() {
            for near in arrived.candidates(self, arrived.texts[place].text) {
                if let Some(other) = near.number.checked_sub(first) {
                    arrived.texts[other as usize].is_wanted = true;
                }
            }
        }
        self.gather(&mut arrived, documents, cancel)?;
        Ok(arrived)
    }

    /// Keeps the texts that are compared.
    fn gather(
        &self,
        arrived: &mut Arrived,
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if !self.comparer.verifies() {
            return Ok(());
        }
        let (threads, below) = (self.options.threads, arrived.below);
        parallel::for_each(
            &mut arrived.texts,
            threads,
            cancel,
            || (),
            |(), new| {
                let list = self.taken.lists.get(new.text);
                if new.is_wanted || list.iter().any(|near| near.number < below) {
                    let material = std::mem::take(&mut new.material);
                    new.side = Side::prepared(documents[new.document].text, material);
                }
                Ok(())
            },
        )
    }

    /// The similarity of a new text and a candidate of its, where it reaches the threshold; 0 without verification. `before`
    /// has the texts taken in before the batch, by number.
    pub(super) fn matching(
        &self,
        arrived: &Arrived,
        new: &Arrival,
        candidate: u32,
        before: &dyn Texts,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, DedupError> {
        let comparer = &self.comparer;
        if let Some(place) = candidate.checked_sub(arrived.first) {
            let theirs = &arrived.texts[place as usize].side;
            return Ok(comparer.similarity_of_sides(&new.side, theirs, None));
        }
        comparer.similarity_to(&new.side, candidate, None, before, scratch)
    }
}
