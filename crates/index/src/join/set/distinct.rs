//! The distinct fingerprints of a set, with a number each.
//!
//! They lie in the order of the first table, so that table needs no other copy, and a fingerprint is found again by
//! its bucket there. The *rank* of a fingerprint is its place in this order. Equal fingerprints are neighbours within
//! a bucket: the one with the lowest ordinal stands for all, the others are listed as its copies.

use std::sync::atomic::AtomicBool;

use super::group::{Group, directory_bits};
use super::key::Key;
use super::partition::{Labelled, part_bits};
use super::tasks;
use crate::IndexError;
use crate::spread::spread;

/// Longer buckets are sorted by value, so that no look-up is longer than a few steps; in shorter ones two cache lines
/// are read.
const SCANNED: usize = 16;

/// The fingerprints with one part key.
#[derive(Debug)]
struct Part {
    /// Rank of its first fingerprint.
    first: u32,
    key: Key,
    group: Group,
}

/// All distinct fingerprints (spread).
#[derive(Debug)]
pub(super) struct Distinct {
    key: Key,
    parts: Vec<Part>,
    /// Lowest ordinal of each fingerprint, by rank.
    pub(super) ordinals: Vec<u32>,
    /// The other ordinals of fingerprints that occur several times, with the rank; in order of both.
    pub(super) copies: Vec<(u32, u32)>,
}

/// What comes out of a part's entries.
struct Sorted {
    key: Key,
    group: Group,
    ordinals: Vec<u32>,
    /// Place in the part, ordinal.
    copies: Vec<(u32, u32)>,
}

impl Distinct {
    /// Of `count` entries, which `entry` lists by number; `mask` is that of the first table.
    pub(super) fn new(
        count: usize,
        entry: impl Fn(usize) -> (u64, u32) + Sync,
        mask: u64,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        let key = Key::new(mask, part_bits(count));
        let chunks = tasks::count(threads).min(count / 1024).max(1);
        let bound = |chunk: usize| count * chunk / chunks;
        let labelled = tasks::each(chunks, threads, cancel, |chunk| {
            let (from, to) = (bound(chunk), bound(chunk + 1));
            let entry = |number: usize| {
                let (fingerprint, ordinal) = entry(from + number);
                (spread(fingerprint), ordinal)
            };
            Labelled::new(to - from, entry, &key)
        })?;
        let sorted = tasks::each(1 << key.bits(), threads, cancel, |part| {
            Sorted::new(labelled.iter().flat_map(|chunk| chunk.part(part)), mask & !key.mask())
        })?;
        drop(labelled);
        let (mut ordinals, mut copies) = (Vec::new(), Vec::new());
        ordinals.reserve_exact(sorted.iter().map(|part| part.ordinals.len()).sum());
        let mut parts = Vec::with_capacity(sorted.len());
        for part in sorted {
            let first = ordinals.len() as u32;
            ordinals.extend(part.ordinals);
            copies.extend(part.copies.into_iter().map(|(at, ordinal)| (first + at, ordinal)));
            parts.push(Part { first, key: part.key, group: part.group });
        }
        Ok(Self { key, parts, ordinals, copies })
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.ordinals.len()
    }

    /// The part key.
    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Its parts, in order: all fingerprints by rank.
    pub(super) fn groups(&self) -> impl ExactSizeIterator<Item = &Group> + Clone {
        self.parts.iter().map(|part| &part.group)
    }

    /// A part, as the first table has it.
    pub(super) fn group(&self, part: usize) -> &Group {
        &self.parts[part].group
    }

    /// How many parts.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The rank of a fingerprint of the set.
    #[inline]
    pub(super) fn rank(&self, value: u64) -> u32 {
        let part = &self.parts[self.key.of(value)];
        let bucket = part.key.of(value);
        let values = part.group.bucket(bucket);
        let place = if values.len() > SCANNED {
            values.partition_point(|&other| other < value)
        } else {
            values.iter().take_while(|&&other| other != value).count()
        };
        part.first + part.group.starts[bucket] + place as u32
    }
}

impl Sorted {
    fn new(entries: impl Iterator<Item = (u64, u32)> + Clone, mask: u64) -> Self {
        let count = entries.clone().count();
        let key = Key::new(mask, directory_bits(count));
        let slots = 1 << key.bits();
        let mut ends = vec![0u32; slots + 1];
        entries.clone().for_each(|(value, _)| ends[key.of(value) + 1] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut placed = vec![(0u64, 0u32); count];
        entries.for_each(|(value, ordinal)| {
            let at = &mut ends[key.of(value)];
            placed[*at as usize] = (value, ordinal);
            *at += 1;
        });
        let mut group =
            Group { values: Vec::with_capacity(count), starts: Vec::with_capacity(slots + 1) };
        let mut ordinals = Vec::with_capacity(count);
        let mut copies = Vec::new();
        let mut from = 0;
        for &to in &ends[..slots] {
            group.starts.push(group.values.len() as u32);
            let bucket = &mut placed[from..to as usize];
            let begin = group.values.len();
            if bucket.len() > SCANNED {
                bucket.sort_unstable();
            }
            for &(value, ordinal) in &*bucket {
                let known = match bucket.len() {
                    0..=SCANNED => group.values[begin..].iter().position(|&other| other == value),
                    _ => (group.values[begin..].last() == Some(&value))
                        .then(|| group.values.len() - 1 - begin),
                };
                if let Some(place) = known {
                    let first: &mut u32 = &mut ordinals[begin + place];
                    copies.push(((begin + place) as u32, ordinal.max(*first)));
                    *first = ordinal.min(*first);
                } else {
                    group.values.push(value);
                    ordinals.push(ordinal);
                }
            }
            from = to as usize;
        }
        group.starts.push(group.values.len() as u32);
        copies.sort_unstable();
        Self { key, group, ordinals, copies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_number_the_distinct_and_copies_are_the_rest(
            values in proptest::collection::vec(0u64..400, 0..600),
            mask: u64,
            threads in 0usize..3,
        ) {
            let go = AtomicBool::new(false);
            let distinct =
                Distinct::new(values.len(), |n| (values[n], n as u32), mask, threads, &go).unwrap();
            let mut seen = vec![false; distinct.len()];
            for (ordinal, &value) in (0u32..).zip(&values) {
                let rank = distinct.rank(spread(value));
                let first = values.iter().position(|&other| other == value).unwrap() as u32;
                prop_assert_eq!(distinct.ordinals[rank as usize], first);
                prop_assert_eq!(distinct.copies.contains(&(rank, ordinal)), ordinal != first);
                seen[rank as usize] = true;
            }
            prop_assert!(seen.into_iter().all(|seen| seen));
            prop_assert!(distinct.copies.is_sorted());
            prop_assert_eq!(distinct.len() + distinct.copies.len(), values.len());
            let listed: Vec<u64> =
                distinct.groups().flat_map(|group| group.values.iter().copied()).collect();
            prop_assert!((0..).zip(&listed).all(|(rank, &value)| distinct.rank(value) == rank));
        }
    }
}
