//! The right to change an index, for as long as one change, or one batch, takes.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::change::Change;
use super::kind::{Kind, Nearest};
use super::log::Log;
use super::state::{SLICE, State};
use super::turns::Turn;
use super::window::clock;
use super::{AddOptions, Live, NOWHERE, OnDuplicate, Outcome, Shared};
use crate::IndexError;
use crate::ids::Ids;
use std::sync::Arc;

/// The only writer of an index; searches go on.
///
/// Until it is dropped, or a batch gives way ([`Writer::next`]), other writers wait: a changing method of [`Live`] itself,
/// called by the same thread, would wait for ever. Where the background must catch up, the thread waits for it afterwards, unless
/// somebody is in a hurry ([`Live::hurry`]).
pub struct Writer<'a, K: Kind> {
    pub(crate) live: &'a Live<K>,
    /// What the last look has learnt.
    hint: Cell<K::Hint>,
    /// Whether changes are ahead of the background, so that this thread must wait before its next one.
    pub(super) pressed: bool,
    /// Of a batch: what ends it, and the items that it has come to so far.
    pub(crate) cancel: &'a AtomicBool,
    pub(super) items: u64,
    /// An addition as it is written down, before it is made.
    written: Vec<u8>,
    pub(super) turn: Turn<'a, Log>,
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

    /// Keeps other writers out for a moment, for who looks after what is kept beside the index: nothing is changed that a log must
    /// have, so it needs no room on the disk, as a [`Live::writer`] does.
    pub fn turn(&self) -> impl Sized + '_ {
        self.shared.turns.turn()
    }

    /// A writer for a batch of so many items, each of which begins with [`Writer::next`], until `cancel` is up; waits for
    /// other batches. Must not be held while the thread waits for tasks of its pool.
    ///
    /// # Errors
    /// [`IndexError::Full`] if not all of them fit, [`IndexError::Cancelled`] if the flag is up, and as
    /// [`Live::writer`].
    pub fn batch<'a>(
        &'a self,
        items: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Writer<'a, K>, IndexError> {
        let mut writer = self.enter(self.shared.turns.batch())?;
        writer.cancel = cancel;
        writer.check_cancel()?;
        writer.make_room(items as u64)?;
        writer.turn.promise(items as u64);
        Ok(writer)
    }

    #[inline]
    fn enter<'a>(&'a self, turn: Turn<'a, Log>) -> Result<Writer<'a, K>, IndexError> {
        turn.check()?;
        K::sound(&self.shared.options)?;
        Ok(self.seated(turn))
    }

    #[inline]
    fn seated<'a>(&'a self, turn: Turn<'a, Log>) -> Writer<'a, K> {
        /// Of single changes, which nothing cancels.
        static NEVER: AtomicBool = AtomicBool::new(false);
        let (hint, written) = (Cell::default(), Vec::new());
        Writer { live: self, hint, pressed: false, cancel: &NEVER, items: 0, written, turn }
    }

    /// A writer that makes changes again which are written down already, in an index that writes none down itself.
    pub(crate) fn rewriter(&self) -> Writer<'_, K> {
        self.seated(self.shared.turns.turn())
    }
}

impl<K: Kind> Writer<'_, K> {
    pub(super) fn shared(&self) -> &Arc<Shared<K>> {
        &self.live.shared
    }

    /// Notes a small change, for which every turn begins with room on the disk.
    pub(crate) fn note(&mut self, change: &Change<'_, K>) {
        let live = self.live;
        self.turn.note(&live.shared.options, change);
    }

    /// A batch comes to its next `items` items: single changes that wait have the turn first, and the background catches up.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`] and [`IndexError::CancelledAfter`]: the items before stay. [`IndexError::File`],
    /// [`IndexError::Stopped`]: a change that came between could not be written down, and this batch's with it.
    pub fn next(&mut self, items: usize) -> Result<(), IndexError> {
        self.settle();
        let kept = self.turn.keep_some();
        self.undo_unkept();
        kept?;
        self.check_cancel()?;
        self.turn.next(items as u64);
        self.hint.take();
        self.items += items as u64;
        self.turn.check()
    }

    /// Waits where changes are ahead of the background, unless somebody is in a hurry.
    fn settle(&mut self) {
        if std::mem::take(&mut self.pressed) && !self.shared().is_hurried() {
            let cancel = self.cancel;
            self.unlocked(|shared| K::settle(shared, cancel));
        }
    }

    fn check_cancel(&self) -> Result<(), IndexError> {
        match self.items {
            _ if !self.cancel.load(Ordering::Relaxed) => Ok(()),
            0 => Err(IndexError::Cancelled),
            items => Err(IndexError::CancelledAfter { items }),
        }
    }

    /// Somebody who waits has the turn first; what this one has learnt may no longer hold.
    fn give_way(&mut self) {
        // What cannot be written down is told by the next look at the log.
        let _ = self.turn.keep_some();
        self.turn.give_way();
        self.hint.take();
    }

    /// Lets others change the index while `wait` runs.
    pub(crate) fn unlocked(&mut self, wait: impl FnOnce(&Arc<Shared<K>>)) {
        let shared = &self.live.shared;
        self.turn.unlocked(|_| wait(shared));
        self.hint.take();
    }

    /// Lets time go on to `at` (default: the clock), after [`Live::admit`]: in an index with a window, what is then too old
    /// leaves, a slice at a time; whoever waits for a turn comes between two slices. Time never runs backwards.
    ///
    /// # Errors
    /// [`IndexError::File`] where the disk has no room for a further slice: what has left so far is gone, and time has not moved.
    pub fn advance(&mut self, at: Option<u64>) -> Result<(), IndexError> {
        if self.shared().window().is_none() {
            return Ok(());
        }
        let at = at.unwrap_or_else(clock);
        while let Some(gone) = self.slice(|state, left| state.move_on(at, left)) {
            if gone < SLICE {
                self.note(&Change::Advance(at));
                break;
            }
            self.check_room()?;
        }
        Ok(())
    }

    /// Whether the disk has room for another slice of documents that leave, and what was noted could be written down.
    fn check_room(&self) -> Result<(), IndexError> {
        if self.turn.writes() { self.turn.check() } else { Ok(()) }
    }

    /// Takes every document away that is before `before`, as [`Writer::advance`] does; how many they were.
    pub(super) fn expire_before(&mut self, before: u64) -> Result<u64, IndexError> {
        let mut all = 0;
        loop {
            let expire = |state: &mut State<K>, left: &mut dyn FnMut(u64)| {
                Some(state.expire_some(before, 0, left))
            };
            let gone = self.slice(expire).unwrap_or_default();
            all += gone;
            if gone < SLICE {
                if gone > 0 {
                    self.note(&Change::Expire(before));
                }
                return Ok(all);
            }
            self.check_room()?;
        }
    }

    /// Lets some documents leave. After a whole slice others have their turns, before the change that would say the same of
    /// all slices, so each document is noted.
    fn slice(
        &mut self,
        leave: impl FnOnce(&mut State<K>, &mut dyn FnMut(u64)) -> Option<u64>,
    ) -> Option<u64> {
        let (mut left, kept) = (Vec::new(), self.turn.writes());
        let mut note = |id| {
            if kept {
                left.push(id);
            }
        };
        let gone = leave(&mut self.shared().state.write(), &mut note)?;
        if gone > 0 {
            self.pressed |= K::left(self.shared());
        }
        if gone == SLICE {
            for id in left {
                self.note(&Change::Delete(id));
            }
            self.give_way();
        }
        Some(gone)
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

    /// Puts an item in, if there is room: its id, and whether the background has something to do.
    fn place(&mut self, form: &K::Form<'_>) -> Result<(u64, bool), IndexError> {
        let (hint, more) = (self.hint.take(), 1 + self.turn.promised());
        {
            let mut state = self.shared().state.write();
            if state.kind.check_room(more).is_ok() {
                return Ok(state.add(form, hint));
            }
        }
        self.make_room(1)?;
        Ok(self.shared().state.write().add(form, hint))
    }

    /// Adds an item at the latest time ([`Writer::advance`]), and returns its id. In an index with a window that is full the
    /// oldest documents leave first.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::File`] where the disk has no room for it, and those of an item that does not fit
    /// the index.
    pub fn add(&mut self, item: &K::Item) -> Result<u64, IndexError> {
        let live = self.live;
        K::check(&live.shared.options, item)?;
        self.add_form(item, &K::form(&live.shared.options, item))
    }

    /// [`Writer::add`], with what the caller keeps of this document: written down with it, and told when the index is opened
    /// again.
    ///
    /// # Errors
    /// As [`Writer::add`].
    pub fn add_beside(
        &mut self,
        item: &K::Item,
        beside: impl FnOnce() -> Vec<u8>,
    ) -> Result<u64, IndexError> {
        let live = self.live;
        K::check(&live.shared.options, item)?;
        let form = K::form(&live.shared.options, item);
        let beside = if self.turn.writes() { beside() } else { Vec::new() };
        self.add_written(item, &form, &beside)
    }

    pub(super) fn add_form(
        &mut self,
        item: &K::Item,
        form: &K::Form<'_>,
    ) -> Result<u64, IndexError> {
        self.add_written(item, form, &[])
    }

    fn add_written(
        &mut self,
        item: &K::Item,
        form: &K::Form<'_>,
        beside: &[u8],
    ) -> Result<u64, IndexError> {
        self.write_add(item, beside)?;
        let mut left = Vec::new();
        if self.shared().window().is_some_and(|window| window.max_count.is_some()) {
            let kept = self.turn.writes();
            let gone = self.shared().state.write().expire(0, 1, |id| {
                if kept {
                    left.push(id);
                }
            });
            if gone > 0 {
                self.pressed |= K::left(self.shared());
            }
        }
        let (id, due) = match self.place(form) {
            Ok(placed) => placed,
            Err(full) => {
                // Who left for an addition follows from it; there is none.
                for id in left {
                    self.note(&Change::Delete(id));
                }
                return Err(full);
            }
        };
        if let Err(unsound) = K::sound(&self.shared().options) {
            // No further change is made, so that nobody misses its id.
            self.shared().state.write().delete(id);
            return Err(unsound);
        }
        if !self.written.is_empty() {
            let count = if beside.is_empty() { 1 } else { 2 };
            self.turn.note_written(&self.written, count, id);
        }
        if due {
            self.overdue();
        }
        Ok(id)
    }

    /// Writes an addition aside, once the disk has room for it: it is refused before it is made, not afterwards.
    fn write_add(&mut self, item: &K::Item, beside: &[u8]) -> Result<(), IndexError> {
        // It may have been closed while others had their turns.
        self.turn.refuse_closed()?;
        if !self.turn.writes() {
            return Ok(());
        }
        let options = &self.live.shared.options;
        self.written.clear();
        Change::<K>::Add(item).write(options, &mut self.written);
        if !beside.is_empty() {
            Change::<K>::Beside(beside).write(options, &mut self.written);
        }
        self.turn.reserve(self.written.len())
    }

    /// Notes additions that are about to be made, once the disk has room for them.
    ///
    /// # Errors
    /// [`IndexError::File`].
    pub(crate) fn note_all<'b>(
        &mut self,
        items: impl Iterator<Item = &'b K::Item>,
    ) -> Result<(), IndexError>
    where
        K::Item: 'b,
    {
        if !self.turn.writes() {
            return Ok(());
        }
        let count = self.write_all(items);
        self.turn.reserve(self.written.len())?;
        self.turn.note_written(&self.written, count, self.live.next_id());
        Ok(())
    }

    /// Notes a few additions that are about to be made, for which every turn begins with room on the disk.
    pub(crate) fn note_added<'b>(&mut self, items: impl Iterator<Item = &'b K::Item>)
    where
        K::Item: 'b,
    {
        if self.turn.writes() {
            let count = self.write_all(items);
            if count > 0 {
                self.turn.note_written(&self.written, count, self.live.next_id());
            }
        }
    }

    fn write_all<'b>(&mut self, items: impl Iterator<Item = &'b K::Item>) -> u64
    where
        K::Item: 'b,
    {
        let (options, mut count) = (&self.live.shared.options, 0);
        self.written.clear();
        for item in items {
            Change::<K>::Add(item).write(options, &mut self.written);
            count += 1;
        }
        count
    }

    /// Something that the caller keeps, to be told when the index is opened again.
    ///
    /// # Errors
    /// [`IndexError::File`] where the disk has no room for it.
    pub fn note_beside(&mut self, bytes: impl FnOnce() -> Vec<u8>) -> Result<(), IndexError> {
        if self.turn.writes() {
            let bytes = bytes();
            self.turn.reserve(bytes.len())?;
            self.note(&Change::Note(&bytes));
        }
        Ok(())
    }

    /// [`Writer::note_beside`] of less than a hundred bytes, for which every change begins with room on the disk: it cannot fail
    /// once the change is made that it goes with.
    pub fn note_small(&mut self, bytes: impl FnOnce() -> Vec<u8>) {
        if self.turn.writes() {
            self.note(&Change::Note(&bytes()));
        }
    }

    /// Whether an addition would find room, on the disk and among the ids: to be asked before something else is changed for it.
    ///
    /// # Errors
    /// As [`Writer::add`].
    pub fn admits(
        &mut self,
        item: &K::Item,
        beside: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), IndexError> {
        K::check(&self.live.shared.options, item)?;
        let beside = if self.turn.writes() { beside() } else { Vec::new() };
        self.write_add(item, &beside)?;
        self.make_room(1)
    }

    /// How far the caller has come, kept with the changes since the last [`Writer::keep`].
    ///
    /// # Errors
    /// [`IndexError::Position`] where it falls.
    pub fn position(&mut self, position: u64) -> Result<(), IndexError> {
        if let Some(before) = self.live.position().filter(|&before| position < before) {
            return Err(IndexError::Position { given: position, before });
        }
        self.shared().position.store(position.min(NOWHERE - 1), Ordering::Release);
        self.note(&Change::Position(position));
        Ok(())
    }

    /// Writes the changes of this writer down as one frame, however many they are: all of them are there after a crash, or
    /// none. Single changes that come between two items are written down with those that came before them.
    pub fn hold(&mut self) {
        self.turn.whole = true;
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
        self.advance(how.at)?;
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

    /// An item is not added because of this match: what the kind learns from that. False: nothing.
    pub fn pass_over(&mut self, item: &K::Item, near: &K::Match) -> bool {
        let live = self.live;
        K::OVERLOOKS && self.overlook(item, &K::form(&live.shared.options, item), near)
    }

    fn overlook(&mut self, item: &K::Item, form: &K::Form<'_>, near: &K::Match) -> bool {
        let learnt = K::OVERLOOKS && self.shared().state.write().kind.overlook(form, near);
        if learnt {
            self.note(&Change::Overlook(item, *near));
        }
        learnt
    }

    /// Makes a live document as young as the latest time, in an index with a window; nothing in others. False: nothing.
    pub fn touch(&mut self, id: u64) -> bool {
        let touched = self.shared().window().is_some() && self.shared().state.write().touch(id);
        if touched {
            self.note(&Change::Touch(id));
        }
        touched
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
    /// [`IndexError::File`]: additions are undone, and no further changes are made.
    pub fn keep(&mut self) -> Result<(), IndexError> {
        let kept = self.turn.keep();
        self.undo_unkept();
        self.turn.has_left(|| self.live.len());
        kept
    }

    /// Takes away what was added and could not be written down: who asked for it was told so, and nobody else shall find it.
    fn undo_unkept(&mut self) {
        if let Some(first) = self.turn.take_unkept() {
            for id in first..self.next_id() {
                self.shared().state.write().delete(id);
            }
        }
    }
}

impl<K: Kind> Drop for Writer<'_, K> {
    fn drop(&mut self) {
        // Who has not kept its changes has failed half-way: what it did is in memory, so it belongs into the log. Where
        // that fails the next change is refused.
        let _ = self.keep();
        if self.turn.is_batch() {
            self.turn.whole = false;
        }
        self.settle();
    }
}

impl<K: Kind> Shared<K> {
    /// The id that the next addition gets.
    pub(crate) fn next_id(&self) -> u64 {
        self.state.read().kind.ids().next()
    }
}
