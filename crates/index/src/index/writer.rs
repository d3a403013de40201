//! The right to change an index, for as long as one change, or one batch, takes.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{AddOptions, Index, OnDuplicate, Outcome, Shared, State, stored};
use crate::turns::Turn;
use crate::window::clock;
use crate::{IndexError, Item, Match};

/// Documents that leave under one exclusive hold of the state: about a tenth of a millisecond.
const SLICE: u64 = 512;

/// The only writer of an index; searches go on.
///
/// Until it is dropped, or a batch gives way ([`Writer::next`]), other writers wait: a changing method of [`Index`] itself,
/// called by the same thread, would wait for ever. Where merges must catch up, the thread waits for them afterwards.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) index: &'a Index,
    /// What the last look has shown to be in no table.
    unknown: Cell<Option<Item>>,
    /// Whether changes are ahead of merges, so that this thread must wait before its next one.
    pressed: bool,
    turn: Turn<'a, ()>,
}

impl Index {
    /// Waits for other writers, then keeps them out; of a batch under way it waits for one item.
    pub fn writer(&self) -> Writer<'_> {
        self.enter(self.shared.turns.turn())
    }

    /// A writer for a batch of so many items, each of which begins with [`Writer::next`]; waits for other batches. Must not
    /// be held while the thread waits for tasks of its pool.
    ///
    /// # Errors
    /// [`IndexError::Full`] if not all of them fit, [`IndexError::Cancelled`] if the flag is up.
    pub fn batch(&self, items: usize, cancel: &AtomicBool) -> Result<Writer<'_>, IndexError> {
        let mut writer = self.enter(self.shared.turns.batch());
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        writer.make_room(items as u64)?;
        writer.turn.promise(items as u64);
        Ok(writer)
    }

    fn enter<'a>(&'a self, turn: Turn<'a, ()>) -> Writer<'a> {
        Writer { index: self, unknown: Cell::new(None), pressed: false, turn }
    }

    /// Whether documents of all these times may be added: to be asked before anything is changed.
    ///
    /// # Errors
    /// [`IndexError::Skew`].
    pub fn admit(&self, times: &[u64]) -> Result<(), IndexError> {
        self.shared.skew.admit(self.shared.window, times)
    }

    /// How many milliseconds a time may be ahead of the system's clock, in an index with a window; none: any number, for
    /// times that are not milliseconds since 1970. Default [`MAX_SKEW`](crate::MAX_SKEW). Not saved with the index.
    pub fn set_max_skew(&self, most: Option<u64>) {
        self.shared.skew.set(most);
    }
}

impl State {
    /// Deletes the oldest documents below `before`, and beyond the window's count, a few; how many they were.
    fn expire_some(&mut self, limit: Option<u64>, before: u64, room: u64) -> u64 {
        let mut gone = 0;
        while gone < SLICE {
            let crowded = limit.is_some_and(|limit| self.ids.live() + room > limit);
            let before = if crowded { u64::MAX } else { before };
            let ids = &self.ids;
            let Some(id) = self.ages.pop_before(before, |id| ids.is_alive_short(id)) else { break };
            let id = self.ids.full(id);
            self.ids.delete(id);
            gone += 1;
        }
        let ids = &self.ids;
        self.ages.sweep(ids.live(), |id| ids.is_alive_short(id));
        gone
    }
}

impl Writer<'_> {
    /// A batch comes to its next `items` items: single changes that wait have the turn first, and merges catch up.
    pub fn next(&mut self, items: usize) {
        if std::mem::take(&mut self.pressed) {
            self.unlocked(Shared::settle);
        }
        self.turn.next(items as u64);
        self.unknown.set(None);
    }

    /// Lets others change the index while `wait` runs.
    pub(super) fn unlocked(&mut self, wait: impl FnOnce(&Arc<Shared>)) {
        let shared = &self.index.shared;
        self.turn.unlocked(|_| wait(shared));
    }

    /// Lets time go on to `at` (default: the clock): in an index with a window, what is then too old leaves. The result is
    /// the time that counts, which never runs backwards; 0 without a window. See [`Index::admit`].
    pub fn advance(&mut self, at: Option<u64>) -> u64 {
        let Some(window) = self.index.shared.window else { return 0 };
        let at = self.index.shared.state.write().ages.advance(at.unwrap_or_else(clock));
        if let Some(age) = window.max_age {
            self.expire(at.saturating_sub(age), 0);
        }
        at
    }

    /// Deletes what is before `before` or beyond the count, leaving room for `room` more.
    pub(super) fn expire(&mut self, before: u64, room: u64) -> u64 {
        let limit = self.index.shared.window.and_then(|window| window.max_count);
        let mut all = 0;
        loop {
            let gone = self.index.shared.state.write().expire_some(limit, before, room);
            all += gone;
            if gone > 0 {
                self.tidy();
            }
            if gone < SLICE {
                return all;
            }
        }
    }

    /// Has a purge made if too much is dead.
    fn tidy(&mut self) {
        let shared = &self.index.shared;
        if shared.is_due() {
            shared.start();
        }
        self.pressed |= shared.state.read().ids.is_mostly_dead();
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

    /// Whether so many more fit beside what is promised to a batch; what is dead is purged if they do not.
    fn make_room(&mut self, more: u64) -> Result<(), IndexError> {
        let (shared, more) = (&self.index.shared, more + self.turn.promised());
        let fits = || shared.state.read().ids.check_room(more);
        if fits().is_ok() || shared.state.read().ids.known().1 == 0 {
            return fits();
        }
        // Where merging has failed nothing can be purged.
        let _ = shared.seal(&AtomicBool::new(false));
        fits()
    }

    /// Adds an item at a time that [`Writer::advance`] has given, and returns its id. In an index with a window that is full
    /// the oldest documents leave first.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn add(&mut self, item: Item, at: u64) -> Result<u64, IndexError> {
        let unknown = self.unknown.take() == Some(item);
        let windowed = self.index.shared.window.is_some();
        if windowed {
            self.expire(0, 1);
        }
        self.make_room(1)?;
        let stored = stored(item);
        let (id, due) = {
            let mut state = self.index.shared.state.write();
            if let Item::Fingerprint(value) = stored
                && !unknown
            {
                // Written last: by then the lines have come. A search has read them already.
                state.stack.prefetch(value);
            }
            let (id, due) = state.add(stored, unknown);
            if windowed {
                state.ages.push(id as u32, at);
            }
            (id, due)
        };
        if due {
            self.merge();
        }
        Ok(id)
    }

    /// Starts the merge that is due.
    pub(super) fn merge(&mut self) {
        self.index.shared.start();
        self.pressed = true;
    }

    /// Looks for a near document and adds the item, or does what `options` say.
    pub(super) fn check(&mut self, item: Item, options: AddOptions) -> Result<Outcome, IndexError> {
        let at = self.advance(options.at);
        let near = self.nearest(item);
        if let (Some(near), OnDuplicate::Touch) = (near, options.on_duplicate) {
            self.touch(near.id, at);
        }
        let add = near.is_none() || options.on_duplicate == OnDuplicate::Add;
        let id = if add { Some(self.add(item, at)?) } else { None };
        Ok(Outcome { id, duplicate_of: near })
    }

    /// Makes a live document as young as `at`, in an index with a window; nothing in others.
    pub fn touch(&mut self, id: u64, at: u64) {
        if self.index.shared.window.is_some() && self.index.has(id) {
            let mut state = self.index.shared.state.write();
            let State { ages, ids, .. } = &mut *state;
            ages.renew(id as u32, at);
            ages.sweep(ids.live(), |id| ids.is_alive_short(id));
        }
    }

    /// Takes an id away; false if it was not alive.
    pub fn delete(&mut self, id: u64) -> bool {
        let deleted = self.index.shared.state.write().ids.delete(id);
        self.tidy();
        deleted
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if self.pressed {
            self.unlocked(Shared::settle);
        }
    }
}
