//! Shingle sets of representatives that many documents are compared with.
//!
//! A template family has one kept document that every copy is verified against; reading and hashing
//! its text again each time would dominate. The cache is bounded by hashes, not by documents, and
//! changes no result.

use ahash::AHashMap;
use parking_lot::Mutex;
use std::sync::Arc;

/// Independent parts, so that workers seldom wait for each other (arbitrary: any power of two above
/// the number of cores works).
const SHARDS: usize = 64;
/// Hashes in all: 4 Mi of 8 bytes are 32 MiB, about 4,000 long articles.
const CAPACITY: usize = 4 << 20;

#[derive(Default)]
struct Shard {
    sets: AHashMap<u32, Arc<[u64]>>,
    hashes: usize,
}

pub(crate) struct ShingleCache(Vec<Mutex<Shard>>);

impl Default for ShingleCache {
    fn default() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }
}

impl ShingleCache {
    pub(crate) fn get(&self, ordinal: u32) -> Option<Arc<[u64]>> {
        self.0[ordinal as usize % SHARDS].lock().sets.get(&ordinal).cloned()
    }

    /// Keeps a set, and empties the shard first where it would grow beyond its share: what is hot is
    /// back after one miss, and no order of use has to be kept.
    pub(crate) fn put(&self, ordinal: u32, shingles: Vec<u64>) -> Arc<[u64]> {
        let shingles: Arc<[u64]> = shingles.into();
        if shingles.len() > CAPACITY / SHARDS {
            return shingles;
        }
        let mut shard = self.0[ordinal as usize % SHARDS].lock();
        if shard.hashes + shingles.len() > CAPACITY / SHARDS {
            *shard = Shard::default();
        }
        if shard.sets.insert(ordinal, shingles.clone()).is_none() {
            shard.hashes += shingles.len();
        }
        shingles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_within_its_bound() {
        let cache = ShingleCache::default();
        for ordinal in 0..10_000 {
            cache.put(ordinal, vec![7; 2_000]);
            assert_eq!(cache.get(ordinal).map(|set| set.len()), Some(2_000));
        }
        cache.put(1, vec![7; CAPACITY]);
        let held: usize = cache
            .0
            .iter()
            .flat_map(|shard| shard.lock().sets.values().map(|set| set.len()).collect::<Vec<_>>())
            .sum();
        assert!(held <= CAPACITY && held > CAPACITY / 2, "{held}");
    }
}
