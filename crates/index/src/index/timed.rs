//! Additions with a time, what a duplicate does, and the documents that leave the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::{Index, Shared, State, stored};
use crate::{Checked, IndexError, Item, Match};

/// What a check-and-add does when a near document is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDuplicate {
    /// Nothing.
    #[default]
    Skip,
    /// Adds the item all the same.
    Add,
    /// Renews the age of the near document, in an index with a window; adds nothing.
    Touch,
}

/// How to check and add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddOptions {
    /// The item's time; default: the clock, in milliseconds since 1970. Only an index with a window looks at it.
    pub at: Option<u64>,
    /// What to do with a near document.
    pub on_duplicate: OnDuplicate,
}

/// What a check-and-add found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The id under which the item was added, if it was.
    pub id: Option<u64>,
    /// The nearest document that was there already, ties to the lowest id.
    pub duplicate_of: Option<Match>,
}

/// Documents that leave under one exclusive hold of the state: about a tenth of a millisecond.
const SLICE: u64 = 512;

pub(crate) fn clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
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

impl Shared {
    /// Deletes what is before `before` or beyond the count, leaving room for `room` more; the caller holds `writers`.
    fn expire(self: &Arc<Self>, before: u64, room: u64) -> u64 {
        let limit = self.window.and_then(|window| window.max_count);
        let mut all = 0;
        loop {
            let gone = self.state.write().expire_some(limit, before, room);
            all += gone;
            if gone > 0 {
                self.tidy();
            }
            if gone < SLICE {
                return all;
            }
        }
    }

    /// Lets time go on to `at`; the caller holds `writers`.
    pub(super) fn advance(self: &Arc<Self>, at: Option<u64>) -> u64 {
        let Some(window) = self.window else { return 0 };
        let at = self.state.write().ages.advance(at.unwrap_or_else(clock));
        if let Some(age) = window.max_age {
            self.expire(at.saturating_sub(age), 0);
        }
        at
    }

    /// Makes a live document as young as `at`, where there is a window; the caller holds `writers`.
    pub(super) fn touch(&self, id: u64, at: u64) {
        if self.window.is_some() {
            let mut state = self.state.write();
            let State { ages, ids, .. } = &mut *state;
            ages.renew(id as u32, at);
            ages.sweep(ids.live(), |id| ids.is_alive_short(id));
        }
    }

    /// Adds an item at a time that `advance` has given; the caller holds `writers`.
    pub(super) fn add_at(
        self: &Arc<Self>,
        stored: Item,
        at: u64,
        unknown: bool,
    ) -> Result<u64, IndexError> {
        let windowed = self.window.is_some();
        if windowed {
            self.expire(0, 1);
        }
        let id = self.add(stored, unknown)?;
        if windowed {
            self.state.write().ages.push(id as u32, at);
        }
        Ok(id)
    }
}

impl Index {
    /// [`Index::add`] of a document of this time (default: the clock). In an index with a window the documents that
    /// are then too old or too many leave.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn add_at(&self, item: Item, at: Option<u64>) -> Result<u64, IndexError> {
        let _writer = self.shared.writers.lock();
        let at = self.shared.advance(at);
        self.shared.add_at(stored(item), at, false)
    }

    /// [`Index::check_and_add`] with a time and a choice of what a duplicate does.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn check_and_add_with(
        &self,
        item: Item,
        options: AddOptions,
    ) -> Result<Outcome, IndexError> {
        let _writer = self.shared.writers.lock();
        self.check_locked(stored(item), options)
    }

    /// As if [`Index::check_and_add_with`] were called for every item in order, nothing coming between; `times` has
    /// one for each item, or is empty for the clock. Items are taken one at a time: where every item is new or to be
    /// skipped and there is no window, [`Index::check_and_add_many`] is faster.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Cancelled`] if the flag is up at the start; nothing was added then.
    pub fn check_and_add_many_with(
        &self,
        items: &[Item],
        times: &[u64],
        on_duplicate: OnDuplicate,
        cancel: &AtomicBool,
    ) -> Result<Vec<Outcome>, IndexError> {
        let _writer = self.shared.writers.lock();
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        self.shared.state.read().ids.check_room(items.len() as u64)?;
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        items
            .iter()
            .zip(times)
            .map(|(&item, at)| self.check_locked(stored(item), AddOptions { at, on_duplicate }))
            .collect()
    }

    /// The caller holds `writers`.
    fn check_locked(&self, stored: Item, options: AddOptions) -> Result<Outcome, IndexError> {
        let at = self.shared.advance(options.at);
        let (near, unknown) = self.shared.state.read().nearest(stored, self.max_distance);
        if let (Some(near), OnDuplicate::Touch) = (near, options.on_duplicate) {
            self.shared.touch(near.id, at);
        }
        let add = near.is_none() || options.on_duplicate == OnDuplicate::Add;
        let id = if add { Some(self.shared.add_at(stored, at, unknown)?) } else { None };
        Ok(Outcome { id, duplicate_of: near })
    }

    /// Deletes every document with a time before `before` and returns how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`] if the index keeps no times.
    pub fn expire(&self, before: u64) -> Result<u64, IndexError> {
        let _writer = self.shared.writers.lock();
        if self.shared.window.is_none() {
            return Err(IndexError::NoWindow);
        }
        Ok(self.shared.expire(before, 0))
    }
}

impl From<Outcome> for Checked {
    fn from(outcome: Outcome) -> Self {
        match (outcome.id, outcome.duplicate_of) {
            (None, Some(near)) => Self::Duplicate(near),
            (id, _) => Self::Added(id.unwrap_or_default()),
        }
    }
}
