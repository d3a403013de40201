//! Hamming distance, and the scan: all fingerprints of an array within a distance of one.
//!
//! The scan reads memory once and compares in registers, so its limit is the memory bandwidth. Hits are rare; kernels
//! therefore test a whole line of fingerprints at a time and only look closer when a lane hit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::simd::Level;

/// The number of bits in which `a` and `b` differ, 0 to 64.
#[inline]
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Calls `on_hit(index, distance)` for every fingerprint of `haystack` within distance `k` of `query`, by ascending index.
///
/// `k` is inclusive; 64 or more hits everything. Cost: one pass over `8 × len` bytes at about memory speed.
pub fn within(haystack: &[u64], query: u64, k: u32, on_hit: impl FnMut(usize, u32)) {
    within_at(Level::current(), haystack, query, k, on_hit);
}

/// [`within`] by the kernel of `level`, or the portable one where this machine cannot run it.
pub fn within_at(
    level: Level,
    haystack: &[u64],
    query: u64,
    k: u32,
    mut on_hit: impl FnMut(usize, u32),
) {
    // Distances are at most 64; the kernels compare in signed lanes, which a larger k could overflow.
    let k = k.min(64);
    let level = if level.is_available() { level } else { Level::Scalar };
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::has_popcount() => {
            avx512::within_popcount(haystack, query, k, &mut on_hit);
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::within(haystack, query, k, &mut on_hit),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::within(haystack, query, k, &mut on_hit),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::within(haystack, query, k, &mut on_hit),
        _ => scalar(0, haystack, query, k, &mut on_hit),
    }
}

/// The loop of every vector kernel. `miss` gives the length of the longest prefix of whole steps without a hit; the step
/// after it, or what is left when no whole step is, is looked at one fingerprint at a time.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn scan(
    haystack: &[u64],
    step: usize,
    query: u64,
    k: u32,
    on_hit: &mut impl FnMut(usize, u32),
    miss: impl Fn(&[u64]) -> usize,
) {
    let mut at = 0;
    while at < haystack.len() {
        at += miss(&haystack[at..]);
        let end = haystack.len().min(at + step);
        scalar(at, &haystack[at..end], query, k, on_hit);
        at = end;
    }
}

/// The portable kernel, also for the last few fingerprints of the others: `haystack[0]` has index `base`.
fn scalar(base: usize, haystack: &[u64], query: u64, k: u32, on_hit: &mut impl FnMut(usize, u32)) {
    for (index, &fingerprint) in haystack.iter().enumerate() {
        let distance = distance(fingerprint, query);
        if distance <= k {
            on_hit(base + index, distance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{distance, scalar, within, within_at};
    use crate::simd::Level;
    use proptest::prelude::*;

    type Hits = Vec<(usize, u32)>;

    fn naive(haystack: &[u64], query: u64, k: u32) -> Hits {
        let mut hits = Vec::new();
        scalar(0, haystack, query, k, &mut |index, distance| hits.push((index, distance)));
        hits
    }

    fn hits(scan: impl FnOnce(&mut dyn FnMut(usize, u32))) -> Hits {
        let mut hits = Vec::new();
        scan(&mut |index, distance| hits.push((index, distance)));
        hits
    }

    #[test]
    fn distance_counts_differing_bits() {
        assert_eq!(distance(0, u64::MAX), 64);
        assert_eq!(distance(0b1011, 0b0010), 2);
    }

    #[test]
    fn a_distance_beyond_64_hits_everything() {
        let haystack = [0, u64::MAX, 5];
        for level in Level::available() {
            let found = hits(|hit| within_at(level, &haystack, 0, u32::MAX, hit));
            assert_eq!(found, [(0, 0), (1, 64), (2, 2)]);
        }
    }

    #[test]
    fn every_length_is_scanned_to_its_end() {
        for len in 0..100 {
            let haystack = vec![7; len];
            for level in Level::available() {
                assert_eq!(hits(|hit| within_at(level, &haystack, 6, 1, hit)).len(), len);
            }
        }
    }

    /// Fingerprints near `query`, so that every k has hits and misses.
    fn near(query: u64) -> impl Strategy<Value = Vec<u64>> {
        let flips = prop::collection::vec(0..64_u32, 0..24);
        prop::collection::vec(
            flips.prop_map(move |bits| bits.iter().fold(query, |q, bit| q ^ 1 << bit)),
            0..200,
        )
    }

    proptest! {
        #[test]
        fn every_level_finds_what_the_definition_finds(
            (query, haystack) in any::<u64>().prop_flat_map(|query| (Just(query), near(query))),
            k in 0..=20_u32,
        ) {
            let expected = naive(&haystack, query, k);
            prop_assert_eq!(&hits(|hit| within(&haystack, query, k, hit)), &expected);
            for level in Level::available() {
                prop_assert_eq!(&hits(|hit| within_at(level, &haystack, query, k, hit)), &expected);
            }
            #[cfg(target_arch = "x86_64")]
            if Level::Avx512.is_available() {
                // The machine may have VPOPCNTDQ and would never choose this one.
                let found = hits(|hit| super::avx512::within(&haystack, query, k, &mut |index, d| hit(index, d)));
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
