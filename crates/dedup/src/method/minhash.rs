//! Signatures in the band index: documents that share a band are candidates.
//!
//! The S-curve of the plan is what recall depends on ([`BandPlan::probability`]); without a plan of the caller's it is the
//! most selective one that finds a pair at the threshold with probability [`RECALL`].

use super::shared::{self, BUCKET};
use super::{Candidate, Found, Sieve, Sketch};
use crate::error::DedupError;
use crate::options::DedupOptions;
use simhash_index::bands::{BandIndex, BandOptions, BandPlan, BandSearch, band_keys};
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
    index: BandIndex,
}

impl MinHash {
    pub(super) fn new(options: &DedupOptions, plan: Option<BandPlan>) -> Result<Self, DedupError> {
        let plan = match plan {
            Some(plan) => BandPlan::new(plan.bands, plan.rows)?,
            None => default_plan(options.min_similarity)?,
        };
        let hashes = plan.hashes();
        let hasher = MinHasher::new(&MinHashOptions { hashes, ..MinHashOptions::default() })?;
        let mut bands = BandOptions::new(plan);
        bands.bucket_limit = BUCKET;
        Ok(Self {
            fingerprinter: Fingerprinter::new(&options.fingerprinter)?,
            hasher,
            plan,
            index: BandIndex::new(&bands)?,
        })
    }

    /// Keys of a row's bands, as far as the index tells keys apart.
    fn keys(&self, row: &[u64], keys: &mut Vec<u64>) {
        band_keys(self.plan, &signature(row), keys);
        for key in keys {
            *key = BandIndex::bucket(*key);
        }
    }

    fn holders(&self, key: u64) -> usize {
        self.index.holders(key, BUCKET + 1)
    }
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

    fn together(&self, rows: &[&[u64]]) -> usize {
        shared::together(rows, |row, keys| self.keys(row, keys), |key| self.holders(key))
    }

    fn search(
        &self,
        rows: &[&[u64]],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let signatures: Vec<Vec<u32>> = rows.iter().map(|row| signature(row)).collect();
        let search = BandSearch { threshold: None, limit: Some(limit) };
        let answers = self.index.search_many(&signatures, search, threads, cancel)?;
        let bands = self.plan.bands as u32;
        let found = answers.into_iter().map(|answer| Found {
            candidates: answer
                .matches
                .iter()
                .map(|found| Candidate { number: found.id as u32, rank: bands - found.bands })
                .collect(),
            cut: answer.truncated,
        });
        Ok(found.collect())
    }

    fn among(
        &self,
        rows: &[&[u64]],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec<Candidate>>, DedupError> {
        let keys = |row: &[u64], keys: &mut Vec<u64>| self.keys(row, keys);
        let holders = |key| self.holders(key);
        shared::among(rows, keys, holders, self.plan.bands, threads, cancel)
    }

    fn add(&mut self, rows: &[&[u64]]) -> Result<(), DedupError> {
        let signatures: Vec<Vec<u32>> = rows.iter().map(|row| signature(row)).collect();
        self.index.add_many_at(&signatures, &[])?;
        Ok(())
    }

    fn bytes(&self) -> usize {
        let stats = self.index.stats();
        stats.table_bytes + stats.id_bytes
    }
}
