//! Look, verify, add: one step.

use std::sync::atomic::{AtomicBool, Ordering};

use simhash_index::{
    AddOptions, Hamming, IndexError, Item, Match, OnDuplicate, Outcome, SearchOptions, Writer,
};
use simhash_sketch::Scratch;

use super::compare::Compared;
use super::short::ShortTexts;
use super::{Document, OnlineIndex, Store, Verify};

/// Candidates verified for one document, nearest first (arbitrary; one document then costs a few milliseconds at most,
/// ordinary text has under ten). Where it cuts, [`OnlineIndex::truncated`] counts it and the document counts as new.
pub(super) const MOST_VERIFIED: usize = 1_000;

/// What a check-and-add found and did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checked {
    /// The id that was added, and the document that was there already with its distance: 0 between texts too short for a
    /// fingerprint.
    pub outcome: Outcome<Match>,
    /// Similarity of the two, where their texts were compared.
    pub similarity: Option<f64>,
}

/// The end of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// It is done.
    Done(Checked),
    /// Nothing was added: the text of this document is needed. Ask again with it. In an index with a window the time of the
    /// check counts, and documents may have left for it.
    Text(u64),
}

/// What a caller knows of the text of a document that the index has not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts<'a> {
    /// The normalised text.
    Known(&'a str),
    /// There is none: the document counts by its distance alone.
    None,
    /// It can be found: end with [`Step::Text`].
    Ask,
}

/// A live document that counts as the one that was there already.
type Found = (Match, Option<f64>);

impl OnlineIndex {
    /// Adds a document unless one like it is there, as one step.
    ///
    /// Without `verify` the nearest document within the index's distance counts, ties to the lowest id. With it, the first
    /// in that order whose text reaches the least similarity; a document whose text is not at hand, and each one if
    /// `document` has no text, counts by its distance alone, without a similarity. A text too short for a fingerprint is
    /// compared with others of its kind, where texts are stored: an equal one counts, else, of those that reach the least
    /// similarity by edit distance and by the measure, the most similar by the measure, ties to the lowest id. `texts` is
    /// asked for texts that are not stored.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`].
    pub fn check_and_add<'a>(
        &self,
        document: &Document,
        key: Option<&str>,
        how: AddOptions,
        verify: Option<Verify>,
        texts: impl Fn(u64) -> Texts<'a>,
    ) -> Result<Step, IndexError> {
        if !self.stores_any() && verify.is_none() {
            let outcome = self.index.check_and_add_with(document.item, how)?;
            return Ok(Step::Done(Checked { outcome, similarity: None }));
        }
        self.index.admit(how.at.as_slice())?;
        let mut writer = self.index.writer()?;
        self.check_locked(&mut writer, document, key, how, verify, texts)
    }

    /// As if [`OnlineIndex::check_and_add`] were called for every document in order; other calls may come between two of them,
    /// other batches do not. Texts that are not stored are not at hand. `keys` and `times` have one for each document, or are
    /// empty.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`], [`IndexError::Cancelled`] if the flag is up at the start; nothing was added
    /// then.
    pub fn check_and_add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        on_duplicate: OnDuplicate,
        verify: Option<Verify>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Checked>, IndexError> {
        self.index.admit(times)?;
        let mut writer = self.index.batch(documents.len(), cancel)?;
        let mut all = Vec::with_capacity(documents.len());
        for (row, document) in documents.iter().enumerate() {
            writer.next(1)?;
            let key = keys.get(row).and_then(Option::as_deref);
            let how = AddOptions { at: times.get(row).copied(), on_duplicate };
            let none = |_| Texts::None;
            if let Step::Done(checked) =
                self.check_locked(&mut writer, document, key, how, verify, none)?
            {
                all.push(checked);
            }
        }
        Ok(all)
    }

    fn check_locked<'a>(
        &self,
        writer: &mut Writer<'_, Hamming>,
        document: &Document,
        key: Option<&str>,
        how: AddOptions,
        verify: Option<Verify>,
        texts: impl Fn(u64) -> Texts<'a>,
    ) -> Result<Step, IndexError> {
        writer.advance(how.at);
        let found = match verify {
            None => writer.nearest(&document.item)?.0.map(|near| (near, None)),
            Some(verify) => match self.confirmed(writer, document, verify, texts)? {
                Ok(found) => found,
                Err(id) => return Ok(Step::Text(id)),
            },
        };
        if let (Some((near, _)), OnDuplicate::Touch) = (found, how.on_duplicate) {
            writer.touch(near.id);
        }
        let add = found.is_none() || how.on_duplicate == OnDuplicate::Add;
        let id = if add { Some(self.put(writer, document, key)?) } else { None };
        let outcome = Outcome { id, duplicate_of: found.map(|(near, _)| near), truncated: false };
        let similarity = found.and_then(|(_, similarity)| similarity);
        Ok(Step::Done(Checked { outcome, similarity }))
    }

    /// The document that counts; or the id of one whose text must be asked for.
    fn confirmed<'a>(
        &self,
        writer: &Writer<'_, Hamming>,
        document: &Document,
        verify: Verify,
        texts: impl Fn(u64) -> Texts<'a>,
    ) -> Result<Result<Option<Found>, u64>, IndexError> {
        match document.item {
            Item::Empty => Ok(Ok(None)),
            Item::Exact(_) => Ok(Ok(match writer.nearest(&document.item)?.0 {
                Some(equal) => Some((equal, Some(1.0))),
                None => self.near_short(document, verify),
            })),
            Item::Fingerprint(_) => {
                let how = SearchOptions { limit: Some(MOST_VERIFIED), ..SearchOptions::default() };
                let near = self.index.search(document.item, how)?;
                let store = self.store.read();
                let own = if near.matches.is_empty() {
                    None
                } else {
                    Compared::new(document, verify, self.fingerprinter())
                };
                for candidate in near.matches {
                    let stored = store.texts.as_ref().and_then(|texts| texts.get(candidate.id));
                    let Some(own) = &own else {
                        return Ok(Ok(Some((candidate, None))));
                    };
                    let other = match stored.map_or_else(|| texts(candidate.id), Texts::Known) {
                        Texts::Known(other) => other,
                        Texts::None => return Ok(Ok(Some((candidate, None)))),
                        Texts::Ask => return Ok(Err(candidate.id)),
                    };
                    if let Some(similarity) = own.similarity(other) {
                        return Ok(Ok(Some((candidate, Some(similarity)))));
                    }
                }
                if near.truncated {
                    self.truncated.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Ok(None))
            }
        }
    }

    /// The most similar of the stored short texts that are similar enough as edits. The caller holds the writer.
    fn near_short(&self, document: &Document, verify: Verify) -> Option<Found> {
        let (text, least) = (document.text.as_deref()?, verify.least);
        if self.store.read().short.as_ref().is_none_or(|short| short.least() > least) {
            self.list_short(&mut self.store.write(), least);
        }
        let store = self.store.read();
        let texts = store.texts.as_ref()?;
        let text_of = |id| texts.get(id).filter(|_| self.index.has(id));
        let own = Compared::new(document, verify, self.fingerprinter())?;
        let measure = |other: &str| own.similarity(other);
        let (id, similarity) = store.short.as_ref()?.find(text, least, text_of, measure)?;
        Some((Match { id, distance: 0 }, Some(similarity)))
    }

    /// Lists all short texts for a least similarity: linear, once, and once more for each smaller one asked for later.
    fn list_short(&self, store: &mut Store, least: f64) {
        let Store { texts: Some(texts), short, .. } = store else { return };
        let (mut listed, mut scratch) = (ShortTexts::new(least), Scratch::default());
        for (id, text) in texts.iter().filter(|&(id, _)| self.index.has(id)) {
            if self.fingerprinter().is_short(text, &mut scratch) {
                listed.add(id, text);
            }
        }
        *short = Some(listed);
    }
}
