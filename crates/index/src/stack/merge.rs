//! Merging runs beside searches and additions.
//!
//! Small jobs (up to `SMALL` fingerprints, some milliseconds) keep the fronts from piling up; a large job may take
//! seconds, so at most one runs beside the small ones, on inputs that those leave alone.

use std::sync::Arc;

use ahash::AHashSet;

use super::{FRONT, Stack};
use crate::plan::Plan;
use crate::run::{self, Run};

/// Growth from level to level: with 16 there are at most four runs up to 500 million, each a set of look-ups of every
/// query; a fingerprint is rewritten about 30 times on the way there, 3 ns per table each, beside the additions.
const RATIO: usize = 16;

/// Largest output of a small job: at 4 ns per fingerprint and table, about 10 ms for six tables.
const SMALL: usize = 1 << 19;

/// Inputs of a merge, and what it leaves out.
#[derive(Debug)]
pub(crate) struct Job {
    plan: Arc<Plan>,
    fresh: Vec<Arc<Vec<u64>>>,
    runs: Vec<Arc<Run>>,
    dropped: AHashSet<u64>,
    purges: bool,
}

/// What a merge made.
#[derive(Debug)]
pub(crate) struct Merged {
    run: Option<Run>,
    /// Fingerprints left out of it.
    pub(crate) dropped: Vec<u64>,
}

fn level(count: usize) -> u32 {
    (count / FRONT).max(1).ilog(RATIO)
}

impl Job {
    /// Leaves these fingerprints out.
    pub(crate) fn without(mut self, dropped: AHashSet<u64>) -> Self {
        self.dropped = dropped;
        self.purges = true;
        self
    }

    /// Fingerprints of all inputs.
    pub(crate) fn len(&self) -> usize {
        let fresh: usize = self.fresh.iter().map(|values| values.len()).sum();
        fresh + self.runs.iter().map(|run| run.len()).sum::<usize>()
    }

    /// Whether it was given what is dead.
    pub(crate) fn purges(&self) -> bool {
        self.purges
    }

    /// Builds the merged run: 2 to 4 ns per fingerprint and table when inputs are sealed runs.
    pub(crate) fn run(&self) -> Merged {
        let runs: Vec<&Run> = self.runs.iter().map(AsRef::as_ref).collect();
        let fresh: Vec<&[u64]> = self.fresh.iter().map(|values| values.as_slice()).collect();
        let mut dropped = Vec::new();
        if !self.dropped.is_empty() {
            let all = runs.iter().map(|run| run.values()).chain(fresh.iter().copied());
            dropped.extend(all.flatten().filter(|value| self.dropped.contains(value)));
        }
        let keep = |value: u64| !self.dropped.contains(&value);
        let keep: Option<&(dyn Fn(u64) -> bool + Sync)> =
            if dropped.is_empty() { None } else { Some(&keep) };
        let run = run::build(&self.plan, &runs, &fresh, keep);
        Merged { run: (run.len() > 0).then_some(run), dropped }
    }
}

impl Stack {
    /// A small merge that is due: the waiting fronts with the smallest runs. Its inputs are busy until the commit.
    pub(crate) fn small_job(&mut self) -> Option<Job> {
        let waiting = self.waiting.iter().filter(|front| !front.busy);
        let mut total: usize = waiting.map(|front| front.values.len()).sum();
        if total == 0 {
            return None;
        }
        let mut from = self.runs.len();
        while from > 0 {
            let next = &self.runs[from - 1];
            let sum = total + next.run.len();
            if next.busy || level(next.run.len()) > level(total) || sum > SMALL {
                break;
            }
            total = sum;
            from -= 1;
        }
        Some(self.job(from, true))
    }

    pub(crate) fn small_is_due(&self) -> bool {
        self.waiting.iter().any(|front| !front.busy)
    }

    /// A merge of larger runs that is due: those that crowd one level.
    pub(crate) fn large_job(&mut self) -> Option<Job> {
        self.crowded().map(|from| self.job(from, false))
    }

    pub(crate) fn large_is_due(&self) -> bool {
        self.crowded().is_some()
    }

    /// The first of the runs that a large merge would take, up to the last.
    fn crowded(&self) -> Option<usize> {
        let free = self.runs.iter().rposition(|sealed| sealed.busy).map_or(0, |last| last + 1);
        let mut total = 0;
        let mut due = None;
        for at in (free..self.runs.len()).rev() {
            let length = self.runs[at].run.len();
            if total > 0 && level(length) <= level(total) && total + length > SMALL {
                due = Some(at);
            }
            total += length;
        }
        due
    }

    /// Whether no merge is using anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.purge_is_possible() && self.waiting.iter().all(|front| !front.busy)
    }

    /// Whether everything is in one run already.
    pub(crate) fn is_whole(&self) -> bool {
        self.runs.len() <= 1 && self.waiting.is_empty() && self.front.is_empty()
    }

    /// A merge of everything, the front included, if there is anything. The stack must be idle.
    pub(crate) fn whole_job(&mut self) -> Option<Job> {
        if !self.front.is_empty() {
            self.set_aside();
        }
        (self.runs.len() + self.waiting.len() > 0).then(|| self.job(0, true))
    }

    /// Whether no merge is using a run.
    pub(crate) fn purge_is_possible(&self) -> bool {
        self.runs.iter().all(|sealed| !sealed.busy)
    }

    /// A merge of all runs, to drop what is dead.
    pub(crate) fn purge_job(&mut self) -> Job {
        self.job(0, false)
    }

    fn job(&mut self, from: usize, with_fronts: bool) -> Job {
        let mut fresh = Vec::new();
        for front in self.waiting.iter_mut().filter(|front| with_fronts && !front.busy) {
            front.busy = true;
            fresh.push(Arc::clone(&front.values));
        }
        let mut runs = Vec::new();
        for sealed in &mut self.runs[from..] {
            sealed.busy = true;
            runs.push(Arc::clone(&sealed.run));
        }
        Job { plan: Arc::clone(&self.plan), fresh, runs, dropped: AHashSet::new(), purges: false }
    }

    /// Puts the merged run where its inputs were.
    pub(crate) fn commit(&mut self, job: &Job, merged: Merged) -> Vec<u64> {
        self.waiting.retain(|front| !job.fresh.iter().any(|used| Arc::ptr_eq(used, &front.values)));
        self.runs.retain(|sealed| !job.runs.iter().any(|used| Arc::ptr_eq(used, &sealed.run)));
        if let Some(run) = merged.run {
            self.put(run);
        }
        merged.dropped
    }

    /// Does every merge that is due, here and now.
    pub(crate) fn settle(&mut self) {
        while let Some(job) = self.small_job().or_else(|| self.large_job()) {
            let merged = job.run();
            self.commit(&job, merged);
        }
    }
}
