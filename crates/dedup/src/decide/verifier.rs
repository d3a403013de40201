//! What verification compares, and a cache of it for documents that many others are compared with.
//!
//! A template family has one document that every copy is verified against; reading and hashing its text again each
//! time would dominate. The cache is bounded by size, not by documents, and changes no result.

use crate::options::{DedupOptions, Measure};
use crate::verify::{Evidence, reaching};
use ahash::AHashMap;
use parking_lot::Mutex;
use simhash_sketch::{ALMOST_ONE, Bitmap, Features, Fingerprinter, Reference};
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

    /// Of a normalised text that may be compared with many, of which `features` are the features where they have been cut.
    pub(crate) fn evidence(&self, text: &str, features: Option<Features>) -> Evidence {
        Evidence::new(text, features, self.measure, &self.by).with_bitmap(self.measure)
    }

    /// Whether outlines and bitmaps exclude anything.
    pub(crate) fn has_bound(&self) -> bool {
        matches!(self.measure, Measure::Auto | Measure::Jaccard)
    }

    /// Whether two texts whose features are at most so similar can reach the threshold.
    pub(crate) fn may_match(&self, features: f64) -> bool {
        self.may_reach(features, self.least)
    }

    /// Whether two texts with these bitmaps can have a similarity of `least`.
    pub(crate) fn may_be(&self, own: &Bitmap, other: &Bitmap, least: f64) -> bool {
        self.may_reach(own.jaccard_at_most(other), least)
    }

    /// All features of a normalised text.
    pub(crate) fn cut(&self, text: &str) -> Features {
        self.by.features_of_normalized(text)
    }

    /// Whether [`Verifier::jaccard_by_differences`] of one of two normalised texts tells how similar the other one is.
    pub(crate) fn can_tell(&self, one: &str, other: &str) -> bool {
        self.has_bound() && Reference::can_tell(&self.by, one, other)
    }

    /// Whether texts whose features are at most so similar can have a similarity of `least`.
    fn may_reach(&self, features: f64, least: f64) -> bool {
        match self.measure {
            // No factor and no long shingle raises it.
            Measure::Auto => features >= least.min(ALMOST_ONE),
            // Of equal texts it is 1, whatever is asked for.
            Measure::Jaccard => features >= least.min(1.0),
            Measure::Containment | Measure::Edit | Measure::Cosine => true,
        }
    }

    /// [`Evidence::jaccard_by_differences`].
    pub(crate) fn jaccard_by_differences(&self, known: &Evidence, other: &str) -> Option<f64> {
        known.jaccard_by_differences(other, self.measure, &self.by)
    }

    /// [`verify::reaching`](crate::verify::reaching).
    pub(crate) fn reaching(&self, jaccard: f64, least: f64) -> Option<f64> {
        reaching(jaccard, self.measure, least)
    }

    /// The similarity of two texts, where it is at least `least`.
    pub(crate) fn similarity(&self, a: &Evidence, b: &Evidence, least: f64) -> Option<f64> {
        a.similarity(b, self.measure, least)
    }
}

/// Independent parts, so that workers seldom wait for each other (arbitrary: any power of two above
/// the number of cores works).
const SHARDS: usize = 64;
/// Numbers in all: 4 Mi of 8 bytes are 32 MiB, the sets of about 1,000 long articles.
const CAPACITY: usize = 4 << 20;
/// What a text takes in a cache beside what is held of it, in numbers: of titles and bitmaps that is the most.
const BESIDE: usize = 16;

/// What a cache holds: cheap to clone.
pub(crate) trait Cached: Clone {
    /// Its size in numbers of 8 bytes.
    fn numbers(&self) -> usize;

    /// Whether it says more than another one of the same text, and takes no more memory.
    fn replaces(&self, _: &Self) -> bool {
        false
    }
}

impl Cached for Arc<Evidence> {
    fn numbers(&self) -> usize {
        self.len()
    }
}

impl Cached for Arc<Bitmap> {
    fn numbers(&self) -> usize {
        self.len()
    }

    fn replaces(&self, other: &Self) -> bool {
        self.is_exact() && !other.is_exact() && self.len() <= other.len()
    }
}

struct Shard<V> {
    known: AHashMap<u32, Held<V>>,
    /// Those that are known, in the order in which they go.
    order: VecDeque<u32>,
    size: usize,
}

struct Held<V> {
    value: V,
    /// It was asked for since it came, or since it would have gone.
    is_used: bool,
}

pub(crate) struct Cache<V> {
    shards: Vec<Mutex<Shard<V>>>,
    /// Most numbers of each.
    most: usize,
    /// Numbers that one known text counts beside its own.
    beside: usize,
}

impl<V: Cached> Cache<V> {
    fn of(capacity: usize, beside: usize) -> Self {
        let empty = || Shard { known: AHashMap::default(), order: VecDeque::default(), size: 0 };
        let shards = (0..SHARDS).map(|_| Mutex::new(empty())).collect();
        Self { shards, most: capacity / SHARDS, beside }
    }

    /// One for evidence: 32 MiB, or where memory is bounded an eighth of it if that is less.
    pub(crate) fn of_evidence(room: &Room) -> Self {
        let most = room.most().map_or(CAPACITY, |most| most as usize / 8 / size_of::<u64>());
        Self::of(most.min(CAPACITY), if room.most().is_some() { BESIDE } else { 0 })
    }

    /// One for bitmaps: 256 MiB, which those of some 500,000 long articles take, or where memory is bounded a twenty-fourth of it if
    /// that is less.
    pub(crate) fn of_bitmaps(room: &Room) -> Self {
        let capacity = 8 * CAPACITY;
        let most = room.most().map_or(capacity, |most| most as usize / 24 / size_of::<u64>());
        Self::of(most.min(capacity), BESIDE)
    }

    pub(crate) fn get(&self, number: u32) -> Option<V> {
        let mut shard = self.shards[number as usize % SHARDS].lock();
        let held = shard.known.get_mut(&number)?;
        held.is_used = true;
        Some(held.value.clone())
    }

    /// Keeps what is known of a text. Where the shard would grow beyond its share, what came first goes, but for what was asked for
    /// meanwhile: that has another turn (a clock). So a few texts that many are compared with stay, however many others pass.
    pub(crate) fn put(&self, number: u32, value: V) {
        let size = |value: &V| value.numbers() + self.beside;
        if size(&value) > self.most {
            return;
        }
        let mut shard = self.shards[number as usize % SHARDS].lock();
        if let Some(held) = shard.known.get_mut(&number) {
            if value.replaces(&held.value) {
                let before = std::mem::replace(&mut held.value, value);
                let less = before.numbers() - held.value.numbers();
                shard.size -= less;
            }
            return;
        }
        while shard.size + size(&value) > self.most {
            let Some(first) = shard.order.pop_front() else { break };
            let is_used =
                shard.known.get_mut(&first).is_some_and(|held| std::mem::take(&mut held.is_used));
            if is_used {
                shard.order.push_back(first);
            } else if let Some(gone) = shard.known.remove(&first) {
                shard.size -= size(&gone.value);
            }
        }
        shard.size += size(&value);
        shard.order.push_back(number);
        shard.known.insert(number, Held { value, is_used: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simhash_sketch::Shingles;

    #[test]
    fn stays_within_its_bound() {
        let cache = Cache::of(CAPACITY, 0);
        let set = |len| {
            let features = vec![7; len];
            Arc::new(Evidence::of_sets(Shingles { features, ..Shingles::default() }))
        };
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
                shard.known.values().map(|held| held.value.len()).collect::<Vec<_>>()
            })
            .sum();
        assert!(held <= CAPACITY && held > CAPACITY / 2, "{held}");
    }

    #[test]
    fn a_bitmap_that_excludes_more_takes_the_place_of_one_that_excludes_less() {
        let cache = Cache::of(CAPACITY, BESIDE);
        let size = || cache.shards[1].lock().size;
        let set: Vec<u64> = (0..600u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let [weak, exact] = [Bitmap::of_any(&set.repeat(4)), Bitmap::of(&set)].map(Arc::new);
        cache.put(1, Arc::clone(&weak));
        assert_eq!((cache.get(1), size()), (Some(Arc::clone(&weak)), weak.len() + BESIDE));
        cache.put(1, Arc::clone(&exact));
        assert_eq!((cache.get(1), size()), (Some(Arc::clone(&exact)), exact.len() + BESIDE));
        cache.put(1, weak);
        assert_eq!(cache.get(1), Some(exact));
    }

    /// Fewer than there is room for, each asked for now and then, while many others pass.
    #[test]
    fn what_is_asked_for_again_stays() {
        let cache = Cache::of(CAPACITY, 0);
        let features = vec![7; 2_000];
        let set = Arc::new(Evidence::of_sets(Shingles { features, ..Shingles::default() }));
        let set = || Arc::clone(&set);
        let hot = 0..640u32;
        hot.clone().for_each(|number| cache.put(number, set()));
        for number in 640..20_000 {
            if number % 640 == 0 {
                assert!(hot.clone().all(|number| cache.get(number).is_some()), "before {number}");
            }
            cache.put(number, set());
        }
    }
}
