//! All pairs of a collection.
//!
//! Equal sets are collapsed first: of c equal ones the first stands for all in the join, and each further one makes one
//! pair with it, so copies never make quadratic output. The others are sorted by size. An inverted index holds, for each
//! member, the sets that have it in their prefix; each set then looks up its own prefix among the sets before it.
//!
//! The work is cut into pieces of neighbouring sets, in rounds. A round's pairs are handed over in order and forgotten, so
//! memory stays bounded whatever the result's size.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use ahash::AHashMap;
use parking_lot::Mutex;

use super::ranks::{Ranked, RankedSets};
use super::{Bounds, Sets, tasks};
use crate::IndexError;
use simhash_sketch::measure::overlap_at_least;

/// Two sets of a collection whose Jaccard similarity reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetPair {
    /// Ordinal of the earlier set.
    pub a: u32,
    /// Ordinal of the later set.
    pub b: u32,
    /// Their Jaccard similarity; 1 for equal sets.
    pub similarity: f64,
}

/// Sets per piece of work: a few hundred microseconds for short texts.
const PIECE: usize = 64;
/// Pieces of the first round, and the most of any.
const MOST_PIECES: usize = 64;
/// Pairs of a round above which the next one is smaller, below a quarter of which it is larger: 16 MB.
const ROUND: usize = 1 << 20;

/// Hands every pair of `sets` with Jaccard similarity `threshold` or more to `on_pairs`, some at a time, each pair once.
///
/// Of equal sets only the first is paired with others; each further one comes once, with the first. Empty sets match
/// nothing. First come the pairs of equal sets, then those of different ones; the order depends on the sets alone.
///
/// Runs on the current rayon pool, `threads` tasks at a time at most (0: as many as the pool has). Memory, beside the
/// sets: 24 bytes per set to find equal ones; 4 bytes per member that several sets have, 20 to 40 per different one of
/// those, 8 per prefix place, 16 per set; 16 bytes per pair of one round. A round aims at a million pairs, by the number that the
/// one before had, and has more where sets that resemble many come all at once: at most those of 4,096 with all smaller ones.
///
/// # Errors
/// [`IndexError::Threshold`] unless it is above 0 and at most 1; [`IndexError::TooManySets`];
/// [`IndexError::Cancelled`] soon after the flag is set.
pub fn pairs_at_least(
    sets: &Sets,
    threshold: f64,
    threads: usize,
    cancel: &AtomicBool,
    mut on_pairs: impl FnMut(&[SetPair]),
) -> Result<(), IndexError> {
    let bounds = Bounds::new(threshold)?;
    if u32::try_from(sets.len()).is_err() {
        return Err(IndexError::TooManySets { given: sets.len() });
    }
    let (mut chosen, copies) = collapse(sets);
    on_pairs(&copies);
    drop(copies);
    chosen.sort_by_key(|&ordinal| sets.get(ordinal as usize).len());
    let ranked = RankedSets::new(sets, &chosen, threads, cancel)?;
    let join = Join::new(&ranked, bounds);
    let scratches = Mutex::<Vec<Vec<u32>>>::default();
    let (mut from, mut pieces) = (0, MOST_PIECES);
    while from < ranked.len() {
        let till = ranked.len().min(from + pieces * PIECE);
        let found = tasks::each(
            (till - from).div_ceil(PIECE),
            threads,
            cancel,
            &scratches,
            |piece, candidates| {
                let first = from + piece * PIECE;
                let mut pairs = Vec::new();
                for at in first..till.min(first + PIECE) {
                    join.partners(at, candidates, |other, similarity| {
                        let (a, b) = (chosen[other], chosen[at]);
                        pairs.push(SetPair { a: a.min(b), b: a.max(b), similarity });
                    });
                }
                pairs
            },
        )?;
        let count: usize = found.iter().map(Vec::len).sum();
        found.iter().filter(|pairs| !pairs.is_empty()).for_each(|pairs| on_pairs(pairs));
        if count > ROUND {
            pieces = (pieces / 2).max(1);
        } else if count < ROUND / 4 {
            pieces = (pieces * 2).min(MOST_PIECES);
        }
        from = till;
    }
    Ok(())
}

/// The first of each group of equal sets, and a pair for every further one; empty sets are in neither.
fn collapse(sets: &Sets) -> (Vec<u32>, Vec<SetPair>) {
    let mut first: AHashMap<&[u64], u32> = AHashMap::with_capacity(sets.len());
    let (mut chosen, mut copies) = (Vec::new(), Vec::new());
    for (ordinal, set) in (0..).zip(sets.iter()).filter(|(_, set)| !set.is_empty()) {
        let a = *first.entry(set).or_insert(ordinal);
        if a == ordinal {
            chosen.push(ordinal);
        } else {
            copies.push(SetPair { a, b: ordinal, similarity: 1.0 });
        }
    }
    (chosen, copies)
}

/// Where a member stands in the prefix of a set.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    set: u32,
    /// Ranks of the set behind it.
    left: u32,
}

/// Different sets by size, and which have a member in their prefix.
struct Join<'a> {
    sets: &'a RankedSets,
    /// Places of rank r: `ends[r]` to `ends[r + 1]`, by set.
    places: Vec<Place>,
    ends: Vec<usize>,
    /// By size: the first set that is a partner for it, and by sum of sizes: the fewest common members.
    bounds: Bounds,
}

impl<'a> Join<'a> {
    fn new(sets: &'a RankedSets, bounds: Bounds) -> Self {
        let prefix = |at: usize| {
            let set = sets.get(at);
            (set, set.prefix(bounds.prefix_for_larger(set.size)))
        };
        let mut ends = vec![0; sets.distinct + 1];
        for at in 0..sets.len() {
            prefix(at).1.iter().for_each(|&rank| ends[rank as usize + 1] += 1);
        }
        for rank in 0..sets.distinct {
            ends[rank + 1] += ends[rank];
        }
        let mut next = ends.clone();
        let mut places = vec![Place::default(); ends.last().copied().unwrap_or(0)];
        for at in 0..sets.len() {
            let (set, prefix) = prefix(at);
            for (place, &rank) in prefix.iter().enumerate() {
                let left = (set.ranks.len() - place - 1) as u32;
                places[next[rank as usize]] = Place { set: at as u32, left };
                next[rank as usize] += 1;
            }
        }
        Self { sets, places, ends, bounds }
    }

    /// Calls `on_partner` for each set before `at` that reaches the threshold with it, ascending.
    fn partners(
        &self,
        at: usize,
        candidates: &mut Vec<u32>,
        mut on_partner: impl FnMut(usize, f64),
    ) {
        let set = self.sets.get(at);
        let smallest = self.bounds.smallest(set.size);
        candidates.clear();
        // Partners of one size come together: their bound is computed once.
        let need = Cell::new((0, 0));
        let need_with = |size: usize| {
            if need.get().0 != size {
                need.set((size, self.bounds.overlap(set.size + size)));
            }
            need.get().1
        };
        for (place, &rank) in set.prefix(self.bounds.prefix(set.size)).iter().enumerate() {
            let left = (set.ranks.len() - place - 1) as u32;
            let places = &self.places[self.ends[rank as usize]..self.ends[rank as usize + 1]];
            let from = places.partition_point(|of| self.sets.size(of.set as usize) < smallest);
            for of in places[from..].iter().take_while(|of| (of.set as usize) < at) {
                if 1 + left.min(of.left) as usize >= need_with(self.sets.size(of.set as usize)) {
                    candidates.push(of.set);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        for &other in candidates.iter() {
            let Ranked { size, ranks } = self.sets.get(other as usize);
            let common = overlap_at_least(set.ranks, ranks, need_with(size));
            if let Some(common) = common {
                on_partner(other as usize, Bounds::similarity(common, set.size + size));
            }
        }
    }
}
