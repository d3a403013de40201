//! The live index: many readers, one writer at a time, in memory, with a file or with a list of changes for somebody else.
//!
//! Who has the turn knows that nothing changes meanwhile; a batch gives way between its items. `state` is taken exclusively for
//! the moment of a change; searches share it and may see a change before it is kept. Changes are kept in the order in which
//! they were made: a single change between two items of a batch keeps what the batch has changed so far along with its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{RwLock, RwLockWriteGuard};
use simhash_store::Section;

use super::answers::{SentenceOutcome, SentenceStats};
use super::operation::Operation;
use super::state::{EXPIRED, State};
use super::store::{Store, StoreOptions, apply, header_of, save};
use super::{SentenceError, SentenceItem, SentenceOptions, SharedMatches};
use crate::IndexError;
use crate::index::batch::each;
use crate::index::{AddOptions, Added, OnDuplicate};
use crate::turns::{Asked, Turn, Turns};
use crate::window::{Skew, clock};

/// An index of documents by their longest sentences.
///
/// Every method takes `&self`; share it between threads as it is. In an index that was opened from a file a change has
/// been written when its call returns.
#[derive(Debug)]
pub struct SentenceIndex {
    options: SentenceOptions,
    recipe: String,
    pub(super) turns: Turns<Writer>,
    /// Shared with the snapshots that were asked for.
    pub(super) state: Arc<RwLock<State>>,
    skew: Skew,
    file_bytes: AtomicU64,
    torn_bytes: u64,
    truncated: AtomicU64,
}

/// An index as it was at one moment, for [`SentenceIndex::save_snapshot`]. Asking for it costs nothing: it is made by whoever
/// comes first, the next change, before it changes anything, or who saves it.
#[derive(Debug)]
pub struct SentenceSnapshot(Asked<Option<Vec<u8>>>);

/// Where changes go.
#[derive(Debug)]
enum Keeping {
    Memory,
    File(Box<Store>),
    /// Somebody else keeps them and takes them from here.
    Elsewhere(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Writer {
    keeping: Keeping,
    changes: Vec<u8>,
    count: u64,
    stopped: bool,
}

impl Writer {
    /// Whether changes can still be kept.
    fn check(&self) -> Result<(), SentenceError> {
        match &self.keeping {
            Keeping::File(store) if self.stopped => {
                Err(SentenceError::Stopped { path: store.path().to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// The state while nobody else has it.
type Exclusive<'a> = RwLockWriteGuard<'a, State>;

/// Takes every document away whose time is before `before`; how many they were. Those who wait for the state get it in
/// between.
fn expire(state: &mut Exclusive<'_>, before: u64) -> u64 {
    let mut all = 0;
    loop {
        let gone = state.expire_some(before);
        all += gone;
        if gone < EXPIRED {
            return all;
        }
        RwLockWriteGuard::bump(state);
    }
}

/// One call that changes something.
struct Change<'a> {
    state: &'a RwLock<State>,
    writer: Turn<'a, Writer>,
    most: usize,
}

impl Change<'_> {
    fn note(&mut self, change: &Operation) {
        if !matches!(self.writer.keeping, Keeping::Memory) {
            change.write(self.most, &mut self.writer.changes);
            self.writer.count += 1;
        }
    }

    /// Lets time go on; searches come in between while many documents leave.
    fn advance(&mut self, state: &mut Exclusive<'_>, at: Option<u64>) {
        if state.window.is_some() {
            let at = at.unwrap_or_else(clock);
            if let Some(before) = state.advance(at) {
                expire(state, before);
                self.note(&Operation::Advance(at));
            }
        }
    }

    fn add(
        &mut self,
        state: &mut Exclusive<'_>,
        item: &SentenceItem,
        at: Option<u64>,
    ) -> Result<u64, IndexError> {
        self.advance(state, at);
        state.map.make_room(1 + self.writer.promised() as usize)?;
        let id = state.add(item)?;
        self.note(&Operation::Add(item.clone()));
        Ok(id)
    }

    fn check(
        &mut self,
        state: &mut Exclusive<'_>,
        item: &SentenceItem,
        how: AddOptions,
    ) -> Result<SentenceOutcome, IndexError> {
        self.advance(state, how.at);
        let near = state.nearest(item);
        if let (Some(near), OnDuplicate::Touch) = (near, how.on_duplicate)
            && state.window.is_some()
        {
            state.touch(near.id);
            self.note(&Operation::Touch(near.id));
        }
        let adds = near.is_none() || how.on_duplicate == OnDuplicate::Add;
        if let Some(near) = near.filter(|_| !adds)
            && state.map.overlook(item, near)
        {
            self.note(&Operation::Overlook(item.clone(), near.shared));
        }
        let id = if adds { Some(self.add(state, item, how.at)?) } else { None };
        Ok(SentenceOutcome { id, duplicate_of: near })
    }

    /// `one` for every item in order, with its time; none of them if they do not fit or are cancelled.
    fn each<T>(
        &mut self,
        items: &[SentenceItem],
        times: &[u64],
        cancel: &AtomicBool,
        one: impl Fn(&mut Self, &mut Exclusive<'_>, &SentenceItem, Option<u64>) -> Result<T, IndexError>,
    ) -> Result<Vec<T>, SentenceError> {
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled.into());
        }
        let state = self.state;
        state.write().map.make_room(items.len())?;
        self.writer.promise(items.len() as u64);
        let mut all = Vec::with_capacity(items.len());
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        for (item, at) in items.iter().zip(times) {
            self.writer.next(1);
            // A change that came between may have failed to be kept, and this batch's with it.
            self.writer.check()?;
            all.push(one(self, &mut state.write(), item, at)?);
        }
        Ok(all)
    }
}

impl SentenceIndex {
    /// An empty index in memory.
    ///
    /// # Errors
    /// Options out of range.
    pub fn new(options: &SentenceOptions) -> Result<Self, SentenceError> {
        let state = State::new(options)?;
        Ok(Self::of(*options, String::new(), state, Keeping::Memory))
    }

    /// Opens the index of a file, or makes both; from now on every change is written to it before its call returns. Takes
    /// about as long as adding the documents anew.
    ///
    /// # Errors
    /// [`SentenceError::File`].
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, SentenceError> {
        let (store, state, own) = Store::open(path, options)?;
        Ok(Self::of(own, options.recipe.clone(), state, Keeping::File(Box::new(store))))
    }

    /// An index whose changes are kept elsewhere: they are there to be taken ([`SentenceIndex::take_changes`]) when a call
    /// returns, and `kept` are those that were, in order, a whole ([`SentenceIndex::whole`]) first if there is one.
    ///
    /// # Errors
    /// [`SentenceError::File`] without a path.
    pub fn kept_elsewhere(
        options: &SentenceOptions,
        whole: Option<Vec<u8>>,
        kept: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<Self, SentenceError> {
        let named = |error| SentenceError::of(Path::new(""), error);
        let mut state = match whole {
            Some(whole) => State::read(options, &mut Section::new(whole, 0)).map_err(named)?,
            None => State::new(options)?,
        };
        for changes in kept {
            apply(&mut state, &mut Section::new(changes, 0), options).map_err(named)?;
        }
        Ok(Self::of(*options, String::new(), state, Keeping::Elsewhere(Vec::new())))
    }

    fn of(options: SentenceOptions, recipe: String, state: State, keeping: Keeping) -> Self {
        let (file_bytes, torn_bytes) = match &keeping {
            Keeping::File(store) => (store.len(), store.torn()),
            _ => (0, 0),
        };
        let writer = Writer { keeping, changes: Vec::new(), count: 0, stopped: false };
        Self {
            options,
            recipe,
            turns: Turns::new(writer),
            state: Arc::new(RwLock::new(state)),
            skew: Skew::default(),
            file_bytes: AtomicU64::new(file_bytes),
            torn_bytes,
            truncated: AtomicU64::new(0),
        }
    }

    /// The options that the index was made with.
    pub fn options(&self) -> &SentenceOptions {
        &self.options
    }

    /// How far ahead of the clock a time may be, as [`Index::set_max_skew`](crate::Index::set_max_skew).
    pub fn set_max_skew(&self, most: Option<u64>) {
        self.skew.set(most);
    }

    /// Runs a call that changes something at these times, and keeps what it changed.
    fn change<T>(
        &self,
        times: &[u64],
        work: impl FnOnce(&mut Change<'_>) -> Result<T, SentenceError>,
    ) -> Result<T, SentenceError> {
        self.skew.admit(self.options.window, times)?;
        self.change_in(self.turns.turn(), work)
    }

    /// [`SentenceIndex::change`] for a batch: others may come between its items.
    fn change_many<T>(
        &self,
        times: &[u64],
        work: impl FnOnce(&mut Change<'_>) -> Result<T, SentenceError>,
    ) -> Result<T, SentenceError> {
        self.skew.admit(self.options.window, times)?;
        self.change_in(self.turns.batch(), work)
    }

    fn change_in<'a, T>(
        &'a self,
        writer: Turn<'a, Writer>,
        work: impl FnOnce(&mut Change<'a>) -> Result<T, SentenceError>,
    ) -> Result<T, SentenceError> {
        writer.check()?;
        let mut change = Change { state: &self.state, writer, most: self.options.sentences };
        let result = work(&mut change);
        self.keep(&mut change.writer)?;
        result
    }

    fn keep(&self, writer: &mut Writer) -> Result<(), SentenceError> {
        let (changes, count) = (&mut writer.changes, std::mem::take(&mut writer.count));
        if changes.is_empty() {
            return Ok(());
        }
        let kept = match &mut writer.keeping {
            Keeping::Memory => Ok(()),
            Keeping::Elsewhere(taken) => {
                taken.append(changes);
                Ok(())
            }
            Keeping::File(store) => {
                let kept = store.commit(changes, count);
                if kept.is_ok() {
                    let state = self.state.read();
                    if store.is_mostly_gone(state.map.len()) && store.rewrite(&state).is_err() {
                        store.postpone();
                    }
                } else if let Ok(acknowledged) = store.read_again(&self.options) {
                    *self.state.write() = acknowledged;
                }
                self.file_bytes.store(store.len(), Ordering::Relaxed);
                kept
            }
        };
        writer.stopped = kept.is_err();
        // A large batch should not hold its memory for ever.
        writer.changes.clear();
        writer.changes.shrink_to(1 << 16);
        kept
    }

    /// Adds a document and returns its id. `at` is its time, default the clock in milliseconds since 1970; only an index
    /// with a window looks at it, and a time before the latest counts as the latest.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`], and those of the file.
    pub fn add(&self, item: &SentenceItem, at: Option<u64>) -> Result<u64, SentenceError> {
        self.change(at.as_slice(), |change| {
            let mut state = change.state.write();
            Ok(change.add(&mut state, item, at)?)
        })
    }

    /// Adds all items in order; other calls may come between two of them, other batches do not. `times` has one for each, or
    /// none at all.
    ///
    /// # Errors
    /// As [`SentenceIndex::add`], and [`IndexError::Cancelled`] if the flag is up at the start; nothing was added then.
    pub fn add_many(
        &self,
        items: &[SentenceItem],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, SentenceError> {
        self.change_many(times, |change| {
            let mut added = Added::from(change.state.read().map.next_id());
            for id in change.each(items, times, cancel, Change::add)? {
                added.push(id..id + 1);
            }
            Ok(added)
        })
    }

    /// Adds a document and returns the name of its group: the lowest id that ever was in it, its own if it is alone.
    ///
    /// # Errors
    /// As [`SentenceIndex::add`].
    pub fn similar(&self, item: &SentenceItem, at: Option<u64>) -> Result<u64, SentenceError> {
        self.change(at.as_slice(), |change| {
            let mut state = change.state.write();
            let id = change.add(&mut state, item, at)?;
            Ok(state.map.group(id).unwrap_or(id))
        })
    }

    /// As if [`SentenceIndex::similar`] were called for every item in order, see [`SentenceIndex::add_many`]: each answer is
    /// what it was then, later items may have joined groups since.
    ///
    /// # Errors
    /// As [`SentenceIndex::add_many`].
    pub fn similar_many(
        &self,
        items: &[SentenceItem],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, SentenceError> {
        self.change_many(times, |change| {
            change.each(items, times, cancel, |change, state, item, at| {
                let id = change.add(state, item, at)?;
                Ok(state.map.group(id).unwrap_or(id))
            })
        })
    }

    /// Adds the document unless a live one is similar: look and add are one step.
    ///
    /// # Errors
    /// As [`SentenceIndex::add`].
    pub fn check_and_add(
        &self,
        item: &SentenceItem,
        how: AddOptions,
    ) -> Result<SentenceOutcome, SentenceError> {
        self.change(how.at.as_slice(), |change| {
            let mut state = change.state.write();
            Ok(change.check(&mut state, item, how)?)
        })
    }

    /// As if [`SentenceIndex::check_and_add`] were called for every item in order, see [`SentenceIndex::add_many`].
    ///
    /// # Errors
    /// As [`SentenceIndex::add_many`].
    pub fn check_and_add_many(
        &self,
        items: &[SentenceItem],
        times: &[u64],
        on_duplicate: OnDuplicate,
        cancel: &AtomicBool,
    ) -> Result<Vec<SentenceOutcome>, SentenceError> {
        self.change_many(times, |change| {
            change.each(items, times, cancel, |change, state, item, at| {
                change.check(state, item, AddOptions { at, on_duplicate })
            })
        })
    }

    /// All live documents that are similar, those that share most sentences first, then by id; at most `limit`.
    pub fn search(&self, item: &SentenceItem, limit: usize) -> SharedMatches {
        let found = self.state.read().search(item, limit);
        self.truncated.fetch_add(u64::from(found.truncated), Ordering::Relaxed);
        found
    }

    /// One answer per item, in order. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Cancelled`].
    pub fn search_many(
        &self,
        items: &[SentenceItem],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<SharedMatches>, SentenceError> {
        let found = each(items, threads, cancel, |slice| {
            let state = self.state.read();
            slice.iter().map(|item| state.search(item, limit)).collect()
        })?;
        let cut = found.iter().filter(|found| found.truncated).count();
        self.truncated.fetch_add(cut as u64, Ordering::Relaxed);
        Ok(found)
    }

    /// The name of a document's group; see [`SentenceMap::group`](super::SentenceMap::group).
    pub fn group(&self, id: u64) -> Option<u64> {
        self.state.read().map.group(id)
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.state.read().map.has(id)
    }

    /// Takes an id away; false if it was not alive. Its group stays as it is.
    ///
    /// # Errors
    /// Those of the file.
    pub fn delete(&self, id: u64) -> Result<bool, SentenceError> {
        self.change(&[], |change| {
            let deleted = change.state.write().delete(id);
            if deleted {
                change.note(&Operation::Delete(id));
            }
            Ok(deleted)
        })
    }

    /// Takes every document away whose time is before `before`; how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`] if the index keeps no times, and those of the file.
    pub fn expire(&self, before: u64) -> Result<u64, SentenceError> {
        self.change(&[], |change| {
            if self.options.window.is_none() {
                return Err(IndexError::NoWindow.into());
            }
            let gone = expire(&mut change.state.write(), before);
            if gone > 0 {
                change.note(&Operation::Expire(before));
            }
            Ok(gone)
        })
    }

    /// Number of live documents.
    pub fn len(&self) -> u64 {
        self.state.read().map.len()
    }

    /// Whether no document is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts and bytes.
    pub fn stats(&self) -> SentenceStats {
        let state = self.state.read();
        SentenceStats {
            live: state.map.len(),
            groups: state.map.groups(),
            sketches: state.map.sketches(),
            bytes: state.map.bytes(),
            window_bytes: state.ages.bytes(),
            file_bytes: self.file_bytes.load(Ordering::Relaxed),
            torn_bytes: self.torn_bytes,
            truncated: self.truncated.load(Ordering::Relaxed),
        }
    }

    /// The index as it is now, to be saved. What is changed after this call is not in it. O(1).
    pub fn snapshot(&self) -> SentenceSnapshot {
        let state = Arc::downgrade(&self.state);
        SentenceSnapshot(self.turns.ask(move || Some(state.upgrade()?.read().write())))
    }

    /// Writes the whole index as it is at the call to a file that [`SentenceIndex::open`] opens, whole or not at all.
    /// Where it is the index's own file, this is [`SentenceIndex::compact`]. Takes as much memory more as the file has
    /// bytes: 62 per document with five sentences of its own, 78 with a window. `recipe` is what [`StoreOptions::recipe`]
    /// will ask for; an index that was opened from a file has its own.
    ///
    /// # Errors
    /// [`SentenceError::File`]; a file that an index has open is locked.
    pub fn save(&self, path: &Path, recipe: &str) -> Result<(), SentenceError> {
        let snapshot = self.snapshot();
        self.save_snapshot(snapshot, path, recipe)
    }

    /// Like [`SentenceIndex::save`], but as the index was when the snapshot was asked for. Changes wait only while the
    /// snapshot is made, not while the file is written; those to the index's own file do.
    ///
    /// # Errors
    /// As [`SentenceIndex::save`].
    pub fn save_snapshot(
        &self,
        snapshot: SentenceSnapshot,
        path: &Path,
        recipe: &str,
    ) -> Result<(), SentenceError> {
        let mut writer = self.turns.turn();
        if matches!(&writer.keeping, Keeping::File(store) if store.is_at(path)) {
            writer.check()?;
        }
        self.keep(&mut writer)?;
        let header = match &mut writer.keeping {
            Keeping::File(store) if store.is_at(path) => return self.rewrite(store),
            Keeping::File(store) => store.header().to_vec(),
            _ => header_of(&self.options, recipe)?,
        };
        drop(writer);
        let whole = snapshot.0.made(&self.turns).flatten().ok_or_else(|| IndexError::Io {
            message: "the index could not be copied".to_owned(),
        })?;
        save(path, &header, &whole)
    }

    /// Writes the file anew without what is no longer needed; changes wait. Done by itself when the file holds four times
    /// more than is alive. Without a file nothing happens.
    ///
    /// # Errors
    /// [`SentenceError::File`].
    pub fn compact(&self) -> Result<(), SentenceError> {
        let mut writer = self.turns.turn();
        // What could not be written must not come into the file by this way.
        writer.check()?;
        self.keep(&mut writer)?;
        match &mut writer.keeping {
            Keeping::File(store) => self.rewrite(store),
            _ => Ok(()),
        }
    }

    fn rewrite(&self, store: &mut Store) -> Result<(), SentenceError> {
        let rewritten = store.rewrite(&self.state.read());
        self.file_bytes.store(store.len(), Ordering::Relaxed);
        rewritten
    }

    /// What was changed since the last call, for somebody who keeps it; empty where the index keeps it itself.
    pub fn take_changes(&self) -> Vec<u8> {
        match &mut self.turns.turn().keeping {
            Keeping::Elsewhere(changes) => std::mem::take(changes),
            _ => Vec::new(),
        }
    }

    /// The whole, in place of all changes taken so far; changes not taken yet are in it and are forgotten.
    pub fn whole(&self) -> Vec<u8> {
        let mut writer = self.turns.turn();
        if let Keeping::Elsewhere(changes) = &mut writer.keeping {
            changes.clear();
            // Those of a batch under way.
            writer.changes.clear();
            writer.count = 0;
        }
        self.state.read().write()
    }

    /// The recipe of the file that this index was opened from; empty without one.
    pub fn recipe(&self) -> &str {
        &self.recipe
    }
}

#[cfg(test)]
mod tests;
