//! All pairs among live documents: each document is looked up among those before it, and compared.
//!
//! A pair is an edge of the graph by which deduplication decides. Documents with equal texts stand for each other: the first is
//! paired with each of the others at similarity 1, and for all of them with documents nearby, so c copies make c − 1 pairs.
//!
//! Where fingerprints alone say what is near, their tables are joined instead: see [`simhash_index::join`].

use std::sync::atomic::{AtomicBool, Ordering};

use ahash::{AHashMap, AHashSet};
use rayon::prelude::*;
use simhash_index::Answer;
use simhash_sketch::Scratch;

use super::document::{Document, Near, Room, Search};
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
    /// A limit cut the candidates of the other: it may have further pairs.
    pub truncated: bool,
}

/// What pairs connect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clusters {
    /// Ids, ascending, two or more; by the first.
    pub clusters: Vec<Vec<u64>>,
    /// Documents whose candidates a limit cut, ascending: what they resemble may lie in other clusters.
    pub truncated: Vec<u64>,
}

/// The different texts that were looked up.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// By text: its first document, and the measure of its copies if it has any.
    first: AHashMap<u64, (u64, Option<u32>)>,
    /// The others.
    copies: AHashSet<u64>,
}

/// All pairs, a batch at a time. Takes 33 bytes for each document with a stored text, and 9 for each copy.
#[derive(Debug)]
pub struct Pairs {
    pub(super) of: Of,
    /// Documents whose candidates a limit cut.
    truncated: Vec<u64>,
}

/// Where they come from.
#[derive(Debug)]
pub(super) enum Of {
    /// Tables of fingerprints.
    Fingerprints(simhash_index::Pairs),
    /// Documents, each looked up and compared.
    Documents(Looks),
}

/// Documents that are looked up one after the other.
#[derive(Debug)]
pub(super) struct Looks {
    texts: Seen,
    search: Search,
    /// The ids that are looked up, and the next of them.
    begin: u64,
    end: u64,
    next: u64,
}

impl Pairs {
    pub(super) fn new(of: Of) -> Self {
        Self { of, truncated: Vec::new() }
    }

    /// The share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.of {
            Of::Fingerprints(pairs) => pairs.progress(),
            Of::Documents(looks) => {
                let all = looks.end - looks.begin;
                if all == 0 { 1.0 } else { (looks.next - looks.begin) as f64 / all as f64 }
            }
        }
    }

    /// Documents so far whose candidates a limit cut, ascending: further pairs of theirs with earlier documents may be
    /// missing.
    pub fn truncated(&self) -> &[u64] {
        &self.truncated
    }
}

/// Pairs of a slice, and documents whose candidates a limit cut.
type Slice = (Vec<Pair>, Vec<u64>);

impl<K: Method> Engine<K> {
    pub(super) fn looks(&self, search: Search) -> Looks {
        let (begin, end) = (self.index.oldest_id(), self.index.next_id());
        Looks { texts: Seen::default(), search, next: begin, end, begin }
    }

    /// The pairs of the next documents, by the later one, then the earlier one; none: there are no more.
    pub(super) fn next_pairs(
        &self,
        pairs: &mut Pairs,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, DedupError> {
        let Pairs { of: Of::Documents(looks), truncated } = pairs else { return Ok(None) };
        if looks.next >= looks.end {
            return Ok(None);
        }
        let tasks = if threads == 0 { rayon::current_num_threads() } else { threads } as u64;
        let till = looks.end.min(looks.next.saturating_add(tasks.saturating_mul(16 * SLICE)));
        let mut found = self.copies(looks, till, cancel)?;
        let slices: Vec<u64> = (looks.next..till).step_by(SLICE as usize).collect();
        let (search, texts) = (&looks.search, &looks.texts);
        let each = |&from: &u64| {
            let (mut found, mut cut, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
            for id in from..till.min(from + SLICE) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(DedupError::Cancelled);
                }
                if !texts.copies.contains(&id)
                    && self.pairs_of(id, search, texts, &mut scratch, &mut found)?
                {
                    cut.push(id);
                }
            }
            Ok((found, cut))
        };
        let share = slices.len().div_ceil(tasks as usize);
        let others: Result<Vec<Slice>, DedupError> =
            slices.par_iter().with_min_len(share.min(16)).map(each).collect();
        for (pairs, cut) in others? {
            found.extend(pairs);
            truncated.extend(cut);
        }
        found.sort_unstable_by_key(|pair| (pair.b.id, pair.a));
        looks.next = till;
        Ok(Some(found))
    }

    /// Documents up to `till` whose text another one had before, each paired with the first of them.
    fn copies(
        &self,
        looks: &mut Looks,
        till: u64,
        cancel: &AtomicBool,
    ) -> Result<Vec<Pair>, DedupError> {
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        for id in looks.next..till {
            if cancel.load(Ordering::Relaxed) {
                return Err(DedupError::Cancelled);
            }
            let Some(tag) = self.store.read().tag(id) else { continue };
            if !self.index.has(id) {
                continue;
            }
            let (first, measure) = looks.texts.first.entry(tag).or_insert((id, None));
            // It may have left since.
            if !self.index.has(*first) {
                *first = id;
            }
            if *first == id {
                continue;
            }
            looks.texts.copies.insert(id);
            let measure = if let Some(known) = *measure {
                known
            } else {
                let known = self.measure_of_copies(*first, id, &mut scratch)?;
                // It is the same for all but where line ends cut equal texts into different sentences.
                *measure = (!K::MISSES_EQUAL).then_some(known);
                known
            };
            let b = Near { id, similarity: Some(1.0), verified: true, measure };
            found.push(Pair { a: *first, b, truncated: false });
        }
        Ok(found)
    }

    /// What the method says of two documents of one text.
    fn measure_of_copies(
        &self,
        first: u64,
        id: u64,
        scratch: &mut Scratch,
    ) -> Result<u32, DedupError> {
        if let Some(measure) = K::shared(&self.index, first, id) {
            return Ok(measure);
        }
        let Some(text) = self.text_of(id) else { return Ok(0) };
        let document = self.document(&text, &Room::new(0), scratch);
        Ok(K::equal_measure(&self.index, first, Self::item(&document)?))
    }

    /// The pairs of a document with earlier ones; whether a limit cut its candidates.
    fn pairs_of(
        &self,
        id: u64,
        search: &Search,
        texts: &Seen,
        scratch: &mut Scratch,
        found: &mut Vec<Pair>,
    ) -> Result<bool, DedupError> {
        let Some(answer) = self.near_id(id, search, scratch)? else { return Ok(false) };
        let Answer { mut matches, truncated } = answer;
        // Of equal texts the first.
        matches.retain(|near| near.id < id && !texts.copies.contains(&near.id));
        matches.sort_unstable_by_key(|near| near.id);
        // Where no texts are stored, what is known to be equal is.
        let equal = matches.iter().find(|near| near.verified && near.similarity == Some(1.0));
        if let Some(&first) = equal.filter(|first| self.text_of(first.id).is_none()) {
            found.push(Pair { a: first.id, b: Near { id, ..first }, truncated });
            return Ok(truncated);
        }
        let pair = |near: Near| Pair { a: near.id, b: Near { id, ..near }, truncated };
        found.extend(matches.into_iter().map(pair));
        Ok(truncated)
    }

    /// What is near a live document, itself among it; none where it is not alive.
    fn near_id(
        &self,
        id: u64,
        search: &Search,
        scratch: &mut Scratch,
    ) -> Result<Option<Answer<Near>>, DedupError> {
        // Nothing that is not compared is cut.
        let is_compared = self.verify_of(search).is_some();
        let limit = if is_compared { self.max_verifications } else { usize::MAX };
        let how = || K::candidates(&self.index, search, limit, None);
        let Some(text) = self.text_of(id) else {
            let long = self.store.read().long(id).map(<[u32]>::to_vec);
            if let Some(signature) = long {
                return Ok(Some(self.look_up(&Document::signature(signature), search)?));
            }
            // Without a text nothing is compared.
            let answer = self.index.search_id(id, how())?;
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
            return Ok(answer.map(|Answer { matches, truncated }| {
                let matches = matches.iter().map(K::unverified).collect();
                Answer { matches, truncated }
            }));
        };
        let document = self.document(&text, &Room::default(), scratch);
        // Its sketch is the one that it came with where the index has it: sentences are of the text as it was given.
        if !K::MISSES_EQUAL || document.item.is_exact() {
            return Ok(Some(self.look_up(&document, search)?));
        }
        let own = |how| Ok(self.index.search_id(id, how)?.unwrap_or_default());
        if !is_compared {
            let matches = own(how())?;
            return Ok(Some(self.as_they_are(&document, &matches, usize::MAX)?));
        }
        let (rows, cut) = self.candidates(&document, search, false, own)?;
        Ok(Some(Answer { truncated: cut, ..self.compare(&document, &rows, search) }))
    }
}
