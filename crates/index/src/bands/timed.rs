//! Additions with a time, check-and-add, and the documents that leave the window: the rules of [`Index`](crate::Index).

use std::sync::atomic::{AtomicBool, Ordering};

use super::state::State;
use super::{BandIndex, BandOutcome};
use crate::turns::Turn;
use crate::window::clock;
use crate::{AddOptions, IndexError, OnDuplicate};

/// Documents that leave under one exclusive hold of the state: about a tenth of a millisecond.
const SLICE: u64 = 512;

impl State {
    /// Deletes the oldest documents below `before`, and beyond the window's count, a few; how many they were.
    fn expire_some(&mut self, limit: Option<u64>, before: u64, room: u64) -> u64 {
        let mut gone = 0;
        while gone < SLICE {
            let crowded = limit.is_some_and(|limit| self.documents.live() + room > limit);
            let before = if crowded { u64::MAX } else { before };
            let documents = &self.documents;
            let Some(id) = self.ages.pop_before(before, |id| documents.is_alive(id)) else { break };
            let id = self.documents.full(id);
            self.documents.delete(id);
            gone += 1;
        }
        self.sweep_ages();
        self.tidy();
        gone
    }

    fn sweep_ages(&mut self) {
        let Self { ages, documents, .. } = self;
        ages.sweep(documents.live(), |id| documents.is_alive(id));
    }
}

impl BandIndex {
    /// [`BandIndex::add`] of a document of this time (default: the clock). In an index with a window the documents that are
    /// then too old or too many leave.
    ///
    /// # Errors
    /// As [`BandIndex::add`].
    pub fn add_at(&self, signature: &[u32], at: Option<u64>) -> Result<u64, IndexError> {
        let mut keys = Vec::new();
        State::keys(&self.options, signature, &mut keys)?;
        self.skew.admit(self.options.window, at.as_slice())?;
        let mut turn = self.turns.turn();
        let at = self.advance(&mut turn, at);
        self.add_now(&mut turn, signature, &keys, at)
    }

    /// [`BandIndex::check_and_add`] with a time and a choice of what a duplicate does.
    ///
    /// # Errors
    /// As [`BandIndex::add`].
    pub fn check_and_add_with(
        &self,
        signature: &[u32],
        options: AddOptions,
    ) -> Result<BandOutcome, IndexError> {
        let mut keys = Vec::new();
        State::keys(&self.options, signature, &mut keys)?;
        self.skew.admit(self.options.window, options.at.as_slice())?;
        let outcome = self.check_now(&mut self.turns.turn(), signature, &keys, options)?;
        self.count_truncated([outcome.truncated]);
        Ok(outcome)
    }

    /// As if [`BandIndex::check_and_add_with`] were called for every signature in order; other calls may come between two of
    /// them, other batches do not. `times` has one for each, or is empty for the clock. Some microseconds each, on the calling
    /// thread: making the signatures is the part that takes threads.
    ///
    /// # Errors
    /// As [`BandIndex::add`], and [`IndexError::Cancelled`] if the flag is up at the start; nothing was added then.
    pub fn check_and_add_many_with<S: AsRef<[u32]>>(
        &self,
        signatures: &[S],
        times: &[u64],
        on_duplicate: OnDuplicate,
        cancel: &AtomicBool,
    ) -> Result<Vec<BandOutcome>, IndexError> {
        let mut turn = self.batch(signatures, times, cancel)?;
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        let (mut keys, mut outcomes) = (Vec::new(), Vec::with_capacity(signatures.len()));
        for (signature, at) in signatures.iter().zip(times) {
            turn.next(1);
            State::keys(&self.options, signature.as_ref(), &mut keys)?;
            let options = AddOptions { at, on_duplicate };
            outcomes.push(self.check_now(&mut turn, signature.as_ref(), &keys, options)?);
        }
        self.count_truncated(outcomes.iter().map(|outcome| outcome.truncated));
        Ok(outcomes)
    }

    /// The turn of a batch that fits, whole, each item of which begins with [`Turn::next`].
    pub(super) fn batch<S: AsRef<[u32]>>(
        &self,
        signatures: &[S],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Turn<'_, ()>, IndexError> {
        let mut keys = Vec::new();
        for signature in signatures {
            State::keys(&self.options, signature.as_ref(), &mut keys)?;
        }
        self.skew.admit(self.options.window, times)?;
        let mut turn = self.turns.batch();
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        self.make_room(&mut turn, signatures.len() as u64)?;
        turn.promise(signatures.len() as u64);
        Ok(turn)
    }

    /// Deletes every document with a time before `before` and returns how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`] if the index keeps no times.
    pub fn expire(&self, before: u64) -> Result<u64, IndexError> {
        if self.options.window.is_none() {
            return Err(IndexError::NoWindow);
        }
        Ok(self.expire_now(&mut self.turns.turn(), before, 0))
    }

    fn check_now(
        &self,
        turn: &mut Turn<'_, ()>,
        signature: &[u32],
        keys: &[u64],
        options: AddOptions,
    ) -> Result<BandOutcome, IndexError> {
        let at = self.advance(turn, options.at);
        let (near, truncated) = {
            let state = self.state.read();
            state.prefetch(keys);
            state.best(signature, keys)
        };
        if let (Some(near), OnDuplicate::Touch) = (near, options.on_duplicate)
            && self.options.window.is_some()
        {
            let mut state = self.state.write();
            state.ages.renew(near.id as u32, at);
            state.sweep_ages();
        }
        let add = near.is_none() || options.on_duplicate == OnDuplicate::Add;
        let id = if add { Some(self.add_now(turn, signature, keys, at)?) } else { None };
        Ok(BandOutcome { id, duplicate_of: near, truncated })
    }

    /// Adds at a time that `advance` has given.
    pub(super) fn add_now(
        &self,
        turn: &mut Turn<'_, ()>,
        signature: &[u32],
        keys: &[u64],
        at: u64,
    ) -> Result<u64, IndexError> {
        let windowed = self.options.window.is_some();
        if windowed {
            self.expire_now(turn, 0, 1);
        }
        self.make_room(turn, 1)?;
        let mut state = self.state.write();
        let id = state.add(signature, keys);
        if windowed {
            state.ages.push(id as u32, at);
        }
        Ok(id)
    }

    /// Whether so many more ids fit beside those promised to a batch; what is dead is swept out if they do not.
    fn make_room(&self, turn: &mut Turn<'_, ()>, more: u64) -> Result<(), IndexError> {
        let more = more + turn.promised();
        if self.state.read().documents.check_room(more).is_ok() {
            return Ok(());
        }
        let mut state = self.state.write();
        // Walking the whole table frees nothing where nothing is dead.
        if state.documents.dead() > 0 {
            state.sweep();
        }
        state.documents.check_room(more)
    }

    /// Lets time go on to `at`.
    pub(super) fn advance(&self, turn: &mut Turn<'_, ()>, at: Option<u64>) -> u64 {
        let Some(window) = self.options.window else { return 0 };
        let at = self.state.write().ages.advance(at.unwrap_or_else(clock));
        if let Some(age) = window.max_age {
            self.expire_now(turn, at.saturating_sub(age), 0);
        }
        at
    }

    /// Deletes what is before `before` or beyond the count, leaving room for `room` more.
    fn expire_now(&self, _turn: &mut Turn<'_, ()>, before: u64, room: u64) -> u64 {
        let limit = self.options.window.and_then(|window| window.max_count);
        let mut all = 0;
        loop {
            let gone = self.state.write().expire_some(limit, before, room);
            all += gone;
            if gone < SLICE {
                return all;
            }
        }
    }
}
