//! Sets one after the other, and all earlier ones near a given one.
//!
//! The order of members should put the rare ones first, and who is rare shows only with time. So the order is that of the
//! document frequencies at some moment (members unknown then come first; ties by value), and each time the number of sets
//! has doubled, members are counted again and all prefixes are listed anew. That is linear work on the whole; a single
//! addition can take as long as listing everything, about a microsecond per set of a title's size. At any moment one order
//! holds for all sets, so the answers are exact at any moment, and they depend on the sets alone.

use ahash::AHashMap;

use super::{Bounds, Sets};
use crate::IndexError;
use simhash_sketch::measure::overlap_at_least;

/// A set near the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapMatch {
    /// Number of sets that were added before it.
    pub ordinal: u32,
    /// Jaccard similarity of the two.
    pub similarity: f64,
}

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlapping {
    /// The most similar first, then the earliest.
    pub matches: Vec<OverlapMatch>,
    /// Whether a limit left some out.
    pub truncated: bool,
}

/// Where a member stands in the prefix of a set.
#[derive(Debug, Clone, Copy)]
struct Place {
    set: u32,
    size: u32,
    /// Members behind it.
    left: u32,
}

/// An exact index of sets by Jaccard similarity, for one threshold.
///
/// Memory: 8 bytes per member, 8 per set; per prefix member (a share `1 - threshold` of all, at least one per set) 12 bytes
/// in a list, to which a member that is new to all prefixes adds about 70; about 20 per member that several sets have.
#[derive(Debug)]
pub struct OverlapIndex {
    bounds: Bounds,
    sets: Sets,
    /// How many sets had a member when members were counted, where more than one had it.
    frequencies: AHashMap<u64, u32>,
    /// Number of sets at which members are counted again.
    recount: usize,
    places: AHashMap<u64, Vec<Place>>,
    listed: usize,
}

/// Sets before the first count: fewer are searched quickly in any order.
const FIRST_COUNT: usize = 1024;

impl OverlapIndex {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Threshold`] unless it is above 0 and at most 1.
    pub fn new(threshold: f64) -> Result<Self, IndexError> {
        Ok(Self {
            bounds: Bounds::new(threshold)?,
            sets: Sets::new(),
            frequencies: AHashMap::new(),
            recount: FIRST_COUNT,
            places: AHashMap::new(),
            listed: 0,
        })
    }

    /// Adds a set, sorted and without repetition; the result is its ordinal. Equal sets are kept each for itself.
    ///
    /// # Errors
    /// [`IndexError::TooManySets`].
    pub fn add(&mut self, set: &[u64]) -> Result<u32, IndexError> {
        let given = self.sets.len() + 1;
        let Ok(after) = u32::try_from(given) else {
            return Err(IndexError::TooManySets { given });
        };
        self.sets.push(set);
        if given == self.recount {
            self.recount *= 2;
            self.count();
            (0..after).for_each(|ordinal| self.list(ordinal));
        } else {
            self.list(after - 1);
        }
        Ok(after - 1)
    }

    /// Counts members anew; no set is listed after that.
    fn count(&mut self) {
        self.places.clear();
        self.listed = 0;
        self.frequencies.clear();
        let mut members = self.sets.members().to_vec();
        members.sort_unstable();
        let groups = members.chunk_by(|a, b| a == b).filter(|group| group.len() > 1);
        self.frequencies.extend(groups.map(|group| (group[0], group.len() as u32)));
    }

    /// Lists the prefix of a set.
    fn list(&mut self, ordinal: u32) {
        let set = self.sets.get(ordinal as usize);
        let size = set.len() as u32;
        for (left, member) in self.prefix(set) {
            let place = Place { set: ordinal, size, left: left as u32 };
            // Most members are in one prefix only.
            self.places.entry(member).or_insert_with(|| Vec::with_capacity(1)).push(place);
            self.listed += 1;
        }
    }

    /// The prefix of a set, rarest first, with the number of members behind each.
    fn prefix(&self, set: &[u64]) -> Vec<(usize, u64)> {
        let length = self.bounds.prefix(set.len());
        let frequency = |member| self.frequencies.get(member).copied().unwrap_or(0);
        let mut order: Vec<(u32, u64)> = set.iter().map(|m| (frequency(m), *m)).collect();
        if length < order.len() {
            order.select_nth_unstable(length);
            order.truncate(length);
        }
        order.sort_unstable();
        (0..set.len()).rev().zip(order).map(|(left, (_, member))| (left, member)).collect()
    }

    /// Every added set whose similarity with `set` reaches the threshold, at most `limit` of them. An empty set has none.
    ///
    /// Cost: the lists of the members of its prefix, and a merge, most often cut short, for each set found there.
    pub fn search(&self, set: &[u64], limit: usize) -> Overlapping {
        let smallest = self.bounds.smallest(set.len());
        let mut candidates = Vec::new();
        for (left, member) in self.prefix(set) {
            for of in self.places.get(&member).map_or(&[][..], Vec::as_slice) {
                let size = of.size as usize;
                let most = 1 + left.min(of.left as usize);
                // A set that is too large for this one would need more than all its members; `most` is below that.
                if size >= smallest && most >= self.bounds.overlap(set.len() + size) {
                    candidates.push(of.set);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let near = candidates.into_iter().filter_map(|ordinal| {
            let other = self.sets.get(ordinal as usize);
            let sum = set.len() + other.len();
            let common = overlap_at_least(set, other, self.bounds.overlap(sum))?;
            Some(OverlapMatch { ordinal, similarity: Bounds::similarity(common, sum) })
        });
        let mut matches: Vec<OverlapMatch> = near.collect();
        // Stable: ordinals ascend already.
        matches.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        let truncated = matches.len() > limit;
        matches.truncate(limit);
        Overlapping { matches, truncated }
    }

    /// The set at `ordinal`; an empty one where there is none.
    pub fn get(&self, ordinal: u32) -> &[u64] {
        self.sets.get(ordinal as usize)
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Bytes held; of lists, the spare room is estimated as a quarter, and what an allocator adds to a small one as 24.
    pub fn bytes(&self) -> usize {
        let lists = self.listed * size_of::<Place>() * 5 / 4 + self.places.len() * 24;
        self.sets.bytes() + lists + self.places.capacity() * (size_of::<(u64, Vec<Place>)>() + 1)
    }
}
