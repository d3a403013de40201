//! AVX2 scan: 16 fingerprints per step, bits counted nibble by nibble from a table in a register (Mula, Kurz, Lemire,
//! "Faster population counts using AVX2 instructions", 2016).

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpgt_epi64, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setr_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_testz_si256,
    _mm256_xor_si256,
};

/// Fingerprints per vector.
const LANES: usize = 4;
/// Fingerprints per step.
const STEP: usize = 4 * LANES;

/// The scan; the caller has checked `Level::Avx2`.
pub(super) fn within(haystack: &[u64], query: u64, k: u32, on_hit: &mut impl FnMut(usize, u32)) {
    // SAFETY: AVX2 was checked by the caller.
    super::scan(haystack, STEP, query, k, on_hit, |rest| unsafe { miss(rest, query, k) });
}

/// Length of the longest prefix of whole steps in which nothing hits.
#[target_feature(enable = "avx2")]
fn miss(haystack: &[u64], query: u64, k: u32) -> usize {
    let query = _mm256_set1_epi64x(query.cast_signed());
    let beyond = _mm256_set1_epi64x(i64::from(k) + 1);
    let bits = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0F);
    let steps = haystack.chunks_exact(STEP).position(|step| {
        let hit = |lane: usize| {
            let differing = _mm256_xor_si256(load(&step[lane * LANES..]), query);
            let low = _mm256_and_si256(differing, nibble);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differing), nibble);
            let bytes =
                _mm256_add_epi8(_mm256_shuffle_epi8(bits, low), _mm256_shuffle_epi8(bits, high));
            _mm256_cmpgt_epi64(beyond, _mm256_sad_epu8(bytes, _mm256_setzero_si256()))
        };
        let any = _mm256_or_si256(_mm256_or_si256(hit(0), hit(1)), _mm256_or_si256(hit(2), hit(3)));
        _mm256_testz_si256(any, any) == 0
    });
    steps.unwrap_or(haystack.len() / STEP) * STEP
}

/// The first four fingerprints of `from`.
#[target_feature(enable = "avx2")]
fn load(from: &[u64]) -> __m256i {
    assert!(from.len() >= LANES, "a step holds whole vectors");
    // SAFETY: just checked that 32 bytes are there; unaligned loads are allowed.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast::<__m256i>()) }
}
