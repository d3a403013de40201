//! The live index of sentences: in memory, with a file or with a list of changes for somebody else.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use super::answers::SentenceStats;
use super::kind::Opened;
use super::map::Canonical;
use super::store::{Store, StoreOptions, apply, header_of, save};
use simhash_store::Section;

use super::{SentenceItem, SentenceMap, SentenceOptions, State};
use crate::IndexError;
use crate::live::{Asked, File, Keeping, Live, SLICE, compact_in_steps};

/// An index of documents by their longest sentences.
///
/// In an index that was opened from a file a change has been written when its call returns.
pub type SentenceIndex = Live<SentenceMap>;

/// An index as it was at one moment, for [`SentenceIndex::save_log_snapshot`]. Asking for it costs nothing: it is made by whoever
/// comes first, the next change, before it changes anything, or who saves it.
#[derive(Debug)]
pub struct LogSnapshot(Asked<Option<Vec<u8>>>);

impl State {
    pub(super) fn new(options: &SentenceOptions) -> Result<Self, IndexError> {
        options.window.unwrap_or_default().check()?;
        Ok(Self::of(SentenceMap::new(options)?, options.window))
    }
}

impl Live<SentenceMap> {
    /// An empty index in memory.
    ///
    /// # Errors
    /// Options out of range.
    pub fn new(options: &SentenceOptions) -> Result<Self, IndexError> {
        Ok(Self::of(*options, State::new(options)?, Keeping::Memory, Opened::default()))
    }

    /// Opens the index of a file, or makes both; from now on every change is written to it before its call returns. Takes
    /// about as long as adding the documents anew.
    ///
    /// # Errors
    /// [`IndexError::File`].
    pub fn open_log(path: &Path, options: &StoreOptions) -> Result<Self, IndexError> {
        let (store, state, own) = Store::open(path, options)?;
        let opened = Opened { recipe: options.recipe.clone(), torn_bytes: store.torn() };
        Ok(Self::of(own, state, Keeping::File(Box::new(store)), opened))
    }

    /// An index whose changes are kept elsewhere: they are there to be taken ([`SentenceIndex::take_changes`]) when a call
    /// returns, and `kept` are those that were, in order, a whole ([`SentenceIndex::whole`]) first if there is one.
    ///
    /// # Errors
    /// [`IndexError::File`] without a path.
    pub fn kept_elsewhere(
        options: &SentenceOptions,
        whole: Option<Vec<u8>>,
        kept: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<Self, IndexError> {
        let named = |error| error;
        let mut state = match whole {
            Some(whole) => State::read(options, &mut Section::new(whole, 0)).map_err(named)?,
            None => State::new(options)?,
        };
        for changes in kept {
            apply(&mut state, &mut Section::new(changes, 0), options).map_err(named)?;
        }
        Ok(Self::of(*options, state, Keeping::Elsewhere(Vec::new()), Opened::default()))
    }

    /// Adds a document and returns the name of its group: the lowest id that ever was in it, its own if it is alone.
    ///
    /// # Errors
    /// As [`Live::add_at`].
    pub fn similar(&self, item: &SentenceItem, at: Option<u64>) -> Result<u64, IndexError> {
        self.change(at.as_slice(), |writer| {
            writer.advance(at);
            let id = writer.add(item)?;
            Ok(self.group(id).unwrap_or(id))
        })
    }

    /// As if [`SentenceIndex::similar`] were called for every item in order, see [`Live::add_many`]: each answer is what it
    /// was then, later items may have joined groups since.
    ///
    /// # Errors
    /// As [`Live::add_many`].
    pub fn similar_many(
        &self,
        items: &[SentenceItem],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, IndexError> {
        self.admit(times)?;
        let mut writer = self.batch(items.len(), cancel)?;
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        let add = |(item, at)| {
            writer.next(1)?;
            writer.advance(at);
            let id = writer.add(item)?;
            Ok(self.group(id).unwrap_or(id))
        };
        let groups: Result<Vec<u64>, IndexError> = items.iter().zip(times).map(add).collect();
        writer.keep()?;
        groups
    }

    /// The name of a document's group; see [`SentenceMap::group`](super::SentenceMap::group).
    pub fn group(&self, id: u64) -> Option<u64> {
        self.shared.state.read().kind.group(id)
    }

    /// How many sentences of an item a live document has, whether they count or not; 0 where it is not alive.
    pub fn shared_with(&self, id: u64, item: &SentenceItem) -> u32 {
        let other = Canonical::of(item, self.options().sentences);
        let Canonical::Sketch(other) = other else { return 0 };
        in_common(self.shared.state.read().kind.sentences_of(id), &other)
    }

    /// How many sentences two live documents share, whether they count or not.
    pub fn shared(&self, one: u64, other: u64) -> u32 {
        let kind = &self.shared.state.read().kind;
        in_common(kind.sentences_of(one), kind.sentences_of(other))
    }

    /// Counts and bytes.
    pub fn stats(&self) -> SentenceStats {
        let state = self.shared.state.read();
        SentenceStats {
            live: state.live(),
            groups: state.kind.groups(),
            sketches: state.kind.sketches(),
            bytes: state.kind.bytes(),
            window_bytes: state.ages.bytes(),
            file_bytes: self.shared.file_bytes.load(Ordering::Relaxed),
            torn_bytes: self.shared.background.torn_bytes,
            truncated: self.shared.truncated(),
        }
    }

    /// The index as it is now, to be saved. What is changed after this call is not in it. O(1).
    pub fn snapshot_log(&self) -> LogSnapshot {
        let shared = Arc::downgrade(&self.shared);
        let copy = move || Some(Weak::upgrade(&shared)?.state.read().write());
        LogSnapshot(self.shared.turns.ask(copy))
    }

    /// Writes the whole index as it is at the call to a file that [`SentenceIndex::open_log`] opens, whole or not at all.
    /// Where it is the index's own file, this is [`SentenceIndex::compact`]. Takes as much memory more as the file has
    /// bytes: 62 per document with five sentences of its own, 78 with a window. `recipe` is what [`StoreOptions::recipe`]
    /// will ask for; an index that was opened from a file has its own.
    ///
    /// # Errors
    /// [`IndexError::File`]; a file that an index has open is locked.
    pub fn save_log(&self, path: &Path, recipe: &str) -> Result<(), IndexError> {
        let snapshot = self.snapshot_log();
        self.save_log_snapshot(snapshot, path, recipe)
    }

    /// Like [`SentenceIndex::save_log`], but as the index was when the snapshot was asked for. Changes wait only while the
    /// snapshot is made, not while the file is written; those to the index's own file do.
    ///
    /// # Errors
    /// As [`SentenceIndex::save_log`].
    pub fn save_log_snapshot(
        &self,
        snapshot: LogSnapshot,
        path: &Path,
        recipe: &str,
    ) -> Result<(), IndexError> {
        let shared = &self.shared;
        let mut log = shared.turns.turn();
        if matches!(&log.keeping, Keeping::File(file) if file.is_at(path)) {
            log.check()?;
        }
        log.keep(&shared.state, &shared.file_bytes)?;
        let header = match &mut log.keeping {
            Keeping::File(file) if file.is_at(path) => return self.rewrite(&mut **file),
            Keeping::File(file) => file.header().to_vec(),
            _ => header_of(self.options(), recipe)?,
        };
        drop(log);
        let whole = snapshot.0.made(&shared.turns).flatten().ok_or(IndexError::Copy)?;
        save(path, &header, &whole)
    }

    /// Writes the file anew without what is no longer needed; changes wait. Done by itself when the file holds four times
    /// more than is alive. Without a file nothing happens.
    ///
    /// # Errors
    /// [`IndexError::File`].
    pub fn compact(&self) -> Result<(), IndexError> {
        let mut log = self.shared.turns.turn();
        // What could not be written must not come into the file by this way.
        log.check()?;
        log.keep(&self.shared.state, &self.shared.file_bytes)?;
        match &mut log.keeping {
            Keeping::File(file) => self.rewrite(&mut **file),
            _ => Ok(()),
        }
    }

    /// Gives back what documents that have left still hold, a little at a time; others come in between. Then
    /// [`SentenceIndex::compact`].
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Cancelled`].
    pub fn compact_until(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        let mut steps = 0..;
        compact_in_steps(cancel, || {
            let step = steps.next().unwrap_or_default();
            self.shared.state.write().kind.compact(step, SLICE)
        })?;
        self.compact()
    }

    fn rewrite(&self, file: &mut dyn File<SentenceMap>) -> Result<(), IndexError> {
        let rewritten = file.rewrite(&self.shared.state.read());
        self.shared.file_bytes.store(file.len(), Ordering::Relaxed);
        rewritten
    }

    /// What was changed since the last call, for somebody who keeps it; empty where the index keeps it itself.
    pub fn take_changes(&self) -> Vec<u8> {
        match &mut self.shared.turns.turn().keeping {
            Keeping::Elsewhere(changes) => std::mem::take(changes),
            _ => Vec::new(),
        }
    }

    /// The whole, in place of all changes taken so far; changes not taken yet are in it and are forgotten.
    pub fn whole(&self) -> Vec<u8> {
        let mut log = self.shared.turns.turn();
        log.forget();
        self.shared.state.read().write()
    }

    /// The recipe of the file that this index was opened from; empty without one.
    pub fn recipe(&self) -> &str {
        &self.shared.background.recipe
    }
}

/// How many of these are among those, which ascend.
fn in_common(all: &[u64], these: &[u64]) -> u32 {
    these.iter().filter(|&sentence| all.binary_search(sentence).is_ok()).count() as u32
}

#[cfg(test)]
mod tests;
