//! What the calls on an index of sentences share with its jobs on the pool.

use super::columns::{NativeSentenceChecked, NativeSentenceMatches};
use crate::check::number;
use crate::error::Failure;
use crate::held::{Guard, Held, on_pool};
use crate::index::batch::Times;
use crate::index::columns::NativeAdded;
use crate::pool;
use crate::sketch::rows;
use crate::text::{Given, Texts};
use simhash_index::OnDuplicate;
use simhash_index::sentences::{SentenceIndex, SentenceItem};
use simhash_sketch::sentences::{SentenceSketch, SentenceSketcher, SketchScratch};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

thread_local! {
    /// Memory of one thread, kept between calls.
    static MEMORY: RefCell<(String, SketchScratch)> = RefCell::default();
}

/// An index with what makes its sketches.
pub(super) struct Shared {
    pub(super) index: SentenceIndex,
    pub(super) sketcher: SentenceSketcher,
    threads: u32,
    guard: Guard,
}

impl Held for Shared {
    const CLASS: &'static str = "SentenceIndex";

    fn guard(&self) -> &Guard {
        &self.guard
    }

    fn bytes(&self) -> usize {
        let stats = self.index.stats();
        stats.bytes + stats.window_bytes
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
    pub(super) fn new(index: SentenceIndex, sketcher: SentenceSketcher, threads: u32) -> Self {
        Self { index, sketcher, threads, guard: Guard::default() }
    }

    /// What the index stores of one text.
    pub(super) fn item(&self, texts: &Texts, row: usize) -> SentenceItem {
        let sketch = |memory: &mut (String, SketchScratch)| {
            let (text, scratch) = memory;
            match texts.get(row, text) {
                Given::Text(text) => match self.sketcher.sketch(text, scratch) {
                    SentenceSketch::Sentences(sentences) => SentenceItem::Sentences(sentences),
                    SentenceSketch::Exact(text) => SentenceItem::Exact(text),
                    SentenceSketch::Empty => SentenceItem::Empty,
                },
                Given::Fingerprint(_) => SentenceItem::Empty,
            }
        };
        MEMORY.with(|memory| match memory.try_borrow_mut() {
            Ok(mut memory) => sketch(&mut memory),
            Err(_) => sketch(&mut Default::default()),
        })
    }

    /// All of them, with their times; nothing has been changed yet.
    fn items(
        &self,
        texts: &Texts,
        times: &Times,
        flag: &AtomicBool,
    ) -> Result<(Vec<SentenceItem>, Vec<u64>), Failure> {
        let times = times.each(texts.len())?;
        let items = rows(texts, self.threads, flag, |row| self.item(texts, row))?;
        Ok((items, times))
    }

    pub(super) fn add_many(
        &self,
        texts: &Texts,
        times: &Times,
        flag: &AtomicBool,
    ) -> Result<NativeAdded, Failure> {
        let (items, times) = self.items(texts, times, flag)?;
        let ids = self.index.add_many(&items, &times, flag)?;
        Ok(ids.into())
    }

    pub(super) fn similar_many(
        &self,
        texts: &Texts,
        times: &Times,
        flag: &AtomicBool,
    ) -> Result<Vec<f64>, Failure> {
        let (items, times) = self.items(texts, times, flag)?;
        let groups = self.index.similar_many(&items, &times, flag)?;
        Ok(groups.into_iter().map(number).collect())
    }

    pub(super) fn check_and_add_many(
        &self,
        texts: &Texts,
        times: &Times,
        on_duplicate: OnDuplicate,
        flag: &AtomicBool,
    ) -> Result<NativeSentenceChecked, Failure> {
        let (items, times) = self.items(texts, times, flag)?;
        let outcomes = self.index.check_and_add_many(&items, &times, on_duplicate, 1, flag)?;
        Ok(NativeSentenceChecked::of(&outcomes))
    }

    pub(super) fn search_many(
        &self,
        texts: &Texts,
        limit: usize,
        flag: &AtomicBool,
    ) -> Result<NativeSentenceMatches, Failure> {
        let items = rows(texts, self.threads, flag, |row| self.item(texts, row))?;
        let found = on_pool(items.len(), pool::tasks(self.threads), |tasks| {
            Ok(self.index.search_many(&items, Some(limit), tasks, flag)?)
        })?;
        NativeSentenceMatches::of(&found)
    }
}
