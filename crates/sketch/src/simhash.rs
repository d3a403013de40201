//! `SimHash`: the fingerprint of weighted features (Charikar, "Similarity estimation techniques from rounding algorithms",
//! STOC 2002; Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007).

use crate::accumulate::Sums;
use simhash_text::Feature;

/// The 64-bit `SimHash` of `features`: bit `i` is 1 if and only if features of more than half the total weight have bit `i` of
/// their hash set; a tie gives 0. No feature at all gives 0.
///
/// The order of the features does not matter; a repeated hash counts with the sum of its weights. Integer arithmetic only:
/// the same on every machine. Cost: about 1 ns per feature with AVX-512, 3 ns with AVX2.
pub fn simhash(features: &[Feature]) -> u64 {
    let mut sums = Sums::default();
    sums.add_features(features);
    sums.fingerprint()
}

#[cfg(test)]
mod tests {
    use super::simhash;
    use simhash_text::Feature;

    #[test]
    fn one_dominant_feature_is_the_fingerprint() {
        let features = [(0xF0F0_F0F0_F0F0_F0F0, 10), (1, 4), (2, 5)];
        let features = features.map(|(hash, weight)| Feature { hash, weight });
        assert_eq!(simhash(&features), 0xF0F0_F0F0_F0F0_F0F0);
    }

    #[test]
    fn a_repeated_feature_counts_with_its_whole_weight() {
        let list = |weights: &[(u64, u32)]| {
            simhash(
                &weights.iter().map(|&(hash, weight)| Feature { hash, weight }).collect::<Vec<_>>(),
            )
        };
        assert_eq!(list(&[(5, 1), (6, 2), (5, 2)]), list(&[(5, 3), (6, 2)]));
        assert_eq!(list(&[]), 0);
    }
}
