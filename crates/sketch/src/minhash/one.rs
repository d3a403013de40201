//! One permutation: one hash decides both the bin of a feature and its value there; a position keeps its bin's least value.
//!
//! A set with few features leaves bins empty. An empty bin borrows the value of another, chosen by drawing bins from a
//! sequence of its own until one is not empty: both sets draw in the same order, so the bin borrows from the same place in
//! sets that resemble each other, and bins borrow independently of each other, which gives the least variance that
//! borrowing can have (Shrivastava, "Optimal densification for fast and accurate minwise hashing", ICML 2017). The largest
//! value stands for an empty bin, so a feature with that value takes the one below.

use super::value::{GOLDEN, Value, mix};

/// Lowers the bins by the features.
pub(super) fn minima<V: Value>(features: &[u64], salt: u64, bins: &mut [V]) {
    let count = bins.len() as u64;
    for &feature in features {
        let mixed = mix(feature ^ salt);
        // The upper half as a fraction of the range.
        let bin = ((mixed >> 32) * count) >> 32;
        let value = V::value(mixed).min(V::LAST);
        let least = &mut bins[bin as usize];
        *least = value.min(*least);
    }
}

/// Fills the empty bins. Expected draws: bins / filled for each empty one.
pub(super) fn densify<V: Value>(salt: u64, bins: &mut [V]) {
    let count = bins.len() as u64;
    let filled = bins.iter().filter(|&&bin| bin != V::MAX).count();
    if filled == 1 {
        // Every sequence ends there.
        let only = bins.iter().copied().min().unwrap_or_default();
        bins.fill(only);
        return;
    }
    if filled == 0 || filled == bins.len() {
        return;
    }
    // Values borrowed in this pass are no source: a bit per bin says which were filled by features.
    let mut sources = [0_u64; super::MAX_HASHES / 64];
    for (at, _) in bins.iter().enumerate().filter(|&(_, &bin)| bin != V::MAX) {
        sources[at / 64] |= 1 << (at % 64);
    }
    for at in 0..bins.len() {
        if sources[at / 64] >> (at % 64) & 1 == 1 {
            continue;
        }
        let mut state = mix(salt ^ (at as u64 + 1).wrapping_mul(GOLDEN));
        bins[at] = loop {
            state = state.wrapping_add(GOLDEN);
            let drawn = (((mix(state) >> 32) * count) >> 32) as usize;
            if sources[drawn / 64] >> (drawn % 64) & 1 == 1 {
                break bins[drawn];
            }
        };
    }
}
