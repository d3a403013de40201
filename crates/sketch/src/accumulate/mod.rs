//! The 64 sums behind a fingerprint: for each bit, the total weight of the features whose hash has it set.
//!
//! Only set bits are added, and each sum is compared with half the total: the same decision as adding ±weight, at half the
//! work. Features of weight 1 (counts) and weighted ones have kernels of their own:
//!
//! * **weight 1**: byte counters, one per bit, added to the wide sums at the latest after 255 features (a byte holds no more);
//! * **weighted**: 32-bit sums, added to the wide sums if the block's total weight, which is summed on the way, is below
//!   2^32, as that of any text by jieba's weights is; otherwise its halves are.
//!
//! The wide sums are `u64` and cannot overflow before 2^32 features of the largest weight. A kernel is chosen by
//! [`Level`]; all give identical sums, because integer sums have no order.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", feature = "neon"))]
mod neon;
mod scalar;

use crate::simd::Level;
use simhash_text::Feature;

/// Features that byte counters can take before one could overflow.
const BYTE_BLOCK: usize = 255;

/// The sums per bit and the total weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    level: Level,
    /// Weight of the features with bit `i` set, at index `i` (bit 0 is the least significant).
    bits: [u64; 64],
    /// Weight of all features.
    total: u64,
}

impl Default for Sums {
    fn default() -> Self {
        Self::at(Level::current())
    }
}

impl Sums {
    /// Empty sums whose kernels use `level`, or [`Level::Scalar`] if this machine cannot run it.
    pub fn at(level: Level) -> Self {
        let level = if level.is_available() { level } else { Level::Scalar };
        Self { level, bits: [0; 64], total: 0 }
    }

    /// Adds features of weight 1, given by their hashes.
    pub fn add_hashes(&mut self, hashes: &[u64]) {
        self.total += hashes.len() as u64;
        for block in hashes.chunks(BYTE_BLOCK) {
            match self.level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => avx512::add_hashes(block, &mut self.bits),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2::add_hashes(block, &mut self.bits),
                #[cfg(all(target_arch = "aarch64", feature = "neon"))]
                Level::Neon => neon::add_hashes(block, &mut self.bits),
                _ => scalar::add_hashes(block, &mut self.bits),
            }
        }
    }

    /// Adds weighted features.
    pub fn add_features(&mut self, features: &[Feature]) {
        let added = match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::add_features(features, &mut self.bits),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::add_features(features, &mut self.bits),
            #[cfg(all(target_arch = "aarch64", feature = "neon"))]
            Level::Neon => neon::add_features(features, &mut self.bits),
            _ => Some(scalar::add_features(features, &mut self.bits)),
        };
        if let Some(total) = added {
            self.total += total;
            return;
        }
        // Ends, as a single weight is below 2^32.
        let (head, tail) = features.split_at(features.len() / 2);
        self.add_features(head);
        self.add_features(tail);
    }

    /// The fingerprint: bit `i` is 1 if and only if more than half of the total weight has it set; a tie gives 0.
    pub fn fingerprint(&self) -> u64 {
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::majority(&self.bits, self.total),
            _ => scalar::majority(&self.bits, self.total),
        }
    }

    /// Weight of all features; 0 when there is none.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// By how much bit `bit` (0..64) is decided: (weight set − weight clear) / total, −1 to 1; 0 without features.
    pub fn margin(&self, bit: u32) -> f64 {
        let set = self.bits[bit as usize] as f64;
        if self.total == 0 { 0.0 } else { 2.0 * set / self.total as f64 - 1.0 }
    }
}

/// Adds 32-bit sums of features whose total weight is `total` to the wide ones; `None`, and nothing added, where they may
/// have wrapped around.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "neon")))]
fn widen(sums: [u32; 64], total: u64, bits: &mut [u64; 64]) -> Option<u64> {
    if total > u64::from(u32::MAX) {
        return None;
    }
    for (bit, sum) in bits.iter_mut().zip(sums) {
        *bit += u64::from(sum);
    }
    Some(total)
}

#[cfg(test)]
mod tests;
