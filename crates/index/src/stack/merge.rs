//! Merging the fronts into the run, beside searches and additions.

use std::sync::Arc;

use ahash::AHashSet;

use super::{Stack, Waiting};
use crate::front::Front;
use crate::plan::Plan;
use crate::run::{self, Run};

/// Output of a merge that takes a moment only: at 4 ns per fingerprint and table, about 10 ms for six tables.
const SMALL: usize = 1 << 19;

/// Inputs of a merge, and what it leaves out.
#[derive(Debug)]
pub(crate) struct Job {
    plan: Arc<Plan>,
    fronts: Vec<Arc<Front>>,
    run: Option<Arc<Run>>,
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

impl Job {
    /// Leaves these fingerprints out.
    pub(crate) fn without(mut self, dropped: AHashSet<u64>) -> Self {
        self.dropped = dropped;
        self.purges = true;
        self
    }

    /// Fingerprints of all inputs.
    fn len(&self) -> usize {
        let fresh: usize = self.fronts.iter().map(|front| front.values().len()).sum();
        fresh + self.run.as_ref().map_or(0, |run| run.len())
    }

    /// Whether leaving out so many would be little beside what is rewritten anyway.
    pub(crate) fn drops_easily(&self, dead: usize) -> bool {
        self.len() <= SMALL && (1..=self.len()).contains(&dead)
    }

    /// Whether it was given what is dead.
    pub(crate) fn purges(&self) -> bool {
        self.purges
    }

    /// The last of its fronts, after the commit, if nothing else looks at it.
    pub(crate) fn into_front(self) -> Option<Front> {
        self.fronts.into_iter().next_back().and_then(Arc::into_inner)
    }

    /// Builds the merged run: 2 to 4 ns per fingerprint and table.
    pub(crate) fn run(&self) -> Merged {
        let runs: Vec<&Run> = self.run.iter().map(AsRef::as_ref).collect();
        let fresh: Vec<&[u64]> = self.fronts.iter().map(|front| front.values()).collect();
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
    /// Whether a full front is waiting and no merge is under way.
    pub(crate) fn is_due(&self) -> bool {
        self.is_idle() && !self.waiting.is_empty()
    }

    /// Whether no merge is using anything.
    pub(crate) fn is_idle(&self) -> bool {
        let sealed = self.sealed.as_ref().is_some_and(|sealed| sealed.busy);
        !sealed && !self.waiting.iter().any(|waiting| waiting.busy)
    }

    /// Whether everything is in the run already.
    pub(crate) fn is_whole(&self) -> bool {
        self.front_len() == 0
    }

    /// A merge of everything, the front included, if there is anything. The stack must be idle.
    pub(crate) fn whole_job(&mut self) -> Option<Job> {
        if !self.front.values().is_empty() {
            self.set_aside();
        }
        (self.sealed.is_some() || !self.waiting.is_empty()).then(|| self.job())
    }

    /// A merge of the full fronts and the run, busy until the commit. The stack must be idle.
    pub(crate) fn job(&mut self) -> Job {
        let take = |waiting: &mut Waiting| {
            waiting.busy = true;
            Arc::clone(&waiting.front)
        };
        let fronts = self.waiting.iter_mut().map(take).collect();
        let run = self.sealed.as_mut().map(|sealed| {
            sealed.busy = true;
            Arc::clone(&sealed.run)
        });
        Job { plan: Arc::clone(&self.plan), fronts, run, dropped: AHashSet::new(), purges: false }
    }

    /// Puts the merged run where its inputs were; returns what was left out.
    pub(crate) fn commit(&mut self, job: &Job, merged: Merged) -> Vec<u64> {
        self.waiting
            .retain(|waiting| !job.fronts.iter().any(|used| Arc::ptr_eq(used, &waiting.front)));
        self.sealed = None;
        if let Some(run) = merged.run {
            self.put(run);
        }
        merged.dropped
    }
}
