//! One live index of documents, around the index of a method.
//!
//! - **One writer.** Every change goes through [`Writer`], which keeps other writers out; keys and texts change under it,
//!   and behind a lock of their own that searches share. A batch is its items one by one: it gives way between them.
//! - **Documents that leave** (deleted, or out of the window) take key and text with them at once for every question; the
//!   memory follows over the next changes ([`Store::tend`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::RwLock;
use simhash_index::{Added, IndexError, Live, Writer};
use simhash_sketch::{Fingerprinter, Kept, Prepared, Preparer, Scratch, Sketcher};

use super::document::{Document, Room};
use super::kind::Method;
use super::options::{OnSameKey, Stored, Verify};
use super::store::Store;
use super::texts::Unpacked;
use crate::error::{DedupError, Done};
use crate::parallel;

/// Changes for which memory is looked after at a time: a millisecond, and as long others wait.
const TENDED: usize = 128;

/// The same where the bound of memory is reached.
const RECLAIMED: usize = 1024;

/// Chunks of keys and texts that are looked through at a time.
const SWEPT: usize = 2;

/// Documents by a method, with keys, stored texts and verification.
#[derive(Debug)]
pub(super) struct Engine<K: Method> {
    pub(super) index: Live<K>,
    pub(super) preparer: Preparer,
    pub(super) stored: Stored,
    pub(super) on_same_key: OnSameKey,
    /// How candidates are confirmed; `None`: not at all.
    pub(super) verify: Option<Verify>,
    pub(super) max_verifications: usize,
    pub(super) store: Arc<RwLock<Store>>,
    memory: Option<u64>,
    /// Searches and checks for which a limit cut the candidates.
    pub(super) truncated: AtomicU64,
    /// What a test does between the addition of a document and that of its key and text.
    #[cfg(test)]
    between: tests::Between,
}

/// How an [`Engine`] is made around an index.
#[derive(Debug, Clone)]
pub(super) struct Around {
    pub(super) by: Fingerprinter,
    pub(super) sketcher: Sketcher,
    pub(super) stored: Stored,
    pub(super) on_same_key: OnSameKey,
    pub(super) verify: Option<Verify>,
    pub(super) max_verifications: usize,
    pub(super) memory: Option<u64>,
}

impl<K: Method> Engine<K> {
    pub(super) fn new(index: Live<K>, around: Around) -> Self {
        let Around { by, sketcher, stored, on_same_key, verify, max_verifications, memory } =
            around;
        Self {
            index,
            preparer: Preparer::new(by, sketcher),
            stored,
            on_same_key,
            verify,
            max_verifications,
            store: Arc::new(RwLock::new(Store::new(stored, K::MISSES_EQUAL))),
            memory,
            truncated: AtomicU64::new(0),
            #[cfg(test)]
            between: tests::Between::default(),
        }
    }

    /// Positions of a signature; 0 for other methods.
    pub(super) fn positions(&self) -> usize {
        match self.preparer.sketcher() {
            Sketcher::Signature { hasher, .. } => hasher.options().hashes,
            _ => 0,
        }
    }

    /// Whether the index of the method is all that changes.
    pub(super) fn is_bare(&self) -> bool {
        self.stored == Stored::NOTHING && self.memory.is_none()
    }

    /// The document of a text; the normalised text comes along where it is stored or compared.
    pub(super) fn document(&self, text: &str, room: &Room, scratch: &mut Scratch) -> Document {
        let kept = match (self.verify, self.stored.longest_text) {
            (Some(_), _) => Kept::Features,
            (None, Some(_)) => Kept::Text,
            (None, None) => Kept::Sketch,
        };
        let Prepared { exact, is_empty, sketch, mut material, .. } =
            self.preparer.prepare(text, kept, scratch);
        let item = K::sketch(sketch, exact, is_empty);
        let features = material.features.take().filter(|features| room.take(features.bytes()));
        Document { item, text: material.into_text(text), exact, features }
    }

    /// The item of a document that is one of this index.
    pub(super) fn item(document: &Document) -> Result<&K::Item, DedupError> {
        K::item(&document.item).ok_or_else(|| DedupError::Option {
            argument: "item",
            value: "one of another method".into(),
            expected: "an item of the index's method",
        })
    }

    pub(super) fn items(documents: &[Document]) -> Result<Vec<&K::Item>, DedupError> {
        documents.iter().map(Self::item).collect()
    }

    pub(super) fn add(
        &self,
        document: &Document,
        key: Option<&str>,
        at: Option<u64>,
    ) -> Result<u64, DedupError> {
        let item = Self::item(document)?;
        if self.is_bare() {
            return Ok(self.index.add_at(item, at)?);
        }
        self.index.admit(at.as_slice())?;
        let mut writer = self.index.writer()?;
        writer.advance(at)?;
        let id = self.enter(&mut writer, document, key)?;
        writer.keep()?;
        Ok(id)
    }

    pub(super) fn add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        position: Option<u64>,
        cancel: &AtomicBool,
    ) -> Result<Added, DedupError> {
        let items = Self::items(documents)?;
        if self.is_bare() && position.is_none() {
            return Ok(self.index.add_many(&items, times, cancel)?);
        }
        self.index.admit(times)?;
        let mut writer = self.index.batch(documents.len(), cancel)?;
        begin(&self.index, &mut writer, position)?;
        let mut added = Added::from(writer.next_id());
        for (row, document) in documents.iter().enumerate() {
            writer.next(1)?;
            writer.advance(times.get(row).copied())?;
            let key = keys.get(row).and_then(Option::as_deref);
            match self.enter(&mut writer, document, key) {
                Ok(id) => added.push(id..id + 1),
                Err(error) => {
                    writer.keep()?;
                    return Err(error.after(Done::Added(added)));
                }
            }
        }
        end(&mut writer, position)?;
        Ok(added)
    }

    pub(super) fn delete(&self, id: u64) -> Result<bool, DedupError> {
        let deleted = self.index.delete(id)?;
        if deleted && !self.is_bare() {
            self.tend(1);
        }
        Ok(deleted)
    }

    pub(super) fn expire(&self, before: u64) -> Result<u64, DedupError> {
        let gone = self.index.expire(before)?;
        // After the documents: an answer that stays too long repeats what was said, one that goes too early makes a copy new.
        self.expire_answers(before)?;
        if !self.is_bare() {
            self.tend(usize::try_from(gone).unwrap_or(usize::MAX));
        }
        Ok(gone)
    }

    /// Looks after the memory of keys and texts after so many changes; others come in between.
    fn tend(&self, changes: usize) {
        let mut left = changes.min(self.store.read().span());
        while left > 0 {
            let _turn = self.index.turn();
            self.tend_now(left.min(TENDED));
            left = left.saturating_sub(TENDED);
        }
    }

    /// Looks after the memory of keys, their answers and texts after so many changes. To be called by a writer.
    fn tend_now(&self, changes: usize) {
        let (now, is_alive) = (self.moment(), |id| self.index.has(id));
        let mut store = self.store.write();
        store.tend(changes, is_alive);
        store.answers.tend(changes, now, is_alive);
    }

    /// Gives back what documents that have left still hold; others come in between.
    pub(super) fn compact(&self, cancel: &AtomicBool) -> Result<(), DedupError> {
        K::compact(&self.index, cancel)?;
        if self.is_bare() {
            return Ok(());
        }
        let is_alive = |id| self.index.has(id);
        let chunks = self.store.read().chunks();
        for _ in (0..chunks).step_by(SWEPT) {
            parallel::check(cancel)?;
            let _turn = self.index.turn();
            self.store.write().sweep(SWEPT, self.moment(), is_alive);
        }
        let _turn = self.index.turn();
        self.store.write().shrink(is_alive);
        Ok(())
    }

    pub(super) fn key_of(&self, id: u64) -> Option<String> {
        let store = self.store.read();
        let key = store.keys.as_ref()?.key_of(id)?;
        self.index.has(id).then(|| key.to_owned())
    }

    pub(super) fn id_of(&self, key: &str) -> Option<u64> {
        self.store.read().keys.as_ref()?.id_of(key, |id| self.index.has(id))
    }

    pub(super) fn text_of(&self, id: u64) -> Option<String> {
        let store = self.store.read();
        let mut unpacked = Unpacked::default();
        let text = store.texts.as_ref()?.get(id, &mut unpacked)?;
        self.index.has(id).then(|| text.to_owned())
    }

    /// Bytes of the index, of keys, and of texts.
    pub(super) fn bytes(&self) -> [usize; 3] {
        let (keys, texts) = self.store.read().bytes();
        [K::bytes(&self.index), keys, texts]
    }

    /// Adds a document at the latest time.
    pub(super) fn put(
        &self,
        writer: &mut Writer<'_, K>,
        document: &Document,
        key: Option<&str>,
    ) -> Result<u64, DedupError> {
        self.check_memory()?;
        self.place(writer, document, key)
    }

    /// [`Engine::put`], once it is sure that there is memory.
    pub(super) fn place(
        &self,
        writer: &mut Writer<'_, K>,
        document: &Document,
        key: Option<&str>,
    ) -> Result<u64, DedupError> {
        // Held over the addition: who finds the document finds its key and text.
        let mut store = self.store.write();
        let id = writer.add_beside(Self::item(document)?, || store.written(document, key))?;
        #[cfg(test)]
        self.between.run();
        let is_alive = |id| self.index.has(id);
        store.add(id, document, key, is_alive);
        store.tend(1, is_alive);
        Ok(id)
    }

    /// Whether there is room for an addition: the bound may be exceeded by the last one. To be called by a writer.
    pub(super) fn check_memory(&self) -> Result<(), DedupError> {
        let Some(most) = self.memory else { return Ok(()) };
        let held = || self.bytes().iter().sum::<usize>() as u64;
        if held() >= most {
            // Some of it may have left, with the window.
            self.tend_now(RECLAIMED);
            let held = held();
            if held >= most {
                return Err(DedupError::Memory { held, most, done: Done::Nothing });
            }
        }
        Ok(())
    }
}

/// A batch up to a position begins: it is refused before anything is changed where the position falls.
pub(super) fn begin<K: Method>(
    index: &Live<K>,
    writer: &mut Writer<'_, K>,
    position: Option<u64>,
) -> Result<(), DedupError> {
    let Some(given) = position else { return Ok(()) };
    if let Some(before) = index.position().filter(|&before| given < before) {
        return Err(IndexError::Position { given, before }.into());
    }
    writer.hold();
    Ok(())
}

/// It ends: its changes are kept, the position in the same frame.
pub(super) fn end<K: Method>(
    writer: &mut Writer<'_, K>,
    position: Option<u64>,
) -> Result<(), DedupError> {
    if let Some(position) = position {
        writer.position(position)?;
    }
    Ok(writer.keep()?)
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use parking_lot::Mutex;
    use simhash_sketch::Scratch;

    use crate::live::{Any, LiveIndex, LiveMethod, LiveOptions, Stored};

    /// What is done at a place of the engine, if anything is.
    #[derive(Default)]
    pub(super) struct Between(Mutex<Option<Box<dyn FnMut() + Send>>>);

    impl fmt::Debug for Between {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Between").finish_non_exhaustive()
        }
    }

    impl Between {
        pub(super) fn run(&self) {
            if let Some(work) = &mut *self.0.lock() {
                work();
            }
        }
    }

    /// Somebody looks exactly when the document is there, and its key and text are about to be.
    #[test]
    fn who_sees_a_document_before_its_key_is_there_waits_for_it() {
        let stored = Stored { keys: true, ..Stored::default() };
        let method = LiveMethod::simhash();
        let options = LiveOptions { method, stored, ..LiveOptions::default() };
        let index = LiveIndex::new(&options).unwrap();
        let document = index.document("今天下午有雨，出门请带伞", &mut Scratch::default());
        let (added, is_added) = mpsc::channel();
        let (looked, has_looked) = mpsc::channel::<()>();
        let Any::SimHash(engine) = &index.any else { panic!("of another method") };
        *engine.between.0.lock() = Some(Box::new(move || {
            added.send(()).unwrap();
            // Who waits for this addition has not looked, however long that is.
            let _ = has_looked.recv_timeout(Duration::from_millis(300));
        }));
        thread::scope(|scope| {
            scope.spawn(|| index.add(&document, Some("key"), None).unwrap());
            is_added.recv().unwrap();
            assert!(index.has(0));
            let found = (index.key_of(0), index.text_of(0));
            // The other thread has ended where nobody waits for it.
            let _ = looked.send(());
            assert_eq!(found.0.as_deref(), Some("key"));
            assert_eq!(found.1.as_deref(), Some("今天下午有雨,出门请带伞"));
        });
    }
}
