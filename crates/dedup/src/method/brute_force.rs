//! Every pair above the threshold, exactly: sets of features in an index by prefix filtering.
//!
//! No pair at or above `min_similarity` by Jaccard is missed. It keeps every set in memory and its time grows with what
//! documents have in common, and with the square of a cluster's size: a method for up to
//! about a million short texts, and the measure of the others' recall.

use super::{Candidate, Found, Sieve, count, shared};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use simhash_index::overlap::{OverlapIndex, OverlapMatch};
use simhash_sketch::{MethodSketch, Sketcher};
use std::sync::atomic::AtomicBool;

pub(super) struct BruteForce {
    threshold: f64,
    index: OverlapIndex,
    count: u32,
}

impl BruteForce {
    pub(super) fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        let default = DedupOptions::default().min_similarity;
        // The index takes thresholds above 0: any overlap at all is above this one.
        let threshold = options.min_similarity.or(default).unwrap_or_default().max(1e-6);
        Ok(Self { threshold, index: OverlapIndex::new(threshold)?, count: 0 })
    }
}

/// What is missing to 1, in steps of 2^-32: of equal rank are at most what rounding cannot tell apart.
fn candidate(found: &OverlapMatch, first: u32) -> Candidate {
    #[expect(clippy::cast_sign_loss, reason = "a similarity is at most 1")]
    let rank = ((1.0 - found.similarity) * f64::from(u32::MAX)) as u32;
    Candidate { number: first + found.ordinal, rank }
}

fn set(sketch: &MethodSketch) -> &[u64] {
    if let MethodSketch::Set(set) = sketch { set } else { &[] }
}

impl Sieve for BruteForce {
    fn sketcher(&self) -> Sketcher {
        Sketcher::Set
    }

    fn take(
        &mut self,
        sketches: &[&MethodSketch],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let first = self.count;
        self.count = count(first, sketches.len())?;
        let sets: Vec<&[u64]> = sketches.iter().map(|sketch| set(sketch)).collect();
        let mut batch = OverlapIndex::new(self.threshold)?;
        for set in &sets {
            batch.add(set)?;
        }
        let mut slots: Vec<(u32, &[u64], Found)> =
            (0..).zip(&sets).map(|(place, &set)| (place, set, Found::default())).collect();
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (place, set, found)| {
                let older = self.index.search(set, usize::MAX);
                let newer = batch.search(set, usize::MAX).matches;
                let newer = newer.iter().filter(|found| found.ordinal < *place);
                let candidates = older.matches.iter().map(|found| candidate(found, 0));
                let candidates = candidates.chain(newer.map(|found| candidate(found, first)));
                *found = shared::best(candidates.collect(), limit, false);
                Ok(())
            },
        )?;
        for set in &sets {
            self.index.add(set)?;
        }
        Ok(slots.into_iter().map(|(_, _, found)| found).collect())
    }

    fn bytes(&self) -> usize {
        self.index.bytes()
    }
}
