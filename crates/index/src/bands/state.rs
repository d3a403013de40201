//! The data behind the locks, and how a question is answered from it.

use super::key::band_keys;
use super::options::{BandOptions, Signatures};
use super::table::Table;
use super::{BandMatch, BandMatches, documents::Documents};
use crate::IndexError;
use crate::window::Ages;

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) options: BandOptions,
    pub(super) table: Table,
    pub(super) documents: Documents,
    pub(super) ages: Ages,
}

/// Documents that share bands, by age, and whether a bucket held more than was read.
struct Shared {
    /// Age and number of shared bands.
    found: Vec<(u32, u32)>,
    truncated: bool,
}

impl State {
    pub(super) fn starting_at(options: BandOptions, first: u64) -> Result<Self, IndexError> {
        options.check()?;
        let hashes = options.signatures.map_or(0, |kept| kept.hashes);
        let documents = Documents::starting_at(first, hashes)?;
        Ok(Self { options, table: Table::new(), documents, ages: Ages::default() })
    }

    /// Adds a signature; a new id.
    pub(super) fn add(&mut self, signature: &[u32], keys: &[u64]) -> u64 {
        let Self { table, documents, .. } = self;
        let id = documents.push(signature);
        for &key in keys {
            table.insert(key, id as u32, |id| documents.is_alive(id));
        }
        id
    }

    pub(super) fn prefetch(&self, keys: &[u64]) {
        for &key in keys {
            self.table.prefetch(key);
        }
    }

    /// The live documents of these keys.
    fn shared(&self, keys: &[u64]) -> Shared {
        let (mut ages, mut truncated) = (Vec::new(), false);
        for &key in keys {
            let mut live = self.table.ids(key).filter(|&id| self.documents.is_alive(id));
            let read = live.by_ref().take(self.options.bucket_limit);
            ages.extend(read.map(|id| self.documents.age(id)));
            truncated |= live.next().is_some();
        }
        ages.sort_unstable();
        let found = ages.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        Shared { found, truncated }
    }

    /// All matches, the best first.
    fn matches(&self, signature: &[u32], keys: &[u64], threshold: Option<f64>) -> BandMatches {
        let Shared { found, truncated } = self.shared(keys);
        let threshold = threshold.or(self.options.signatures.map(|kept| kept.threshold));
        let mut matches: Vec<BandMatch> = found
            .into_iter()
            .map(|(age, bands)| {
                let similarity = self.similarity(signature, age);
                BandMatch { id: self.documents.id(age), bands, similarity }
            })
            .filter(|found| match (found.similarity, threshold) {
                (Some(similarity), Some(threshold)) => similarity >= threshold,
                _ => true,
            })
            .collect();
        matches.sort_by(|a, b| {
            let by_similarity = b.similarity.unwrap_or(0.0).total_cmp(&a.similarity.unwrap_or(0.0));
            by_similarity.then_with(|| match a.similarity {
                None => b.bands.cmp(&a.bands).then(a.id.cmp(&b.id)),
                Some(_) => a.id.cmp(&b.id),
            })
        });
        BandMatches { matches, truncated }
    }

    fn similarity(&self, signature: &[u32], age: u32) -> Option<f64> {
        let Signatures { hashes, .. } = self.options.signatures?;
        let other = self.documents.signature(self.documents.id(age) as u32);
        let equal = signature.iter().zip(other).filter(|(a, b)| a == b).count();
        Some(equal as f64 / hashes as f64)
    }

    pub(super) fn search(
        &self,
        signature: &[u32],
        keys: &[u64],
        threshold: Option<f64>,
        limit: usize,
    ) -> BandMatches {
        let mut found = self.matches(signature, keys, threshold);
        found.truncated |= found.matches.len() > limit;
        found.matches.truncate(limit);
        found
    }

    /// The best match, ties to the lowest id, and whether some bucket was too crowded to be read whole.
    pub(super) fn best(&self, signature: &[u32], keys: &[u64]) -> (Option<BandMatch>, bool) {
        let found = self.matches(signature, keys, None);
        (found.matches.first().copied(), found.truncated)
    }

    /// Sweeps the entries of dead documents out when they are many. Amortised O(bands) per deletion.
    pub(super) fn tidy(&mut self) {
        if self.documents.should_sweep() {
            self.sweep();
        }
    }

    pub(super) fn sweep(&mut self) {
        let Self { table, documents, .. } = self;
        table.sweep(|id| documents.is_alive(id));
        documents.swept();
    }

    /// The keys of a signature that fits this index.
    pub(super) fn keys(
        options: &BandOptions,
        signature: &[u32],
        keys: &mut Vec<u64>,
    ) -> Result<(), IndexError> {
        let given = signature.len();
        let fits = match options.signatures {
            Some(kept) => given == kept.hashes,
            None => given >= options.plan.hashes(),
        };
        if !fits && given > 0 {
            let expected = options.signatures.map_or(options.plan.hashes(), |kept| kept.hashes);
            return Err(IndexError::Signature { given, expected });
        }
        band_keys(options.plan, signature, keys);
        Ok(())
    }
}
