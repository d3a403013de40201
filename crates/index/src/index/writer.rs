//! Several changes as one step, for those who keep something of their own beside the index.

use std::cell::Cell;

use parking_lot::MutexGuard;

use super::{Index, stored};
use crate::{IndexError, Item, Match};

/// The only writer of an index; searches go on.
///
/// Until it is dropped, other writers wait: a changing method of [`Index`] itself, called by the same thread, would wait
/// for ever.
#[derive(Debug)]
pub struct Writer<'a> {
    index: &'a Index,
    /// What the last look has shown to be in no table.
    unknown: Cell<Option<Item>>,
    _lock: MutexGuard<'a, ()>,
}

impl Index {
    /// Waits for other writers, then keeps them out.
    pub fn writer(&self) -> Writer<'_> {
        Writer { index: self, unknown: Cell::new(None), _lock: self.shared.writers.lock() }
    }
}

impl Writer<'_> {
    /// Lets time go on to `at` (default: the clock): in an index with a window, what is then too old leaves. The result is
    /// the time that counts, which never runs backwards; 0 without a window.
    pub fn advance(&mut self, at: Option<u64>) -> u64 {
        self.index.shared.advance(at)
    }

    /// The nearest live document within the index's distance, ties to the lowest id.
    pub fn nearest(&self, item: Item) -> Option<Match> {
        let state = self.index.shared.state.read();
        let (near, unknown) = state.nearest(stored(item), self.index.max_distance);
        self.unknown.set(unknown.then_some(item));
        near
    }

    /// The id that the next addition gets.
    pub fn next_id(&self) -> u64 {
        self.index.next_id()
    }

    /// Whether so many more documents fit.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn check_room(&self, more: u64) -> Result<(), IndexError> {
        self.index.shared.state.read().ids.check_room(more)
    }

    /// Adds an item at a time that [`Writer::advance`] has given, and returns its id.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn add(&mut self, item: Item, at: u64) -> Result<u64, IndexError> {
        let unknown = self.unknown.take() == Some(item);
        self.index.shared.add_at(stored(item), at, unknown)
    }

    /// Makes a live document as young as `at`, in an index with a window; nothing in others.
    pub fn touch(&mut self, id: u64, at: u64) {
        if self.index.has(id) {
            self.index.shared.touch(id, at);
        }
    }

    /// Takes an id away; false if it was not alive.
    pub fn delete(&mut self, id: u64) -> bool {
        let deleted = self.index.shared.state.write().ids.delete(id);
        self.index.shared.tidy();
        deleted
    }
}
