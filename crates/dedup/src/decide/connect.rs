//! Components: every edge joins, in parallel, and what is connected already is not compared again.

use super::arrive::{Arrival, Arrived};
use super::{Decider, Document, Texts};
use crate::error::DedupError;
use crate::parallel;
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;

impl Decider {
    /// Takes documents in and joins each new text with its matches: the number of each one's text, or
    /// [`ALONE`](super::ALONE). `before` has the texts taken in before, by number.
    ///
    /// # Errors
    /// After an error the state lies in the middle of the batch.
    pub(crate) fn connect(
        &mut self,
        documents: &mut [Document<'_>],
        before: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<u32>, DedupError> {
        let arrived = self.arrive(documents, u32::MAX, cancel)?;
        if let Some(components) = &mut self.components {
            components.grow(self.taken.equal.len());
        }
        self.join(&arrived, before, cancel)?;
        Ok(arrived.numbers)
    }

    fn join(
        &self,
        arrived: &Arrived,
        before: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(components) = &self.components else { return Ok(()) };
        let threads = self.options.threads;
        let mut texts: Vec<&Arrival> = arrived.texts.iter().collect();
        parallel::for_each(&mut texts, threads, cancel, Scratch::default, |scratch, new| {
            for candidate in arrived.candidates(self, new.text) {
                let number = candidate.number;
                if components.connected(new.text, number) {
                    continue;
                }
                if self.matching(arrived, new, number, before, scratch)?.is_some() {
                    components.join(new.text, number);
                }
            }
            Ok(())
        })
    }
}
