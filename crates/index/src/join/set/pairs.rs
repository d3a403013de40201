//! Every pair once, pulled in batches.
//!
//! Parts are worked on a few at a time, in parallel, each up to a quota of pairs; their pairs are handed out in order
//! of the parts. A part that has reached its quota stops where it is, be it in the middle of a large bucket, and goes
//! on when its pairs have been taken. So memory is bounded whatever the number of pairs, and their order does not
//! depend on the number of threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use super::compare::{self, Near};
use super::distinct::Distinct;
use super::table::Table;
use super::walk::{Frame, Place, Walk};
use super::{Join, tasks};
use crate::IndexError;

/// Pairs that a part collects before it waits: some milliseconds of work in the densest bucket.
const QUOTA: usize = 1 << 14;

/// Parts worked on at once, for each task: so that a few dense ones do not keep the others waiting.
const WAVE: usize = 4;

/// Members that a row of a large bucket is compared with at a time.
const STRETCH: usize = 1 << 14;

/// Pairs of ordinals, by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairBatch {
    /// The lower ordinal of each pair.
    pub a: Vec<u32>,
    /// The higher one.
    pub b: Vec<u32>,
    /// Bits that differ.
    pub distance: Vec<u8>,
}

impl PairBatch {
    /// How many pairs.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }

    /// The pairs, as `(a, b, distance)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let distances = self.distance.iter().map(|&distance| u32::from(distance));
        self.a
            .iter()
            .copied()
            .zip(self.b.iter().copied())
            .zip(distances)
            .map(|((a, b), d)| (a, b, d))
    }

    fn push(&mut self, one: u32, other: u32, distance: u32) {
        self.a.push(one.min(other));
        self.b.push(one.max(other));
        self.distance.push(distance as u8);
    }

    /// Moves pairs from `at` on to `out`, which takes at most `max` in all; where to go on.
    fn hand_out(&self, at: usize, max: usize, out: &mut Self) -> usize {
        let to = self.len().min(at + (max - out.len()));
        out.a.extend_from_slice(&self.a[at..to]);
        out.b.extend_from_slice(&self.b[at..to]);
        out.distance.extend_from_slice(&self.distance[at..to]);
        to
    }
}

/// A part under way.
#[derive(Debug)]
struct Active {
    part: usize,
    /// None before the part has been sorted.
    walk: Option<Walk>,
    /// Where the large bucket in front goes on: its row, and the first member not compared with it.
    at: Option<(usize, usize)>,
    ready: PairBatch,
    taken: usize,
    done: bool,
}

impl Active {
    fn new(part: usize) -> Self {
        Self { part, walk: None, at: None, ready: PairBatch::default(), taken: 0, done: false }
    }

    /// Goes on until the quota, the end, or a raised flag.
    fn work(&mut self, join: &Join, table: &Table, cancel: &AtomicBool) {
        if self.taken == self.ready.len() {
            self.ready = PairBatch::default();
            self.taken = 0;
        }
        let walk = self.walk.get_or_insert_with(|| {
            Walk::new(&join.tables, table.number(), table.group(&join.distinct, self.part))
        });
        let mut near = Vec::new();
        while self.ready.len() < QUOTA && !cancel.load(Ordering::Relaxed) {
            near.clear();
            match walk.place() {
                Place::Small => {
                    if let Some(frame) = walk.frame() {
                        frame.small(join.distance, &mut near);
                    }
                }
                Place::Large => {
                    if self.at.is_some() || !walk.cut(&join.tables) {
                        self.at = walk
                            .frame()
                            .and_then(|frame| stretch(frame, self.at, join.distance, &mut near));
                    }
                }
                Place::End => {
                    self.done = true;
                    return;
                }
            }
            report(walk, &near, &join.distinct, &mut self.ready);
        }
    }
}

/// Compares one row of the large bucket in front with its next stretch of members; where to go on, or None after
/// leaving the bucket.
fn stretch(
    frame: &mut Frame,
    at: Option<(usize, usize)>,
    distance: u32,
    near: &mut Vec<Near>,
) -> Option<(usize, usize)> {
    let (from, to) = frame.large()?;
    let (row, first) = at.unwrap_or((from, from + 1));
    let end = to.min(first + STRETCH);
    compare::rest(&frame.group.values, row, first, end, distance, near);
    if end < to {
        return Some((row, end));
    }
    if row + 2 < to {
        return Some((row + 1, row + 2));
    }
    frame.skip();
    None
}

fn report(walk: &mut Walk, near: &[Near], distinct: &Distinct, out: &mut PairBatch) {
    for &(one, other) in near {
        let Some(frame) = walk.frame() else { return };
        let differ = frame.group.values[one as usize] ^ frame.group.values[other as usize];
        if walk.reports(differ)
            && let Some(frame) = walk.frame()
        {
            let ordinal =
                |place| distinct.ordinals[frame.rank(place, |value| distinct.rank(value)) as usize];
            let [one, other] = [one, other].map(ordinal);
            out.push(one, other, differ.count_ones());
        }
    }
}

/// All pairs of a [`Join`], lazily.
///
/// The order is fixed by entries, plan and distance: first the copies of equal fingerprints, then table by table the
/// pairs that it is the first to see, in the order of its prefix.
#[derive(Debug)]
pub struct Pairs {
    join: Join,
    /// Copies handed out.
    copies: usize,
    table: Option<Table>,
    /// Table and part that come next.
    next: (usize, usize),
    active: VecDeque<Active>,
    /// The batch that is being filled.
    batch: PairBatch,
}

impl Pairs {
    pub(super) fn new(join: Join) -> Self {
        Self {
            join,
            copies: 0,
            table: None,
            next: (0, 0),
            active: VecDeque::new(),
            batch: PairBatch::default(),
        }
    }

    /// Parts of tables that are done, and how many there are.
    pub fn progress(&self) -> (u64, u64) {
        let (table, part) = self.next;
        let begun: usize = (0..table).map(|table| self.join.parts(table)).sum::<usize>() + part;
        ((begun - self.active.len()) as u64, self.join.steps())
    }

    /// The next pairs, `max` of them (0 counts as 1) or fewer at the end; None when there are no more. Runs on the
    /// current rayon pool on at most `threads` tasks (0: all of it). The work for a batch is bounded where pairs are
    /// many, but may be all that is left where they are few.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; no pair is lost, the next call goes on.
    pub fn next_batch(
        &mut self,
        max: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<PairBatch>, IndexError> {
        let max = max.max(1);
        loop {
            self.hand_out(max);
            if self.batch.len() >= max {
                break;
            }
            tasks::live(cancel)?;
            if !self.refill(threads, cancel)? {
                break;
            }
            let Some(table) = &self.table else { break };
            let join = &self.join;
            let wants = |active: &Active| !active.done && active.ready.len() - active.taken < QUOTA;
            let waiting = self.active.iter_mut().filter(|active| wants(active)).collect();
            tasks::each_mut(waiting, threads, |active: &mut Active| {
                active.work(join, table, cancel);
            });
        }
        let batch = std::mem::take(&mut self.batch);
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }

    /// Moves what is ready to the batch, in order.
    fn hand_out(&mut self, max: usize) {
        let distinct = &self.join.distinct;
        let copies = &distinct.copies[self.copies..];
        for &(rank, ordinal) in copies.iter().take(max.saturating_sub(self.batch.len())) {
            self.batch.push(distinct.ordinals[rank as usize], ordinal, 0);
            self.copies += 1;
        }
        while self.batch.len() < max
            && let Some(first) = self.active.front_mut()
        {
            first.taken = first.ready.hand_out(first.taken, max, &mut self.batch);
            if first.taken < first.ready.len() || !first.done {
                return;
            }
            self.active.pop_front();
        }
    }

    /// Begins further parts; false when there is nothing left to do. All parts begun earlier have been sorted.
    fn refill(&mut self, threads: usize, cancel: &AtomicBool) -> Result<bool, IndexError> {
        let wave = tasks::count(threads) * WAVE;
        let (number, part) = self.next;
        if self.active.len() < wave && number < self.join.tables.masks.len() {
            if part == 0 {
                let made = self.join.make(number, self.table.take(), threads, cancel)?;
                self.table = Some(made);
            }
            let parts = self.join.parts(number);
            let to = parts.min(part + wave - self.active.len());
            self.active.extend((part..to).map(Active::new));
            self.next = if to == parts { (number + 1, 0) } else { (number, to) };
        }
        Ok(!self.active.is_empty())
    }
}
