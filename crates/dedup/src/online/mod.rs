//! The index as a service: keys of the caller's, stored texts, duplicates confirmed on texts before they count.
//!
//! `simhash_index` knows numbers only. This room adds what has to do with documents, and keeps its laws: looking,
//! verifying and adding are one step, of two near-duplicates at once exactly one is kept.
//!
//! ```text
//! check_and_add   writer of the index ─► near by distance ─► texts: stored here, or told by the caller ─► add
//!   (one step)    too short for that  ─► near by edit distance among the short                          with key, text
//! ```
//!
//! - **One writer.** Every change goes through [`Writer`], which keeps other writers out; keys and texts change under it,
//!   and behind a lock of their own that searches share. A batch is its items one by one: it gives way between them.
//! - **Texts of the caller's** come from a callback that may take long or use this index itself, so it never runs while
//!   others wait: a check that misses a text ends with [`Step::Text`] and has added nothing; its time counts already. The
//!   caller finds the text and asks again; what came meanwhile is then seen.
//! - **Documents that leave** (deleted, or out of the window) take key and text with them at once for every question; the
//!   memory follows over the next changes (`strings`).
//! - **Short texts**, too short for a fingerprint, are compared with each other by edit distance where texts are stored
//!   (`short`).

mod check;
mod compare;
mod image;
mod keys;
mod short;
mod strings;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::RwLock;
use simhash_index::{Added, Hamming, Index, IndexError, Item, Writer};
use simhash_sketch::{
    Features, Fingerprinter, Kept, MethodSketch, Prepared, Preparer, Scratch, Sketcher,
};

pub use self::check::{Checked, Step, Texts};
pub use self::compare::Verify;
pub use self::image::Snapshot;
use self::keys::Keys;
use self::short::ShortTexts;
use self::strings::{CHUNK, Strings};

/// What is kept of documents beside their fingerprints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stored {
    /// Whether documents may have keys.
    pub keys: bool,
    /// Most characters of a normalised text that is stored; `None`: no texts are.
    pub longest_text: Option<u32>,
}

/// A document on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What the index stores.
    pub item: Item,
    /// The normalised text, where it is needed and known.
    pub text: Option<Box<str>>,
    /// Its features, where it is verified: cut for the fingerprint, and kept.
    features: Option<Features>,
}

impl Document {
    /// What has no text.
    pub fn without_text(item: Item) -> Self {
        Self { item, text: None, features: None }
    }
}

/// How many bytes of features the documents of a batch may keep together: what comes after that is cut again where it is
/// compared.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Room {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Whether there was room for so many.
    fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl Default for Room {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

/// Keys and texts of live documents.
#[derive(Debug, Default)]
struct Store {
    keys: Option<Keys>,
    texts: Option<Strings>,
    /// Built when a short text is first verified.
    short: Option<ShortTexts>,
    /// Changes since memory was last looked after.
    changes: usize,
}

/// An [`Index`] with keys, stored texts and verification.
///
/// Memory, beside that of the index: with keys 4 bytes per id, the key, and about 40 for the way back; with stored texts 4
/// bytes per id and the text; about 100 per short text once one was verified. What has left counts for up to as much again.
#[derive(Debug)]
pub struct OnlineIndex {
    index: Index,
    preparer: Preparer,
    stored: Stored,
    store: Arc<RwLock<Store>>,
    /// Checks for which [`check::MOST_VERIFIED`] cut the candidates.
    truncated: AtomicU64,
}

impl OnlineIndex {
    /// An index that is empty, or whose documents have no keys and no texts.
    pub fn new(index: Index, fingerprinter: Fingerprinter, stored: Stored) -> Self {
        let store = Store {
            keys: stored.keys.then(Keys::default),
            texts: stored.longest_text.map(|_| Strings::default()),
            ..Store::default()
        };
        Self {
            index,
            preparer: Preparer::new(fingerprinter, Sketcher::Fingerprint),
            stored,
            store: Arc::new(RwLock::new(store)),
            truncated: AtomicU64::new(0),
        }
    }

    /// The index inside. What it adds has no key and no text; additions of this kind must go through this room instead
    /// where [`OnlineIndex::stores_any`].
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What makes fingerprints.
    pub fn fingerprinter(&self) -> &Fingerprinter {
        self.preparer.fingerprinter()
    }

    /// What is kept of documents.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// Whether anything is kept beside fingerprints.
    pub fn stores_any(&self) -> bool {
        self.stored != Stored::default()
    }

    /// A text as a document; the normalised text comes along where it can be stored, or where `verified`.
    pub fn document(&self, text: &str, verified: bool, scratch: &mut Scratch) -> Document {
        self.document_in(text, verified, &Room::default(), scratch)
    }

    /// [`OnlineIndex::document`], as one of a batch.
    pub fn document_in(
        &self,
        text: &str,
        verified: bool,
        room: &Room,
        scratch: &mut Scratch,
    ) -> Document {
        let kept = match self.stored.longest_text {
            _ if verified => Kept::Features,
            Some(_) => Kept::Text,
            None => Kept::Nothing,
        };
        let Prepared { exact, is_empty, sketch, mut material, .. } =
            self.preparer.prepare(text, kept, scratch);
        let item = match sketch {
            _ if is_empty => Item::Empty,
            MethodSketch::Fingerprint(value) => Item::Fingerprint(value),
            _ => Item::Exact(exact),
        };
        let features = material.features.take().filter(|features| room.take(features.bytes()));
        let wanted = |text| verified || self.can_store(text);
        let is_wanted = material.text(text).is_some_and(wanted);
        let text = if is_wanted { material.into_text(text) } else { None };
        Document { item, text, features }
    }

    fn can_store(&self, text: &str) -> bool {
        let Some(longest) = self.stored.longest_text else { return false };
        // A character has at most four bytes, so most long texts need no counting.
        text.len() <= longest as usize * 4 && text.chars().count() <= longest as usize
    }

    /// Adds a document without looking for near ones and returns its id.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`].
    pub fn add(
        &self,
        document: &Document,
        key: Option<&str>,
        at: Option<u64>,
    ) -> Result<u64, IndexError> {
        if !self.stores_any() {
            return self.index.add_at(document.item, at);
        }
        self.index.admit(at.as_slice())?;
        let mut writer = self.index.writer()?;
        writer.advance(at);
        self.put(&mut writer, document, key)
    }

    /// Adds documents in order; other calls may come between two of them, other batches do not. `keys` and `times` have one
    /// for each, or are empty.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`]; nothing was added then.
    pub fn add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, IndexError> {
        if !self.stores_any() {
            let items: Vec<Item> = documents.iter().map(|document| document.item).collect();
            return self.index.add_many(&items, times, cancel);
        }
        self.index.admit(times)?;
        let mut writer = self.index.batch(documents.len(), cancel)?;
        let mut added = Added::from(writer.next_id());
        for (row, document) in documents.iter().enumerate() {
            writer.next(1)?;
            writer.advance(times.get(row).copied());
            let key = keys.get(row).and_then(Option::as_deref);
            let id = self.put(&mut writer, document, key)?;
            added.push(id..id + 1);
        }
        Ok(added)
    }

    /// Takes an id away; false if it was not alive.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Stopped`].
    pub fn delete(&self, id: u64) -> Result<bool, IndexError> {
        let deleted = self.index.delete(id)?;
        if deleted && self.stores_any() {
            let _writer = self.index.writer()?;
            self.tend(&mut self.store.write(), 1);
        }
        Ok(deleted)
    }

    /// Takes every document away that is older than `before`; how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`].
    pub fn expire(&self, before: u64) -> Result<u64, IndexError> {
        let gone = self.index.expire(before)?;
        if self.stores_any() {
            let _writer = self.index.writer()?;
            self.tend(&mut self.store.write(), usize::try_from(gone).unwrap_or(usize::MAX));
        }
        Ok(gone)
    }

    /// The key of a live document; none where it has none.
    pub fn key_of(&self, id: u64) -> Option<String> {
        let store = self.store.read();
        let key = store.keys.as_ref()?.key_of(id)?;
        self.index.has(id).then(|| key.to_owned())
    }

    /// The latest live document with this key.
    pub fn id_of(&self, key: &str) -> Option<u64> {
        self.store.read().keys.as_ref()?.id_of(key, |id| self.index.has(id))
    }

    /// The stored text of a live document, normalised.
    pub fn text_of(&self, id: u64) -> Option<String> {
        let store = self.store.read();
        let text = store.texts.as_ref()?.get(id)?;
        self.index.has(id).then(|| text.to_owned())
    }

    /// Bytes of keys, and of stored texts with their lists.
    pub fn bytes(&self) -> (usize, usize) {
        let store = self.store.read();
        let texts = store.texts.as_ref().map_or(0, Strings::bytes);
        let lists = store.short.as_ref().map_or(0, ShortTexts::bytes);
        (store.keys.as_ref().map_or(0, Keys::bytes), texts + lists)
    }

    /// Checks that ended before all candidates were compared, so far.
    pub fn truncated(&self) -> u64 {
        self.truncated.load(Ordering::Relaxed)
    }

    /// Adds a document at the latest time.
    fn put(
        &self,
        writer: &mut Writer<'_, Hamming>,
        document: &Document,
        key: Option<&str>,
    ) -> Result<u64, IndexError> {
        // Held over the addition: who finds the document finds its key and text.
        let mut store = self.store.write();
        let id = writer.add(&document.item)?;
        let is_alive = |id| self.index.has(id);
        let Store { keys, texts, short, .. } = &mut *store;
        if let (Some(keys), Some(key)) = (keys, key) {
            keys.add(id, key, is_alive);
        }
        if let (Some(texts), Some(text)) = (texts, &document.text)
            && self.can_store(text)
        {
            texts.push(id, text);
            if let (Some(short), Item::Exact(_)) = (short, document.item) {
                short.add(id, text);
            }
        }
        self.tend(&mut store, 1);
        Ok(id)
    }

    /// Looks after memory: two chunks for every chunk's worth of changes, so that what has left is gone after at most half
    /// as many changes as there are documents.
    fn tend(&self, store: &mut Store, changes: usize) {
        store.changes += changes;
        let rounds = store.changes / CHUNK;
        store.changes %= CHUNK;
        let is_alive = |id| self.index.has(id);
        let Store { keys, texts, short, .. } = store;
        let chunks = keys.as_ref().map_or(0, Keys::chunks);
        let chunks = chunks.max(texts.as_ref().map_or(0, Strings::chunks));
        // All chunks once is enough, whatever has left at one stroke.
        for _ in 0..rounds.saturating_mul(2).min(chunks) {
            if let Some(keys) = keys {
                keys.tend(is_alive);
            }
            if let Some(texts) = texts {
                texts.tend(is_alive, |id, text| {
                    if let Some(short) = short {
                        short.remove(id, text);
                    }
                });
            }
        }
    }
}
