//! An index put together again from what was saved.

use std::sync::Arc;

use ahash::AHashSet;

use super::{Documents, Hamming, Item};
use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{self, Segment};
use crate::hamming::tables::Tables;
use crate::live::{Ages, Live, Window};

impl Live<Hamming> {
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
