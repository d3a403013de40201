//! What the calls on an index of signatures share with its jobs on the pool.

use super::columns::{NativeBandChecked, NativeBandMatches};
use crate::error::Failure;
use crate::held::{Guard, Held, on_pool};
use crate::index::batch::Times;
use crate::index::columns::NativeAdded;
use crate::minhash::TextHasher;
use crate::pool;
use crate::text::Texts;
use simhash_index::OnDuplicate;
use simhash_index::bands::{BandIndex, BandSearch};
use std::sync::atomic::AtomicBool;

/// An index with what makes its signatures.
pub(super) struct Shared {
    pub(super) index: BandIndex,
    pub(super) hasher: TextHasher,
    threads: u32,
    guard: Guard,
}

impl Held for Shared {
    const CLASS: &'static str = "MinHashIndex";

    fn guard(&self) -> &Guard {
        &self.guard
    }

    fn bytes(&self) -> usize {
        let stats = self.index.stats();
        stats.table_bytes + stats.id_bytes + stats.signature_bytes + stats.window_bytes
    }

    fn has(&self, id: u64) -> bool {
        self.index.has(id)
    }

    fn delete(&self, id: u64) -> Result<bool, Failure> {
        Ok(self.index.delete(id)?)
    }

    fn expire(&self, before: u64) -> Result<u64, Failure> {
        Ok(self.index.expire(before)?)
    }

    fn len(&self) -> u64 {
        self.index.len()
    }
}

impl Shared {
    pub(super) fn new(index: BandIndex, hasher: TextHasher, threads: u32) -> Self {
        Self { index, hasher, threads, guard: Guard::default() }
    }

    /// The signature of a single call.
    pub(super) fn item(&self, texts: &Texts) -> Vec<u32> {
        texts.signature(0).unwrap_or_else(|| self.hasher.signature(texts, 0))
    }

    pub(super) fn add_many(
        &self,
        texts: &Texts,
        times: &Times,
        flag: &AtomicBool,
    ) -> Result<NativeAdded, Failure> {
        let times = times.each(texts.len())?;
        let signatures = self.hasher.signatures(texts, self.threads, flag)?;
        let ids = self.index.add_many(&signatures, &times, flag)?;
        Ok(ids.into())
    }

    pub(super) fn check_and_add_many(
        &self,
        texts: &Texts,
        times: &Times,
        on_duplicate: OnDuplicate,
        flag: &AtomicBool,
    ) -> Result<NativeBandChecked, Failure> {
        let times = times.each(texts.len())?;
        let signatures = self.hasher.signatures(texts, self.threads, flag)?;
        let outcomes = self.index.check_and_add_many(&signatures, &times, on_duplicate, 1, flag)?;
        Ok(NativeBandChecked::of(&outcomes))
    }

    pub(super) fn search_many(
        &self,
        texts: &Texts,
        how: BandSearch,
        flag: &AtomicBool,
    ) -> Result<NativeBandMatches, Failure> {
        let signatures = self.hasher.signatures(texts, self.threads, flag)?;
        let found = on_pool(signatures.len(), pool::tasks(self.threads), |tasks| {
            Ok(self.index.search_many(&signatures, how, tasks, flag)?)
        })?;
        NativeBandMatches::of(&found)
    }
}
