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
use std::collections::VecDeque;
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
/// What a text takes in the cache beside its evidence, in numbers, where memory is bounded: of titles that is the most.
const BESIDE: usize = 16;

#[derive(Default)]
struct Shard {
    known: AHashMap<u32, Held>,
    /// Those that are known, in the order in which they go.
    order: VecDeque<u32>,
    size: usize,
}

struct Held {
    evidence: Arc<Evidence>,
    /// It was asked for since it came, or since it would have gone.
    is_used: bool,
}

pub(crate) struct Cache {
    shards: Vec<Mutex<Shard>>,
    /// Most numbers of each.
    most: usize,
    /// Numbers that one known text counts beside its own.
    beside: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self::of(CAPACITY, 0)
    }
}

impl Cache {
    fn of(capacity: usize, beside: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, most: capacity / SHARDS, beside }
    }

    /// One that takes a sixth of the memory at most.
    pub(crate) fn within(room: &Room) -> Self {
        let most = room.most().map_or(CAPACITY, |most| most as usize / 6 / size_of::<u64>());
        Self::of(most.min(CAPACITY), if room.most().is_some() { BESIDE } else { 0 })
    }

    pub(crate) fn get(&self, number: u32) -> Option<Arc<Evidence>> {
        let mut shard = self.shards[number as usize % SHARDS].lock();
        let held = shard.known.get_mut(&number)?;
        held.is_used = true;
        Some(Arc::clone(&held.evidence))
    }

    /// Keeps evidence. Where the shard would grow beyond its share, what came first goes, but for what was asked for meanwhile: that has
    /// another turn (a clock). So a few texts that many are compared with stay, however many others pass.
    pub(crate) fn put(&self, number: u32, evidence: Evidence) -> Arc<Evidence> {
        let evidence = Arc::new(evidence);
        let size = |evidence: &Evidence| evidence.len() + self.beside;
        if size(&evidence) > self.most {
            return evidence;
        }
        let mut shard = self.shards[number as usize % SHARDS].lock();
        if shard.known.contains_key(&number) {
            return evidence;
        }
        while shard.size + size(&evidence) > self.most {
            let Some(first) = shard.order.pop_front() else { break };
            let is_used =
                shard.known.get_mut(&first).is_some_and(|held| std::mem::take(&mut held.is_used));
            if is_used {
                shard.order.push_back(first);
            } else if let Some(gone) = shard.known.remove(&first) {
                shard.size -= size(&gone.evidence);
            }
        }
        shard.size += size(&evidence);
        shard.order.push_back(number);
        shard.known.insert(number, Held { evidence: Arc::clone(&evidence), is_used: false });
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
                let shard = shard.lock();
                assert_eq!(shard.known.len(), shard.order.len());
                shard.known.values().map(|held| held.evidence.len()).collect::<Vec<_>>()
            })
            .sum();
        assert!(held <= CAPACITY && held > CAPACITY / 2, "{held}");
    }

    /// Fewer than there is room for, each asked for now and then, while many others pass.
    #[test]
    fn what_is_asked_for_again_stays() {
        let cache = Cache::default();
        let set = || Evidence::Sets(Shingles { features: vec![7; 2_000], ..Shingles::default() });
        let hot = 0..640u32;
        hot.clone().for_each(|number| drop(cache.put(number, set())));
        for number in 640..20_000 {
            if number % 640 == 0 {
                assert!(hot.clone().all(|number| cache.get(number).is_some()), "before {number}");
            }
            cache.put(number, set());
        }
    }
}
