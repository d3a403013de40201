//! The parts of an index, for saving it and putting it together again.

use std::sync::Arc;

use super::{Index, Shared, State};
use crate::IndexError;
use crate::ids::Ids;
use crate::item::Item;
use crate::plan::Plan;
use crate::run::Run;
use crate::stack::Stack;
use crate::window::{Ages, Window};

/// What an index is made of, after a compaction.
pub(crate) struct Parts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) max_distance: u32,
    pub(crate) window: Option<Window>,
    pub(crate) ids: &'a Ids,
    pub(crate) ages: &'a Ages,
    pub(crate) run: Option<&'a Run>,
}

impl Index {
    /// A look at all parts; the caller holds `writers`.
    pub(super) fn with_parts_locked<T>(&self, look: impl FnOnce(&Parts<'_>) -> T) -> T {
        self.shared.compact();
        let state = self.shared.state.read();
        let run = state.stack.only_run();
        look(&Parts {
            plan: &self.plan,
            max_distance: self.max_distance,
            window: self.shared.window,
            ids: &state.ids,
            ages: &state.ages,
            run: run.as_deref(),
        })
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
        let (stack, ids) = (Stack::new(Arc::clone(&plan)), Ids::starting_at(first)?);
        Ok(Self::of(plan, max_distance, window, State { stack, ids, ages: Ages::default() }))
    }

    /// The next id's item; None: the id has been used and is gone.
    pub(crate) fn restore(&mut self, item: Option<Item>) {
        self.shared.state.write().ids.restore(item);
    }

    /// Completes a restored index; false if the run does not hold exactly the fingerprints of the records.
    pub(crate) fn finish(&mut self, run: Option<Run>, ages: Ages) -> bool {
        let mut state = self.shared.state.write();
        state.ages = ages;
        let values = run.as_ref().map_or(&[][..], Run::values);
        let (known, _) = state.ids.known();
        // As many as are known, all known: exactly those, unless one is there twice in place of another, which the
        // checksum of the section excludes.
        let fits = values.len() == known && values.iter().all(|&v| state.ids.first(v).is_some());
        if let Some(run) = run.filter(|run| fits && run.len() > 0) {
            state.stack.put(run);
        }
        fits
    }

    pub(super) fn of(
        plan: Arc<Plan>,
        max_distance: u32,
        window: Option<Window>,
        state: State,
    ) -> Self {
        let shared = Arc::new(Shared {
            writers: parking_lot::Mutex::default(),
            state: parking_lot::RwLock::new(state),
            worker: super::Worker::default(),
            window,
        });
        Self { plan, max_distance, shared, truncated: std::sync::atomic::AtomicU64::new(0) }
    }
}
