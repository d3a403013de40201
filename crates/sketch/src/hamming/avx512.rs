//! AVX-512 scan: 32 fingerprints per step, with VPOPCNTDQ or with the nibble look-up that does without.

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmple_epu64_mask, _mm512_loadu_si512,
    _mm512_popcnt_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_set4_epi32,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_xor_si512,
};

/// Fingerprints per vector.
const LANES: usize = 8;
/// Fingerprints per step: four vectors keep enough loads in flight to hide the latency of counting.
const STEP: usize = 4 * LANES;

/// Whether this machine counts bits in vectors.
pub(super) fn has_popcount() -> bool {
    is_x86_feature_detected!("avx512vpopcntdq")
}

/// The scan with VPOPCNTDQ; the caller has checked [`has_popcount`] and `Level::Avx512`.
pub(super) fn within_popcount(
    haystack: &[u64],
    query: u64,
    k: u32,
    on_hit: &mut impl FnMut(usize, u32),
) {
    // SAFETY: the instruction sets were checked by the caller.
    super::scan(haystack, STEP, query, k, on_hit, |rest| unsafe { miss_popcount(rest, query, k) });
}

/// The scan without VPOPCNTDQ; the caller has checked `Level::Avx512`.
pub(super) fn within(haystack: &[u64], query: u64, k: u32, on_hit: &mut impl FnMut(usize, u32)) {
    // SAFETY: the instruction sets were checked by the caller.
    super::scan(haystack, STEP, query, k, on_hit, |rest| unsafe { miss_lookup(rest, query, k) });
}

/// Length of the longest prefix of whole steps in which nothing hits.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn miss_popcount(haystack: &[u64], query: u64, k: u32) -> usize {
    let (query, k) = (_mm512_set1_epi64(query.cast_signed()), _mm512_set1_epi64(i64::from(k)));
    let steps = haystack.chunks_exact(STEP).position(|step| {
        let hit = |lane: usize| {
            let differing = _mm512_xor_si512(load(&step[lane * LANES..]), query);
            _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(differing), k)
        };
        hit(0) | hit(1) | hit(2) | hit(3) != 0
    });
    steps.unwrap_or(haystack.len() / STEP) * STEP
}

/// As [`miss_popcount`], counting the bits of each nibble by a table in a register.
#[target_feature(enable = "avx512f,avx512bw")]
fn miss_lookup(haystack: &[u64], query: u64, k: u32) -> usize {
    let (query, k) = (_mm512_set1_epi64(query.cast_signed()), _mm512_set1_epi64(i64::from(k)));
    // Bits of 0..=15, one byte each, in every 128-bit lane.
    let bits = _mm512_set4_epi32(0x0403_0302, 0x0302_0201, 0x0302_0201, 0x0201_0100);
    let nibble = _mm512_set1_epi8(0x0F);
    let steps = haystack.chunks_exact(STEP).position(|step| {
        let hit = |lane: usize| {
            let differing = _mm512_xor_si512(load(&step[lane * LANES..]), query);
            let low = _mm512_and_si512(differing, nibble);
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(differing), nibble);
            let bytes =
                _mm512_add_epi8(_mm512_shuffle_epi8(bits, low), _mm512_shuffle_epi8(bits, high));
            _mm512_cmple_epu64_mask(_mm512_sad_epu8(bytes, _mm512_setzero_si512()), k)
        };
        hit(0) | hit(1) | hit(2) | hit(3) != 0
    });
    steps.unwrap_or(haystack.len() / STEP) * STEP
}

/// The first eight fingerprints of `from`.
#[target_feature(enable = "avx512f")]
fn load(from: &[u64]) -> __m512i {
    assert!(from.len() >= LANES, "a step holds whole vectors");
    // SAFETY: just checked that 64 bytes are there; unaligned loads are allowed.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast::<__m512i>()) }
}
