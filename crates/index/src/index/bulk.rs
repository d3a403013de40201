//! Adding so much at once that the tables are better made anew than grown.
//!
//! Every item gets its id first, in a map that has room for all; then one merge takes the new fingerprints, unsorted as
//! they came, with all cores. Searches go on, and find the batch when it is done. Who looks for near documents before
//! it holds the lock of writers must know that fingerprints of a batch under way are in no table: [`State::unsealed`].
//!
//! [`State::unsealed`]: super::State

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Shared;
use super::background::SLICE;
use crate::Item;

impl Shared {
    /// Adds items for which there is room; the caller holds `writers`. About 100 ns for an id, and 20 to 30 ns of one
    /// core for each table.
    pub(super) fn add_bulk(self: &Arc<Self>, mut stored: impl Iterator<Item = Item>, count: usize) {
        {
            let mut state = self.state.write();
            state.unsealed = Some(state.ids.next());
        }
        while self.state.write().ids.reserve(count, SLICE) {}
        let mut fresh = Vec::with_capacity(count);
        let mut slice = Vec::with_capacity(SLICE);
        loop {
            slice.clear();
            slice.extend(stored.by_ref().take(SLICE));
            if slice.is_empty() {
                break;
            }
            let mut state = self.state.write();
            let values = slice.iter().filter_map(|item| match item {
                Item::Fingerprint(value) => Some(*value),
                _ => None,
            });
            values.clone().for_each(|value| state.ids.prefetch(value));
            values.for_each(|value| state.ids.prefetch_records(value));
            for &item in &slice {
                if let (Item::Fingerprint(value), (_, true)) = (item, state.ids.add(item)) {
                    fresh.push(value);
                }
            }
        }
        let fresh = Arc::new(fresh);
        let sealed = self.state.write().stack.request_with(Arc::clone(&fresh));
        if self.wait(&sealed, &AtomicBool::new(false)).is_err() {
            // No merge any more: the fronts take them.
            for values in fresh.chunks(SLICE) {
                self.state.write().stack.extend(values);
            }
        }
        self.state.write().unsealed = None;
    }
}
