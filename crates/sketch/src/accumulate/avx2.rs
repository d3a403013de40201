//! AVX2: each byte of a hash is copied to eight lanes, and each lane tests its own bit.

#![expect(clippy::cast_ptr_alignment, reason = "only unaligned loads and stores are used")]

use simhash_text::Feature;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpeq_epi32,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sllv_epi32, _mm256_storeu_si256,
    _mm256_sub_epi8,
};

/// Adds at most 255 hashes of weight 1. The caller has checked that the machine has AVX2 (`Level::Avx2`).
pub(super) fn add_hashes(block: &[u64], bits: &mut [u64; 64]) {
    // SAFETY: `Sums` only takes the level `Avx2` where `Level::is_available` found it.
    let counters = unsafe { count(block) };
    for (sum, count) in bits.iter_mut().zip(counters) {
        *sum += u64::from(count);
    }
}

/// Adds features if their weights add up to less than 2^32, and returns that total. The caller has checked for AVX2.
pub(super) fn add_features(block: &[Feature], bits: &mut [u64; 64]) -> Option<u64> {
    // SAFETY: as above.
    let (sums, total) = unsafe { weigh(block) };
    super::widen(sums, total, bits)
}

#[target_feature(enable = "avx2")]
fn count(block: &[u64]) -> [u8; 64] {
    // Shuffles work within 128-bit halves; the broadcast puts the whole hash in both, so any byte is in reach.
    let bytes_0_to_3 = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3,
    );
    let bytes_4_to_7 = _mm256_setr_epi8(
        4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7,
        7, 7,
    );
    // Byte i of each eight is 1 << i.
    let lane_bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for &hash in block {
        let hash = _mm256_set1_epi64x(hash.cast_signed());
        let set = |bytes| {
            let lanes = _mm256_and_si256(_mm256_shuffle_epi8(hash, bytes), lane_bit);
            _mm256_cmpeq_epi8(lanes, lane_bit) // −1 where the bit is set
        };
        low = _mm256_sub_epi8(low, set(bytes_0_to_3));
        high = _mm256_sub_epi8(high, set(bytes_4_to_7));
    }
    let mut counters = [0_u8; 64];
    for (half, lanes) in counters.chunks_exact_mut(32).zip([low, high]) {
        // SAFETY: each half is 32 bytes, the width of the vector; unaligned stores are allowed.
        unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast::<__m256i>(), lanes) };
    }
    counters
}

#[target_feature(enable = "avx2")]
fn weigh(block: &[Feature]) -> ([u32; 64], u64) {
    let mut total = 0;
    let one_to_128 = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    // The bits that the eight vectors test: 0..8 and so on to 24..32 in each half of the hash.
    let lane_bits =
        [0, 8, 16, 24].map(|shift| _mm256_sllv_epi32(one_to_128, _mm256_set1_epi32(shift)));

    let mut sums = [_mm256_setzero_si256(); 8];
    for feature in block {
        total += u64::from(feature.weight);
        let weight = _mm256_set1_epi32(feature.weight.cast_signed());
        let halves = [feature.hash as u32, (feature.hash >> 32) as u32];
        for (index, sum) in sums.iter_mut().enumerate() {
            let half = _mm256_set1_epi32(halves[index / 4].cast_signed());
            let lane_bit = lane_bits[index % 4];
            let set = _mm256_cmpeq_epi32(_mm256_and_si256(half, lane_bit), lane_bit);
            *sum = _mm256_add_epi32(*sum, _mm256_and_si256(set, weight));
        }
    }
    let mut out = [0_u32; 64];
    for (eighth, sum) in out.chunks_exact_mut(8).zip(sums) {
        // SAFETY: each eighth is 8 × 4 bytes, the width of the vector; unaligned stores are allowed.
        unsafe { _mm256_storeu_si256(eighth.as_mut_ptr().cast::<__m256i>(), sum) };
    }
    (out, total)
}
