//! All pairs among live documents: each document is looked up among those before it, and compared.
//!
//! A pair is an edge of the graph by which deduplication decides. Documents with equal texts stand for each other: the first is
//! paired with each of the others at similarity 1, and for all of them with documents nearby, so c copies make c − 1 pairs.

use std::sync::atomic::{AtomicBool, Ordering};

use ahash::{AHashMap, AHashSet};
use rayon::prelude::*;
use simhash_sketch::Scratch;
use simhash_text::feature;

use super::document::{Document, Near, Room, Search};
use super::engine::Engine;
use super::kind::Method;
use super::texts::Unpacked;
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

/// The different texts that were looked up.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// By text: its first document.
    first: AHashMap<u128, u64>,
    /// The others.
    copies: AHashSet<u64>,
}

/// All pairs, a batch at a time. Takes 25 bytes for each document with a stored text, and 9 for each copy.
#[derive(Debug, Clone)]
pub struct Pairs {
    texts: Seen,
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
        Pairs { texts: Seen::default(), search, next: begin, end, begin }
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
        let till = pairs.end.min(pairs.next.saturating_add(tasks.saturating_mul(16 * SLICE)));
        let mut found = self.copies(pairs, till, cancel)?;
        let pairs = &mut *pairs;
        let slices: Vec<u64> = (pairs.next..till).step_by(SLICE as usize).collect();
        let (search, texts) = (&pairs.search, &pairs.texts);
        let each = |&from: &u64| {
            let (mut found, mut scratch) = (Vec::new(), Scratch::default());
            for id in from..till.min(from + SLICE) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(DedupError::Cancelled);
                }
                if !texts.copies.contains(&id) {
                    self.pairs_of(id, search, texts, &mut scratch, &mut found)?;
                }
            }
            Ok(found)
        };
        let share = slices.len().div_ceil(tasks as usize);
        let others: Result<Vec<Vec<Pair>>, DedupError> =
            slices.par_iter().with_min_len(share.min(16)).map(each).collect();
        found.extend(others?.concat());
        found.sort_unstable_by_key(|pair| (pair.b.id, pair.a));
        pairs.next = till;
        Ok(Some(found))
    }

    /// Documents up to `till` whose text another one had before, each paired with the first of them.
    fn copies(
        &self,
        pairs: &mut Pairs,
        till: u64,
        cancel: &AtomicBool,
    ) -> Result<Vec<Pair>, DedupError> {
        let (mut found, mut unpacked, mut text) = (Vec::new(), Unpacked::default(), String::new());
        for id in pairs.next..till {
            if cancel.load(Ordering::Relaxed) {
                return Err(DedupError::Cancelled);
            }
            let is_stored = self.store.read().copy_text(id, &mut unpacked, &mut text);
            if !is_stored || !self.index.has(id) {
                continue;
            }
            let first = pairs.texts.first.entry(feature::exact(&text)).or_insert(id);
            // It may have left since.
            if !self.index.has(*first) {
                *first = id;
            }
            let first = *first;
            if first != id {
                pairs.texts.copies.insert(id);
                let near = Near { id, similarity: Some(1.0), verified: true, measure: 0 };
                found.push(Pair { a: first, b: near });
            }
        }
        Ok(found)
    }

    fn pairs_of(
        &self,
        id: u64,
        search: &Search,
        texts: &Seen,
        scratch: &mut Scratch,
        found: &mut Vec<Pair>,
    ) -> Result<(), DedupError> {
        let Some(mut matches) = self.near_id(id, search, scratch)? else { return Ok(()) };
        // Of equal texts the first.
        matches.retain(|near| near.id < id && !texts.copies.contains(&near.id));
        matches.sort_unstable_by_key(|near| near.id);
        // Where no texts are stored, what is known to be equal is.
        let equal = matches.iter().find(|near| near.verified && near.similarity == Some(1.0));
        if let Some(first) = equal.filter(|first| self.text_of(first.id).is_none()) {
            found.push(Pair { a: first.id, b: Near { id, ..*first } });
            return Ok(());
        }
        found.extend(matches.into_iter().map(|near| Pair { a: near.id, b: Near { id, ..near } }));
        Ok(())
    }

    /// What is near a live document, itself among it; none where it is not alive.
    fn near_id(
        &self,
        id: u64,
        search: &Search,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Near>>, DedupError> {
        // Nothing that is not compared is cut.
        let is_compared = self.verify_of(search).is_some();
        let limit = if is_compared { self.max_verifications } else { usize::MAX };
        let Some(text) = self.text_of(id) else {
            let long = self.store.read().long(id).map(<[u32]>::to_vec);
            if let Some(signature) = long {
                return Ok(Some(self.search(&Document::signature(signature), search)?.matches));
            }
            // Without a text nothing is compared.
            let how = K::candidates(&self.index, search, limit, false);
            let answer = self.index.search_id(id, how)?;
            if answer.is_none()
                && self.stored.longest_text.is_none()
                && !K::keeps_sketches(&self.index)
            {
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
        let how = K::candidates(&self.index, search, limit, is_compared);
        let known = if K::MISSES_EQUAL { self.index.search_id(id, how)? } else { None };
        match known {
            Some(answer) => {
                let found = answer.matches.iter().map(K::unverified).collect();
                if !is_compared {
                    return Ok(Some(found));
                }
                Ok(Some(self.compare(&document, found, search).matches))
            }
            None => Ok(Some(self.search(&document, search)?.matches)),
        }
    }
}
