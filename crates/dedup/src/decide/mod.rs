//! Documents to verdicts, in order, against the documents kept so far.
//!
//! The rule, as if documents came one at a time:
//!
//! 1. An empty normalised text is kept and matches nothing.
//! 2. A kept document with the equal normalised text: duplicate, similarity 1, distance 0.
//! 3. Otherwise the kept documents within `max_distance` are candidates, nearest first
//!    (distance, then age), at most `max_verifications`; those whose shingle sets have at
//!    least `min_similarity` are matches, and the most similar one is the original (ties: the oldest).
//!    A document too short for a fingerprint has no candidates.
//! 4. Without a match it is kept.
//!
//! A member of a cluster thus resembles the kept document itself, never only another member: clusters
//! do not chain.
//!
//! # In parallel, with the same answer
//!
//! A batch is decided in three steps; only the last is sequential.
//!
//! ```text
//! find      candidates among the documents kept before the batch        index, parallel
//! compare   shingle sets and similarities of those candidates           parallel
//! order     in order: add what was kept within the batch, choose        one thread, short lists
//! ```
//!
//! Why the steps give the answer of the rule: the candidates of a document are the union of older ones
//! (step 1) and those of its own batch (step 3). An older one keeps its rank among the older ones; newer
//! ones at smaller distance push it back by their number. So the rank of every candidate in the union
//! is known without redoing step 2, and whether `max_verifications` cuts it off is decided by that
//! rank. State changes only when the whole batch is decided.
//!
//! Equal texts of one batch share steps 1 and 2, so many copies cost one comparison.

mod cache;
mod compare;
mod exact;
mod order;

use crate::error::DedupError;
use crate::options::DedupOptions;
use cache::ShingleCache;
use exact::ExactTexts;
use simhash_index::{Index, IndexOptions, Item};
use simhash_sketch::{Fingerprinter, Scratch, Sketch};
use std::sync::atomic::AtomicBool;

/// A document of a batch.
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) sketch: Sketch,
}

/// The texts of kept documents, by their number of keeping.
pub(crate) trait KeptTexts: Sync {
    /// Calls `read` with the text of the kept document `ordinal`.
    fn with_text(&self, ordinal: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError>;
}

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Kept. It has the next number of keeping, unless it is empty: an empty one is never referred to.
    Kept { empty: bool },
    /// Duplicate of the kept document with this number.
    Duplicate { of: u32, similarity: Option<f64>, distance: u32 },
}

/// Documents per batch: the scan of step 3 looks at every document kept in the batch, so its cost per
/// document grows with the batch (2,048 fingerprints are one microsecond of scanning).
pub(crate) const BATCH_DOCUMENTS: usize = 2_048;

/// The state: what is known of the documents kept so far.
///
/// Memory: 24 to 40 bytes per kept document here ([`ExactTexts`]; 4 for `fingerprinted`), what the
/// index states per fingerprint, and the bounded cache.
pub(crate) struct Decider {
    fingerprinter: Fingerprinter,
    options: DedupOptions,
    index: Index,
    /// Number of keeping by index id: documents without a fingerprint are not in the index.
    fingerprinted: Vec<u32>,
    exact: ExactTexts,
    cache: ShingleCache,
    truncated: u64,
}

impl Decider {
    pub(crate) fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        options.check()?;
        let fingerprinter = Fingerprinter::new(&options.fingerprinter)?;
        let mut index = IndexOptions::default();
        index.max_distance = options.max_distance;
        let index = Index::new(&index)?;
        Ok(Self {
            fingerprinter,
            options: options.clone(),
            index,
            fingerprinted: Vec::new(),
            exact: ExactTexts::default(),
            cache: ShingleCache::default(),
            truncated: 0,
        })
    }

    pub(crate) fn fingerprinter(&self) -> &Fingerprinter {
        &self.fingerprinter
    }

    pub(crate) fn threads(&self) -> usize {
        self.options.threads
    }

    /// Whether texts of kept documents are asked for again.
    pub(crate) fn verifies(&self) -> bool {
        self.options.min_similarity.is_some()
    }

    /// Documents whose candidates were cut off.
    pub(crate) fn truncated(&self) -> u64 {
        self.truncated
    }

    /// Decides a batch of at most [`BATCH_DOCUMENTS`] (more is correct, only slower).
    ///
    /// # Errors
    /// Nothing has changed after an error, unless it came from adding to the index.
    pub(crate) fn decide(
        &mut self,
        documents: &[Document<'_>],
        kept: &dyn KeptTexts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Verdict>, DedupError> {
        let mut cases = self.find(documents, cancel)?;
        if let Some(least) = self.options.min_similarity {
            self.compare(&mut cases, documents, kept, least, cancel)?;
        }
        let ordered = self.order(documents, &cases, cancel)?;
        self.commit(documents, &ordered.verdicts)?;
        self.truncated += ordered.truncated;
        Ok(ordered.verdicts)
    }

    /// Adds what was kept.
    fn commit(
        &mut self,
        documents: &[Document<'_>],
        verdicts: &[Verdict],
    ) -> Result<(), DedupError> {
        let mut items = Vec::new();
        for (document, verdict) in documents.iter().zip(verdicts) {
            if *verdict != (Verdict::Kept { empty: false }) {
                continue;
            }
            let ordinal = self.exact.push(document.sketch.exact)?;
            if let Some(fingerprint) = document.sketch.fingerprint {
                items.push(Item::Fingerprint(fingerprint));
                self.fingerprinted.push(ordinal);
            }
        }
        self.index.add_many(&items)?;
        Ok(())
    }

    /// Sorted distinct feature hashes of a kept document, from the cache or from its text.
    fn kept_shingles<T>(
        &self,
        ordinal: u32,
        kept: &dyn KeptTexts,
        scratch: &mut Scratch,
        use_them: impl FnOnce(&[u64]) -> T,
    ) -> Result<T, DedupError> {
        if let Some(shingles) = self.cache.get(ordinal) {
            return Ok(use_them(&shingles));
        }
        let mut shingles = Vec::new();
        kept.with_text(ordinal, &mut |text| {
            self.fingerprinter.shingles(text, scratch, &mut shingles);
        })?;
        Ok(use_them(&self.cache.put(ordinal, shingles)))
    }
}
