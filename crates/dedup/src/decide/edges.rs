//! Edges: every candidate is compared, in parallel, and each that matches is handed on.

use super::arrive::Arrival;
use super::{Decider, Document, Texts};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_sketch::Scratch;
use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

/// An earlier text that one resembles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) text: Candidate,
    /// 0 without verification.
    pub(crate) similarity: f64,
}

impl Edge {
    /// The order among edges of one text: more similar, then (without verification) of smaller rank, then the first text.
    pub(crate) fn order(&self, other: &Self, verified: bool) -> Ordering {
        let rank = |one: &Self| if verified { 0 } else { one.text.rank };
        let order = other.similarity.total_cmp(&self.similarity);
        let order = order.then(rank(self).cmp(&rank(other)));
        order.then(self.text.number.cmp(&other.text.number))
    }
}

/// The edges of a batch.
pub(crate) struct Edges {
    /// By document: the number of its text, or [`ALONE`](super::ALONE).
    pub(crate) numbers: Vec<u32>,
    /// The number of the first new text.
    pub(crate) first: u32,
    /// By new text: the edges to earlier ones, by their number.
    pub(crate) of: Vec<Vec<Edge>>,
    /// Candidates that were compared.
    pub(crate) candidates: u64,
}

struct Slot<'a> {
    new: &'a Arrival,
    candidates: u64,
    edges: Vec<Edge>,
}

impl Decider {
    /// Takes documents in and compares each new text with all of its candidates below `below`. `before` has the texts taken in
    /// before, by number, as far as they lie below it.
    ///
    /// # Errors
    /// After an error the state lies in the middle of the batch.
    pub(crate) fn edges(
        &mut self,
        documents: &mut [Document<'_>],
        below: u32,
        before: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Edges, DedupError> {
        let arrived = self.arrive(documents, below, cancel)?;
        let slots = arrived.texts.iter();
        let mut slots: Vec<Slot<'_>> =
            slots.map(|new| Slot { new, candidates: 0, edges: Vec::new() }).collect();
        let threads = self.options.threads;
        parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
            for &text in arrived.candidates(self, slot.new.text) {
                slot.candidates += 1;
                let matching = self.matching(&arrived, slot.new, text.number, before, scratch)?;
                slot.edges.extend(matching.map(|similarity| Edge { text, similarity }));
            }
            slot.edges.sort_unstable_by_key(|edge| edge.text.number);
            Ok(())
        })?;
        let candidates = slots.iter().map(|slot| slot.candidates).sum();
        let of = slots.into_iter().map(|slot| slot.edges).collect();
        Ok(Edges { numbers: arrived.numbers, first: arrived.first, of, candidates })
    }
}
