//! Who shares a sentence with whom.
//!
//! Memory per document whose sketch is new, n being the sentences kept: `8 (n + 2) + 1` bytes for the sketch, about 8 per
//! sentence and 8 for the whole in the maps, 8.25 for the id, 16 for a group of its own; 131 with five sentences. A further
//! document with the same sketch costs 12 to 16, a sentence with several holders about 60 and 4 for each of them.

use ahash::AHashMap;

use super::groups::Groups;
use super::postings::{Posted, Postings};
use super::sketches::Sketches;
use super::{Common, SentenceOptions};
use crate::IndexError;
use crate::ids::holders::HolderMap;
use crate::ids::lines::Lines;
use crate::ids::records::Values;
use crate::ids::{Ids, mix, seed};
use crate::live::Answer;
use crate::memory::Sparse;

/// What a document is compared by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SentenceItem {
    /// Hashes of its sentences, the most important first. Repeated ones count once, and those beyond the map's number
    /// not at all. Without any it is as [`SentenceItem::Empty`].
    Sentences(Vec<u64>),
    /// The hash of a normalised text without a sentence that is long enough: it matches equal texts only.
    Exact(u128),
    /// A document that has no text: it gets an id and a group and matches nothing.
    Empty,
}

impl AsRef<Self> for SentenceItem {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A live document that has a sentence in common with the one asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shared {
    /// Its id.
    pub id: u64,
    /// Sentences in common that count; all of them where the sketches are equal, 0 for equal short texts.
    pub shared: u32,
}

/// The answer to one search, ordered by the number of shared sentences, most first, then by id.
pub type SharedMatches = Answer<Shared>;

/// Documents by their sentences, for one thread at a time.
///
/// Ids grow by one from 0 and are never reused. Every document is in a group; a document joins the groups of the oldest
/// holder of each of its sentences that counts, and these become one, named by the lowest id. Groups are never split: not
/// by deleting the document that joined two, and not by a sentence that becomes common later.
#[derive(Debug)]
pub struct SentenceMap {
    common: Common,
    seed: u64,
    pub(super) records: Values,
    pub(super) sketches: Sketches,
    /// Ids of the sketches that several documents have.
    pub(super) copies: HolderMap<u32>,
    pub(super) postings: Postings,
    /// Sketch as a whole -> its number.
    wholes: Lines,
    texts: AHashMap<u128, u32>,
    pub(super) text_of: Sparse<u128>,
    pub(super) groups: Groups,
    /// Dead sketches, and in how many lists they still are.
    lingering: AHashMap<u32, u32>,
    /// Live sketches with sentences.
    known: usize,
}

/// An item in the form in which it is stored.
#[derive(Debug, Clone)]
pub enum Canonical {
    /// Ascending, distinct, at least one.
    Sketch(Vec<u64>),
    /// Of a text without sentences.
    Text(u128),
    /// Matches nothing.
    Nothing,
}

impl Canonical {
    /// An item of which at most `most` sentences are kept.
    pub(super) fn of(item: &SentenceItem, most: usize) -> Self {
        match item {
            SentenceItem::Sentences(sentences) => {
                let mut kept: Vec<u64> = Vec::with_capacity(most.min(sentences.len()));
                for &sentence in sentences {
                    if kept.len() == most {
                        break;
                    }
                    if !kept.contains(&sentence) {
                        kept.push(sentence);
                    }
                }
                kept.sort_unstable();
                if kept.is_empty() { Self::Nothing } else { Self::Sketch(kept) }
            }
            SentenceItem::Exact(text) => Self::Text(*text),
            SentenceItem::Empty => Self::Nothing,
        }
    }
}

impl SentenceMap {
    /// An empty map.
    ///
    /// # Errors
    /// [`IndexError::Sentences`] for a number of sentences or a share out of range.
    pub fn new(options: &SentenceOptions) -> Result<Self, IndexError> {
        options.check()?;
        let seed = seed();
        Ok(Self {
            common: options.common,
            seed,
            records: Values::default(),
            sketches: Sketches::new(options.sentences),
            copies: HolderMap::default(),
            postings: Postings::new(seed),
            wholes: Lines::new(),
            texts: AHashMap::new(),
            text_of: Sparse::default(),
            groups: Groups::default(),
            lingering: AHashMap::new(),
            known: 0,
        })
    }

    /// Adds an item for which there is room.
    pub(super) fn append(&mut self, item: &Canonical) -> u64 {
        let id = self.records.next();
        let links = self.links(item);
        let entry = if let Some(entry) = self.entry(item) {
            let short = self.records.push(u64::from(entry), false);
            let first = self.sketches.first(entry);
            self.copies.push_after(entry, first, short);
            entry
        } else {
            self.enter(item, id, links.first().copied())
        };
        let group = self.sketches.group(entry);
        for link in links {
            self.groups.merge(group, self.sketches.group(link));
        }
        id
    }

    /// A new sketch for the document `id`, in the group of `linked` or one of its own.
    fn enter(&mut self, item: &Canonical, id: u64, linked: Option<u32>) -> u32 {
        let group = match linked {
            Some(entry) => self.groups.join(self.sketches.group(entry)),
            None => self.groups.begin(id),
        };
        let entry = self.place(item, id, group);
        self.records.push(u64::from(entry), false);
        entry
    }

    /// A new sketch in the maps, brought by the document `since`.
    pub(super) fn place(&mut self, item: &Canonical, since: u64, group: u32) -> u32 {
        let sentences = match item {
            Canonical::Sketch(sentences) => sentences.as_slice(),
            _ => &[],
        };
        let entry = self.sketches.add(sentences, since, group);
        match item {
            Canonical::Sketch(sentences) => {
                let (seed, sketches) = (self.seed, &self.sketches);
                let hash_of = |entry| whole(sketches.sentences(entry), seed);
                self.wholes.insert(whole(sentences, seed), entry, hash_of, |_| ());
                for at in 0..sentences.len() {
                    self.postings.add(entry, at, &self.sketches);
                }
                self.known += 1;
            }
            Canonical::Text(text) => {
                self.texts.insert(*text, entry);
                self.text_of.insert(entry, *text);
            }
            Canonical::Nothing => {}
        }
        entry
    }

    /// The sketch that is exactly this one.
    pub(super) fn entry(&self, item: &Canonical) -> Option<u32> {
        match item {
            Canonical::Sketch(sentences) => {
                let is_it = |entry| self.sketches.sentences(entry) == sentences.as_slice();
                self.wholes.find(whole(sentences, self.seed), is_it)
            }
            Canonical::Text(text) => self.texts.get(text).copied(),
            Canonical::Nothing => None,
        }
    }

    /// The holders of each sentence that counts.
    fn counting<'a>(&'a self, sentences: &'a [u64]) -> impl Iterator<Item = Posted<'a>> {
        let most = self.common.most(self.known);
        for &sentence in sentences {
            self.postings.prefetch(sentence);
        }
        sentences
            .iter()
            .filter_map(|&sentence| self.postings.get(sentence, &self.sketches))
            .filter(move |posted| posted.seen() <= most)
    }

    /// The oldest live sketch of each sentence that counts.
    fn links(&self, item: &Canonical) -> Vec<u32> {
        let Canonical::Sketch(sentences) = item else { return Vec::new() };
        self.counting(sentences)
            .filter_map(|posted| posted.iter().find(|&entry| self.sketches.is_alive(entry)))
            .collect()
    }

    /// Every live document that shares a sentence that counts, or whose sentences are all the same: the most shared
    /// first, then by id; at most `limit`. Of each sentence at most `bucket` sketches. Cost: the holders of the sentences
    /// asked for, and a sort of the answer.
    pub(super) fn shared(&self, item: &Canonical, bucket: usize, limit: usize) -> SharedMatches {
        let (found, cut) = self.candidates(item, bucket);
        let mut answer = self.ranked(found, limit);
        answer.truncated |= cut;
        answer
    }

    /// Tells the map of a document that is not added because `near` is its best match: where at most half of its
    /// sentences are shared, each of them has been seen once more and may become too common. Without this, a sentence of
    /// all pages would never be known to be one by who adds only what is new. A nearer document says nothing about its
    /// sentences: it is a copy. True: something was counted.
    ///
    /// What was counted is forgotten when a holder of the sentence leaves.
    pub(super) fn pass_over(&mut self, item: &Canonical, near: Shared) -> bool {
        let Canonical::Sketch(sentences) = item else { return false };
        let copy = 2 * near.shared as usize > sentences.len();
        let mut counted = false;
        for &sentence in sentences.iter().filter(|_| !copy) {
            counted |= self.postings.overlook(sentence, 1, &self.sketches);
        }
        counted
    }

    /// The best match, the oldest of equals, among the equal sketch and the `most` first sketches of each sentence.
    pub(super) fn best(&self, item: &Canonical, most: usize) -> Option<Shared> {
        self.ranked(self.candidates(item, most).0, 1).matches.first().copied()
    }

    /// Sketches, with the number of sentences they share: of each sentence at most `most`; whether there were more.
    fn candidates(&self, item: &Canonical, most: usize) -> (Vec<(u32, u32)>, bool) {
        let equal = self.entry(item);
        let (mut found, mut cut): (Vec<(u32, u32)>, bool) = (Vec::new(), false);
        let Canonical::Sketch(sentences) = item else {
            return (equal.map(|entry| (entry, 0)).into_iter().collect(), false);
        };
        for posted in self.counting(sentences) {
            let mut live = posted.iter().filter(|&entry| self.sketches.is_alive(entry));
            found.extend(live.by_ref().take(most).map(|entry| (entry, 1)));
            cut |= live.next().is_some();
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += u32::from(same);
            same
        });
        if let Some(entry) = equal {
            found.retain(|&(other, _)| other != entry);
            found.push((entry, sentences.len() as u32));
        }
        (found, cut)
    }

    /// The documents of these sketches, the most shared first, then by id.
    fn ranked(&self, mut found: Vec<(u32, u32)>, limit: usize) -> SharedMatches {
        found.sort_unstable_by_key(|&(_, shared)| std::cmp::Reverse(shared));
        let mut all = SharedMatches::default();
        for same in found.chunk_by(|a, b| a.1 == b.1) {
            if all.matches.len() >= limit {
                all.truncated = true;
                break;
            }
            let from = all.matches.len();
            for &(entry, shared) in same {
                all.truncated |=
                    self.ids(entry, limit, |id| all.matches.push(Shared { id, shared }));
            }
            all.matches[from..].sort_unstable_by_key(|found| found.id);
            if all.matches.len() > limit {
                all.matches.truncate(limit);
                all.truncated = true;
            }
        }
        all
    }

    /// Calls `on_id` with the live ids of a sketch, ascending, at most `limit`; true if there are more.
    fn ids(&self, entry: u32, limit: usize, mut on_id: impl FnMut(u64)) -> bool {
        let Some(holders) = self.copies.get(&entry) else {
            if limit > 0 {
                on_id(self.records.id(self.sketches.first(entry)));
            }
            return limit == 0;
        };
        let mut alive = holders.iter().filter(|&id| self.records.is_alive(id));
        alive.by_ref().take(limit).for_each(|id| on_id(self.records.id(id)));
        alive.next().is_some()
    }

    /// The name of the group of a document: the lowest id that ever was in it. A document that has left still has one
    /// while its id is the name of a group that lives on.
    pub fn group(&self, id: u64) -> Option<u64> {
        match self.short(id) {
            Some(short) => Some(self.groups.name(self.sketches.group(self.entry_of(short)))),
            None => self.groups.is_orphaned(id).then_some(id),
        }
    }

    pub(super) fn short(&self, id: u64) -> Option<u32> {
        self.records.short(id).filter(|&short| self.records.is_alive(short))
    }

    pub(super) fn entry_of(&self, short: u32) -> u32 {
        self.records.value(short) as u32
    }

    /// The sentences of a live document, ascending.
    pub(super) fn sentences_of(&self, id: u64) -> &[u64] {
        self.short(id).map_or(&[], |short| self.sketches.sentences(self.entry_of(short)))
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.short(id).is_some()
    }

    /// Takes an id away; false if it was not alive. Amortised O(sentences).
    pub fn delete(&mut self, id: u64) -> bool {
        let Some(short) = self.short(id) else { return false };
        let entry = self.entry_of(short);
        self.groups.leave(self.sketches.group(entry), id);
        self.records.kill(short);
        let mut dropped = Vec::new();
        let is_alive = |id| self.records.is_alive(id);
        let Some(left) = self.copies.lost_one(&entry, is_alive, |id| dropped.push(id)) else {
            self.records.release(short);
            self.bury(entry);
            return true;
        };
        self.sketches.set_first(entry, left.first);
        if left.alone {
            self.copies.remove(&entry);
        }
        if left.live == 0 {
            dropped.push(left.first);
            self.bury(entry);
        }
        for short in dropped {
            self.records.release(short);
        }
        true
    }

    /// The last document with this sketch has left.
    fn bury(&mut self, entry: u32) {
        let group = self.sketches.group(entry);
        self.sketches.kill(entry);
        let sentences = self.sketches.sentences(entry).to_vec();
        let (mut lists, mut dropped) = (1, vec![entry]);
        if !sentences.is_empty() {
            self.wholes.remove(whole(&sentences, self.seed), entry);
            self.known -= 1;
            for &sentence in &sentences {
                let alone =
                    self.postings.lost(sentence, &self.sketches, |entry| dropped.push(entry));
                lists += u32::from(!alone);
            }
        } else if let Some(text) = self.text_of.remove(entry) {
            self.texts.remove(&text);
        }
        self.lingering.insert(entry, lists);
        self.drop_dead(dropped);
        self.groups.release(group);
    }

    /// Dead sketches have left a list each.
    fn drop_dead(&mut self, dropped: Vec<u32>) {
        for entry in dropped {
            let Some(lists) = self.lingering.get_mut(&entry) else { continue };
            *lists -= 1;
            if *lists == 0 {
                self.lingering.remove(&entry);
                self.sketches.release(entry);
            }
        }
    }

    /// Number of live documents.
    pub fn len(&self) -> u64 {
        self.records.live()
    }

    /// Whether no document is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id that the next document gets.
    pub fn next_id(&self) -> u64 {
        self.records.next()
    }

    /// Groups with a live document.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Live documents, counted once per sketch, that have sentences.
    pub fn sketches(&self) -> usize {
        self.known
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.records.bytes()
            + self.sketches.bytes()
            + self.copies.bytes()
            + self.postings.bytes()
            + self.wholes.bytes()
            + self.texts.capacity() * (size_of::<(u128, u32)>() + 1)
            + self.text_of.bytes()
            + self.groups.bytes()
            + self.lingering.capacity() * 9
    }

    /// Takes dead sketches that lists still name out of them.
    pub(super) fn take_out_dead(&mut self) {
        if !self.lingering.is_empty() {
            self.take_out(0, usize::MAX);
        }
    }

    /// The same of some lists; false: there are none behind them.
    fn take_out(&mut self, from: usize, few: usize) -> bool {
        let mut dropped = Vec::new();
        let lists = self.postings.lists();
        let till = from.saturating_add(few).min(lists);
        self.postings.purge(from.min(till)..till, &self.sketches, |entry| dropped.push(entry));
        self.drop_dead(dropped);
        till < lists
    }

    /// Gives some of the memory back that nobody needs. `step` counts from 0; false: it was the last. Numbers between others
    /// stay for those to come.
    pub(super) fn compact(&mut self, step: usize, few: usize) -> bool {
        if self.take_out(step * few, few) {
            return true;
        }
        let Self { wholes, postings, sketches, seed, .. } = self;
        let is_more = wholes.compact(few, |entry| whole(sketches.sentences(entry), *seed));
        if postings.compact(few, sketches) || is_more {
            return true;
        }
        sketches.compact();
        self.groups.compact();
        self.copies.shrink();
        self.texts.shrink_to_fit();
        self.text_of.shrink();
        self.lingering.shrink_to_fit();
        false
    }

    /// Whether so many more documents fit as things are.
    pub(super) fn fits(&self, more: usize) -> Result<(), IndexError> {
        self.records.check_room(more as u64)?;
        if self.sketches.has_room(more) && self.groups.has_room(more) {
            return Ok(());
        }
        Err(IndexError::Full { oldest: self.records.oldest() })
    }
}

/// The hash of a sketch as a whole.
fn whole(sentences: &[u64], seed: u64) -> u64 {
    sentences.iter().fold(seed, |all, &sentence| mix(all ^ sentence, seed))
}
