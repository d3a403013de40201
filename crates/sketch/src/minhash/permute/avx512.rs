//! AVX-512: 128 positions at a time, their minima and multipliers in sixteen registers while the features pass by.

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use super::scalar;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_loadu_si512, _mm512_min_epu32,
    _mm512_min_epu64, _mm512_mullo_epi32, _mm512_mullo_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_storeu_si512,
};

/// Mixes features. The caller has checked that the machine has AVX-512 (`Level::Avx512`).
pub(super) fn mix_all(features: &[u64], salt: u64, mixed: &mut [u64]) {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn by_vectors(features: &[u64], salt: u64, mixed: &mut [u64]) {
        scalar::mix_all(features, salt, mixed);
    }
    // SAFETY: `MinHasher` only takes the level `Avx512` where `Level::is_available` found F, DQ and VL.
    unsafe { by_vectors(features, salt, mixed) }
}

/// Lowers 32-bit minima of any number of positions, one after the other. The caller has checked for AVX-512.
pub(super) fn few32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn by_vectors(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
        scalar::lower32(low, high, by, minima);
    }
    // SAFETY: as above.
    unsafe { by_vectors(low, high, by, minima) }
}

/// Lowers 64-bit minima of any number of positions. The caller has checked for AVX-512.
pub(super) fn few64(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn by_vectors(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
        scalar::lower64(low, high, by, minima);
    }
    // SAFETY: as above.
    unsafe { by_vectors(low, high, by, minima) }
}

/// Lowers 32-bit minima. The caller has checked that the machine has AVX-512 (`Level::Avx512`).
pub(super) fn lower32(low: &[u32], high: &[u32], mut by: &[u32], mut minima: &mut [u32]) {
    while !by.is_empty() {
        let registers = (by.len() / 16).min(8);
        let lanes = 16 << registers.ilog2();
        let (here, rest) = by.split_at(lanes);
        let (lowered, other) = minima.split_at_mut(lanes);
        // SAFETY: `MinHasher` only takes the level `Avx512` where `Level::is_available` found F and DQ.
        unsafe {
            match registers.ilog2() {
                3 => tile32::<8>(low, high, here, lowered),
                2 => tile32::<4>(low, high, here, lowered),
                1 => tile32::<2>(low, high, here, lowered),
                _ => tile32::<1>(low, high, here, lowered),
            }
        }
        (by, minima) = (rest, other);
    }
}

/// Lowers 64-bit minima. The caller has checked for AVX-512.
pub(super) fn lower64(low: &[u64], high: &[u64], mut by: &[u64], mut minima: &mut [u64]) {
    while !by.is_empty() {
        let registers = (by.len() / 8).min(8);
        let lanes = 8 << registers.ilog2();
        let (here, rest) = by.split_at(lanes);
        let (lowered, other) = minima.split_at_mut(lanes);
        // SAFETY: as above.
        unsafe {
            match registers.ilog2() {
                3 => tile64::<8>(low, high, here, lowered),
                2 => tile64::<4>(low, high, here, lowered),
                1 => tile64::<2>(low, high, here, lowered),
                _ => tile64::<1>(low, high, here, lowered),
            }
        }
        (by, minima) = (rest, other);
    }
}

#[target_feature(enable = "avx512f")]
fn tile32<const N: usize>(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    let (by, minima) = (&by[..N * 16], &mut minima[..N * 16]);
    // SAFETY: N registers of 16 values were sliced above; unaligned loads are allowed.
    let load = |from: &[u32], at: usize| unsafe {
        _mm512_loadu_si512(from[at * 16..].as_ptr().cast::<__m512i>())
    };
    let factors: [__m512i; N] = std::array::from_fn(|at| load(by, at));
    let mut least: [__m512i; N] = std::array::from_fn(|at| load(minima, at));
    for (&low, &high) in low.iter().zip(high) {
        let low = _mm512_set1_epi32(low.cast_signed());
        let high = _mm512_set1_epi32(high.cast_signed());
        for (least, &factor) in least.iter_mut().zip(&factors) {
            let value = _mm512_add_epi32(high, _mm512_mullo_epi32(factor, low));
            *least = _mm512_min_epu32(*least, value);
        }
    }
    for (out, least) in minima.chunks_exact_mut(16).zip(least) {
        // SAFETY: each chunk is 16 × 4 bytes, the width of the register; unaligned stores are allowed.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast::<__m512i>(), least) };
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn tile64<const N: usize>(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    let (by, minima) = (&by[..N * 8], &mut minima[..N * 8]);
    // SAFETY: N registers of 8 values were sliced above; unaligned loads are allowed.
    let load = |from: &[u64], at: usize| unsafe {
        _mm512_loadu_si512(from[at * 8..].as_ptr().cast::<__m512i>())
    };
    let factors: [__m512i; N] = std::array::from_fn(|at| load(by, at));
    let mut least: [__m512i; N] = std::array::from_fn(|at| load(minima, at));
    for (&low, &high) in low.iter().zip(high) {
        let low = _mm512_set1_epi64(low.cast_signed());
        let high = _mm512_set1_epi64(high.cast_signed());
        for (least, &factor) in least.iter_mut().zip(&factors) {
            let value = _mm512_add_epi64(high, _mm512_mullo_epi64(factor, low));
            *least = _mm512_min_epu64(*least, value);
        }
    }
    for (out, least) in minima.chunks_exact_mut(8).zip(least) {
        // SAFETY: each chunk is 8 × 8 bytes, the width of the register; unaligned stores are allowed.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast::<__m512i>(), least) };
    }
}
