//! The feature: a 64-bit hash and an integer weight.
//!
//! The hash decides every fingerprint that this library has ever written down, so it is a published specification and
//! frozen: **XXH3-64, seed 0, default secret, over the UTF-8 bytes of the feature** (Yann Collet, xxHash 0.8,
//! `doc/xxhash_spec.md`). The golden vectors below hold it. Weights are integers because sums of integers do not depend
//! on the order in which a thread or a SIMD lane adds them.

use crate::distinct::{distinct, sort_distinct};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// One feature of a text. The same hash may occur several times in a list; the weights then add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// [`hash`] of the feature's text.
    pub hash: u64,
    /// How much the feature counts; 1 per occurrence for counts, fixed point for TF-IDF.
    pub weight: u32,
}

/// A feature as people read it: what the fingerprint was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The n-gram, word or keyword.
    pub token: String,
    /// Its weight in the text: occurrences, 1 for binary weighting, or the TF-IDF weight before it becomes fixed point.
    pub weight: f64,
    /// [`hash`] of `token`.
    pub hash: u64,
}

/// All features of a text, just cut.
#[derive(Clone, Copy, Debug)]
pub enum Cut<'a> {
    /// Of weight 1 each, in text order, as often as they occur.
    Counted(&'a [u64]),
    /// Distinct ones with their weights.
    Weighted {
        /// All of them; keywords with the heaviest first, others by hash.
        all: &'a [Feature],
        /// How many of the first count for a fingerprint.
        heaviest: usize,
    },
}

impl<'a> Cut<'a> {
    /// The hashes of all features; `scratch` is memory to put them in.
    pub fn hashes(self, scratch: &'a mut Vec<u64>) -> &'a [u64] {
        match self {
            Self::Counted(hashes) => hashes,
            Self::Weighted { all, .. } => {
                scratch.clear();
                scratch.extend(all.iter().map(|feature| feature.hash));
                scratch
            }
        }
    }
}

/// All features of a text, kept until a measure asks for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// Of weight 1 each, in any order, as often as they occur.
    Counted(Vec<u64>),
    /// Distinct ones with their weights, in any order.
    Weighted(Vec<Feature>),
}

impl From<Cut<'_>> for Features {
    fn from(cut: Cut<'_>) -> Self {
        match cut {
            Cut::Counted(hashes) => Self::Counted(hashes.into()),
            Cut::Weighted { all, .. } => Self::Weighted(all.into()),
        }
    }
}

impl Features {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Counted(hashes) => hashes.capacity() * size_of::<u64>(),
            Self::Weighted(features) => features.capacity() * size_of::<Feature>(),
        }
    }

    /// How many there are, counted ones as often as they occur.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a collection")]
    pub fn len(&self) -> usize {
        match self {
            Self::Counted(hashes) => hashes.len(),
            Self::Weighted(features) => features.len(),
        }
    }

    /// The distinct hashes, ascending: the set that Jaccard similarity compares.
    pub fn into_set(self) -> Vec<u64> {
        let mut hashes = self.into_hashes();
        sort_distinct(&mut hashes);
        hashes
    }

    /// [`into_set`](Self::into_set); `several` gets the hashes of counted ones that occur more than once, ascending, each with its number.
    pub fn into_counted_set(self, several: &mut Vec<(u64, u32)>) -> Vec<u64> {
        let mut hashes = self.into_hashes();
        distinct(&mut hashes, several);
        hashes
    }

    fn into_hashes(self) -> Vec<u64> {
        match self {
            Self::Counted(hashes) => hashes,
            Self::Weighted(features) => features.iter().map(|feature| feature.hash).collect(),
        }
    }

    /// The distinct features by ascending hash, the weights of equal ones added: the vector of which cosine similarity is taken.
    pub fn into_vector(self) -> Vec<Feature> {
        let mut features = match self {
            Self::Counted(hashes) => {
                hashes.into_iter().map(|hash| Feature { hash, weight: 1 }).collect()
            }
            Self::Weighted(features) => features,
        };
        features.sort_unstable_by_key(|feature| feature.hash);
        features.dedup_by(|next, first| {
            let equal = next.hash == first.hash;
            if equal {
                first.weight = first.weight.saturating_add(next.weight);
            }
            equal
        });
        features
    }
}

/// The 64-bit hash of a feature's UTF-8 bytes: XXH3-64 with seed 0.
#[inline]
pub fn hash(feature: &[u8]) -> u64 {
    match (feature.first_chunk(), feature.last_chunk()) {
        (Some(&first), Some(&last)) if feature.len() <= 8 => {
            four_to_eight(u32::from_le_bytes(first), u32::from_le_bytes(last), feature.len())
        }
        _ => match (feature.first_chunk(), feature.last_chunk()) {
            (Some(&first), Some(&last)) if feature.len() <= 16 => {
                nine_to_sixteen(u64::from_le_bytes(first), u64::from_le_bytes(last), feature.len())
            }
            _ => xxh3_64(feature),
        },
    }
}

/// XXH3-64 of 4 to 8 bytes, from the first and the last four of them: the case of nearly every n-gram of two characters, small
/// enough to be part of the caller's loop.
#[inline]
fn four_to_eight(first: u32, last: u32, len: usize) -> u64 {
    /// Bytes 8 to 15 of the default secret xor bytes 16 to 23.
    const FLIP: u64 = 0xC73A_B174_C5EC_D5A2;
    /// `PRIME_MX2` of the specification.
    const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;
    let mut h = (u64::from(first) << 32 | u64::from(last)) ^ FLIP;
    h ^= h.rotate_left(49) ^ h.rotate_left(24);
    h = h.wrapping_mul(PRIME);
    h ^= (h >> 35).wrapping_add(len as u64);
    h = h.wrapping_mul(PRIME);
    h ^ h >> 28
}

/// The same of 9 to 16 bytes, from the first and the last eight of them: three to five ideographs.
#[inline]
fn nine_to_sixteen(first: u64, last: u64, len: usize) -> u64 {
    /// Bytes 24 to 31 of the default secret xor bytes 32 to 39, and 40 to 47 xor 48 to 55.
    const FLIPS: [u64; 2] = [0x6782_737B_EA42_39B9, 0xAF56_BC3B_0996_523A];
    /// `PRIME_MX1` of the specification.
    const PRIME: u64 = 0x1656_6791_9E37_79F9;
    let (low, high) = (first ^ FLIPS[0], last ^ FLIPS[1]);
    let product = u128::from(low) * u128::from(high);
    let folded = product as u64 ^ (product >> 64) as u64;
    let sum = (len as u64).wrapping_add(low.swap_bytes()).wrapping_add(high).wrapping_add(folded);
    let h = (sum ^ sum >> 37).wrapping_mul(PRIME);
    h ^ h >> 32
}

/// The 128-bit hash by which equal texts are recognised: XXH3-128 with seed 0 over the UTF-8 bytes.
#[inline]
pub fn exact(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{exact, hash};
    use proptest::prelude::*;

    /// Values from the reference C implementation (xxHash 0.8 by its Python binding), not from the crate under test.
    #[test]
    fn the_feature_hash_is_frozen() {
        let golden = include_str!("../tests/golden/feature_hash.tsv");
        let mut lines = 0;
        for line in golden.lines() {
            let (text, value) = line.split_once('\t').unwrap();
            assert_eq!(format!("{:016x}", hash(text.as_bytes())), value, "{text}");
            lines += 1;
        }
        assert!(lines >= 10);
    }

    proptest! {
        #[test]
        fn every_length_is_hashed_by_the_specification(feature in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(hash(&feature), xxhash_rust::xxh3::xxh3_64(&feature));
        }
    }

    #[test]
    fn the_exact_hash_is_frozen() {
        assert_eq!(exact(""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }
}
