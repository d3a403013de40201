//! Signatures in the band index: documents that share a band are candidates.
//!
//! The S-curve of the plan is what recall depends on ([`BandPlan::probability`]); without a plan of the caller's it is the
//! most selective one that finds a pair at the threshold with probability [`RECALL`].

use super::{Found, Sieve, Sketch, count, shared};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use simhash_index::bands::{BandPlan, Table, band_keys};
use simhash_sketch::minhash::{MinHashOptions, MinHasher};
use simhash_sketch::{Fingerprinter, Scratch};
use std::sync::atomic::AtomicBool;

/// The probability with which a pair just at the threshold is to be found: one in ten thousand is missed, and fewer above.
const RECALL: f64 = 0.9999;
/// Positions that a plan may have at most by default: the usual length of a signature, 3.5 % standard error.
const HASHES: usize = 128;

pub(super) struct MinHash {
    fingerprinter: Fingerprinter,
    hasher: MinHasher,
    plan: BandPlan,
    /// Of each key the oldest texts, as many as it counts for and one more, which shows that there are more.
    texts: Table,
    bucket: usize,
    count: u32,
}

impl MinHash {
    pub(super) fn new(options: &DedupOptions, plan: Option<BandPlan>) -> Result<Self, DedupError> {
        let plan = match plan {
            Some(plan) => BandPlan::new(plan.bands, plan.rows)?,
            None => default_plan(options.min_similarity)?,
        };
        let hashes = plan.hashes();
        let hasher = MinHasher::new(&MinHashOptions { hashes, ..MinHashOptions::default() })?;
        Ok(Self {
            fingerprinter: Fingerprinter::new(&options.fingerprinter)?,
            hasher,
            plan,
            texts: Table::new(),
            bucket: options.max_bucket,
            count: 0,
        })
    }

    /// The different keys of a row's bands, as far as the table tells keys apart.
    fn keys(&self, row: &[u64]) -> Vec<u64> {
        let mut keys = Vec::with_capacity(self.plan.bands);
        band_keys(self.plan, &signature(row), &mut keys);
        for key in &mut keys {
            *key = Table::bucket(*key);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Lists a text under its keys.
    fn insert(&mut self, keys: &[u64], text: u32) {
        for &key in keys {
            if self.texts.ids_len(key) <= self.bucket {
                self.texts.insert(key, text, |_| true);
            }
        }
    }

    /// The candidates of a text with these keys among those before it.
    fn find(&self, keys: &[u64], text: u32, limit: usize) -> Found {
        let (mut seen, mut cut) = (Vec::new(), false);
        for &key in keys {
            let mut before = self.texts.ids(key).take_while(|&other| other < text);
            seen.extend(before.by_ref().take(self.bucket));
            cut |= before.next().is_some();
        }
        shared::by_keys(&mut seen, self.plan.bands, limit, cut)
    }
}

/// A row on its way into the table.
struct Slot<'a> {
    row: &'a [u64],
    number: u32,
    keys: Vec<u64>,
    found: Found,
}

/// The plan for a threshold.
pub(super) fn default_plan(min_similarity: Option<f64>) -> Result<BandPlan, DedupError> {
    let default = DedupOptions::default().min_similarity;
    // A threshold of nearly nothing has no plan: everything would have to be compared with everything.
    let threshold = min_similarity.or(default).unwrap_or_default().max(0.1);
    Ok(BandPlan::for_recall(threshold, RECALL, HASHES)?)
}

/// Rows hold a position in each number.
fn signature(row: &[u64]) -> Vec<u32> {
    row.iter().map(|&position| position as u32).collect()
}

impl Sieve for MinHash {
    fn sketch(&self, text: &str, scratch: &mut Scratch) -> Sketch {
        let (mut set, mut signature) = (Vec::new(), Vec::<u32>::new());
        let exact = self.fingerprinter.exact_and_shingles(text, scratch, &mut set);
        self.hasher.signature(&set, &mut signature);
        Sketch {
            exact: exact.unwrap_or_default(),
            empty: exact.is_none(),
            short: signature.is_empty() && exact.is_some(),
            row: signature.into_iter().map(u64::from).collect(),
        }
    }

    fn take(
        &mut self,
        rows: &[&[u64]],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let first = self.count;
        self.count = count(first, rows.len())?;
        let slot = |(number, &row)| Slot { row, number, keys: Vec::new(), found: Found::default() };
        let mut slots: Vec<Slot<'_>> = (first..).zip(rows).map(slot).collect();
        let new = || ();
        parallel::for_each(&mut slots, threads, cancel, new, |(), slot| {
            slot.keys = self.keys(slot.row);
            Ok(())
        })?;
        for place in 0..slots.len() {
            // The next one's cache lines are on their way while this one is listed.
            for &key in slots.get(place + 1).map_or(&[][..], |next| &next.keys) {
                self.texts.prefetch(key);
            }
            let slot = &slots[place];
            self.insert(&slot.keys, slot.number);
        }
        parallel::for_each(&mut slots, threads, cancel, new, |(), slot| {
            slot.found = self.find(&slot.keys, slot.number, limit);
            Ok(())
        })?;
        Ok(slots.into_iter().map(|slot| slot.found).collect())
    }

    fn bytes(&self) -> usize {
        self.texts.bytes()
    }
}
