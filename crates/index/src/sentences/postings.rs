//! Sentence -> the sketches that have it, in the order in which they came.
//!
//! Most sentences have one holder: then the map holds its position, eight bytes in all, and the sentence itself is read
//! from the sketch. A sentence with more has a list. Dead sketches stay in a list until half of it is dead, so that
//! taking one out costs amortised O(1); whoever walks a list skips them.

use std::ops::Range;

use super::sketches::Sketches;
use crate::ids::holders::Holders;
use crate::ids::lines::Lines;
use crate::ids::mix;

/// Set in a reference to a list, clear in one to a position.
const LIST: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct List {
    sentence: u64,
    holders: Holders,
    /// Documents that had it and were not added, since its holders last became fewer.
    overlooked: u32,
}

/// The sketches of one sentence.
pub(super) enum Posted<'a> {
    /// One.
    One(u32),
    /// Several, dead ones among them, or one and documents that were not added.
    Many(&'a List),
}

impl Posted<'_> {
    /// Live sketches, and documents that were not added.
    pub(super) fn seen(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(list) => list.holders.live() + list.overlooked as usize,
        }
    }

    /// All of them, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let (one, many) = match self {
            Self::One(entry) => (Some(*entry), None),
            Self::Many(list) => (None, Some(list.holders.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

#[derive(Debug)]
pub(super) struct Postings {
    seed: u64,
    lines: Lines,
    lists: Vec<Option<List>>,
    free: Vec<u32>,
    /// Sketch numbers in lists, for the memory they take.
    capacity: usize,
}

impl Postings {
    pub(super) fn new(seed: u64) -> Self {
        let (lists, free) = (Vec::new(), Vec::new());
        Self { seed, lines: Lines::new(), lists, free, capacity: 0 }
    }

    fn list(&self, reference: u32) -> Option<&List> {
        self.lists.get((reference & !LIST) as usize)?.as_ref()
    }

    fn sentence(&self, reference: u32, sketches: &Sketches) -> u64 {
        if reference & LIST == 0 {
            return sketches.at(reference);
        }
        self.list(reference).map_or(0, |list| list.sentence)
    }

    fn reference(&self, sentence: u64, sketches: &Sketches) -> Option<u32> {
        let is_it = |reference| self.sentence(reference, sketches) == sentence;
        self.lines.find(mix(sentence, self.seed), is_it)
    }

    /// Asks for the line of a sentence.
    pub(super) fn prefetch(&self, sentence: u64) {
        self.lines.prefetch(mix(sentence, self.seed));
    }

    /// The sketches that have a sentence; none if no live one has.
    pub(super) fn get(&self, sentence: u64, sketches: &Sketches) -> Option<Posted<'_>> {
        let reference = self.reference(sentence, sketches)?;
        if reference & LIST == 0 {
            return Some(Posted::One(reference / sketches.most() as u32));
        }
        self.list(reference).map(Posted::Many)
    }

    /// Enters the sentence at place `at` of a new sketch.
    pub(super) fn add(&mut self, entry: u32, at: usize, sketches: &Sketches) {
        let position = entry * sketches.most() as u32 + at as u32;
        let sentence = sketches.at(position);
        let hash = mix(sentence, self.seed);
        let Some(old) = self.reference(sentence, sketches) else {
            let (seed, lists) = (self.seed, &self.lists);
            let hash_of = |reference| hash_of(reference, seed, lists, sketches);
            self.lines.insert(hash, position, hash_of, |_| ());
            return;
        };
        if let Some(list) = self.listed(sentence, old, sketches) {
            let before = list.holders.bytes();
            list.holders.push(entry);
            let after = list.holders.bytes();
            self.capacity = self.capacity - before + after;
        }
    }

    /// The list behind a reference; one is made where there is none yet.
    fn listed(&mut self, sentence: u64, old: u32, sketches: &Sketches) -> Option<&mut List> {
        let mut number = old & !LIST;
        if old & LIST == 0 {
            let holders = Holders::new(old / sketches.most() as u32);
            self.capacity += holders.bytes();
            let list = Some(List { sentence, holders, overlooked: 0 });
            number = self.free.pop().unwrap_or(self.lists.len() as u32);
            match self.lists.get_mut(number as usize) {
                Some(free) => *free = list,
                None => self.lists.push(list),
            }
            self.lines.replace(mix(sentence, self.seed), old, number | LIST);
        }
        self.lists.get_mut(number as usize)?.as_mut()
    }

    /// Documents with this sentence were not added, so many of them; false if no live sketch has it.
    pub(super) fn overlook(&mut self, sentence: u64, count: u32, sketches: &Sketches) -> bool {
        let Some(reference) = self.reference(sentence, sketches) else { return false };
        let list = self.listed(sentence, reference, sketches);
        list.map(|list| list.overlooked = list.overlooked.saturating_add(count)).is_some()
    }

    /// Sentences of documents that were not added, and how many these were, in no order.
    pub(super) fn overlooked(&self) -> Vec<(u64, u32)> {
        let counted = self.lists.iter().flatten().filter(|list| list.overlooked > 0);
        counted.map(|list| (list.sentence, list.overlooked)).collect()
    }

    /// A sketch that has this sentence has died. Calls `dropped` for every dead sketch that left the sentence's list;
    /// true if the sketch itself has not been in a list.
    pub(super) fn lost(
        &mut self,
        sentence: u64,
        sketches: &Sketches,
        mut dropped: impl FnMut(u32),
    ) -> bool {
        let hash = mix(sentence, self.seed);
        let Some(reference) = self.reference(sentence, sketches) else { return true };
        let number = (reference & !LIST) as usize;
        let Some(Some(list)) = self.lists.get_mut(number).filter(|_| reference & LIST != 0) else {
            self.lines.remove(hash, reference);
            return true;
        };
        list.overlooked = 0;
        let before = list.holders.bytes();
        list.holders.lost_one(|entry| sketches.is_alive(entry), &mut dropped);
        self.capacity = self.capacity - before + list.holders.bytes();
        let alone = list.holders.iter().nth(1).is_none();
        let (first, live, bytes) =
            (list.holders.first(), list.holders.live(), list.holders.bytes());
        if !alone {
            return false;
        }
        // One is left, alive or not: the list goes.
        self.capacity -= bytes;
        self.lists[number] = None;
        self.free.push(number as u32);
        if live == 0 {
            self.lines.remove(hash, reference);
            dropped(first);
        } else {
            let at = sketches.sentences(first).iter().position(|&other| other == sentence);
            let position = first * sketches.most() as u32 + at.unwrap_or(0) as u32;
            self.lines.replace(hash, reference, position);
        }
        false
    }

    /// Number of lists.
    pub(super) fn lists(&self) -> usize {
        self.lists.len()
    }

    /// Gives some of the memory back that nobody needs; false: all of it but for lists between others.
    pub(super) fn compact(&mut self, few: usize, sketches: &Sketches) -> bool {
        let (seed, lists) = (self.seed, &self.lists);
        let is_more =
            self.lines.compact(few, |reference| hash_of(reference, seed, lists, sketches));
        if !is_more {
            self.free.sort_unstable();
            while self.free.last().is_some_and(|&free| free as usize + 1 == self.lists.len()) {
                self.free.pop();
                self.lists.pop();
            }
            self.lists.shrink_to_fit();
            self.free.shrink_to_fit();
        }
        is_more
    }

    /// Takes every dead sketch out of some lists; calls `dropped` for each of them and each list.
    pub(super) fn purge(
        &mut self,
        some: Range<usize>,
        sketches: &Sketches,
        mut dropped: impl FnMut(u32),
    ) {
        for list in self.lists[some].iter_mut().flatten() {
            let before = list.holders.bytes();
            list.holders.purge(|entry| sketches.is_alive(entry), &mut dropped);
            self.capacity = self.capacity - before + list.holders.bytes();
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.bytes()
            + self.lists.capacity() * size_of::<Option<List>>()
            + self.free.capacity() * 4
            + self.capacity
    }
}

/// The hash of the sentence behind a reference.
fn hash_of(reference: u32, seed: u64, lists: &[Option<List>], sketches: &Sketches) -> u64 {
    let listed = || lists.get((reference & !LIST) as usize)?.as_ref();
    let sentence = match reference & LIST {
        0 => sketches.at(reference),
        _ => listed().map_or(0, |list| list.sentence),
    };
    mix(sentence, seed)
}
