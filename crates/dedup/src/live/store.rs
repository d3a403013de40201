//! What is kept of live documents beside the index of their sketches: keys, texts, and signatures of texts that are too long.

use std::collections::VecDeque;
use std::sync::Arc;

use ahash::{AHashMap, RandomState};
use simhash_store::{FileError, Section};
use simhash_text::feature;

use super::answers::{Answers, Listed, Moment};
use super::document::{Document, Sketch};
use super::keys::Keys;
use super::options::Stored;
use super::strings::{CHUNK, Strings};
use super::texts::{self, Texts, Unpacked};

/// Keys and texts of live documents.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) keys: Option<Keys>,
    /// What keys were answered, where that is repeated; else none.
    pub(super) answers: Answers,
    pub(super) texts: Option<Texts>,
    longest_text: usize,
    /// Ids of stored texts by their hash, ascending, where equal texts are looked up by themselves.
    equal: Option<AHashMap<u128, VecDeque<u64>>>,
    /// Room of all lists of ids.
    listed: usize,
    /// Signatures of documents whose text is too long to be stored, to estimate their similarity.
    long: AHashMap<u64, Arc<[u32]>>,
    /// Bytes of them.
    long_bytes: usize,
    /// Changes since dead ones among them were last looked for.
    long_changes: usize,
    /// Changes since the memory of keys was last looked after.
    changes: usize,
    /// Makes tags of the hashes of texts; nobody can craft texts of one tag.
    tagger: RandomState,
}

/// Keys, texts and signatures at one moment: shared with the store until it changes them.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) keys: Option<Strings>,
    pub(super) texts: Option<Texts>,
    pub(super) long: Vec<(u64, Arc<[u32]>)>,
    pub(super) answers: Listed,
}

impl Store {
    pub(super) fn new(stored: Stored, misses_equal: bool) -> Self {
        let texts = stored.longest_text.map(|_| Texts::default());
        Self {
            keys: stored.keys.then(Keys::default),
            equal: texts.as_ref().filter(|_| misses_equal).map(|_| AHashMap::new()),
            texts,
            longest_text: stored.longest_text.unwrap_or(0) as usize,
            ..Self::default()
        }
    }

    /// A new document.
    pub(super) fn add(
        &mut self,
        id: u64,
        document: &Document,
        key: Option<&str>,
        is_alive: impl Fn(u64) -> bool,
    ) {
        if let (Some(keys), Some(key)) = (&mut self.keys, key) {
            keys.add(id, key, &is_alive);
            self.answers.forget(feature::exact(key));
        }
        let Some(text) = &document.text else { return };
        if self.texts.is_some() && text.len() <= self.longest_text {
            self.add_text(id, text, document.exact);
        } else if let (true, Sketch::MinHash(item)) = (self.texts.is_some(), &document.item)
            && !item.is_empty()
        {
            self.add_long(id, item, is_alive);
        }
    }

    /// What is kept of a new document, as it is written down; nothing where nothing is.
    ///
    /// ```text
    /// length of the key u32  length of the text u32  positions u32  key  text  positions u32 …
    /// ```
    pub(super) fn written(&self, document: &Document, key: Option<&str>) -> Vec<u8> {
        let key = key.filter(|_| self.keys.is_some()).unwrap_or_default();
        let (mut text, mut positions) = ("", &[][..]);
        if let (true, Some(own)) = (self.texts.is_some(), &document.text) {
            if own.len() <= self.longest_text {
                text = own;
            } else if let Sketch::MinHash(item) = &document.item {
                positions = item;
            }
        }
        if key.is_empty() && text.is_empty() && positions.is_empty() {
            return Vec::new();
        }
        let lengths = [key.len(), text.len(), positions.len()];
        let mut out = Vec::with_capacity(12 + key.len() + text.len() + positions.len() * 4);
        out.extend(lengths.iter().flat_map(|&length| (length as u32).to_le_bytes()));
        out.extend(key.bytes().chain(text.bytes()));
        out.extend(positions.iter().flat_map(|position| position.to_le_bytes()));
        out
    }

    /// What [`Store::written`] has written of a document that is added again.
    pub(super) fn add_written(
        &mut self,
        id: u64,
        bytes: &[u8],
        is_alive: impl Fn(u64) -> bool,
    ) -> Result<(), FileError> {
        let mut kept = Section::new(bytes.to_vec(), 0);
        let [key, text, positions] = [kept.half()?, kept.half()?, kept.half()?];
        if (key > 0 && self.keys.is_none())
            || text as usize > self.longest_text
            || (text > 0 || positions > 0) && self.texts.is_none()
        {
            return Err(kept.damaged("a key or text that the index does not keep"));
        }
        let key = kept.text_of(key.into())?;
        if let Some(keys) = self.keys.as_mut().filter(|_| !key.is_empty()) {
            keys.add(id, key, &is_alive);
            self.answers.forget(feature::exact(key));
        }
        let text = kept.text_of(text.into())?;
        if !text.is_empty() {
            self.add_text(id, text, feature::exact(text));
        }
        let positions = kept.bytes(u64::from(positions) * 4)?.as_chunks().0;
        let positions: Vec<u32> = positions.iter().copied().map(u32::from_le_bytes).collect();
        kept.end()?;
        if !positions.is_empty() {
            self.add_long(id, &positions, &is_alive);
        }
        self.tend(1, is_alive);
        Ok(())
    }

    /// `exact` is the hash of the text.
    pub(super) fn add_text(&mut self, id: u64, text: &str, exact: u128) {
        let tag = self.tag_of(exact);
        if let Some(texts) = &mut self.texts {
            texts.push(id, text, tag);
        }
        if let Some(equal) = self.equal.as_mut().filter(|_| !text.is_empty()) {
            let ids = equal.entry(exact).or_default();
            let room = ids.capacity();
            // Most texts are there once.
            if ids.is_empty() {
                ids.reserve_exact(1);
            }
            ids.push_back(id);
            self.listed = self.listed - room + ids.capacity();
        }
    }

    pub(super) fn add_long(&mut self, id: u64, signature: &[u32], is_alive: impl Fn(u64) -> bool) {
        self.tend_long(1, is_alive);
        self.long_bytes += signature.len() * 4 + 16;
        self.long.insert(id, signature.into());
    }

    /// After as many changes as there are signatures, those that have left are forgotten.
    fn tend_long(&mut self, changes: usize, is_alive: impl Fn(u64) -> bool) {
        self.long_changes = self.long_changes.saturating_add(changes);
        if self.long_changes <= self.long.len().max(64) {
            return;
        }
        self.long_changes = 0;
        let bytes = &mut self.long_bytes;
        self.long.retain(|&id, signature| {
            let lives = is_alive(id);
            *bytes -= if lives { 0 } else { signature.len() * 4 + 16 };
            lives
        });
        self.long.shrink_to_fit();
    }

    /// What stored texts of this hash have in common.
    pub(super) fn tag_of(&self, exact: u128) -> u64 {
        self.tagger.hash_one(exact)
    }

    /// The tag of the stored text of a document.
    pub(super) fn tag(&self, id: u64) -> Option<u64> {
        self.texts.as_ref()?.tag(id)
    }

    /// As it is now.
    pub(super) fn copied(&self) -> Copied {
        let long = self.long.iter().map(|(&id, signature)| (id, Arc::clone(signature))).collect();
        let (keys, answers) = (self.keys.as_ref().map(Keys::copied), self.answers.copied());
        Copied { keys, texts: self.texts.clone(), long, answers }
    }

    /// Copies the text of a document; false: there is none.
    pub(super) fn copy_text(&self, id: u64, unpacked: &mut Unpacked, out: &mut String) -> bool {
        out.clear();
        let text = self.texts.as_ref().and_then(|texts| texts.get(id, unpacked));
        out.push_str(text.unwrap_or_default());
        text.is_some()
    }

    /// The signature of a document whose text is too long.
    pub(super) fn long(&self, id: u64) -> Option<&[u32]> {
        self.long.get(&id).map(AsRef::as_ref)
    }

    /// Ids of equal texts, ascending, dead ones among them.
    pub(super) fn equal(&self, exact: u128) -> impl Iterator<Item = u64> {
        let ids = self.equal.as_ref().and_then(|equal| equal.get(&exact));
        ids.into_iter().flatten().copied()
    }

    /// So many changes look through everything.
    pub(super) fn span(&self) -> usize {
        let keys = self.keys.as_ref().map_or(0, |keys| keys.chunks() * CHUNK);
        let keys = keys.max(self.answers.chunks() * CHUNK);
        keys.max(self.texts.as_ref().map_or(0, |texts| texts.chunks() * texts::CHUNK)) + CHUNK
    }

    /// Listed of keys or texts: so many looks see everything.
    pub(super) fn chunks(&self) -> usize {
        let keys = self.keys.as_ref().map_or(0, Keys::chunks).max(self.answers.chunks());
        keys.max(self.texts.as_ref().map_or(0, Texts::chunks))
    }

    /// Looks through the next `chunks` chunks of keys and texts: all that has left goes.
    pub(super) fn sweep(&mut self, chunks: usize, now: Moment, is_alive: impl Fn(u64) -> bool) {
        for _ in 0..chunks {
            self.answers.sweep(now, &is_alive);
            if let Some(keys) = &mut self.keys {
                keys.tend(&is_alive);
            }
            let Self { texts: Some(texts), equal, listed, .. } = self else { continue };
            texts.look(u32::MAX, &is_alive, &mut |id, text| unlist(equal, listed, id, text));
        }
    }

    /// After a sweep of everything: gives the room back that lists and maps do not need.
    pub(super) fn shrink(&mut self, is_alive: impl Fn(u64) -> bool) {
        if let Some(keys) = &mut self.keys {
            keys.shrink();
        }
        self.answers.shrink();
        if let Some(equal) = &mut self.equal {
            equal.values_mut().for_each(VecDeque::shrink_to_fit);
            self.listed = equal.values().map(VecDeque::capacity).sum();
            equal.shrink_to_fit();
        }
        self.tend_long(usize::MAX, is_alive);
        if let Some(texts) = &mut self.texts {
            texts.shrink();
        }
    }

    /// Looks after memory: two chunks for every chunk's worth of changes, so that what has left is gone after at most half
    /// as many changes as there are documents.
    pub(super) fn tend(&mut self, changes: usize, is_alive: impl Fn(u64) -> bool) {
        self.changes = self.changes.saturating_add(changes);
        let rounds = self.changes / CHUNK;
        self.changes %= CHUNK;
        if let Some(keys) = &mut self.keys {
            // All chunks once is enough, whatever has left at one stroke.
            for _ in 0..rounds.saturating_mul(2).min(keys.chunks()) {
                keys.tend(&is_alive);
            }
        }
        if !self.long.is_empty() {
            self.tend_long(changes, &is_alive);
        }
        let Self { texts: Some(texts), equal, listed, .. } = self else { return };
        texts.tend(changes, &is_alive, |id, text| unlist(equal, listed, id, text));
    }

    /// Bytes of keys, and of texts with what finds them.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let texts = self.texts.as_ref().map_or(0, Texts::bytes);
        let equal = self.equal.as_ref().map_or(0, |equal| equal.capacity());
        let equal = equal * (size_of::<(u128, VecDeque<u64>)>() + 1) + self.listed * 8;
        let long = self.long.capacity() * (size_of::<(u64, Arc<[u32]>)>() + 1) + self.long_bytes;
        let keys = self.keys.as_ref().map_or(0, Keys::bytes) + self.answers.bytes();
        (keys, texts + equal + long)
    }
}

/// A text has left: it is no longer among equal ones.
fn unlist(
    equal: &mut Option<AHashMap<u128, VecDeque<u64>>>,
    listed: &mut usize,
    id: u64,
    text: &str,
) {
    let Some(equal) = equal else { return };
    let exact = feature::exact(text);
    let Some(ids) = equal.get_mut(&exact) else { return };
    if let Ok(at) = ids.binary_search(&id) {
        ids.remove(at);
    }
    if ids.is_empty() {
        *listed -= equal.remove(&exact).map_or(0, |ids| ids.capacity());
    }
}
