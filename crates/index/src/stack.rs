//! The set of distinct fingerprints that searches read: a scanned front over a stack of sealed runs.
//!
//! A new fingerprint is appended to the front, which is simply scanned. A full front is merged with the runs of its
//! level and below into one new run. Level l holds a run of `FRONT * RATIO^l` to `FRONT * RATIO^(l+1)` fingerprints,
//! so there are few runs (four at 50 million) and each fingerprint is rewritten at most `RATIO` times per level:
//! insertion is amortised O(log n), and nothing is ever shifted to make room.

use std::sync::Arc;

use crate::plan::Plan;
use crate::run::{self, Run};
use crate::scan::{self, Hit};

/// Fingerprints scanned before they are sealed: below about 2,000 a scan is as fast as probing tables.
const FRONT: usize = 2048;

/// Growth from level to level: 8 keeps the runs few and rewriting cheap.
const RATIO: usize = 8;

#[derive(Debug)]
pub(crate) struct Stack {
    plan: Arc<Plan>,
    front: Vec<u64>,
    runs: Vec<Arc<Run>>,
}

fn level(count: usize) -> u32 {
    (count / FRONT).max(1).ilog(RATIO)
}

impl Stack {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, front: Vec::new(), runs: Vec::new() }
    }

    /// Adds a fingerprint that the stack does not hold.
    pub(crate) fn push(&mut self, value: u64) {
        self.front.push(value);
        if self.front.len() >= FRONT {
            self.seal();
        }
    }

    /// Adds fingerprints that the stack does not hold; many at once are sealed without passing through the front.
    pub(crate) fn extend(&mut self, values: &[u64]) {
        self.front.extend_from_slice(values);
        if self.front.len() >= FRONT {
            self.seal();
        }
    }

    fn seal(&mut self) {
        let mut total = self.front.len();
        let mut keep = self.runs.len();
        while keep > 0 && level(self.runs[keep - 1].len()) <= level(total) {
            keep -= 1;
            total += self.runs[keep].len();
        }
        let merged: Vec<Arc<Run>> = self.runs.drain(keep..).collect();
        let merged: Vec<&Run> = merged.iter().map(AsRef::as_ref).collect();
        self.runs.push(Arc::new(run::build(&self.plan, &merged, &self.front, &|_| true)));
        self.front.clear();
    }

    /// Drops the fingerprints that `keep` refuses, by rewriting every run into one.
    pub(crate) fn retain(&mut self, keep: &(dyn Fn(u64) -> bool + Sync)) {
        self.front.retain(|&value| keep(value));
        if !self.runs.is_empty() {
            let runs: Vec<&Run> = self.runs.iter().map(AsRef::as_ref).collect();
            let merged = run::build(&self.plan, &runs, &[], keep);
            self.runs.clear();
            if merged.len() > 0 {
                self.runs.push(Arc::new(merged));
            }
        }
    }

    /// Appends every fingerprint within `distance`, once each, in no particular order.
    pub(crate) fn find(&self, query: u64, distance: u32, hits: &mut Vec<Hit>) {
        for run in &self.runs {
            if distance <= self.plan.radius() {
                run.find(&self.plan, query, distance, hits);
            } else {
                scan_values(run.values(), query, distance, hits);
            }
        }
        scan_values(&self.front, query, distance, hits);
    }

    pub(crate) fn front_len(&self) -> usize {
        self.front.len()
    }

    pub(crate) fn run_lens(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().map(|run| run.len())
    }

    /// Bytes held by the front and all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.front.capacity() * 8 + self.runs.iter().map(|run| run.bytes()).sum::<usize>()
    }
}

fn scan_values(values: &[u64], query: u64, distance: u32, hits: &mut Vec<Hit>) {
    scan::within(values, query, distance, |position, apart| {
        hits.push(Hit { distance: apart, value: values[position] });
    });
}
