//! The longest sentences: documents with an equal one are candidates.
//!
//! It finds what a page has put other things around, which verification by Jaccard similarity may then refuse: as a sieve it
//! suits containment, or no verification at all. A text without a sentence of [`MIN_LENGTH`] characters is
//! found by its equal text only.

use super::{Found, Sieve, count, shared};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use ahash::AHashMap;
use simhash_sketch::sentences::{MIN_LENGTH, SentenceSketcher};
use simhash_sketch::{MethodSketch, Sketcher};
use simhash_text::sentence::SentenceOptions;
use std::sync::atomic::AtomicBool;

/// Memory: about 20 bytes per sentence; for one that several documents have 4 per document and 40. Not the lists of the live index
/// (`simhash_index::sentences`): there documents leave, and lists hold all of theirs; here a list ends one past what counts.
pub(super) struct Sentences {
    sketcher: SentenceSketcher,
    /// By sentence: its only document, or where its documents are listed, above [`LISTED`].
    documents: AHashMap<u64, u32>,
    lists: Vec<Vec<u32>>,
    bucket: usize,
    count: u32,
}

/// Marks a place in `lists`.
const LISTED: u32 = 1 << 31;

impl Sentences {
    pub(super) fn new(options: &DedupOptions, count: usize) -> Self {
        let normalizer = options.fingerprinter.normalizer();
        let sentences =
            SentenceOptions { count, min_length: MIN_LENGTH, normalizer, ..Default::default() };
        Self {
            sketcher: SentenceSketcher::new(&sentences),
            documents: AHashMap::new(),
            lists: Vec::new(),
            bucket: options.max_bucket,
            count: 0,
        }
    }

    /// The documents of a sentence, the oldest first.
    fn holders(&self, sentence: u64) -> (Option<u32>, &[u32]) {
        match self.documents.get(&sentence) {
            None => (None, &[]),
            Some(&listed) if listed >= LISTED => (None, &self.lists[(listed - LISTED) as usize]),
            Some(&one) => (Some(one), &[]),
        }
    }

    /// Lists a text under its sentences.
    fn insert(&mut self, sentences: &[u64], text: u32) {
        for &sentence in sentences {
            let known = self.documents.entry(sentence).or_insert(text);
            if *known >= LISTED {
                let list = &mut self.lists[(*known - LISTED) as usize];
                // One more than counts shows that there are more.
                if list.len() <= self.bucket {
                    list.push(text);
                }
            } else if *known != text {
                self.lists.push(vec![*known, text]);
                *known = LISTED + (self.lists.len() - 1) as u32;
            }
        }
    }

    /// The candidates of a text with these sentences among those before it.
    fn find(&self, sentences: &[u64], text: u32, limit: usize) -> Found {
        let (mut seen, mut cut) = (Vec::new(), false);
        for &sentence in sentences {
            let (one, many) = self.holders(sentence);
            let all = one.into_iter().chain(many.iter().copied());
            let mut before = all.take_while(|&other| other < text);
            seen.extend(before.by_ref().take(self.bucket));
            cut |= before.next().is_some();
        }
        shared::by_keys(&mut seen, self.sketcher.count(), limit, cut)
    }
}

fn sentences(sketch: &MethodSketch) -> &[u64] {
    if let MethodSketch::Sentences(hashes) = sketch { hashes } else { &[] }
}

impl Sieve for Sentences {
    fn sketcher(&self) -> Sketcher {
        Sketcher::Sentences(self.sketcher.clone())
    }

    fn take(
        &mut self,
        sketches: &[&MethodSketch],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let first = self.count;
        self.count = count(first, sketches.len())?;
        let slots = (first..).zip(sketches);
        let mut slots: Vec<_> =
            slots.map(|(number, &sketch)| (number, sentences(sketch), Found::default())).collect();
        for (number, sentences, _) in &slots {
            self.insert(sentences, *number);
        }
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (number, sentences, found)| {
                *found = self.find(sentences, *number, limit);
                Ok(())
            },
        )?;
        Ok(slots.into_iter().map(|(_, _, found)| found).collect())
    }

    fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * 4 + 24).sum();
        // An entry and a byte of control each.
        self.documents.capacity() * (size_of::<(u64, u32)>() + 1) + lists
    }
}
