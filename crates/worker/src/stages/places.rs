//! Places of documents, by number.

use super::position;
use crate::blob::outlines;
use crate::{Context, Failure, Recipe};
use ahash::{AHashMap, RandomState};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use simhash_sketch::Folded;
use std::ops::Range;

/// The first bytes of a place, which sort as places do where these differ.
pub(super) fn prefix(place: &[u8]) -> u64 {
    let mut first = [0; 8];
    let count = place.len().min(8);
    first[..count].copy_from_slice(&place[..count]);
    u64::from_be_bytes(first)
}

/// Places one behind the other, by number.
#[derive(Default)]
pub(super) struct Arena {
    bytes: Vec<u8>,
    /// Where the place of each number ends.
    ends: Vec<usize>,
}

impl Arena {
    fn range(&self, number: u32) -> Range<usize> {
        let number = number as usize;
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    /// Appends a place; its number.
    pub(super) fn push(&mut self, place: &[u8]) -> u32 {
        self.bytes.extend_from_slice(place);
        self.ends.push(self.bytes.len());
        self.len() - 1
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        &self.bytes[self.range(number)]
    }

    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// Places as they come, each once, by number.
#[derive(Default)]
pub(super) struct Numbers {
    arena: Arena,
    /// Those of eight bytes, as most are: found without a look at the arena.
    whole: AHashMap<[u8; 8], u32>,
    /// All others.
    known: HashTable<u32>,
    state: RandomState,
}

impl Numbers {
    pub(super) fn of(&mut self, place: &[u8]) -> u32 {
        let Self { arena, whole, known, state } = self;
        if let Ok(own) = <[u8; 8]>::try_from(place) {
            return *whole.entry(own).or_insert_with(|| arena.push(place));
        }
        let rehash = |&number: &u32| state.hash_one(arena.get(number));
        match known.entry(state.hash_one(place), |&number| arena.get(number) == place, rehash) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => *entry.insert(arena.push(place)).get(),
        }
    }

    /// The number of a place that came.
    pub(super) fn find(&self, place: &[u8]) -> Option<u32> {
        let Self { arena, whole, known, state } = self;
        if let Ok(own) = <[u8; 8]>::try_from(place) {
            return whole.get(&own).copied();
        }
        known.find(state.hash_one(place), |&number| arena.get(number) == place).copied()
    }

    /// The outlines that these cells have of places that came, by number; none at all without cells. So many entries are held beside them.
    pub(super) fn outlines(
        &self,
        cells: Vec<Vec<u8>>,
        entries: usize,
        context: &Context,
    ) -> Result<Vec<Option<Folded>>, Failure> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        let count = self.arena.len() as usize;
        let bytes: usize = cells.iter().map(Vec::len).sum();
        // They are copied once ([`permuted`]).
        let entries = entries * size_of::<(u64, u32)>();
        context
            .must_fit(bytes + entries + self.bytes() + 2 * count * size_of::<Option<Folded>>())?;
        let mut found = vec![None; count];
        for cell in cells {
            outlines(&cell, &context.recipe, |place, outline| {
                if let Some(number) = self.find(place) {
                    found[number as usize] = Some(outline);
                }
            })?;
        }
        Ok(found)
    }

    /// Bytes that they take, sorted too, about.
    pub(super) fn bytes(&self) -> usize {
        self.arena.bytes.len() + self.arena.ends.len() * 5 * size_of::<usize>()
    }

    /// All in their order, and for each number that which it has there.
    pub(super) fn sorted(self) -> (Places, Vec<u32>) {
        let arena = &self.arena;
        let numbers = 0..arena.len();
        let mut order: Vec<(u64, u32)> =
            numbers.map(|number| (prefix(arena.get(number)), number)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| arena.get(a.1).cmp(arena.get(b.1)))
        });
        let mut sorted = vec![0; order.len()];
        for (at, &(_, number)) in (0..).zip(&order) {
            sorted[number as usize] = at;
        }
        let ranges = order.into_iter().map(|(_, number)| arena.range(number)).collect();
        (Places { bytes: self.arena.bytes, ranges }, sorted)
    }
}

/// What is known by number as places came, by number in their order ([`Numbers::sorted`]).
pub(super) fn permuted<T: Copy>(known: Vec<Option<T>>, sorted: &[u32]) -> Vec<Option<T>> {
    let mut other = vec![None; known.len()];
    for (known, &number) in known.into_iter().zip(sorted) {
        other[number as usize] = known;
    }
    other
}

/// Places, each once, by number in their order.
#[derive(Default)]
pub(super) struct Places {
    bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Places {
    pub(super) fn get(&self, number: u32) -> &[u8] {
        &self.bytes[self.ranges[number as usize].clone()]
    }

    pub(super) fn len(&self) -> u32 {
        self.ranges.len() as u32
    }

    /// By number: the position of each.
    pub(super) fn positions(&self, recipe: &Recipe) -> Result<Vec<u64>, Failure> {
        (0..self.len()).map(|number| position(recipe, self.get(number))).collect()
    }

    /// By number: the part of each.
    pub(super) fn parts(&self, parts: u32) -> Vec<u32> {
        (0..self.len()).map(|number| super::part_of_place(self.get(number), parts)).collect()
    }
}
