//! Fingerprints near each other, by buckets that each of them finds for itself.
//!
//! The bits of a fingerprint are cut into blocks, two more than bits may differ, so that any two within the distance have two blocks alike;
//! there is a bucket for any two blocks. Fingerprints that differ in fewer bits have more of them alike and meet in more buckets: the two
//! are reported in one of these only, that of the first two blocks that they have alike.

use crate::method::{Candidate, best};
use simhash_sketch::hamming;

/// Largest Hamming distance that can be spread: of a larger one texts would be in too many buckets, or buckets too large.
pub(super) const MAX_DISTANCE: u32 = 4;
/// Lowest bits of a bucket that are 0, where it is a key that need not be whole.
pub(super) const ZEROS: u32 = 21;

/// How fingerprints are cut for a largest distance.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    max_distance: u32,
}

impl Blocks {
    /// For fingerprints within this distance, 0 to [`MAX_DISTANCE`].
    pub(super) fn new(max_distance: u32) -> Self {
        Self { max_distance }
    }

    fn count(self) -> u32 {
        self.max_distance + 2
    }

    /// The bits of a block: from one, rounded down, to the next; of all together every bit is in one.
    fn mask(self, block: u32) -> u64 {
        let [from, to] = [block, block + 1].map(|block| u64::BITS * block / self.count());
        u64::MAX >> (u64::BITS - (to - from)) << from
    }

    /// The bucket of two blocks, the first one before the second, of which this is the number.
    fn bucket(self, fingerprint: u64, [first, second]: [u32; 2], number: u64) -> u64 {
        let bits = fingerprint & (self.mask(first) | self.mask(second));
        mixed(bits, number) >> ZEROS << ZEROS
    }

    /// Any two blocks, numbered from 1.
    fn pairs(self) -> impl Iterator<Item = ([u32; 2], u64)> {
        let count = self.count();
        let pairs = (0..count).flat_map(move |a| (a + 1..count).map(move |b| [a, b]));
        pairs.zip(1..)
    }

    /// The buckets of a fingerprint.
    pub(super) fn buckets(self, fingerprint: u64) -> Vec<u64> {
        self.pairs().map(|(blocks, number)| self.bucket(fingerprint, blocks, number)).collect()
    }

    /// The bucket in which two fingerprints are reported, if they have two blocks alike: both are in it, whatever else falls into it.
    fn meeting(self, a: u64, b: u64) -> Option<u64> {
        let are_alike = |block: u32| (a ^ b) & self.mask(block) == 0;
        let mut pairs = self.pairs();
        let (blocks, number) =
            pairs.find(|(blocks, _)| blocks.iter().all(|&one| are_alike(one)))?;
        Some(self.bucket(a, blocks, number))
    }

    /// Calls `each` with every text of a bucket and those before it that are reported here, as far as the best `limit` of all buckets
    /// together can be among them, and one more where a limit cuts these. `entries` are fingerprints with their texts, in any order.
    ///
    /// Equal fingerprints are compared once. What is reported of a text is no more than `limit + 1` texts: those that are among the best of
    /// all that it is near are among the best of any part of these that they are in, as fewer come before them there.
    pub(super) fn sights(
        self,
        bucket: u64,
        mut entries: Vec<(u64, u32)>,
        limit: usize,
        mut each: impl FnMut(u32, &[u32]),
    ) {
        // One more tells that the list is cut.
        let limit = limit.saturating_add(1);
        entries.sort_unstable();
        entries.dedup();
        let mut groups: Vec<&[(u64, u32)]> = entries.chunk_by(|a, b| a.0 == b.0).collect();
        groups.sort_unstable_by_key(|group| group[0].1);
        for group in &groups {
            let (own, last) = (group[0].0, group[group.len() - 1].1);
            // By distance, the oldest first.
            let mut near: [Vec<u32>; MAX_DISTANCE as usize + 1] = Default::default();
            for other in groups.iter().take_while(|other| other[0].1 < last) {
                let distance = hamming::distance(own, other[0].0);
                let is_near = distance <= self.max_distance;
                if is_near && self.meeting(own, other[0].0) == Some(bucket) {
                    near[distance as usize].extend(other.iter().take(limit).map(|one| one.1));
                }
            }
            for (texts, rank) in near.iter_mut().zip(0..) {
                // Those with the own fingerprint are ascending as they are.
                if rank > 0 {
                    texts.sort_unstable();
                }
                texts.truncate(limit);
            }
            for &(_, text) in *group {
                let mut before = Vec::new();
                for (texts, rank) in near.iter().zip(0..) {
                    let earlier = texts.iter().take_while(|&&other| other < text);
                    before.extend(earlier.map(|&number| Candidate { number, rank }));
                }
                let found = best(before, limit, false).candidates;
                if !found.is_empty() {
                    each(text, &found.iter().map(|one| one.number).collect::<Vec<u32>>());
                }
            }
        }
    }
}

/// Spreads what is in few bits over all of them: the finalizer of splitmix64. Two that fall together cost a comparison, no answer.
fn mixed(bits: u64, number: u64) -> u64 {
    let mut state = bits ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = mixed(self.0, 1);
            self.0
        }
    }

    /// What each text sees, by the buckets of all; one that is in a bucket twice is.
    fn seen(prints: &[u64], blocks: Blocks, limit: usize) -> Vec<Vec<u32>> {
        let mut buckets: BTreeMap<u64, Vec<(u64, u32)>> = BTreeMap::new();
        for (&print, text) in prints.iter().zip(0..) {
            for bucket in blocks.buckets(print) {
                buckets.entry(bucket).or_default().push((print, text));
            }
        }
        let mut seen = vec![Vec::new(); prints.len()];
        for (bucket, mut entries) in buckets {
            entries.extend(entries.first().copied());
            blocks.sights(bucket, entries, limit, |text, others| {
                assert!(others.len() <= limit + 1);
                seen[text as usize].extend(others);
            });
        }
        seen
    }

    #[test]
    fn fingerprints_within_the_distance_share_a_bucket() {
        let mut random = Random(9);
        for most in 0..=MAX_DISTANCE {
            let count = (most + 1) * (most + 2) / 2;
            for _ in 0..2_000 {
                let own = random.next();
                let mut other = own;
                for _ in 0..most {
                    other ^= 1 << (random.next() % 64);
                }
                let [a, b] = [own, other].map(|print| Blocks::new(most).buckets(print));
                assert_eq!(a.len(), count as usize);
                let met = Blocks::new(most).meeting(own, other).unwrap();
                assert!(a.contains(&met) && b.contains(&met), "{own:x} {other:x}, {most}");
            }
        }
    }

    /// Fingerprints some bits from one, many of them several times: every list by all buckets is that of all that are near.
    #[test]
    fn the_best_of_all_buckets_are_those_of_all_that_are_near() {
        let mut random = Random(3);
        for most in 0..=MAX_DISTANCE {
            let stem = random.next();
            let prints: Vec<u64> = (0..400)
                .map(|_| {
                    let bits = random.next() % 4;
                    // Few of the bits, of different blocks, so that many are equal.
                    (0..bits).fold(stem, |print, _| print ^ 1 << (random.next() % 5 * 13))
                })
                .collect();
            let near = |text: usize| -> Vec<Candidate> {
                let before = prints[..text].iter().zip(0..);
                let all = before.map(|(&print, number)| Candidate {
                    number,
                    rank: hamming::distance(print, prints[text]),
                });
                all.filter(|one| one.rank <= most).collect()
            };
            for limit in [0, 1, 3, 4, 20, 100, 1_000] {
                for (text, mut numbers) in
                    seen(&prints, Blocks::new(most), limit).into_iter().enumerate()
                {
                    let all = numbers.len();
                    numbers.sort_unstable();
                    numbers.dedup();
                    assert_eq!(all, numbers.len(), "no two are reported twice");
                    let rank =
                        |number: u32| hamming::distance(prints[number as usize], prints[text]);
                    let few =
                        numbers.iter().map(|&number| Candidate { number, rank: rank(number) });
                    let [expected, got] =
                        [near(text), few.collect()].map(|list| best(list, limit, false));
                    assert_eq!(expected.candidates, got.candidates, "{most}, {limit}: {text}");
                    assert_eq!(expected.cut, got.cut, "{most}, {limit}: {text}");
                }
            }
        }
    }

    /// Each text of a crowd is reported `limit + 1` others, not so many in each of its ten buckets; and a crowd of this size ends, as its
    /// texts are not compared with each other.
    #[test]
    fn a_crowd_with_one_fingerprint_reports_each_pair_once_and_is_not_compared() {
        let (count, limit) = (100_000, 2);
        let prints = vec![0x0123_4567_89AB_CDEF; count];
        let sights: usize = seen(&prints, Blocks::new(3), limit).iter().map(Vec::len).sum();
        // The first three have 0, 1 and 2 before them.
        assert_eq!(sights, 3 + (count - 3) * (limit + 1));
    }
}
