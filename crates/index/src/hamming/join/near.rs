//! The self-join of fingerprints: every pair once, in bounded batches, without a set of seen pairs.
//!
//! A pair is reported by the first table whose mask it matches, and inside a nested group by the first block; so the
//! parts of the work know nothing of each other. Parts are stretches of buckets. A call works on the next few parts at
//! once, each up to a quota of pairs; a part that reaches it goes on from there in the next call. Which parts those
//! are does not depend on the number of threads, so neither does the order of the pairs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::copies::{Copies, Values};
use super::{NEST, nested_masks};
use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::scan;

/// Directory slots of a part: about 25,000 fingerprints, a millisecond.
const SLOTS: usize = 2048;
/// Parts worked on at once, at most as many threads are of use.
const PARTS: usize = 64;
/// Pairs of one part per call.
const QUOTA: usize = 2048;
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

/// Two fingerprints and the bits that differ.
pub type Near = (u64, u64, u32);

/// All pairs of different fingerprints within a distance, each once; [`SelfJoin::next_batch`] goes on with it.
///
/// Memory beside the fingerprints: 8.5 bytes for each of them and each copy that the next 64 parts or the threads need, twice
/// that while copies are made, and some hundred thousand pairs at most.
#[derive(Debug)]
pub struct SelfJoin {
    copies: Copies,
    distance: u32,
    active: VecDeque<Part>,
    /// The next copy, and its next bucket.
    next: (usize, usize),
}

impl SelfJoin {
    /// Of these fingerprints, each given once.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`](crate::MAX_DISTANCE).
    pub fn new(fingerprints: Vec<u64>, distance: u32) -> Result<Self, IndexError> {
        let plan = Arc::new(Plan::covering(distance)?);
        Ok(Self::of(Copies::made(plan, Values::Own(fingerprints), distance), distance))
    }

    pub(super) fn of(copies: Copies, distance: u32) -> Self {
        Self::from(copies, distance, 0)
    }

    /// The same from this copy on.
    pub(super) fn from(copies: Copies, distance: u32, first: usize) -> Self {
        Self { copies, distance, active: VecDeque::new(), next: (first, 0) }
    }

    /// Share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let (order, slot) = self.next;
        if order == self.copies.len() {
            return 1.0;
        }
        let done = order as f64 + slot as f64 / self.copies.slots(order).max(1) as f64;
        done / self.copies.len() as f64
    }

    /// The next pairs, a few at least unless none are left; None at the end. Runs on the current rayon pool on at most
    /// `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; the join can then go on, no pair is lost.
    pub fn next_batch(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Near>>, IndexError> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            self.refill(threads);
            if self.active.is_empty() {
                return Ok(None);
            }
            let (copies, distance) = (&self.copies, self.distance);
            let work = |part: &mut Part| part.work(copies, distance, cancel);
            let parts = self.active.make_contiguous();
            let found: Vec<Vec<Near>> = if threads == 1 {
                parts.iter_mut().map(work).collect()
            } else {
                by_turns(parts, threads, work)
            };
            self.active.retain(|part| !part.is_done());
            let found = found.concat();
            if !found.is_empty() {
                return Ok(Some(found));
            }
        }
    }

    fn refill(&mut self, threads: usize) {
        self.copies.forget(self.active.front().map_or(self.next.0, |part| part.order));
        while self.active.len() < PARTS {
            let (order, from) = self.next;
            if order == self.copies.len() {
                return;
            }
            self.copies.make(order, threads);
            let slots = self.copies.slots(order);
            let to = (from + SLOTS).min(slots);
            self.active.push_back(Part { order, slots: from..to, groups: VecDeque::new() });
            self.next = if to == slots { (order + 1, 0) } else { (order, to) };
        }
    }
}

/// `work` on every part, by at most so many tasks (0: those of the pool), each of which takes the next one when it is done with one:
/// what two parts cost differs by much.
fn by_turns<P: Send, T: Send + Default>(
    parts: &mut [P],
    threads: usize,
    work: impl Fn(&mut P) -> T + Sync,
) -> Vec<T> {
    let pool = rayon::current_num_threads();
    let tasks = if threads == 0 { pool } else { threads.min(pool) };
    let mut done: Vec<T> = parts.iter().map(|_| T::default()).collect();
    let left = Mutex::new(parts.iter_mut().zip(&mut done));
    rayon::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|_| {
                loop {
                    let next = left.lock().next();
                    let Some((part, done)) = next else { return };
                    *done = work(part);
                }
            });
        }
    });
    done
}

impl Part {
    fn is_done(&self) -> bool {
        self.slots.is_empty() && self.groups.is_empty()
    }

    fn work(&mut self, copies: &Copies, distance: u32, cancel: &AtomicBool) -> Vec<Near> {
        let mut found = Vec::new();
        let Some(view) = copies.view(self.order) else { return found };
        let own = copies.mask(self.order);
        let earlier: Vec<u64> = (0..self.order).map(|order| copies.mask(order)).collect();
        let mut since = 0;
        let mut near = Vec::new();
        while found.len() < QUOTA {
            if let Some(group) = self.groups.front_mut() {
                since += group.compare(distance, &mut found);
                if group.at >= group.values.len() {
                    self.groups.pop_front();
                }
            } else if let Some(slot) = self.slots.next() {
                view.groups(slot, |values| {
                    since += values.len();
                    if values.len() <= SHORT {
                        compare_all(values, own, &earlier, distance, &mut near, &mut found);
                    } else if values.len() <= NEST {
                        let (values, earlier) = (values.to_vec(), earlier.clone());
                        self.groups.push_back(Group { values, own, earlier, at: 0 });
                    } else {
                        self.groups.extend(nested(values, own, &earlier, distance));
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
