//! What the calls on an index share with its jobs on the pool.

use super::options::{NativeIndexOptions, Skew};
use crate::error::Failure;
use crate::held::Guard;
use crate::sketch::{Memory as Scratch, rows, with_memory};
use crate::text::{Accept, Given, Texts};
use simhash_dedup::live::{Document, LiveIndex, LiveMethod, Room};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// An index with what this side of it knows.
pub(crate) struct Shared {
    pub(crate) live: LiveIndex,
    pub(super) threads: u32,
    guard: Guard,
    /// Handles, of this worker and others, that have not been closed.
    owners: AtomicU32,
    /// Batches that were called and have not ended, of this worker and others.
    batches: Arc<AtomicU32>,
}

/// A batch from its call to its end.
pub(crate) struct UnderWay(Arc<AtomicU32>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    pub(super) fn new(live: LiveIndex, options: &Settings) -> Self {
        if let Some(Skew(most)) = options.skew {
            live.set_max_skew(most);
        }
        let threads = options.threads;
        let (guard, owners, batches) = Default::default();
        Self { live, threads, guard, owners, batches }
    }

    /// A batch is called; and whether others are under way.
    pub(crate) fn batch(&self) -> (UnderWay, bool) {
        let others = self.batches.fetch_add(1, Ordering::AcqRel) > 0;
        (UnderWay(Arc::clone(&self.batches)), others)
    }

    /// A handle has it.
    pub(crate) fn owned(&self) {
        self.owners.fetch_add(1, Ordering::AcqRel);
    }

    /// A handle lets go of it. True: it was the last.
    pub(crate) fn let_go(&self) -> bool {
        self.owners.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Runs `work` unless an earlier panic broke the index; remembers a new one.
    pub(crate) fn guarded<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.guard.run(|| work(self))
    }

    /// [`Shared::guarded`], of a change on the JavaScript thread: it waits for no merge.
    pub(crate) fn here<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _hurry = self.live.hurry();
        self.guarded(work)
    }

    /// What an item may be.
    pub(super) fn accept(&self) -> Accept {
        let options = self.live.options();
        match options.method {
            _ if options.stored.longest_text.is_some() => Accept::Documents,
            LiveMethod::SimHash { .. } => Accept::Items,
            LiveMethod::MinHash { .. } => Accept::Signatures,
            _ => Accept::Documents,
        }
    }

    /// Documents of a batch.
    pub(super) fn documents(
        &self,
        texts: &Texts,
        flag: &AtomicBool,
    ) -> Result<Vec<Document>, Failure> {
        let room = Room::default();
        rows(texts, self.threads, flag, |row| self.document_in(texts, row, &room))
    }

    /// One of them.
    pub(super) fn document(&self, texts: &Texts) -> Document {
        self.document_in(texts, 0, &Room::default())
    }

    fn document_in(&self, texts: &Texts, row: usize, room: &Room) -> Document {
        if let Some(signature) = texts.signature(row) {
            return Document::signature(signature);
        }
        with_memory(|Scratch { text, scratch }| match texts.get(row, text) {
            Given::Fingerprint(value) => Document::fingerprint(value),
            Given::Text(text) => self.live.document_in(text, room, scratch),
        })
    }
}

/// What an index needs beside the options of the core.
#[derive(Clone, Copy, Default)]
pub(super) struct Settings {
    threads: u32,
    skew: Option<Skew>,
}

impl Settings {
    pub(super) fn of(options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        Ok(Self { threads: options.threads, skew: options.skew()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Keys, Times};
    use super::{Failure, Settings, Shared};
    use crate::held::NEVER;
    use crate::text::Texts;
    use simhash_dedup::live::{LiveIndex, LiveOptions};
    use simhash_index::IndexError;

    fn empty() -> Shared {
        Shared::new(LiveIndex::new(&LiveOptions::default()).unwrap(), &Settings::default())
    }

    #[test]
    fn a_panic_makes_an_index_unusable_and_later_calls_say_so() {
        let shared = empty();
        let refused = |shared: &Shared| shared.guarded::<()>(|_| Err(Failure::closed("Index")));
        let add = |shared: &Shared| {
            shared.add_many(&Texts::default(), &Times::default(), &Keys::default(), None, &NEVER)
        };
        assert!(!refused(&shared).unwrap_err().is_panic());
        assert!(shared.guarded(add).is_ok());
        assert!(shared.guarded::<()>(|_| panic!("half way")).unwrap_err().is_panic());
        let told = napi::Error::from(refused(&shared).unwrap_err()).status;
        assert_eq!(told, "ERR_SIMHASH_INTERNAL");
    }

    #[test]
    fn a_merge_that_failed_leaves_an_index_that_can_be_used() {
        let shared = empty();
        let failed = shared.guarded::<()>(|_| Err(IndexError::Merge.into())).unwrap_err();
        assert_eq!(napi::Error::from(failed).status, "ERR_SIMHASH_MERGE");
        assert_eq!(shared.guarded(|shared| Ok(shared.live.len())).unwrap(), 0);
    }
}
