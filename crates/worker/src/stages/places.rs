//! Places of documents, by number.

use super::position;
use crate::{Failure, Recipe};
use ahash::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::ops::Range;

/// Places as they come, each once, by number.
#[derive(Default)]
pub(super) struct Numbers {
    bytes: Vec<u8>,
    /// Where the place of each number ends.
    ends: Vec<usize>,
    known: HashTable<u32>,
    state: RandomState,
}

/// Where the place of a number is.
fn range(ends: &[usize], number: u32) -> Range<usize> {
    let number = number as usize;
    number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]
}

impl Numbers {
    pub(super) fn of(&mut self, place: &[u8]) -> u32 {
        let Self { bytes, ends, known, state } = self;
        let get = |number: u32| &bytes[range(ends, number)];
        let (hash, next) = (state.hash_one(place), ends.len() as u32);
        let rehash = |&number: &u32| state.hash_one(get(number));
        match known.entry(hash, |&number| get(number) == place, rehash) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert(next);
                bytes.extend_from_slice(place);
                ends.push(bytes.len());
                next
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        &self.bytes[range(&self.ends, number)]
    }

    /// Bytes that they take, sorted too, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * 3 * size_of::<usize>()
    }

    /// All in their order, and for each number that which it has there.
    pub(super) fn sorted(self) -> (Places, Vec<u32>) {
        let mut ranges: Vec<(Range<usize>, u32)> =
            (0..self.ends.len() as u32).map(|number| (range(&self.ends, number), number)).collect();
        ranges.sort_unstable_by(|a, b| self.bytes[a.0.clone()].cmp(&self.bytes[b.0.clone()]));
        let mut sorted = vec![0; ranges.len()];
        for (at, (_, number)) in (0..).zip(&ranges) {
            sorted[*number as usize] = at;
        }
        let ranges = ranges.into_iter().map(|(range, _)| range).collect();
        (Places { bytes: self.bytes, ranges }, sorted)
    }
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
