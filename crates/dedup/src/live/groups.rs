//! Groups of texts that have a sentence in common, of an index of sentences.

use std::sync::atomic::AtomicBool;

use simhash_index::sentences::{SentenceItem, SentenceMap};

use super::document::Document;
use super::engine::Engine;
use super::{Any, LiveIndex};
use crate::error::DedupError;

impl LiveIndex {
    /// What makes sentences of texts, in words: what indexes of sentences with equal recipes keep can be exchanged.
    pub fn recipe(&self) -> String {
        self.options.sentences().to_string()
    }

    /// Adds a document and returns the name of its group, see [`SentenceIndex::similar`](simhash_index::sentences::SentenceIndex::similar).
    ///
    /// # Errors
    /// As [`LiveIndex::add`]; [`DedupError::Option`] for another method.
    pub fn similar(
        &self,
        document: &Document,
        key: Option<&str>,
        at: Option<u64>,
    ) -> Result<u64, DedupError> {
        let group = self.grouped()?.similar(document, key, at);
        self.committed()?;
        group
    }

    /// As if [`LiveIndex::similar`] were called for every document in order: each answer is what it was then. `keys` and `times`
    /// have one for each, or are empty.
    ///
    /// # Errors
    /// As [`LiveIndex::add_many`]; [`DedupError::Option`] for another method.
    pub fn similar_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, DedupError> {
        let groups = self.grouped()?.similar_many(documents, keys, times, cancel);
        self.committed()?;
        groups
    }

    /// The name of a document's group now; none for one that has left, unless its id is the name of a group that lives on, and by
    /// other methods.
    pub fn group(&self, id: u64) -> Option<u64> {
        self.sentences()?.group(id)
    }

    fn grouped(&self) -> Result<&Engine<SentenceMap>, DedupError> {
        if let Any::Sentences(engine) = &self.any {
            return Ok(engine);
        }
        let value = self.options.method.name().to_owned();
        Err(DedupError::Option { argument: "groups", value, expected: "of method sentences" })
    }
}

impl Engine<SentenceMap> {
    fn similar(
        &self,
        document: &Document,
        key: Option<&str>,
        at: Option<u64>,
    ) -> Result<u64, DedupError> {
        if self.is_bare() {
            return Ok(self.index.similar(Self::item(document)?, at)?);
        }
        self.index.admit(at.as_slice())?;
        let mut writer = self.index.writer()?;
        writer.advance(at)?;
        let id = self.enter(&mut writer, document, key)?;
        let group = self.index.group(id).unwrap_or(id);
        writer.keep()?;
        Ok(group)
    }

    fn similar_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, DedupError> {
        let items = Self::items(documents)?;
        if self.is_bare() {
            let items: Vec<SentenceItem> = items.into_iter().cloned().collect();
            return Ok(self.index.similar_many(&items, times, cancel)?);
        }
        self.index.admit(times)?;
        let mut writer = self.index.batch(documents.len(), cancel)?;
        let mut groups = Vec::with_capacity(documents.len());
        for (row, document) in documents.iter().enumerate() {
            writer.next(1)?;
            writer.advance(times.get(row).copied())?;
            let key = keys.get(row).and_then(Option::as_deref);
            let id = self.enter(&mut writer, document, key)?;
            groups.push(self.index.group(id).unwrap_or(id));
        }
        writer.keep()?;
        Ok(groups)
    }
}
