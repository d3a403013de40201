//! The set of distinct fingerprints that searches read: a scanned front over a stack of sealed runs.
//!
//! A new fingerprint is appended to the front, which is simply scanned. A full front is set aside, still scanned, until
//! it is merged with the runs of its level and below into one new run. Level l holds a run of `FRONT * RATIO^l` to
//! `FRONT * RATIO^(l+1)` fingerprints, so there are few runs (four at 50 million) and each fingerprint is rewritten at
//! most `RATIO` times per level: insertion is amortised O(log n), and nothing is ever shifted to make room.
//!
//! Merging is cut in three so that it can happen beside everything else: [`Stack::small_job`] or [`Stack::large_job`]
//! takes inputs (which stay searchable), [`Job::run`] builds without looking at the stack, [`Stack::commit`] swaps.

mod merge;

use std::sync::Arc;

pub(crate) use merge::Job;

use crate::plan::{Lookup, Plan, Prefix, Schedule};
use crate::run::{Run, sweep};
use crate::scan::{self, Hit};

/// Fingerprints scanned before they are set aside: below about 2,000 a scan is as fast as probing tables.
pub(crate) const FRONT: usize = 2048;

/// A run, and whether a merge is using it.
#[derive(Debug)]
struct Sealed {
    run: Arc<Run>,
    busy: bool,
}

/// A full front waiting for its merge.
#[derive(Debug)]
struct Waiting {
    values: Arc<Vec<u64>>,
    busy: bool,
}

#[derive(Debug)]
pub(crate) struct Stack {
    plan: Arc<Plan>,
    front: Vec<u64>,
    waiting: Vec<Waiting>,
    /// Largest first.
    runs: Vec<Sealed>,
}

impl Stack {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, front: Vec::new(), waiting: Vec::new(), runs: Vec::new() }
    }

    /// Adds a fingerprint that the stack does not hold. True when that has set a front aside.
    pub(crate) fn push(&mut self, value: u64) -> bool {
        self.front.push(value);
        self.front.len() >= FRONT && self.set_aside()
    }

    /// Adds fingerprints that the stack does not hold. True when that has set a front aside.
    pub(crate) fn extend(&mut self, values: &[u64]) -> bool {
        self.front.extend_from_slice(values);
        self.front.len() >= FRONT && self.set_aside()
    }

    fn set_aside(&mut self) -> bool {
        let values = std::mem::replace(&mut self.front, Vec::with_capacity(FRONT));
        self.waiting.push(Waiting { values: Arc::new(values), busy: false });
        true
    }

    /// Appends every fingerprint within `distance`, once each, in no particular order.
    pub(crate) fn find(&self, query: u64, distance: u32, hits: &mut Vec<Hit>) {
        self.find_each(&[query], distance, |_, hit| hits.push(hit));
    }

    /// Calls `on_hit(number, hit)` for every fingerprint within `distance` of the queries, once each, in no
    /// particular order. The look-ups of all queries overlap.
    pub(crate) fn find_each(
        &self,
        queries: &[u64],
        distance: u32,
        mut on_hit: impl FnMut(usize, Hit),
    ) {
        let schedule = self.plan.schedule(distance);
        let by_tables = |run: &Run| schedule.is_some_and(|schedule| schedule.pays(run.len()));
        if let Some(schedule) = schedule {
            // There are hardly ever more runs; what is left over takes a second round.
            let mut few: [Option<&Run>; 8] = [None; 8];
            let mut runs = self.runs.iter().map(|sealed| &*sealed.run).filter(|run| by_tables(run));
            loop {
                let mut count = 0;
                for (slot, run) in few.iter_mut().zip(&mut runs) {
                    *slot = Some(run);
                    count += 1;
                }
                let Some(first) = few[0].filter(|_| count > 0) else { break };
                let round = few.map(|run| run.unwrap_or(first));
                self.probe(schedule, &round[..count], queries, distance, &mut on_hit);
            }
        }
        let fronts = self.waiting.iter().map(|front| front.values.as_slice());
        let runs = self.runs.iter().filter(|sealed| !by_tables(&sealed.run));
        for values in fronts.chain([&self.front[..]]).chain(runs.map(|sealed| sealed.run.values()))
        {
            // A block at a time, so that all queries read it from the cache.
            for block in values.chunks(scan::BLOCK) {
                for (number, &query) in queries.iter().enumerate() {
                    scan::within(block, query, distance, |position, apart| {
                        on_hit(number, Hit { distance: apart, value: block[position] });
                    });
                }
            }
        }
    }

    fn probe(
        &self,
        schedule: &Schedule,
        runs: &[&Run],
        queries: &[u64],
        distance: u32,
        on_hit: &mut impl FnMut(usize, Hit),
    ) {
        let prefixes = self.plan.prefixes();
        // Hits of look-ups with flips may repeat, at most once per table: they are gathered and made unique.
        let mut repeated: Vec<(usize, Hit)> = Vec::new();
        sweep(prefixes, schedule, runs, queries, |query, number, _, bucket| {
            scan::within(bucket, queries[query], distance, |position, apart| {
                let value = bucket[position];
                let differ = value ^ queries[query];
                let lookup = schedule.lookups[number];
                if (differ ^ lookup.flips) & prefixes[usize::from(lookup.table)].mask() != 0 {
                    return;
                }
                let hit = Hit { distance: apart, value };
                if !schedule.plain {
                    repeated.push((query, hit));
                } else if is_first(&schedule.lookups[..number], prefixes, differ) {
                    on_hit(query, hit);
                }
            });
        });
        repeated.sort_unstable();
        repeated.dedup();
        for (query, hit) in repeated {
            on_hit(query, hit);
        }
    }

    pub(crate) fn front_len(&self) -> usize {
        self.front.len() + self.waiting_len()
    }

    /// Fingerprints set aside, not yet merged.
    pub(crate) fn waiting_len(&self) -> usize {
        self.waiting.iter().map(|front| front.values.len()).sum()
    }

    pub(crate) fn run_lens(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().map(|sealed| sealed.run.len())
    }

    /// Puts in a run of fingerprints that the stack does not hold.
    pub(crate) fn put(&mut self, run: Run) {
        let at = self.runs.partition_point(|sealed| sealed.run.len() >= run.len());
        self.runs.insert(at, Sealed { run: Arc::new(run), busy: false });
    }

    /// The run that holds everything, after a compaction.
    pub(crate) fn only_run(&self) -> Option<Arc<Run>> {
        self.runs.first().map(|sealed| Arc::clone(&sealed.run))
    }

    /// Bytes held by the front and all tables.
    pub(crate) fn bytes(&self) -> usize {
        let fronts = self.front.capacity() + self.waiting_len();
        fronts * 8 + self.runs.iter().map(|sealed| sealed.run.bytes()).sum::<usize>()
    }

    /// Whether huge pages were asked for in any run.
    pub(crate) fn is_huge(&self) -> bool {
        self.runs.iter().any(|sealed| sealed.run.is_huge())
    }
}

/// The first-mask rule: of the tables where a hit shares the query's prefix, the first one reports it.
#[inline]
fn is_first(earlier: &[Lookup], prefixes: &[Prefix], differ: u64) -> bool {
    earlier.iter().all(|lookup| prefixes[usize::from(lookup.table)].mask() & differ != 0)
}

#[cfg(test)]
mod tests;
