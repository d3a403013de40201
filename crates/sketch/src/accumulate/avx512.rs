//! AVX-512: a hash *is* a mask of 64 lanes, so one masked addition counts all its bits.

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use simhash_text::Feature;
use std::arch::x86_64::{
    __m512i, _load_mask16, _mm512_add_epi64, _mm512_cmpgt_epu64_mask, _mm512_loadu_si512,
    _mm512_mask_add_epi32, _mm512_mask_sub_epi8, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Adds at most 255 hashes of weight 1. The caller has checked that the machine has AVX-512 (`Level::Avx512`).
pub(super) fn add_hashes(block: &[u64], bits: &mut [u64; 64]) {
    // SAFETY: `Sums` only takes the level `Avx512` where `Level::is_available` found F and BW.
    let counters = unsafe { count(block) };
    for (sum, count) in bits.iter_mut().zip(counters) {
        *sum += u64::from(count);
    }
}

/// Adds features if their weights add up to less than 2^32, and returns that total. The caller has checked for AVX-512.
pub(super) fn add_features(block: &[Feature], bits: &mut [u64; 64]) -> Option<u64> {
    // SAFETY: as above.
    let (sums, total) = unsafe { weigh(block) };
    super::widen(sums, total, bits)
}

/// The bits that have more than half of the total. The caller has checked for AVX-512.
pub(super) fn majority(bits: &[u64; 64], total: u64) -> u64 {
    // SAFETY: as above.
    unsafe { above_half(bits, total) }
}

#[target_feature(enable = "avx512f")]
fn above_half(bits: &[u64; 64], total: u64) -> u64 {
    let total = _mm512_set1_epi64(total.cast_signed());
    let mut fingerprint = 0;
    for (eighth, sums) in bits.chunks_exact(8).enumerate() {
        // SAFETY: each eighth is 8 × 8 bytes, the width of the vector; unaligned loads are allowed.
        let sums = unsafe { _mm512_loadu_si512(sums.as_ptr().cast::<__m512i>()) };
        let above = _mm512_cmpgt_epu64_mask(_mm512_add_epi64(sums, sums), total);
        fingerprint |= u64::from(above) << (8 * eighth);
    }
    fingerprint
}

#[target_feature(enable = "avx512f,avx512bw")]
fn count(block: &[u64]) -> [u8; 64] {
    let minus_one = _mm512_set1_epi8(-1);
    // Two accumulators halve the chain of dependent additions.
    let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut pairs = block.chunks_exact(2);
    for pair in &mut pairs {
        even = _mm512_mask_sub_epi8(even, pair[0], even, minus_one);
        odd = _mm512_mask_sub_epi8(odd, pair[1], odd, minus_one);
    }
    for &hash in pairs.remainder() {
        even = _mm512_mask_sub_epi8(even, hash, even, minus_one);
    }
    let (mut counters, mut others) = ([0_u8; 64], [0_u8; 64]);
    // SAFETY: both arrays are 64 bytes, the width of the vector; unaligned stores are allowed.
    unsafe {
        _mm512_storeu_si512(counters.as_mut_ptr().cast::<__m512i>(), even);
        _mm512_storeu_si512(others.as_mut_ptr().cast::<__m512i>(), odd);
    }
    // At most 255 features in all, so the two halves of a bit add up to at most 255.
    counters.iter_mut().zip(others).for_each(|(counter, other)| *counter += other);
    counters
}

#[target_feature(enable = "avx512f")]
fn weigh(block: &[Feature]) -> ([u32; 64], u64) {
    let mut total = 0;
    let mut sums = [_mm512_setzero_si512(); 4];
    for feature in block {
        total += u64::from(feature.weight);
        let weight = _mm512_set1_epi32(feature.weight.cast_signed());
        let masks = (&raw const feature.hash).cast::<u16>();
        for (quarter, sum) in sums.iter_mut().enumerate() {
            // Straight from memory: by way of a shifted register the four masks would cost more than the additions.
            // SAFETY: a hash is four times 16 bits, the least significant first on x86; a mask may lie anywhere.
            let mask = unsafe { _load_mask16(masks.add(quarter)) };
            *sum = _mm512_mask_add_epi32(*sum, mask, *sum, weight);
        }
    }
    let mut out = [0_u32; 64];
    for (quarter, sum) in out.chunks_exact_mut(16).zip(sums) {
        // SAFETY: each quarter is 16 × 4 bytes, the width of the vector; unaligned stores are allowed.
        unsafe { _mm512_storeu_si512(quarter.as_mut_ptr().cast::<__m512i>(), sum) };
    }
    (out, total)
}
