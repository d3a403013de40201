//! Adding so much at once that the tables are better made anew than grown.
//!
//! Every item gets its id first, a slice per turn, in a map that has room for all; then one merge takes the new fingerprints,
//! unsorted as they came, with all cores, while nobody waits for a turn. Searches of many at a time find the batch when it is
//! done or cancelled. Single searches and checks find it at once, by reading its fingerprints one by one ([`Hamming::unsealed`]); who looks
//! for near documents before it has the turn must know that they are in no table.
//!
//! [`Hamming::unsealed`]: super::Hamming

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::thread;

use parking_lot::Mutex;

use super::background::SLICE;
use super::segment::Segment;
use super::{Hamming, Item, Unsealed, stored_all};
use crate::IndexError;
use crate::hamming::scan::Hit;
use crate::ids::Ids;
use crate::live::{Added, Shared, Writer};

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
            state.kind.unsealed = Some(Unsealed { from, values, given_up: false });
            Added::from(from)
        };
        let mut refused = Ok(());
        while refused.is_ok() && shared.state.write().kind.ids.reserve(items.len(), SLICE) {
            refused = self.next(0);
        }
        for slice in items.chunks(SLICE) {
            if refused.is_ok() {
                refused = self.next(slice.len());
            }
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
        let (values, cancel) = (values.unwrap_or_default(), self.cancel);
        self.unlocked(|shared| {
            shared.background.reached(super::Stage::Assigned);
            let sealed = shared.state.write().kind.tables.request_with(Arc::clone(&values));
            let sealed = Arc::new(Mutex::new(sealed));
            if !shared.sealed_bulk(&sealed, &values, cancel) {
                // Who has cancelled does not wait: another thread does.
                if let Some(unsealed) = &mut shared.state.write().kind.unsealed {
                    unsealed.given_up = true;
                }
                let shared_too = Arc::clone(shared);
                let (sealed_too, values_too) = (Arc::clone(&sealed), Arc::clone(&values));
                let behind = move || {
                    shared_too.sealed_bulk(&sealed_too, &values_too, &NEVER);
                };
                if thread::Builder::new().name("simhash-seal".into()).spawn(behind).is_err() {
                    shared.sealed_bulk(&sealed, &values, &NEVER);
                }
            }
        });
        refused.map(|()| added)
    }
}

/// What waits for a merge whatever happens.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Shared<Hamming> {
    /// Waits until the fingerprints of a batch are in the tables; false: `cancel` is up, and they are still unsealed.
    fn sealed_bulk(
        self: &Arc<Self>,
        sealed: &Mutex<Receiver<Option<Segment>>>,
        values: &[u64],
        cancel: &AtomicBool,
    ) -> bool {
        match self.wait(&sealed.lock(), cancel) {
            Err(IndexError::Cancelled) => return false,
            Ok(_) => {}
            Err(_) => {
                for values in values.chunks(SLICE) {
                    self.state.write().kind.enter(values);
                }
            }
        }
        self.state.write().kind.unsealed = None;
        true
    }
}
