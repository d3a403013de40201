//! Fingerprints in the exact Hamming index.
//!
//! All within the distance are looked at before a limit chooses, so a crowd of n texts with near fingerprints costs n² / 2 steps
//! there; [`Method::MinHash`](super::Method::MinHash) reads a bounded number instead.

use super::{Candidate, Found, Sieve, count, shared};
use crate::error::DedupError;
use crate::parallel;
use simhash_index::{Index, IndexOptions, Item, Match, SearchOptions};
use simhash_sketch::{MethodSketch, Sketcher, hamming};
use std::sync::atomic::AtomicBool;

pub(crate) struct SimHash {
    max_distance: u32,
    index: Index,
    count: u32,
}

impl SimHash {
    pub(crate) fn new(max_distance: u32) -> Result<Self, DedupError> {
        let mut index = IndexOptions::default();
        index.max_distance = max_distance;
        Ok(Self { max_distance, index: Index::new(&index)?, count: 0 })
    }
}

fn candidate(found: &Match) -> Candidate {
    Candidate { number: found.id as u32, rank: found.distance }
}

/// Texts looked for at once: few, for in a crowd each has everybody as its candidates until the best are chosen.
const TOGETHER: usize = 32;

impl Sieve for SimHash {
    fn sketcher(&self) -> Sketcher {
        Sketcher::Fingerprint
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
        let fingerprints: Vec<u64> =
            sketches.iter().filter_map(|sketch| sketch.fingerprint()).collect();
        let items: Vec<Item> = fingerprints.iter().copied().map(Item::Fingerprint).collect();
        let mut slots: Vec<(usize, Vec<Found>)> =
            (0..items.len()).step_by(TOGETHER).map(|start| (start, Vec::new())).collect();
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (start, found)| {
                let end = items.len().min(*start + TOGETHER);
                let all = SearchOptions::default();
                let older = self.index.search_many(&items[*start..end], all, 1, cancel)?;
                found.extend((*start..end).zip(older).map(|(place, older)| {
                    let older = older.matches.iter();
                    let mut candidates: Vec<Candidate> = older.map(candidate).collect();
                    let (before, own) = (&fingerprints[..place], fingerprints[place]);
                    hamming::within(before, own, self.max_distance, |earlier, distance| {
                        let number = first + earlier as u32;
                        candidates.push(Candidate { number, rank: distance });
                    });
                    shared::best(candidates, limit, false)
                }));
                Ok(())
            },
        )?;
        self.index.add_many(&items, &[], cancel)?;
        Ok(slots.into_iter().flat_map(|(_, found)| found).collect())
    }

    /// Of the index when everything is sealed, by the plan's formula. What is held at one moment depends on merges in the
    /// background and on hash seeds drawn for each index: a report of it would differ from run to run.
    fn bytes(&self) -> usize {
        let count = self.index.stats().fingerprints;
        let estimate = self.index.plan().estimate(count as u64, self.max_distance);
        #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
        estimate.map_or(0, |each| ((each.table_bytes + each.id_bytes) * count as f64) as usize)
    }
}
