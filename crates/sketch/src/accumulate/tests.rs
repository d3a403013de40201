//! Every kernel that this machine can run gives the sums of the definition.

use super::Sums;
use crate::simd::Level;
use proptest::prelude::*;
use simhash_text::Feature;

/// The sums by the definition: bit by bit, one feature at a time.
fn naive(features: &[Feature]) -> ([u64; 64], u64) {
    let mut bits = [0; 64];
    for feature in features {
        for (bit, sum) in bits.iter_mut().enumerate() {
            if feature.hash >> bit & 1 == 1 {
                *sum += u64::from(feature.weight);
            }
        }
    }
    (bits, features.iter().map(|f| u64::from(f.weight)).sum())
}

fn assert_sums(sums: &Sums, features: &[Feature]) {
    let (bits, total) = naive(features);
    assert_eq!((sums.bits, sums.total), (bits, total), "{:?}", sums.level);
    let above = (0..64).filter(|&bit| 2 * bits[bit] > total);
    let fingerprint = above.fold(0_u64, |fingerprint, bit| fingerprint | 1 << bit);
    assert_eq!(sums.fingerprint(), fingerprint, "{:?}", sums.level);
}

fn unweighted(hashes: &[u64]) -> Vec<Feature> {
    hashes.iter().map(|&hash| Feature { hash, weight: 1 }).collect()
}

#[test]
fn full_byte_counters_do_not_overflow() {
    for level in Level::available() {
        for n in [0, 1, 254, 255, 256, 257, 510, 511, 5000] {
            let hashes = vec![u64::MAX; n];
            let mut sums = Sums::at(level);
            sums.add_hashes(&hashes);
            assert_sums(&sums, &unweighted(&hashes));
        }
    }
}

#[test]
fn the_largest_weights_do_not_overflow() {
    for level in Level::available() {
        for (weight, n) in [(u32::MAX, 100), (u32::MAX, 1), (1 << 31, 2), (u32::MAX / 2, 2), (1, 0)]
        {
            let features = vec![Feature { hash: u64::MAX, weight }; n];
            let mut sums = Sums::at(level);
            sums.add_features(&features);
            assert_sums(&sums, &features);
        }
    }
}

#[test]
fn a_tie_gives_a_zero_bit() {
    let mut sums = Sums::default();
    sums.add_hashes(&[0b01, 0b11]);
    assert_eq!(sums.fingerprint(), 0b01);
}

proptest! {
    #[test]
    fn every_level_gives_the_sums_of_the_definition(
        hashes in prop::collection::vec(any::<u64>(), 0..700),
        weighted in prop::collection::vec((any::<u64>(), prop_oneof![0..100_u32, any::<u32>()]), 0..70),
    ) {
        let weighted: Vec<Feature> = weighted.into_iter().map(|(hash, weight)| Feature { hash, weight }).collect();
        let mut all = unweighted(&hashes);
        all.extend(&weighted);
        for level in Level::available() {
            let mut sums = Sums::at(level);
            sums.add_hashes(&hashes);
            sums.add_features(&weighted);
            assert_sums(&sums, &all);
        }
    }

    #[test]
    fn the_order_and_the_blocks_do_not_matter(hashes in prop::collection::vec(any::<u64>(), 0..600), cut in 0..600_usize) {
        let mut whole = Sums::default();
        whole.add_hashes(&hashes);
        let (head, tail) = hashes.split_at(cut.min(hashes.len()));
        let mut parts = Sums::default();
        parts.add_features(&unweighted(tail));
        parts.add_hashes(head);
        prop_assert_eq!(whole, parts);
    }
}
