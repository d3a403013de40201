//! AVX2: 32 positions at a time; minima, multipliers and the feature fit the sixteen registers.

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use super::scalar;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_blendv_epi8, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_min_epu32, _mm256_mul_epu32, _mm256_mullo_epi32, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256,
    _mm256_xor_si256,
};

/// Lowers 32-bit minima of any number of positions, one after the other. The caller has checked for AVX2.
pub(super) fn few32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    #[target_feature(enable = "avx2")]
    fn by_vectors(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
        scalar::lower32(low, high, by, minima);
    }
    // SAFETY: `MinHasher` only takes the level `Avx2` where `Level::is_available` found it.
    unsafe { by_vectors(low, high, by, minima) }
}

/// Lowers 32-bit minima. The caller has checked that the machine has AVX2 (`Level::Avx2`).
pub(super) fn lower32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    let tiles = by.chunks(4 * 8).zip(minima.chunks_mut(4 * 8));
    for (by, minima) in tiles {
        // SAFETY: `MinHasher` only takes the level `Avx2` where `Level::is_available` found it.
        unsafe {
            match by.len() / 8 {
                4 => tile32::<4>(low, high, by, minima),
                _ => tile32::<2>(low, high, by, minima),
            }
        }
    }
}

/// Lowers 64-bit minima. The caller has checked for AVX2.
pub(super) fn lower64(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    for (by, minima) in by.chunks(2 * 4).zip(minima.chunks_mut(2 * 4)) {
        // SAFETY: as above.
        unsafe { tile64::<2>(low, high, by, minima) };
    }
}

#[target_feature(enable = "avx2")]
fn tile32<const N: usize>(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    let (by, minima) = (&by[..N * 8], &mut minima[..N * 8]);
    // SAFETY: N registers of 8 values were sliced above; unaligned loads are allowed.
    let load = |from: &[u32], at: usize| unsafe {
        _mm256_loadu_si256(from[at * 8..].as_ptr().cast::<__m256i>())
    };
    let factors: [__m256i; N] = std::array::from_fn(|at| load(by, at));
    let mut least: [__m256i; N] = std::array::from_fn(|at| load(minima, at));
    for (&low, &high) in low.iter().zip(high) {
        let low = _mm256_set1_epi32(low.cast_signed());
        let high = _mm256_set1_epi32(high.cast_signed());
        for (least, &factor) in least.iter_mut().zip(&factors) {
            let value = _mm256_add_epi32(high, _mm256_mullo_epi32(factor, low));
            *least = _mm256_min_epu32(*least, value);
        }
    }
    for (out, least) in minima.chunks_exact_mut(8).zip(least) {
        // SAFETY: each chunk is 8 × 4 bytes, the width of the register; unaligned stores are allowed.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>(), least) };
    }
}

/// A 64-bit product from three of 32 bits, and an unsigned comparison from a signed one by flipping the sign bits, which
/// minima and values carry flipped while they are in registers.
#[target_feature(enable = "avx2")]
fn tile64<const N: usize>(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    let (by, minima) = (&by[..N * 4], &mut minima[..N * 4]);
    // SAFETY: N registers of 4 values were sliced above; unaligned loads are allowed.
    let load = |from: &[u64], at: usize| unsafe {
        _mm256_loadu_si256(from[at * 4..].as_ptr().cast::<__m256i>())
    };
    let sign = _mm256_set1_epi64x(i64::MIN);
    let factors: [__m256i; N] = std::array::from_fn(|at| load(by, at));
    let uppers: [__m256i; N] = factors.map(|factor| _mm256_srli_epi64::<32>(factor));
    let mut least: [__m256i; N] =
        std::array::from_fn(|at| _mm256_xor_si256(load(minima, at), sign));
    for (&low, &high) in low.iter().zip(high) {
        let upper = _mm256_set1_epi64x((low >> 32).cast_signed());
        let low = _mm256_set1_epi64x(low.cast_signed());
        let high = _mm256_set1_epi64x((high ^ 1 << 63).cast_signed());
        for ((least, &factor), &factor_upper) in least.iter_mut().zip(&factors).zip(&uppers) {
            let cross = _mm256_add_epi64(
                _mm256_mul_epu32(factor_upper, low),
                _mm256_mul_epu32(factor, upper),
            );
            let product =
                _mm256_add_epi64(_mm256_mul_epu32(factor, low), _mm256_slli_epi64::<32>(cross));
            let value = _mm256_add_epi64(high, product);
            *least = _mm256_blendv_epi8(*least, value, _mm256_cmpgt_epi64(*least, value));
        }
    }
    for (out, least) in minima.chunks_exact_mut(4).zip(least) {
        // SAFETY: each chunk is 4 × 8 bytes, the width of the register; unaligned stores are allowed.
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>(), _mm256_xor_si256(least, sign));
        }
    }
}
