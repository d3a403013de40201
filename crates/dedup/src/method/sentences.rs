//! The longest sentences: documents with an equal one are candidates.
//!
//! It finds what a page has put other things around, which verification by Jaccard similarity may then refuse: as a sieve it
//! suits containment, or no verification at all. A text without a sentence of [`MIN_LENGTH`] characters is
//! found by its equal text only.

use super::shared::{self, BUCKET};
use super::{Candidate, Found, Sieve, Sketch};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use ahash::AHashMap;
use simhash_sketch::sentences::{MIN_LENGTH, SentenceSketch, SentenceSketcher, SketchScratch};
use simhash_sketch::{Fingerprinter, Scratch};
use simhash_text::sentence::SentenceOptions;
use std::sync::atomic::AtomicBool;

/// Memory: about 20 bytes per sentence; for one that several documents have 4 per document and 40.
pub(super) struct Sentences {
    fingerprinter: Fingerprinter,
    sketcher: SentenceSketcher,
    /// By sentence: its only document, or where its documents are listed, above [`LISTED`].
    documents: AHashMap<u64, u32>,
    lists: Vec<Vec<u32>>,
    count: u32,
}

/// Marks a place in `lists`.
const LISTED: u32 = 1 << 31;

impl Sentences {
    pub(super) fn new(options: &DedupOptions, count: usize) -> Result<Self, DedupError> {
        let normalizer = options.fingerprinter.normalize.clone();
        let sentences =
            SentenceOptions { count, min_length: MIN_LENGTH, normalizer, ..Default::default() };
        Ok(Self {
            fingerprinter: Fingerprinter::new(&options.fingerprinter)?,
            sketcher: SentenceSketcher::new(&sentences),
            documents: AHashMap::new(),
            lists: Vec::new(),
            count: 0,
        })
    }

    /// The documents of a sentence, the oldest first.
    fn holders(&self, sentence: u64) -> (Option<u32>, &[u32]) {
        match self.documents.get(&sentence) {
            None => (None, &[]),
            Some(&listed) if listed >= LISTED => (None, &self.lists[(listed - LISTED) as usize]),
            Some(&one) => (Some(one), &[]),
        }
    }

    fn crowd(&self, sentence: u64) -> usize {
        let (one, many) = self.holders(sentence);
        many.len() + usize::from(one.is_some())
    }

    fn find(&self, row: &[u64], limit: usize) -> Found {
        let mut found = Found::default();
        let mut numbers = Vec::new();
        for &sentence in row {
            let (one, many) = self.holders(sentence);
            numbers.extend(one.into_iter().chain(many.iter().copied().take(BUCKET)));
            found.cut |= many.len() > BUCKET;
        }
        numbers.sort_unstable();
        let groups = numbers.chunk_by(|a, b| a == b);
        found.candidates = groups
            .map(|group| Candidate { number: group[0], rank: self.rank(group.len()) })
            .collect();
        found.candidates.sort_by_key(|candidate| candidate.rank);
        found.cut |= found.candidates.len() > limit;
        found.candidates.truncate(limit);
        found
    }

    fn rank(&self, shared: usize) -> u32 {
        (self.sketcher.count() - shared) as u32
    }
}

fn keys(row: &[u64], keys: &mut Vec<u64>) {
    keys.clear();
    keys.extend_from_slice(row);
}

impl Sieve for Sentences {
    fn sketch(&self, text: &str, scratch: &mut Scratch) -> Sketch {
        let exact = self.fingerprinter.exact(text, scratch);
        let row = match self.sketcher.sketch(text, &mut SketchScratch::default()) {
            SentenceSketch::Sentences(row) => row,
            SentenceSketch::Exact(_) | SentenceSketch::Empty => Vec::new(),
        };
        Sketch {
            exact: exact.unwrap_or_default(),
            empty: exact.is_none(),
            short: row.is_empty() && exact.is_some(),
            row,
        }
    }

    fn together(&self, rows: &[&[u64]]) -> usize {
        shared::together(rows, keys, |sentence| self.crowd(sentence))
    }

    fn search(
        &self,
        rows: &[&[u64]],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let mut slots: Vec<(&[u64], Found)> =
            rows.iter().map(|&row| (row, Found::default())).collect();
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), slot| {
                slot.1 = self.find(slot.0, limit);
                Ok(())
            },
        )?;
        Ok(slots.into_iter().map(|(_, found)| found).collect())
    }

    fn among(
        &self,
        rows: &[&[u64]],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec<Candidate>>, DedupError> {
        let holders = |sentence| self.crowd(sentence);
        shared::among(rows, keys, holders, self.sketcher.count(), threads, cancel)
    }

    fn add(&mut self, rows: &[&[u64]]) -> Result<(), DedupError> {
        for row in rows {
            if self.count == LISTED {
                return Err(DedupError::TooMany);
            }
            for &sentence in *row {
                let known = self.documents.entry(sentence).or_insert(self.count);
                if *known >= LISTED {
                    let list = &mut self.lists[(*known - LISTED) as usize];
                    // One more than counts shows that there are more.
                    if list.len() <= BUCKET {
                        list.push(self.count);
                    }
                } else if *known != self.count {
                    self.lists.push(vec![*known, self.count]);
                    *known = LISTED + (self.lists.len() - 1) as u32;
                }
            }
            self.count += 1;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * 4 + 24).sum();
        // An entry and a byte of control each.
        self.documents.capacity() * (size_of::<(u64, u32)>() + 1) + lists
    }
}
