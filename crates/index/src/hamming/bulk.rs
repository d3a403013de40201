//! Adding so much at once that the tables are better made anew than grown.
//!
//! Every item gets its id first, a slice per turn, in a map that has room for all; then one merge takes the new fingerprints,
//! unsorted as they came, with all cores, while nobody waits for a turn. Searches of many at a time find the batch when it is
//! done. Single searches and checks find it at once, by reading its fingerprints one by one ([`Hamming::unsealed`]); who looks
//! for near documents before it has the turn must know that they are in no table.
//!
//! [`Hamming::unsealed`]: super::Hamming

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::background::SLICE;
use super::{Hamming, Item, Unsealed, stored_all};
use crate::IndexError;
use crate::hamming::scan::Hit;
use crate::ids::Ids;
use crate::live::{Added, Writer};

impl Hamming {
    /// Adds items for which there is room, their fingerprints to the unsealed ones.
    fn add_unsealed(&mut self, items: &[Item]) {
        let Self { ids, unsealed, .. } = self;
        let Some(unsealed) = unsealed else { return };
        let values = items.iter().filter_map(|item| match *item {
            Item::Fingerprint(value) => Some(value),
            _ => None,
        });
        values.clone().for_each(|value| ids.prefetch(value));
        values.for_each(|value| ids.prefetch_records(value));
        let fresh = Arc::make_mut(&mut unsealed.values);
        for &item in items {
            if let (Item::Fingerprint(value), (_, true)) = (item, ids.add(item)) {
                fresh.push(value);
            }
        }
    }

    /// Enters unsealed fingerprints into a memtable, where no merge takes them any more.
    fn enter(&mut self, values: &[u64]) {
        let mut hits: Vec<Hit> = Vec::new();
        for &value in values {
            hits.clear();
            self.tables.find(value, 0, &mut hits);
            // One that was purged in between is gone, or has come back in a memtable.
            if hits.is_empty() && self.ids.is_known(value) {
                self.tables.push(value);
            }
        }
    }
}

impl Writer<'_, Hamming> {
    /// Adds the items of a batch, a slice per turn: about 100 ns for an id, and 20 to 30 ns of one core for each table.
    pub(super) fn add_bulk<B: AsRef<Item>>(&mut self, items: &[B]) -> Result<Added, IndexError> {
        let shared = &self.live.shared;
        let mut added = {
            let mut state = shared.state.write();
            let from = state.kind.ids.ids().next();
            let values = Arc::new(Vec::with_capacity(items.len()));
            state.kind.unsealed = Some(Unsealed { from, values });
            Added::from(from)
        };
        while shared.state.write().kind.ids.reserve(items.len(), SLICE) {}
        let mut refused = Ok(());
        for slice in items.chunks(SLICE) {
            refused = self.next(slice.len());
            if refused.is_ok() {
                refused = self.note_all(slice.iter().map(AsRef::as_ref));
            }
            if refused.is_err() {
                // What has its ids is sealed all the same.
                break;
            }
            let mut state = shared.state.write();
            let first = state.kind.ids.ids().next();
            state.kind.add_unsealed(&stored_all(slice));
            added.push(first..state.kind.ids.ids().next());
        }
        let values = {
            let state = shared.state.read();
            state.kind.unsealed.as_ref().map(|unsealed| Arc::clone(&unsealed.values))
        };
        let values = values.unwrap_or_default();
        self.unlocked(|shared| {
            shared.background.reached(super::Stage::Assigned);
            let sealed = shared.state.write().kind.tables.request_with(Arc::clone(&values));
            if shared.wait(&sealed, &AtomicBool::new(false)).is_err() {
                for values in values.chunks(SLICE) {
                    shared.state.write().kind.enter(values);
                }
            }
            shared.state.write().kind.unsealed = None;
        });
        refused.map(|()| added)
    }
}
