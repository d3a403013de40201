//! The live index of sentences: in memory, or with a list of changes for somebody else.

use std::sync::atomic::AtomicBool;

use simhash_store::Section;

use super::answers::SentenceStats;
use super::map::Canonical;
use super::whole::Copied;
use super::{SentenceItem, SentenceMap, SentenceOptions, State};
use crate::IndexError;
use crate::live::{Keeping, Kind, Live, SLICE, compact_in_steps};

/// An index of documents by their longest sentences.
pub type SentenceIndex = Live<SentenceMap>;

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
        Ok(Self::of(*options, State::new(options)?, Keeping::Memory, ()))
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
        let state = match whole {
            Some(whole) => State::read(options, &mut Section::new(whole, 0))?,
            None => State::new(options)?,
        };
        let index = Self::of(*options, state, Keeping::Memory, ());
        for changes in kept {
            index.rewriter().replay(&mut Section::new(changes, 0), &mut |_| Ok(()))?;
        }
        index.shared.turns.turn().keeping = Keeping::Elsewhere(Vec::new());
        Ok(index)
    }

    /// Adds a document and returns the name of its group: the lowest id that ever was in it, its own if it is alone.
    ///
    /// # Errors
    /// As [`Live::add_at`].
    pub fn similar(&self, item: &SentenceItem, at: Option<u64>) -> Result<u64, IndexError> {
        self.change(at.as_slice(), |writer| {
            writer.advance(at)?;
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
            writer.advance(at)?;
            let id = writer.add(item)?;
            Ok(self.group(id).unwrap_or(id))
        };
        let groups: Result<Vec<u64>, IndexError> = items.iter().zip(times).map(add).collect();
        writer.keep()?;
        groups
    }

    /// What is known of a live document: its sentences in ascending order, or its text as a whole; none where it is not alive.
    pub fn item_of(&self, id: u64) -> Option<SentenceItem> {
        let state = self.shared.state.read();
        let form = state.has(id).then(|| state.kind.form_of(self.options(), id))??;
        Some(match form {
            Canonical::Sketch(sentences) => SentenceItem::Sentences(sentences),
            Canonical::Text(text) => SentenceItem::Exact(text),
            Canonical::Nothing => SentenceItem::Empty,
        })
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
            truncated: self.shared.truncated(),
        }
    }

    /// Gives back what documents that have left still hold, a little at a time; others come in between.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`].
    pub fn compact(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        let mut steps = 0..;
        compact_in_steps(cancel, || {
            let step = steps.next().unwrap_or_default();
            self.shared.state.write().kind.compact(step, SLICE)
        })
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
        Copied::of(&self.shared.state.read()).write()
    }
}

/// How many of these are among those, which ascend.
fn in_common(all: &[u64], these: &[u64]) -> u32 {
    these.iter().filter(|&sentence| all.binary_search(sentence).is_ok()).count() as u32
}

#[cfg(test)]
mod tests;
