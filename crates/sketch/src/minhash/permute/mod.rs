//! k permutations: position i keeps the least `high + multiplier[i] * low` over all features, wrapping.
//!
//! `low` and `high` are the two halves of a mixed feature. For one position the values of different features are
//! independent because `high` is; for two positions i and j they differ by `(m[i] - m[j]) * low`, and `low` is
//! independent of `high`, so the pair is uniform but for the lowest bits: the variance of the estimate is that of independent
//! positions (pairwise independence is all that a variance asks for). One multiplication, one addition and one minimum per
//! feature and position, 16 positions to an AVX-512 register. The multipliers are random, and their lowest ten bits are the
//! position's number: all distinct, for every seed.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", feature = "neon"))]
mod neon;
mod scalar;

use super::value::{GOLDEN, Value, mix};
use crate::simd::Level;

/// Positions are padded to a multiple of this: one AVX-512 register of 32-bit values, so that no kernel has a remainder.
pub(super) const LANES: usize = 16;

/// Features mixed at a time: their halves, 4 to 8 KB, stay in the first-level cache while the positions pass over them.
const BLOCK: usize = 512;

/// The multipliers of `hashes` positions and their padding.
pub(super) fn multipliers(salt: u64, hashes: usize) -> Vec<u64> {
    (0..hashes.next_multiple_of(LANES) as u64)
        .map(|at| mix(salt.wrapping_add(GOLDEN.wrapping_mul(at + 1))) << 10 | at)
        .collect()
}

/// Lowers `minima` by the features.
pub(super) fn minima<V: Value>(
    level: Level,
    features: &[u64],
    salt: u64,
    multipliers: &[V],
    minima: &mut [V],
) {
    let (mut low, mut high) = ([V::default(); BLOCK], [V::default(); BLOCK]);
    for block in features.chunks(BLOCK) {
        for ((&feature, low), high) in block.iter().zip(&mut low).zip(&mut high) {
            (*low, *high) = V::halves(mix(feature ^ salt));
        }
        V::lower(level, &low[..block.len()], &high[..block.len()], multipliers, minima);
    }
}

/// Mixes features with the salt, into the first of `mixed`, which has room for them.
pub(super) fn mix_all(level: Level, features: &[u64], salt: u64, mixed: &mut [u64]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::mix_all(features, salt, mixed),
        _ => scalar::mix_all(features, salt, mixed),
    }
}

/// Lowers 32-bit minima. All slices of positions have the same length, a multiple of [`LANES`] or less than it: so few are taken
/// one after the other, a register of features at a time.
pub(super) fn lower32(level: Level, low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    debug_assert!(by.len() == minima.len());
    debug_assert!(by.len() < LANES || by.len().is_multiple_of(LANES));
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if by.len() < LANES => avx512::few32(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if by.len() < LANES => avx2::few32(low, high, by, minima),
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        Level::Neon if by.len() < LANES => scalar::lower32(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::lower32(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::lower32(low, high, by, minima),
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        Level::Neon => neon::lower32(low, high, by, minima),
        _ => scalar::lower32(low, high, by, minima),
    }
}

/// Lowers 64-bit minima. Only AVX-512 multiplies 64-bit lanes; AVX2 puts a product together from three and is still twice as
/// fast as the scalar form, NEON would not be.
pub(super) fn lower64(level: Level, low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    debug_assert!(by.len() == minima.len());
    debug_assert!(by.len() < LANES || by.len().is_multiple_of(LANES));
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if by.len() < LANES => avx512::few64(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if by.len() < LANES => scalar::lower64(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::lower64(low, high, by, minima),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::lower64(low, high, by, minima),
        _ => scalar::lower64(low, high, by, minima),
    }
}
