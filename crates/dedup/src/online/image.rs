//! Keys and texts in the file of an index, kept with the index itself.
//!
//! ```text
//! nothing where neither is kept; else
//! keyed u64  longest text u64 (0: none)  then for each live document with a key or a text, by id:
//! id u64  length of the key u32  length of the text u32  key  text
//! ```
//! They are put together in memory: as many bytes as keys and texts have, and 16 for each document.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_index::{Index, IndexError, Pending};
use simhash_sketch::Fingerprinter;
use simhash_store::{Access, Fields, FileError, Input, Section, saved};

use super::strings::Strings;
use super::{OnlineIndex, Store, Stored};

/// An index as it was when [`OnlineIndex::snapshot`] was called, on its way to a file.
#[derive(Debug)]
pub struct Snapshot {
    index: Pending<Fields>,
    recipe: String,
    /// Texts are not everybody's.
    access: Access,
}

impl Snapshot {
    /// Writes it; additions and searches go on.
    ///
    /// # Errors
    /// [`FileError::Write`], [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn write(self, out: &mut dyn Write, cancel: &AtomicBool) -> Result<(), IndexError> {
        let (snapshot, kept) = self.index.made(cancel)?;
        snapshot.write(out, &self.recipe, &kept.0)
    }

    /// Writes it to a file, whole or not at all. A new one that holds texts is readable by its owner only.
    ///
    /// # Errors
    /// As [`Snapshot::write`].
    pub fn write_file(self, path: &Path, cancel: &AtomicBool) -> Result<(), IndexError> {
        let (snapshot, kept) = self.index.made(cancel)?;
        snapshot.write_file((path, self.access), &self.recipe, &kept.0, cancel)
    }
}

impl OnlineIndex {
    /// Keys, texts and index as they are now, for saving: what is added or deleted after this call is not in it. O(1), see
    /// [`Index::snapshot`].
    pub fn snapshot(&self) -> Snapshot {
        let (stored, store) = (self.stored, Arc::downgrade(&self.store));
        let index = self.index.snapshot(move |is_alive| match store.upgrade() {
            Some(store) => kept(stored, &store.read(), is_alive),
            None => Fields::default(),
        });
        let access = stored.longest_text.map_or(Access::Usual, |_| Access::Private);
        Snapshot { index, recipe: self.fingerprinter().to_string(), access }
    }

    /// Writes keys, texts and index as they are at the call.
    ///
    /// # Errors
    /// As [`Snapshot::write`].
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        self.snapshot().write(out, &AtomicBool::new(false))
    }

    /// Reads what [`OnlineIndex::save`] wrote, with the fingerprinter that it was made with.
    ///
    /// # Errors
    /// Those of [`Input::head`]; damage comes with the byte where it was noticed.
    pub fn open(input: &mut dyn Read, fingerprinter: Fingerprinter) -> Result<Self, IndexError> {
        Self::open_with(Input::new(input, None), fingerprinter)
    }

    /// Reads the file that [`Snapshot::write_file`] wrote, with the fingerprinter that it was made with.
    ///
    /// # Errors
    /// As [`OnlineIndex::open`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn open_file(
        path: &Path,
        fingerprinter: Fingerprinter,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        let opened = saved::open(path, cancel, |input, length| {
            Self::open_with(Input::new(input, length), fingerprinter)
        });
        opened.map_err(|error: IndexError| error.in_file(path))
    }

    fn open_with<R: Read>(
        input: Input<R>,
        fingerprinter: Fingerprinter,
    ) -> Result<Self, IndexError> {
        let (index, mut kept) = Index::open_with(input, Some(&fingerprinter.to_string()))?;
        let mut stored = Stored::default();
        if !kept.is_empty() {
            stored.keys = kept.number()? > 0;
            let longest = u32::try_from(kept.number()?);
            let longest =
                longest.map_err(|_| kept.damaged("a longest text of more than 2^32 characters"))?;
            stored.longest_text = (longest > 0).then_some(longest);
        }
        let online = Self::new(index, fingerprinter, stored);
        online.restore(&mut kept)?;
        Ok(online)
    }

    fn restore(&self, kept: &mut Section) -> Result<(), FileError> {
        let mut store = self.store.write();
        let mut after = 0;
        while !kept.is_empty() {
            let (id, key, text) = (kept.number()?, kept.half()?, kept.half()?);
            if id < after || !self.index.has(id) {
                return Err(kept.damaged(format!("a key or text of id {id}")));
            }
            after = id + 1;
            if (key > 0 && store.keys.is_none()) || (text > 0 && store.texts.is_none()) {
                return Err(kept.damaged("a key or text that the index does not keep"));
            }
            let key = kept.text_of(key.into())?;
            if let Some(keys) = store.keys.as_mut().filter(|_| !key.is_empty()) {
                keys.add(id, key, |id| self.index.has(id));
            }
            let text = kept.text_of(text.into())?;
            if let Some(texts) = store.texts.as_mut().filter(|_| !text.is_empty()) {
                Strings::push(texts, id, text);
            }
        }
        Ok(())
    }
}

/// What is kept of live documents.
fn kept(stored: Stored, store: &Store, is_alive: &dyn Fn(u64) -> bool) -> Fields {
    let mut kept = Fields::default();
    if stored == Stored::default() {
        return kept;
    }
    kept.number(u64::from(stored.keys));
    kept.number(u64::from(stored.longest_text.unwrap_or(0)));
    let mut keys = store.keys.as_ref().map(|keys| keys.iter().peekable());
    let mut texts = store.texts.as_ref().map(|texts| texts.iter().peekable());
    loop {
        let next_key = keys.as_mut().and_then(|keys| keys.peek().map(|&(id, _)| id));
        let next_text = texts.as_mut().and_then(|texts| texts.peek().map(|&(id, _)| id));
        let Some(id) = next_key.into_iter().chain(next_text).min() else { return kept };
        let key = keys.as_mut().and_then(|keys| keys.next_if(|&(of, _)| of == id));
        let text = texts.as_mut().and_then(|texts| texts.next_if(|&(of, _)| of == id));
        if is_alive(id) {
            let (key, text) = (key.map_or("", |(_, key)| key), text.map_or("", |(_, text)| text));
            kept.number(id);
            kept.half(key.len() as u32);
            kept.half(text.len() as u32);
            kept.0.extend(key.bytes().chain(text.bytes()));
        }
    }
}
