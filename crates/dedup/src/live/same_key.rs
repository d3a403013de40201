//! What becomes of a document whose key came before, see [`OnSameKey`].

use simhash_index::Writer;
use simhash_text::feature;

use super::answers::{self, Answers, Moment};
use super::document::{Checked, Document};
use super::engine::Engine;
use super::kind::Method;
use super::options::OnSameKey;
use crate::error::{DedupError, Done};

/// What is known of the key of a document on its way in.
pub(super) enum Met {
    /// The document is one like any other.
    New,
    /// This live document leaves for it.
    Replaces(u64),
    /// It was checked before.
    Answered(Checked),
}

impl<K: Method> Engine<K> {
    /// What decides about answers, now.
    pub(super) fn moment(&self) -> Moment {
        let (latest, next) = (self.index.latest(), self.index.next_id());
        Moment { window: self.index.window(), latest, next }
    }

    /// Looks at a key, by a writer, once time has gone on.
    ///
    /// # Errors
    /// [`DedupError::SameKey`].
    pub(super) fn meet(&self, key: Option<&str>) -> Result<Met, DedupError> {
        let Some(key) = key.filter(|_| self.on_same_key != OnSameKey::Add) else {
            return Ok(Met::New);
        };
        let id = self.id_of(key);
        Ok(match (self.on_same_key, id) {
            (OnSameKey::Add, _) | (OnSameKey::Error | OnSameKey::Replace, None) => Met::New,
            (OnSameKey::Error, Some(id)) => {
                return Err(DedupError::SameKey { key: key.to_owned(), id, done: Done::Nothing });
            }
            (OnSameKey::Replace, Some(id)) => Met::Replaces(id),
            (OnSameKey::Repeat, id) => self.answered(key, id).map_or(Met::New, Met::Answered),
        })
    }

    /// What a key was answered, where `id` is its live document.
    fn answered(&self, key: &str, id: Option<u64>) -> Option<Checked> {
        let (key, store) = (feature::exact(key), self.store.read());
        let answer = match id {
            Some(id) => store.answers.of_kept(key, id),
            None => store.answers.of_duplicate(key, self.moment(), |id| self.index.has(id))?,
        };
        Some(Checked { repeated: true, ..answer })
    }

    /// Takes a document away for another one of its key, once it is sure that this one finds room.
    ///
    /// # Errors
    /// As [`Engine::put`]; nothing has changed.
    pub(super) fn replace(
        &self,
        writer: &mut Writer<'_, K>,
        id: u64,
        (document, key): (&Document, Option<&str>),
    ) -> Result<(), DedupError> {
        self.check_memory()?;
        let written = || self.store.read().written(document, key);
        writer.admits(Self::item(document)?, written)?;
        writer.delete(id);
        self.store.write().tend(1, |id| self.index.has(id));
        Ok(())
    }

    /// Adds a document at the latest time without a look for near ones: what its key asks for comes first.
    pub(super) fn enter(
        &self,
        writer: &mut Writer<'_, K>,
        document: &Document,
        key: Option<&str>,
    ) -> Result<u64, DedupError> {
        match self.meet(key)? {
            Met::Answered(Checked { id: Some(id), .. }) => Ok(id),
            Met::Replaces(id) => {
                self.replace(writer, id, (document, key))?;
                self.place(writer, document, key)
            }
            Met::New | Met::Answered(_) => self.put(writer, document, key),
        }
    }

    /// Whether a duplicate of this key can be remembered: to be asked before anything is changed for it.
    ///
    /// # Errors
    /// [`DedupError::Memory`].
    pub(super) fn check_remembered(&self, key: Option<&str>) -> Result<(), DedupError> {
        if self.on_same_key == OnSameKey::Repeat && key.is_some() {
            return self.check_memory();
        }
        Ok(())
    }

    /// Remembers what a key was answered, where that is repeated.
    pub(super) fn remember(&self, writer: &mut Writer<'_, K>, key: Option<&str>, answer: &Checked) {
        let Some(key) = key.filter(|_| self.on_same_key == OnSameKey::Repeat) else { return };
        if Answers::matters(answer) {
            let key = feature::exact(key);
            writer.note_small(|| answers::note(key, answer));
            let now = self.moment();
            let mut store = self.store.write();
            store.answers.remember(key, *answer, now);
            store.answers.tend(1, now, |id| self.index.has(id));
        }
    }

    /// What was answered before a time leaves, as documents of that time do.
    pub(super) fn expire_answers(&self, before: u64) -> Result<(), DedupError> {
        if self.on_same_key != OnSameKey::Repeat || self.index.window().is_none() {
            return Ok(());
        }
        let mut writer = self.index.writer()?;
        writer.note_small(|| answers::note_expired(before));
        let now = self.moment();
        self.store.write().answers.expire(before, now);
        Ok(writer.keep()?)
    }
}
