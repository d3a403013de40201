//! The values of a signature: 32 or 64 bits.

use super::permute;
use crate::simd::Level;
use std::fmt::Debug;

/// 2^64 divided by the golden ratio, odd: the increment of `SplitMix64`.
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of `SplitMix64` (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): a bijection
/// in which every bit of the input moves half of the output.
#[inline]
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A value of a signature: `u32` or `u64`.
pub trait Value: Copy + Ord + Debug + Default + Send + Sync + 'static + sealed::Sealed {
    /// The largest value; where the smallest counts, it stands for nothing.
    #[doc(hidden)]
    const MAX: Self;
    /// The largest but one.
    #[doc(hidden)]
    const LAST: Self;
    /// One value of a mixed feature, independent of its upper half.
    #[doc(hidden)]
    fn value(mixed: u64) -> Self;
    /// Two independent values of a mixed feature.
    #[doc(hidden)]
    fn halves(mixed: u64) -> (Self, Self);
    /// Of the lower half: what its bucket is taken of ([`Scheme::FastSimilarity`](super::Scheme)).
    #[doc(hidden)]
    fn bucket(self) -> usize;
    /// Of the upper half: its rank in the bucket, in the lower half of the range.
    #[doc(hidden)]
    #[must_use]
    fn rank(self) -> Self;
    /// Of a value by a permutation: the same order above all ranks.
    #[doc(hidden)]
    #[must_use]
    fn late(self) -> Self;
    /// This width's multipliers.
    #[doc(hidden)]
    fn multipliers(of: &(Vec<u32>, Vec<u64>)) -> &[Self];
    /// Lowers `minima[i]` to the least `high + multipliers[i] * low`.
    #[doc(hidden)]
    fn lower(level: Level, low: &[Self], high: &[Self], multipliers: &[Self], minima: &mut [Self]);
    /// The value as a share of the range, 0 to 1.
    #[doc(hidden)]
    fn share(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

impl Value for u32 {
    const MAX: Self = Self::MAX;
    const LAST: Self = Self::MAX - 1;

    #[inline]
    fn value(mixed: u64) -> Self {
        mixed as u32
    }

    #[inline]
    fn halves(mixed: u64) -> (Self, Self) {
        (mixed as u32, (mixed >> 32) as u32)
    }

    #[inline]
    fn bucket(self) -> usize {
        self as usize
    }

    #[inline]
    fn rank(self) -> Self {
        self >> 1
    }

    #[inline]
    fn late(self) -> Self {
        self >> 1 | 1 << (Self::BITS - 1)
    }

    fn multipliers(of: &(Vec<u32>, Vec<u64>)) -> &[Self] {
        &of.0
    }

    fn lower(level: Level, low: &[Self], high: &[Self], multipliers: &[Self], minima: &mut [Self]) {
        permute::lower32(level, low, high, multipliers, minima);
    }

    fn share(self) -> f64 {
        f64::from(self) / f64::from(Self::MAX)
    }
}

impl Value for u64 {
    const MAX: Self = Self::MAX;
    const LAST: Self = Self::MAX - 1;

    #[inline]
    fn value(mixed: u64) -> Self {
        mix(mixed ^ GOLDEN)
    }

    #[inline]
    fn halves(mixed: u64) -> (Self, Self) {
        (mixed, mix(mixed ^ GOLDEN))
    }

    #[inline]
    fn bucket(self) -> usize {
        self as usize
    }

    #[inline]
    fn rank(self) -> Self {
        self >> 1
    }

    #[inline]
    fn late(self) -> Self {
        self >> 1 | 1 << (Self::BITS - 1)
    }

    fn multipliers(of: &(Vec<u32>, Vec<u64>)) -> &[Self] {
        &of.1
    }

    fn lower(level: Level, low: &[Self], high: &[Self], multipliers: &[Self], minima: &mut [Self]) {
        permute::lower64(level, low, high, multipliers, minima);
    }

    fn share(self) -> f64 {
        self as f64 / Self::MAX as f64
    }
}
