//! The right to change an index, for as long as one change, or one batch, takes.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::kind::{Change, Kind, Nearest};
use super::log::Log;
use super::state::SLICE;
use super::turns::Turn;
use super::window::clock;
use super::{AddOptions, Live, OnDuplicate, Outcome, Shared};
use crate::IndexError;
use crate::ids::Ids;
use std::sync::Arc;

/// The only writer of an index; searches go on.
///
/// Until it is dropped, or a batch gives way ([`Writer::next`]), other writers wait: a changing method of [`Live`] itself,
/// called by the same thread, would wait for ever. Where the background must catch up, the thread waits for it afterwards.
pub struct Writer<'a, K: Kind> {
    pub(crate) live: &'a Live<K>,
    /// What the last look has learnt.
    hint: Cell<K::Hint>,
    /// Whether changes are ahead of the background, so that this thread must wait before its next one.
    pressed: bool,
    turn: Turn<'a, Log<K>>,
}

impl<K: Kind> fmt::Debug for Writer<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl<K: Kind> Live<K> {
    /// Waits for other writers, then keeps them out; of a batch under way it waits for one item.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Stopped`] after a change that could not be written down.
    pub fn writer(&self) -> Result<Writer<'_, K>, IndexError> {
        self.enter(self.shared.turns.turn())
    }

    /// A writer for a batch of so many items, each of which begins with [`Writer::next`]; waits for other batches. Must not
    /// be held while the thread waits for tasks of its pool.
    ///
    /// # Errors
    /// [`IndexError::Full`] if not all of them fit, [`IndexError::Cancelled`] if the flag is up, and as
    /// [`Live::writer`].
    pub fn batch(&self, items: usize, cancel: &AtomicBool) -> Result<Writer<'_, K>, IndexError> {
        let mut writer = self.enter(self.shared.turns.batch())?;
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        writer.make_room(items as u64)?;
        writer.turn.promise(items as u64);
        Ok(writer)
    }

    fn enter<'a>(&'a self, turn: Turn<'a, Log<K>>) -> Result<Writer<'a, K>, IndexError> {
        turn.check()?;
        K::sound(&self.shared.options)?;
        Ok(Writer { live: self, hint: Cell::default(), pressed: false, turn })
    }
}

impl<K: Kind> Writer<'_, K> {
    fn shared(&self) -> &Arc<Shared<K>> {
        &self.live.shared
    }

    fn note(&mut self, change: &Change<'_, K>) {
        let live = self.live;
        self.turn.note(&live.shared.options, change);
    }

    /// A batch comes to its next `items` items: single changes that wait have the turn first, and the background catches up.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Stopped`]: a change that came between could not be written down, and this batch's with it.
    pub fn next(&mut self, items: usize) -> Result<(), IndexError> {
        if std::mem::take(&mut self.pressed) {
            self.unlocked(K::settle);
        }
        self.turn.next(items as u64);
        self.hint.take();
        self.turn.check()
    }

    /// Lets others change the index while `wait` runs.
    pub(crate) fn unlocked(&mut self, wait: impl FnOnce(&Arc<Shared<K>>)) {
        let shared = &self.live.shared;
        self.turn.unlocked(|_| wait(shared));
        self.hint.take();
    }

    /// Lets time go on to `at` (default: the clock), after [`Live::admit`]: in an index with a window, what is then too old
    /// leaves. Time never runs backwards.
    pub fn advance(&mut self, at: Option<u64>) {
        if self.shared().window().is_none() {
            return;
        }
        let at = at.unwrap_or_else(clock);
        let before = self.shared().state.write().advance(at);
        if let Some(before) = before {
            self.expire(before, 0, |_| ());
            self.note(&Change::Advance(at));
        }
    }

    /// Takes away what is before `before` or beyond the count, leaving room for `room` more; searches come in between.
    fn expire(&mut self, before: u64, room: u64, mut left: impl FnMut(u64)) -> u64 {
        let mut all = 0;
        loop {
            let gone = self.shared().state.write().expire_some(before, room, &mut left);
            all += gone;
            if gone > 0 {
                self.pressed |= K::left(self.shared());
            }
            if gone < SLICE {
                return all;
            }
        }
    }

    /// Takes every document away that is before `before`; how many they were.
    pub(super) fn expire_before(&mut self, before: u64) -> u64 {
        let gone = self.expire(before, 0, |_| ());
        if gone > 0 {
            self.note(&Change::Expire(before));
        }
        gone
    }

    /// The best live match of an item, ties to the lowest id, and whether a limit cut the look.
    ///
    /// # Errors
    /// Those of an item that does not fit the index.
    pub fn nearest(&self, item: &K::Item) -> Result<(Option<K::Match>, bool), IndexError> {
        let options = &self.shared().options;
        K::check(options, item)?;
        self.nearest_form(&K::form(options, item))
    }

    fn nearest_form(&self, form: &K::Form<'_>) -> Result<(Option<K::Match>, bool), IndexError> {
        let state = self.shared().state.read();
        state.kind.prefetch(form);
        let Nearest { best, truncated, hint } = state.kind.nearest(&self.shared().options, form);
        K::sound(&self.shared().options)?;
        self.hint.set(hint);
        Ok((best, truncated))
    }

    /// The id that the next addition gets.
    pub fn next_id(&self) -> u64 {
        self.live.next_id()
    }

    /// Whether so many more fit beside what is promised to a batch; what has left is purged if they do not.
    fn make_room(&mut self, more: u64) -> Result<(), IndexError> {
        let more = more + self.turn.promised();
        let fits = |shared: &Shared<K>| shared.state.read().kind.check_room(more);
        if fits(self.shared()).is_err() {
            K::reclaim(self.shared());
            fits(self.shared())?;
        }
        Ok(())
    }

    /// Adds an item at the latest time ([`Writer::advance`]), and returns its id. In an index with a window that is full the
    /// oldest documents leave first.
    ///
    /// # Errors
    /// [`IndexError::Full`], and those of an item that does not fit the index.
    pub fn add(&mut self, item: &K::Item) -> Result<u64, IndexError> {
        let live = self.live;
        K::check(&live.shared.options, item)?;
        self.add_form(item, &K::form(&live.shared.options, item))
    }

    pub(super) fn add_form(
        &mut self,
        item: &K::Item,
        form: &K::Form<'_>,
    ) -> Result<u64, IndexError> {
        let mut left = Vec::new();
        if self.shared().window().is_some() {
            self.expire(0, 1, |id| left.push(id));
        }
        if let Err(full) = self.make_room(1) {
            // Who left for an addition follows from it; there is none.
            for id in left {
                self.note(&Change::Delete(id));
            }
            return Err(full);
        }
        let hint = self.hint.take();
        let (id, due) = self.shared().state.write().add(form, hint);
        K::sound(&self.shared().options)?;
        self.note(&Change::Add(item));
        if due {
            self.overdue();
        }
        Ok(id)
    }

    /// Begins the work in the background that is due; this thread waits for it before its next change.
    pub(crate) fn overdue(&mut self) {
        K::overdue(self.shared());
        self.pressed = true;
    }

    /// Looks for a near document and adds the item, or does what `how` says.
    pub(super) fn check(
        &mut self,
        item: &K::Item,
        form: &K::Form<'_>,
        how: AddOptions,
    ) -> Result<Outcome<K::Match>, IndexError> {
        self.advance(how.at);
        let (near, truncated) = self.nearest_form(form)?;
        if let Some(near) = near {
            if how.on_duplicate == OnDuplicate::Touch {
                self.touch(K::id_of(&near));
            }
            if how.on_duplicate != OnDuplicate::Add {
                self.overlook(item, form, &near);
                return Ok(Outcome { id: None, duplicate_of: Some(near), truncated });
            }
        }
        let id = self.add_form(item, form)?;
        Ok(Outcome { id: Some(id), duplicate_of: near, truncated })
    }

    /// An item is not added because of this match: what the kind learns from that.
    pub fn pass_over(&mut self, item: &K::Item, near: &K::Match) {
        if K::OVERLOOKS {
            let live = self.live;
            self.overlook(item, &K::form(&live.shared.options, item), near);
        }
    }

    fn overlook(&mut self, item: &K::Item, form: &K::Form<'_>, near: &K::Match) {
        if K::OVERLOOKS && self.shared().state.write().kind.overlook(form, near) {
            self.note(&Change::Overlook(item, *near));
        }
    }

    /// Makes a live document as young as the latest time, in an index with a window; nothing in others.
    pub fn touch(&mut self, id: u64) {
        if self.shared().window().is_some() && self.shared().state.write().touch(id) {
            self.note(&Change::Touch(id));
        }
    }

    /// Takes an id away; false if it was not alive.
    pub fn delete(&mut self, id: u64) -> bool {
        let deleted = self.shared().state.write().delete(id);
        if deleted {
            self.pressed |= K::left(self.shared());
            self.note(&Change::Delete(id));
        }
        deleted
    }

    /// Keeps what was changed, where somebody keeps changes; to be called when all are made.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Stopped`]: the changes are undone, and no further ones are made.
    pub fn keep(&mut self) -> Result<(), IndexError> {
        let shared = &self.live.shared;
        self.turn.keep(&shared.state, &shared.file_bytes)
    }
}

impl<K: Kind> Drop for Writer<'_, K> {
    fn drop(&mut self) {
        // Who has not kept its changes has failed half-way: what it did is in memory, so it belongs into the log. Where
        // that fails the next change is refused.
        let _ = self.keep();
        if self.pressed {
            self.unlocked(K::settle);
        }
    }
}

impl<K: Kind> Shared<K> {
    /// The id that the next addition gets.
    pub(crate) fn next_id(&self) -> u64 {
        self.state.read().kind.ids().next()
    }
}
