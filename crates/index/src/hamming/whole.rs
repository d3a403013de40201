//! The parts of an index, for saving it and putting it together again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use ahash::AHashSet;

use super::{Documents, Hamming, Item};
use crate::IndexError;
use crate::hamming::image::Snapshot;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{self, Segment};
use crate::hamming::tables::Tables;
use crate::live::{Ages, Asked, Live, Shared, Window};

/// What an index is made of at one moment.
pub(crate) struct Parts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) max_distance: u32,
    pub(crate) window: Option<Window>,
    pub(crate) ids: &'a Documents,
    pub(crate) ages: &'a Ages,
}

/// An index as it was when [`Index::snapshot`](Live::snapshot) was called, on its way to a file.
#[derive(Debug)]
pub struct Pending<T> {
    shared: Arc<Shared<Hamming>>,
    sealed: Receiver<Option<Segment>>,
    asked: Asked<Option<(Snapshot, T)>>,
}

impl<T> Pending<T> {
    /// The snapshot, and what was copied beside it; waits until everything is sealed, while additions go on.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn made(self, cancel: &AtomicBool) -> Result<(Snapshot, T), IndexError> {
        let made = self.asked.made(&self.shared.turns).flatten();
        let (snapshot, beside) = made.ok_or(IndexError::Copy)?;
        let run = self.shared.wait(&self.sealed, cancel)?;
        Ok((snapshot.with(run), beside))
    }
}

impl Live<Hamming> {
    /// The index as it is now, for saving: what is added or deleted after this call is not in it. Of a batch under way it
    /// has the items that came before. O(1): ids, fingerprints and times are copied before the next change, by the thread of
    /// that change or by [`Pending::made`], whichever comes first; some 10 ns for each document. `beside` runs with that
    /// copy, with other writers kept out; it is told which ids are alive.
    ///
    /// The copy takes 9 bytes for each document, 16 more where times are kept, and what it shares with the index stays
    /// until it is dropped: tables that merges replace meanwhile are then there twice.
    pub fn snapshot<T: Send + 'static>(
        &self,
        beside: impl FnOnce(&dyn Fn(u64) -> bool) -> T + Send + 'static,
    ) -> Pending<T> {
        // Weak: a copy that is never made must not keep the index.
        let weak = Arc::downgrade(&self.shared);
        let asked = self.shared.turns.ask(move || {
            let shared = weak.upgrade()?;
            let snapshot = {
                let state = shared.state.read();
                Snapshot::of(&Parts {
                    plan: &shared.options.plan,
                    max_distance: shared.options.max_distance,
                    window: shared.options.window,
                    ids: &state.kind.ids,
                    ages: &state.ages,
                })
            };
            let beside = beside(&|id| shared.state.read().has(id));
            Some((snapshot, beside))
        });
        let sealed = self.shared.state.write().kind.tables.request();
        if self.shared.is_due() {
            self.shared.start();
        }
        Pending { shared: Arc::clone(&self.shared), sealed, asked }
    }

    /// An index without documents whose next id is `first`.
    pub(crate) fn restored(
        plan: Arc<Plan>,
        max_distance: u32,
        window: Option<Window>,
        first: u64,
    ) -> Result<Self, IndexError> {
        window.unwrap_or_default().check()?;
        super::checked_distance(max_distance)?;
        let (tables, ids) = (Tables::new(Arc::clone(&plan)), Documents::starting_at(first)?);
        Ok(Self::around(plan, max_distance, window, Hamming { tables, ids, unsealed: None }))
    }

    /// The next id's item; None: the id has been used and is gone.
    pub(crate) fn restore(&mut self, item: Option<Item>) {
        self.shared.state.write().kind.ids.restore(item);
    }

    /// Completes a restored index. What was added after the segment was sealed is not in it and enters a memtable now; what was
    /// deleted since is left out of the tables.
    pub(crate) fn finish(&mut self, run: Option<Segment>, ages: Ages) {
        let mut state = self.shared.state.write();
        state.ages = ages;
        let Hamming { tables, ids, .. } = &mut state.kind;
        let run = run.filter(|run| run.len() > 0);
        let values = run.as_ref().map_or(&[][..], Segment::values);
        let (known, _) = ids.known();
        let found = values.iter().filter(|&&value| ids.first(value).is_some()).count();
        let mut missing = Vec::new();
        if found < known {
            let prefixes = self.plan().prefixes();
            let sealed =
                |value: &u64| run.as_ref().is_some_and(|run| run.contains(*value, prefixes));
            let all: AHashSet<u64> = ids.fingerprints().filter(|value| !sealed(value)).collect();
            missing.extend(all);
            missing.sort_unstable();
        }
        if let Some(run) = run {
            let lives = |value: u64| ids.first(value).is_some();
            let keep: Option<&(dyn Fn(u64) -> bool + Sync)> = Some(&lives);
            let whole = found == run.len();
            let run = if whole { run } else { segment::build(self.plan(), &[&run], &[], keep) };
            if run.len() > 0 {
                tables.put(run);
            }
        }
        tables.extend(&missing);
        drop(state);
        if self.shared.is_due() {
            self.shared.start();
        }
    }
}
