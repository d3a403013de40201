//! The lazy self-join: every pair once, in bounded batches, without a set of seen pairs.
//!
//! A pair is reported by the first table whose mask it matches, and inside a nested group by the first block; so the
//! parts of the work know nothing of each other. Parts are stretches of buckets. A call works on the next few parts at
//! once, each up to a quota of pairs; a part that reaches it goes on from there in the next call. Which parts those
//! are does not depend on the number of threads, so neither does the order of the pairs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{NEST, Sealed, nested_masks};
use crate::IndexError;
use crate::hamming::scan;
use crate::hamming::{Hamming, Index};
use crate::live::Kind;

/// Two live documents near each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The lower id.
    pub a: u64,
    /// The higher id.
    pub b: u64,
    /// Bits that differ.
    pub distance: u32,
}

/// Directory slots of a part: about 100,000 fingerprints, a few milliseconds.
const SLOTS: usize = 8192;
/// Parts worked on at once, at most as many threads are of use.
const PARTS: usize = 16;
/// Pairs of one part per call.
const QUOTA: usize = 8192;
/// A group this short is compared at once: some 8,000 pairs at most.
const SHORT: usize = 128;
/// Fingerprints between two looks at the cancel flag.
const POLL: usize = 4096;

/// Fingerprints whose pairs are to be compared: equal on `own`, not reported where any of `earlier` is equal.
#[derive(Debug)]
struct Group {
    values: Vec<u64>,
    own: u64,
    earlier: Vec<u64>,
    /// First fingerprint not yet compared with those behind it.
    at: usize,
}

/// A stretch of one table's buckets, and how far it has been worked through.
#[derive(Debug)]
struct Part {
    order: usize,
    slots: Range<usize>,
    groups: VecDeque<Group>,
}

/// A join under way; [`Pairs::next_batch`] goes on with it.
///
/// Pairs are of *fingerprints*: documents that share one are represented by the first of them, and each further one
/// comes once, paired with the first at distance 0. So c copies make c - 1 pairs, never c².
#[derive(Debug)]
pub struct Pairs {
    sealed: Sealed,
    tables: Vec<(usize, u64)>,
    active: VecDeque<Part>,
    next: (usize, usize),
    /// First holders and further ones, made when the tables are done.
    copies: Option<Vec<(u64, u64)>>,
    copied: usize,
}

/// Two fingerprints and their distance.
type Near = (u64, u64, u32);

impl Pairs {
    pub(crate) fn new(index: &Index, distance: u32) -> Result<Self, IndexError> {
        let sealed = Sealed::new(index, distance, &AtomicBool::new(false))?;
        let tables = sealed.tables();
        Ok(Self { sealed, tables, active: VecDeque::new(), next: (0, 0), copies: None, copied: 0 })
    }

    /// Share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let slots = |order: usize| {
            let (run, table) = (self.sealed.run.as_ref(), self.tables.get(order));
            run.zip(table).map_or(1, |(run, table)| run.slots(table.0).max(1))
        };
        if let Some(copies) = &self.copies
            && self.copied == copies.len()
        {
            return 1.0;
        }
        let (order, slot) = self.next;
        let done = order as f64 + slot as f64 / slots(order) as f64;
        (done / (self.tables.len() + 1) as f64).min(1.0)
    }

    /// The next pairs, a few at least unless none are left; None at the end. Pairs of documents deleted since the
    /// join began are left out, documents added since are not in it. Runs on the current rayon pool on at most
    /// `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; the join can then go on, no pair is lost.
    pub fn next_batch(
        &mut self,
        index: &Index,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, IndexError> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            self.refill();
            let pairs = if self.active.is_empty() {
                let copies = self.copies.get_or_insert_with(|| index.copies(self.sealed.end));
                let Some(left) = copies.get(self.copied..).filter(|left| !left.is_empty()) else {
                    Hamming::sound(&index.shared.options)?;
                    return Ok(None);
                };
                let some = &left[..left.len().min(QUOTA)];
                self.copied += some.len();
                let alive = some.iter().filter(|(a, b)| index.has(*a) && index.has(*b));
                alive.map(|&(a, b)| Pair { a, b, distance: 0 }).collect()
            } else {
                let (sealed, tables) = (&self.sealed, &self.tables);
                let work = |part: &mut Part| part.work(sealed, tables, cancel);
                let parts = self.active.make_contiguous();
                let found: Vec<Vec<Near>> = if threads == 1 {
                    parts.iter_mut().map(work).collect()
                } else {
                    let least = if threads == 0 { 1 } else { PARTS.div_ceil(threads) };
                    parts.par_iter_mut().with_min_len(least).map(work).collect()
                };
                self.active.retain(|part| !part.is_done());
                index.resolve_pairs(&found.concat(), self.sealed.end)
            };
            Hamming::sound(&index.shared.options)?;
            if !pairs.is_empty() {
                return Ok(Some(pairs));
            }
        }
    }

    fn refill(&mut self) {
        let Some(run) = &self.sealed.run else { return };
        while self.active.len() < PARTS {
            let (order, from) = self.next;
            let Some(&(table, _)) = self.tables.get(order) else { return };
            let to = (from + SLOTS).min(run.slots(table));
            self.active.push_back(Part { order, slots: from..to, groups: VecDeque::new() });
            self.next = if to == run.slots(table) { (order + 1, 0) } else { (order, to) };
        }
    }
}

impl Part {
    fn is_done(&self) -> bool {
        self.slots.is_empty() && self.groups.is_empty()
    }

    fn work(&mut self, sealed: &Sealed, tables: &[(usize, u64)], cancel: &AtomicBool) -> Vec<Near> {
        let mut found = Vec::new();
        let Some(run) = &sealed.run else { return found };
        let (table, own) = tables[self.order];
        let earlier: Vec<u64> = tables[..self.order].iter().map(|table| table.1).collect();
        let view = run.table(table, sealed.plan.prefixes());
        let mut since = 0;
        let mut near = Vec::new();
        while found.len() < QUOTA {
            if let Some(group) = self.groups.front_mut() {
                since += group.compare(sealed.distance, &mut found);
                if group.at >= group.values.len() {
                    self.groups.pop_front();
                }
            } else if let Some(slot) = self.slots.next() {
                view.groups(slot, |values| {
                    since += values.len();
                    if values.len() <= SHORT {
                        compare_all(values, own, &earlier, sealed.distance, &mut near, &mut found);
                    } else if values.len() <= NEST {
                        let (values, earlier) = (values.to_vec(), earlier.clone());
                        self.groups.push_back(Group { values, own, earlier, at: 0 });
                    } else {
                        self.groups.extend(nested(values, own, &earlier, sealed.distance));
                    }
                });
            } else {
                break;
            }
            if since > POLL {
                since = 0;
                if cancel.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
        found
    }
}

/// Compares a short group at once.
#[inline]
fn compare_all(
    values: &[u64],
    own: u64,
    earlier: &[u64],
    distance: u32,
    near: &mut Vec<(u16, u16)>,
    found: &mut Vec<Near>,
) {
    near.clear();
    scan::pairs_within(values, distance, near);
    for &(a, b) in near.iter() {
        let (value, other) = (values[usize::from(a)], values[usize::from(b)]);
        let differ = value ^ other;
        if differ & own == 0 && earlier.iter().all(|mask| differ & mask != 0) {
            found.push((value, other, differ.count_ones()));
        }
    }
}

#[inline]
fn compare_one(
    values: &[u64],
    at: usize,
    own: u64,
    earlier: &[u64],
    distance: u32,
    found: &mut Vec<Near>,
) {
    let value = values[at];
    scan::within(&values[at + 1..], value, distance, |position, apart| {
        let other = values[at + 1 + position];
        let differ = value ^ other;
        if differ & own == 0 && earlier.iter().all(|mask| differ & mask != 0) {
            found.push((value, other, apart));
        }
    });
}

/// Cuts a long group by the bits that its mask leaves free.
fn nested(values: &[u64], own: u64, earlier: &[u64], distance: u32) -> Vec<Group> {
    let masks = nested_masks(own, distance);
    let mut groups = Vec::new();
    for (number, &mask) in masks.iter().enumerate() {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by_key(|value| value & mask);
        let earlier = [earlier, &masks[..number]].concat();
        for equal in sorted.chunk_by(|a, b| a & mask == b & mask).filter(|equal| equal.len() > 1) {
            let (values, own) = (equal.to_vec(), own | mask);
            groups.push(Group { values, own, earlier: earlier.clone(), at: 0 });
        }
    }
    groups
}

impl Group {
    /// Goes on until the quota; returns how many comparisons were made.
    fn compare(&mut self, distance: u32, found: &mut Vec<Near>) -> usize {
        let mut compared = 0;
        while self.at < self.values.len() && found.len() < QUOTA && compared < POLL * 16 {
            compare_one(&self.values, self.at, self.own, &self.earlier, distance, found);
            compared += self.values.len() - self.at;
            self.at += 1;
        }
        compared
    }
}

impl Index {
    /// Every pair of live documents within `max_distance` (default: the index's own), lazily. Begins by compacting.
    ///
    /// # Errors
    /// [`IndexError::Distance`].
    pub fn pairs(&self, max_distance: Option<u32>) -> Result<Pairs, IndexError> {
        Pairs::new(self, self.checked(max_distance)?)
    }

    /// Documents below `end` for fingerprints.
    fn resolve_pairs(&self, found: &[Near], end: u64) -> Vec<Pair> {
        self.read(|ids| {
            found
                .iter()
                .filter_map(|&(one, other, distance)| {
                    let (one, other) = (ids.first(one)?, ids.first(other)?);
                    // A fingerprint whose documents have left may have come again since.
                    (one.max(other) < end).then_some(Pair {
                        a: one.min(other),
                        b: one.max(other),
                        distance,
                    })
                })
                .collect()
        })
    }

    /// Documents below `end` that share a fingerprint or text with an earlier one, after the first that does, by that.
    fn copies(&self, end: u64) -> Vec<(u64, u64)> {
        let mut copies = Vec::new();
        self.read(|ids| {
            ids.shared(|_, holders| {
                let further = holders.iter().skip(1).filter(|&&id| id < end);
                copies.extend(further.map(|&id| (holders[0], id)));
            });
        });
        copies.sort_unstable();
        copies
    }
}
