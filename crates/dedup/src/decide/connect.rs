//! Components: every edge joins, in parallel, and what is connected already is not compared again.

use super::taken::ALONE;
use super::{Decider, Document, Texts};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use crate::verify::Evidence;
use simhash_sketch::{Material, Scratch};
use std::sync::atomic::AtomicBool;

/// A text that is new.
#[derive(Default)]
struct Joining {
    text: u32,
    /// Its first document.
    document: usize,
    /// Whether it is a candidate of another one of the batch.
    is_wanted: bool,
    material: Material,
    evidence: Evidence,
}

impl Decider {
    /// Takes documents in and joins each new text with its matches: the number of each one's text, or [`ALONE`]. `before` has
    /// the texts taken in before, by number.
    ///
    /// # Errors
    /// After an error the state lies in the middle of the batch.
    pub(crate) fn connect(
        &mut self,
        documents: &mut [Document<'_>],
        before: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<u32>, DedupError> {
        let first = self.taken.equal.len();
        let numbers = self.take(documents, cancel)?;
        let next = self.taken.equal.len();
        if let Some(components) = &mut self.components {
            components.grow(next);
        }
        let mut joining: Vec<Joining> = Vec::with_capacity((next - first) as usize);
        for (document, &text) in numbers.iter().enumerate() {
            if text != ALONE && text == first + joining.len() as u32 {
                let material = std::mem::take(&mut documents[document].prepared.material);
                joining.push(Joining { text, document, material, ..Joining::default() });
            }
        }
        for place in 0..joining.len() {
            for near in self.candidates(&joining[place]) {
                if let Some(other) = near.number.checked_sub(first) {
                    joining[other as usize].is_wanted = true;
                }
            }
        }
        self.gather(&mut joining, documents, cancel)?;
        self.join(&joining, first, before, cancel)?;
        Ok(numbers)
    }

    fn candidates(&self, new: &Joining) -> &[Candidate] {
        self.taken.lists.get(new.text)
    }

    /// Gathers the evidence that comparing will need.
    fn gather(
        &self,
        joining: &mut [Joining],
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(verifier) = &self.verifier else { return Ok(()) };
        let threads = self.options.threads;
        parallel::for_each(
            joining,
            threads,
            cancel,
            || (),
            |(), new| {
                if new.is_wanted || !self.candidates(new).is_empty() {
                    let material = std::mem::take(&mut new.material);
                    new.evidence = verifier.evidence(documents[new.document].text, material);
                }
                Ok(())
            },
        )
    }

    fn join(
        &self,
        joining: &[Joining],
        first: u32,
        before: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(components) = &self.components else { return Ok(()) };
        let threads = self.options.threads;
        let mut joining_now: Vec<&Joining> = joining.iter().collect();
        parallel::for_each(&mut joining_now, threads, cancel, Scratch::default, |scratch, new| {
            for candidate in self.candidates(new) {
                if components.connected(new.text, candidate.number) {
                    continue;
                }
                let matches = if let Some(verifier) = &self.verifier {
                    let (own, least) = (&new.evidence, verifier.least);
                    let reaches = |theirs: &_| verifier.similarity(own, theirs, least).is_some();
                    let number = candidate.number;
                    if let Some(place) = number.checked_sub(first) {
                        reaches(&joining[place as usize].evidence)
                    } else {
                        self.evidence_of(verifier, number, before, scratch, reaches)?
                    }
                } else {
                    true
                };
                if matches {
                    components.join(new.text, candidate.number);
                }
            }
            Ok(())
        })
    }
}
