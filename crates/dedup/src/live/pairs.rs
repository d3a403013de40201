//! All pairs among live documents: each document is looked up among those before it, and compared.
//!
//! A pair is an edge of the graph by which deduplication decides. Documents with equal texts stand for each other: the first is
//! paired with each of the others at similarity 1, and for all of them with documents nearby, so c copies make c − 1 pairs.

use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashSet;
use rayon::prelude::*;
use simhash_sketch::Scratch;
use simhash_text::feature;

use super::document::{Near, Room, Search};
use super::engine::Engine;
use super::kind::Method;
use crate::error::DedupError;

/// Documents looked up by one task at a time.
const SLICE: u64 = 64;

/// Two live documents that are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The one that came first.
    pub a: u64,
    /// The other, as a neighbour of the first.
    pub b: Near,
}

/// All pairs, a batch at a time.
#[derive(Debug, Clone)]
pub struct Pairs {
    search: Search,
    /// The ids that are looked up, and the next of them.
    begin: u64,
    end: u64,
    next: u64,
}

impl Pairs {
    /// The share of documents looked up, 0 to 1.
    pub fn progress(&self) -> f64 {
        let all = self.end - self.begin;
        if all == 0 { 1.0 } else { (self.next - self.begin) as f64 / all as f64 }
    }
}

impl<K: Method> Engine<K> {
    pub(super) fn pairs(&self, search: Search) -> Pairs {
        let (begin, end) = (self.index.oldest_id(), self.index.next_id());
        Pairs { search, next: begin, end, begin }
    }

    /// The pairs of the next documents, by the later one, then the earlier one; none: there are no more.
    pub(super) fn next_pairs(
        &self,
        pairs: &mut Pairs,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, DedupError> {
        if pairs.next >= pairs.end {
            return Ok(None);
        }
        let tasks = if threads == 0 { rayon::current_num_threads() } else { threads } as u64;
        let till = pairs.end.min(pairs.next + tasks * 16 * SLICE);
        let slices: Vec<u64> = (pairs.next..till).step_by(SLICE as usize).collect();
        let each = |&from: &u64| {
            let (mut found, mut scratch) = (Vec::new(), Scratch::default());
            for id in from..till.min(from + SLICE) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(DedupError::Cancelled);
                }
                self.pairs_of(id, &pairs.search, &mut scratch, &mut found)?;
            }
            Ok(found)
        };
        let share = slices.len().div_ceil(tasks as usize);
        let found: Result<Vec<Vec<Pair>>, DedupError> =
            slices.par_iter().with_min_len(share.min(16)).map(each).collect();
        pairs.next = till;
        Ok(Some(found?.concat()))
    }

    fn pairs_of(
        &self,
        id: u64,
        search: &Search,
        scratch: &mut Scratch,
        found: &mut Vec<Pair>,
    ) -> Result<(), DedupError> {
        let Some(mut matches) = self.near_id(id, search, scratch)? else { return Ok(()) };
        matches.retain(|near| near.id < id);
        matches.sort_unstable_by_key(|near| near.id);
        let hash = |id| self.text_of(id).map(|text| feature::exact(&text));
        let texts: Vec<Option<u128>> = matches.iter().map(|near| hash(near.id)).collect();
        let own = hash(id);
        let equal = |(near, text): &(&Near, &Option<u128>)| match own {
            Some(_) => **text == own,
            None => near.verified && near.similarity == Some(1.0),
        };
        if let Some((first, _)) = matches.iter().zip(&texts).find(equal) {
            let near = Near { id, similarity: Some(1.0), verified: true, ..*first };
            found.push(Pair { a: first.id, b: near });
            return Ok(());
        }
        // Of equal texts the first.
        let mut seen = AHashSet::new();
        for (near, text) in matches.into_iter().zip(texts) {
            if text.is_none_or(|text| seen.insert(text)) {
                found.push(Pair { a: near.id, b: Near { id, ..near } });
            }
        }
        Ok(())
    }

    /// What is near a live document, itself among it; none where it is not alive.
    fn near_id(
        &self,
        id: u64,
        search: &Search,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Near>>, DedupError> {
        let Some(text) = self.text_of(id) else {
            // Without a text nothing is compared.
            let how = K::candidates(&self.index, search, self.max_verifications, false);
            let answer = self.index.search_id(id, how)?;
            if answer.is_none() && self.index.has(id) && self.stored.longest_text.is_none() {
                return Err(DedupError::Option {
                    argument: "texts",
                    value: "neither texts nor signatures".into(),
                    expected: "stored, or signatures kept, for pairs",
                });
            }
            return Ok(answer.map(|answer| answer.matches.iter().map(K::unverified).collect()));
        };
        // Its sketch is the one that it came with where the index has it: sentences are of the text as it was given.
        let document = self.document(&text, &Room::default(), scratch);
        let how = K::candidates(&self.index, search, self.max_verifications, true);
        let known = if K::MISSES_EQUAL { self.index.search_id(id, how)? } else { None };
        match known {
            Some(answer) => {
                let found = answer.matches.iter().map(K::unverified).collect();
                Ok(Some(self.compare(&document, found, search).matches))
            }
            None => Ok(Some(self.search(&document, search)?.matches)),
        }
    }
}
