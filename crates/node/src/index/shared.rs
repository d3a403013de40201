//! What the calls on an index share with its jobs on the pool.

use crate::error::Failure;
use crate::held::{Guard, Held};
use crate::sketch::{Memory as Scratch, items, rows, with_memory};
use crate::text::{Given, Texts};
use simhash_dedup::online::{Document, OnlineIndex, Room};
use simhash_index::{Index, Item};
use std::sync::atomic::AtomicBool;

/// An index with what makes its items.
pub(super) struct Shared {
    pub(super) online: OnlineIndex,
    pub(super) threads: u32,
    guard: Guard,
}

impl Held for Shared {
    const CLASS: &'static str = "Index";

    fn guard(&self) -> &Guard {
        &self.guard
    }

    fn bytes(&self) -> usize {
        let (stats, (keys, texts)) = (self.index().stats(), self.online.bytes());
        stats.table_bytes + stats.id_bytes + stats.window_bytes + keys + texts
    }

    fn has(&self, id: u64) -> bool {
        self.index().has(id)
    }

    fn delete(&self, id: u64) -> Result<bool, Failure> {
        Ok(self.online.delete(id)?)
    }

    fn expire(&self, before: u64) -> Result<u64, Failure> {
        Ok(self.online.expire(before)?)
    }

    fn len(&self) -> u64 {
        self.index().len()
    }
}

impl Shared {
    pub(super) fn new(online: OnlineIndex, threads: u32) -> Self {
        Self { online, threads, guard: Guard::default() }
    }

    /// The index of fingerprints, for what does not concern keys and texts.
    pub(super) fn index(&self) -> &Index {
        self.online.index()
    }

    pub(super) fn items(&self, texts: &Texts, flag: &AtomicBool) -> Result<Vec<Item>, Failure> {
        items(self.online.fingerprinter(), texts, self.threads, flag)
    }

    /// Documents of a batch; their texts come along where they are stored, or where `verified`.
    pub(super) fn documents(
        &self,
        texts: &Texts,
        verified: bool,
        flag: &AtomicBool,
    ) -> Result<Vec<Document>, Failure> {
        let room = Room::default();
        rows(texts, self.threads, flag, |row| self.document_in(texts, row, verified, &room))
    }

    /// One of them.
    pub(super) fn document(&self, texts: &Texts, row: usize, verified: bool) -> Document {
        self.document_in(texts, row, verified, &Room::default())
    }

    fn document_in(&self, texts: &Texts, row: usize, verified: bool, room: &Room) -> Document {
        with_memory(|Scratch { text, scratch }| match texts.get(row, text) {
            Given::Fingerprint(value) => Document::without_text(Item::Fingerprint(value)),
            Given::Text(text) => self.online.document_in(text, verified, room, scratch),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::Times;
    use super::super::document::Keys;
    use super::{Failure, Held, Shared};
    use crate::held::NEVER;
    use crate::text::Texts;
    use simhash_dedup::online::{OnlineIndex, Stored};
    use simhash_index::{Index, IndexError, IndexOptions};
    use simhash_sketch::{Fingerprinter, FingerprinterOptions};

    #[test]
    fn a_panic_makes_an_index_unusable_and_later_calls_say_so() {
        let index = Index::new(&IndexOptions::default()).unwrap();
        let fingerprinter = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let online = OnlineIndex::new(index, fingerprinter, Stored::default());
        let shared = Shared::new(online, 1);
        let refused = |shared: &Shared| shared.guarded::<()>(|_| Err(Failure::closed("Index")));
        let add = |shared: &Shared| {
            shared.add_many(&Texts::default(), &Times::default(), &Keys::default(), &NEVER)
        };
        assert!(!refused(&shared).unwrap_err().is_panic());
        assert!(shared.guarded(add).is_ok());
        assert!(shared.guarded::<()>(|_| panic!("half way")).unwrap_err().is_panic());
        let told = napi::Error::from(refused(&shared).unwrap_err()).status;
        assert_eq!(told, "ERR_SIMHASH_INTERNAL");
    }

    #[test]
    fn a_merge_that_failed_leaves_an_index_that_can_be_used() {
        let index = Index::new(&IndexOptions::default()).unwrap();
        let fingerprinter = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let online = OnlineIndex::new(index, fingerprinter, Stored::default());
        let shared = Shared::new(online, 1);
        let failed = shared.guarded::<()>(|_| Err(IndexError::Merge.into())).unwrap_err();
        assert_eq!(napi::Error::from(failed).status, "ERR_SIMHASH_MERGE");
        assert_eq!(shared.guarded(|shared| Ok(shared.index().len())).unwrap(), 0);
    }
}
