//! A large set of features in a bit or two for each: enough to tell of most pairs of long texts on one subject that they are not
//! similar.

/// Words of the shortest bitmap and of the longest.
const WORDS: [usize; 2] = [8, 1 << 10];

/// A bit for each member of a set, by its hash, and between which numbers that of the members is.
///
/// As an [`Outline`](crate::Outline) bounds the similarity of short texts, so does this that of long ones, exactly: two sets differ in at
/// least as many members as their bitmaps differ in bits (Sandes, Teodoro, Melo, "Bitmap filter", Future Generation Computer
/// Systems 2020). It grows with the set, from 512 bits to 65,536, and the longer of two is folded to the length of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    /// A power of two.
    words: Box<[u64]>,
    /// Members, at least and at most.
    least: u64,
    most: u64,
}

impl Bitmap {
    /// Of the hashes of distinct members.
    pub fn of(set: &[u64]) -> Self {
        Self { least: set.len() as u64, ..Self::of_any(set) }
    }

    /// Of hashes as they come, of members that may be there more than once: there are at most as many as hashes, and at least as many as
    /// bits. What it excludes, it excludes without the hashes being sorted.
    pub fn of_any(hashes: &[u64]) -> Self {
        let length = hashes.len().div_ceil(64).next_power_of_two().clamp(WORDS[0], WORDS[1]);
        let mut words = vec![0; length].into_boxed_slice();
        for hash in hashes {
            // Halves of a longer one lie over each other.
            words[*hash as usize & (length - 1)] |= 1 << (hash >> 58);
        }
        let least = words.iter().map(|word: &u64| u64::from(word.count_ones())).sum();
        Self { words, least, most: hashes.len() as u64 }
    }

    /// Whether it was made of distinct members, which excludes more.
    pub fn is_exact(&self) -> bool {
        self.least == self.most
    }

    /// Its size in numbers of 8 bytes.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a collection")]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// The largest Jaccard similarity that the two sets can have, as the division of two integers.
    ///
    /// ```
    /// use simhash_sketch::Bitmap;
    /// let [a, b] = [[1, 2, 3], [1, 2, 4]].map(|set| Bitmap::of(&set));
    /// assert_eq!(a.jaccard_at_most(&b), 0.5);
    /// ```
    pub fn jaccard_at_most(&self, other: &Self) -> f64 {
        let (short, long) = if self.len() < other.len() { (self, other) } else { (other, self) };
        let differ = if short.len() == long.len() {
            differ(&short.words, &long.words)
        } else {
            let mut folded = vec![0; short.len()];
            for part in long.words.chunks(short.len()) {
                folded.iter_mut().zip(part).for_each(|(all, word)| *all |= word);
            }
            differ(&short.words, &folded)
        };
        let both = self.most + other.most;
        if both == 0 {
            return 1.0;
        }
        // Common are half of what is left without the members that differ. Where there are fewer members than counted, less is common.
        let by_bits = both.saturating_sub(differ) as f64 / (both + differ) as f64;
        // No more are common than the smaller one has, and together they have what the larger one has, or more.
        let (small, large) = (self.most.min(other.most), self.least.max(other.least));
        if small < large { by_bits.min(small as f64 / large as f64) } else { by_bits }
    }
}

/// Bits in which two bitmaps of one length differ.
fn differ(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::jaccard;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Few different bits, so that members share them; sets of different lengths, so that one is folded.
        #[test]
        fn no_similarity_is_above_the_bound(
            a in proptest::collection::btree_set(0u64..3000, 0..900),
            b in proptest::collection::btree_set(0u64..3000, 0..900),
            more in 0usize..2500,
            few in 1u64..20,
        ) {
            let hash = |member: u64| (member % few) << 58 | member.wrapping_mul(0x9E37_79B9) & 0xF_FFFF_FFFF | member << 36;
            let set = |members: BTreeSet<u64>| -> Vec<u64> {
                members.into_iter().map(hash).collect::<BTreeSet<u64>>().into_iter().collect()
            };
            let longer = b.iter().copied().chain((0..more as u64).map(|extra| 3000 + extra)).collect();
            for (a, b) in [(a.clone(), b), (a, longer)] {
                let (a, b) = (set(a), set(b));
                let [x, y] = [&a, &b].map(|set| Bitmap::of(set));
                let (bound, similarity) = (x.jaccard_at_most(&y), jaccard(&a, &b));
                prop_assert!(similarity <= bound, "{similarity} > {bound}");
                prop_assert_eq!(bound.to_bits(), y.jaccard_at_most(&x).to_bits());
                prop_assert!(x.jaccard_at_most(&x) >= 1.0);
                // Some members more than once, in another order: a bound as well.
                let again = |set: &[u64]| -> Vec<u64> {
                    set.iter().chain(set.iter().rev().step_by(3)).chain(set).copied().collect()
                };
                let z = Bitmap::of_any(&again(&a));
                for weaker in [z.jaccard_at_most(&y), z.jaccard_at_most(&Bitmap::of_any(&again(&b)))] {
                    prop_assert!(similarity <= weaker, "{similarity} > {weaker}");
                }
                prop_assert!(z.jaccard_at_most(&x) >= 1.0);
            }
        }
    }

    /// Of sets that are too large for the longest bitmap too, and of such a one and a small one.
    #[test]
    fn no_set_is_too_large() {
        let set = |from: u64, count: u64| -> Vec<u64> {
            let mut set: Vec<u64> =
                (from..from + count).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            set.sort_unstable();
            set
        };
        let sets =
            [set(0, 200_000), set(20_000, 200_000), set(500_000, 150_000), set(0, 90), vec![]];
        for a in &sets {
            for b in &sets {
                let bound = Bitmap::of(a).jaccard_at_most(&Bitmap::of(b));
                assert!(jaccard(a, b) <= bound, "{} {}: {bound}", a.len(), b.len());
            }
        }
        assert_eq!(Bitmap::of(&sets[0]).len(), WORDS[1]);
    }

    /// What it is for: of two texts on one subject most of the difference is seen.
    #[test]
    fn unlike_sets_are_told_apart() {
        let set = |from: u64| -> Vec<u64> {
            (from..from + 2500).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
        };
        for (shift, most) in [(1250, 0.65), (1700, 0.5), (2500, 0.4)] {
            let [a, b] = [set(0), set(shift)].map(|set| Bitmap::of(&set));
            assert!(a.jaccard_at_most(&b) < most, "{shift}: {}", a.jaccard_at_most(&b));
        }
    }
}
