//! What verification compares, and a cache of it for documents that many others are compared with.
//!
//! A template family has one document that every copy is verified against; reading and hashing its text again each
//! time would dominate. The cache is bounded by size, not by documents, and changes no result.

use crate::options::{DedupOptions, Measure};
use crate::verify::Evidence;
use ahash::AHashMap;
use parking_lot::Mutex;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Material, Outline};
use simhash_store::Room;
use std::sync::Arc;

/// Decides whether candidates are duplicates.
pub(crate) struct Verifier {
    by: Fingerprinter,
    measure: Measure,
    /// The threshold.
    pub(crate) least: f64,
}

impl Verifier {
    /// `None`: candidates are duplicates as they are.
    pub(crate) fn new(options: &DedupOptions, by: &Fingerprinter) -> Option<Self> {
        let least = options.min_similarity?;
        Some(Self { by: by.clone(), measure: options.measure, least })
    }

    /// Of a text that has been prepared; `given` is what it was prepared of.
    pub(crate) fn evidence(&self, given: &str, mut material: Material) -> Evidence {
        let features = material.features.take();
        let text = material.text(given);
        text.map_or(Evidence::None, |text| Evidence::new(text, features, self.measure, &self.by))
    }

    /// Whether two texts with these outlines can reach the threshold.
    pub(crate) fn may_match(&self, a: &Outline, b: &Outline) -> bool {
        match self.measure {
            // No factor and no long shingle raises it.
            Measure::Auto => a.jaccard_at_most(b) >= self.least.min(ALMOST_ONE),
            Measure::Jaccard => a.jaccard_at_most(b) >= self.least,
            Measure::Containment | Measure::Edit | Measure::Cosine => true,
        }
    }

    /// The similarity of two texts, where it is at least `least`.
    pub(crate) fn similarity(&self, a: &Evidence, b: &Evidence, least: f64) -> Option<f64> {
        a.similarity(b, self.measure, least)
    }
}

/// Independent parts, so that workers seldom wait for each other (arbitrary: any power of two above
/// the number of cores works).
const SHARDS: usize = 64;
/// Numbers in all: 4 Mi of 8 bytes are 32 MiB, the sets of about 4,000 long articles.
const CAPACITY: usize = 4 << 20;

#[derive(Default)]
struct Shard {
    known: AHashMap<u32, Arc<Evidence>>,
    size: usize,
}

pub(crate) struct Cache {
    shards: Vec<Mutex<Shard>>,
    /// Most numbers of each.
    most: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self::of(CAPACITY)
    }
}

impl Cache {
    fn of(capacity: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, most: capacity / SHARDS }
    }

    /// One that takes a sixteenth of the memory at most.
    pub(crate) fn within(room: &Room) -> Self {
        let most = room.most().map_or(CAPACITY, |most| most as usize / 16 / size_of::<u64>());
        Self::of(most.min(CAPACITY))
    }

    pub(crate) fn get(&self, number: u32) -> Option<Arc<Evidence>> {
        self.shards[number as usize % SHARDS].lock().known.get(&number).cloned()
    }

    /// Keeps evidence, and empties the shard first where it would grow beyond its share: what is hot is
    /// back after one miss, and no order of use has to be kept.
    pub(crate) fn put(&self, number: u32, evidence: Evidence) -> Arc<Evidence> {
        let evidence = Arc::new(evidence);
        if evidence.len() > self.most {
            return evidence;
        }
        let mut shard = self.shards[number as usize % SHARDS].lock();
        if shard.size + evidence.len() > self.most {
            *shard = Shard::default();
        }
        if shard.known.insert(number, Arc::clone(&evidence)).is_none() {
            shard.size += evidence.len();
        }
        evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simhash_sketch::Shingles;

    #[test]
    fn stays_within_its_bound() {
        let cache = Cache::default();
        let set = |len| Evidence::Sets(Shingles { features: vec![7; len], ..Shingles::default() });
        for number in 0..10_000 {
            cache.put(number, set(2_000));
            assert_eq!(cache.get(number).map(|known| known.len()), Some(2_000));
        }
        cache.put(1, set(CAPACITY));
        let held: usize = cache
            .shards
            .iter()
            .flat_map(|shard| {
                shard.lock().known.values().map(|known| known.len()).collect::<Vec<_>>()
            })
            .sum();
        assert!(held <= CAPACITY && held > CAPACITY / 2, "{held}");
    }
}
