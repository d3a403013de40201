//! One pass that brings fingerprints with the same part key together.
//!
//! Writing to two thousand places in turn would miss the cache and the page table at every entry. So each part has a
//! line of its own in the cache (software write-combining), and memory is written a full line at a time. Input is taken
//! in as many chunks as there are tasks; each has its own output, and a part is a stretch of every chunk, in order: so
//! no two tasks write to the same memory, and the order of a part does not depend on their number.

use super::key::Key;
use crate::memory::{Words, halves, halves_mut};

/// Fingerprints of a part: 128 KiB, so that it and its sorted copy lie in the second-level cache.
const PART: usize = 1 << 14;

/// Parts of one pass at most: more would exhaust the pages that the core can keep track of.
const PART_BITS: u32 = 11;

/// Elements that are combined before they are written: 64 bytes of fingerprints, a cache line.
const LINE: usize = 8;

/// Bits of the part key for so many fingerprints.
pub(super) fn part_bits(count: usize) -> u32 {
    (count / PART).max(1).ilog2().min(PART_BITS)
}

/// A share of the fingerprints, by part.
#[derive(Debug)]
pub(super) struct Chunk {
    values: Words,
    /// Begin of each part, and the end.
    starts: Vec<u32>,
}

impl Chunk {
    /// Room for so many fingerprints.
    pub(super) fn with_room(count: usize) -> Self {
        Self { values: Words::zeroed(count), starts: Vec::new() }
    }

    /// Takes as many fingerprints as there is room for, from slices.
    pub(super) fn fill<'a>(&mut self, slices: impl Iterator<Item = &'a [u64]> + Clone, key: &Key) {
        self.starts.clear();
        self.starts.resize((1 << key.bits()) + 1, 0);
        for slice in slices.clone() {
            for &value in slice {
                self.starts[key.of(value) + 1] += 1;
            }
        }
        accumulate(&mut self.starts);
        let mut combiner = Combiner::new(&self.starts, &mut self.values);
        for slice in slices {
            for &value in slice {
                combiner.put(key.of(value), value);
            }
        }
        combiner.finish();
    }

    /// The fingerprints of a part.
    pub(super) fn part(&self, number: usize) -> &[u64] {
        &self.values[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// A share of the entries, by part: fingerprints and their ordinals.
#[derive(Debug)]
pub(super) struct Labelled {
    chunk: Chunk,
    ordinals: Words,
}

impl Labelled {
    /// Of `count` entries, which `entry` lists by number.
    pub(super) fn new(count: usize, entry: impl Fn(usize) -> (u64, u32), key: &Key) -> Self {
        let mut chunk = Chunk::with_room(count);
        let mut ordinals = Words::zeroed(count.div_ceil(2));
        chunk.starts.resize((1 << key.bits()) + 1, 0);
        for number in 0..count {
            chunk.starts[key.of(entry(number).0) + 1] += 1;
        }
        accumulate(&mut chunk.starts);
        let mut values = Combiner::new(&chunk.starts, &mut chunk.values);
        let mut labels = Combiner::new(&chunk.starts, halves_mut(&mut ordinals));
        for number in 0..count {
            let (value, ordinal) = entry(number);
            let part = key.of(value);
            values.put(part, value);
            labels.put(part, ordinal);
        }
        values.finish();
        labels.finish();
        Self { chunk, ordinals }
    }

    /// The entries of a part.
    pub(super) fn part(&self, number: usize) -> impl Iterator<Item = (u64, u32)> + Clone {
        let (from, to) = (self.chunk.starts[number], self.chunk.starts[number + 1]);
        let ordinals = &halves(&self.ordinals)[from as usize..to as usize];
        self.chunk.part(number).iter().copied().zip(ordinals.iter().copied())
    }
}

fn accumulate(starts: &mut [u32]) {
    let mut sum = 0;
    for start in starts {
        sum += *start;
        *start = sum;
    }
}

/// Brings items to the parts they belong to, a line at a time.
struct Combiner<'a, T> {
    /// Begin of each part in `out`.
    starts: &'a [u32],
    next: Vec<u32>,
    lines: Vec<[T; LINE]>,
    out: &'a mut [T],
}

impl<'a, T: Copy + Default> Combiner<'a, T> {
    fn new(starts: &'a [u32], out: &'a mut [T]) -> Self {
        let lines = vec![[T::default(); LINE]; starts.len()];
        Self { starts, next: starts.to_vec(), lines, out }
    }

    #[inline]
    fn put(&mut self, part: usize, item: T) {
        let at = self.next[part] as usize;
        self.next[part] += 1;
        let line = &mut self.lines[part];
        line[at % LINE] = item;
        if at % LINE == LINE - 1 {
            let begin = at + 1 - LINE;
            let before = (self.starts[part] as usize).saturating_sub(begin);
            if before == 0 {
                self.out[begin..begin + LINE].copy_from_slice(line);
            } else {
                self.out[begin + before..begin + LINE].copy_from_slice(&line[before..]);
            }
        }
    }

    /// Writes the lines that did not fill up.
    fn finish(self) {
        for (part, &end) in self.next.iter().enumerate() {
            let end = end as usize;
            let begin = end / LINE * LINE;
            let before = (self.starts[part] as usize).saturating_sub(begin);
            let left = &self.lines[part][before.min(end - begin)..end - begin];
            self.out[end - left.len()..end].copy_from_slice(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_hold_every_entry_in_order(
            values in proptest::collection::vec(any::<u64>(), 0..500),
            mask: u64,
            bits in 0u32..=11,
        ) {
            let key = Key::new(mask, bits);
            let mut chunk = Chunk::with_room(values.len());
            chunk.fill(values.chunks(7), &key);
            let labelled = Labelled::new(values.len(), |n| (values[n], n as u32 * 3), &key);
            for part in 0..1 << key.bits() {
                let expected: Vec<(u64, u32)> = (0u32..)
                    .zip(&values)
                    .filter(|&(_, &value)| key.of(value) == part)
                    .map(|(number, &value)| (value, number * 3))
                    .collect();
                let alone: Vec<u64> = expected.iter().map(|entry| entry.0).collect();
                prop_assert_eq!(chunk.part(part), alone);
                prop_assert_eq!(labelled.part(part).collect::<Vec<_>>(), expected);
            }
        }
    }
}
