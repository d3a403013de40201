//! Kernels for x86-64: AVX-512 with and without the population count of a lane, AVX2, and plain popcnt.

#![allow(clippy::cast_possible_wrap)] // lanes are bit patterns

#[allow(clippy::wildcard_imports)] // an instruction set
use std::arch::x86_64::*;

use super::scalar::{pairs_by, tail};
use super::{Kernels, Positions};

pub(super) fn available() -> Vec<Kernels> {
    let mut kernels = Vec::new();
    let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    let popcnt = is_x86_feature_detected!("popcnt");
    if wide && popcnt && is_x86_feature_detected!("avx512vpopcntdq") {
        kernels.push(Kernels {
            name: "avx512-vpopcntdq",
            // SAFETY: the machine has the features that the kernels are compiled for; so in the cases below.
            positions: |h, q, k, out| unsafe { avx512_vpopcntdq(h, q, k, out) },
            // SAFETY: as above.
            pairs: |g, k, found| unsafe { avx512_vpopcntdq_pairs(g, k, found) },
        });
    }
    if wide && popcnt {
        kernels.push(Kernels {
            name: "avx512",
            // SAFETY: as above.
            positions: |h, q, k, out| unsafe { avx512(h, q, k, out) },
            // SAFETY: as above.
            pairs: |g, k, found| unsafe { avx512_pairs(g, k, found) },
        });
    }
    if popcnt && is_x86_feature_detected!("avx2") {
        kernels.push(Kernels {
            name: "avx2",
            // SAFETY: as above.
            positions: |h, q, k, out| unsafe { avx2(h, q, k, out) },
            // SAFETY: as above.
            pairs: |g, k, found| unsafe { avx2_pairs(g, k, found) },
        });
    }
    if popcnt {
        kernels.push(Kernels {
            name: "popcnt",
            // SAFETY: as above.
            positions: |h, q, k, out| unsafe { popcnt_only(h, q, k, out) },
            // SAFETY: as above.
            pairs: |g, k, found| unsafe { popcnt_pairs(g, k, found) },
        });
    }
    kernels
}

/// Appends the positions of the set bits of `mask`, `at` being the position of bit 0.
#[inline]
fn report(mut mask: u32, at: usize, positions: &mut Positions, count: &mut usize) {
    while mask != 0 {
        positions[*count].write((at + mask.trailing_zeros() as usize) as u16);
        *count += 1;
        mask &= mask - 1;
    }
}

#[target_feature(enable = "popcnt")]
#[inline]
fn popcnt_only(haystack: &[u64], query: u64, distance: u32, positions: &mut Positions) -> usize {
    tail(haystack, query, distance, positions, 0, 0)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
#[inline]
fn avx512_vpopcntdq(
    haystack: &[u64],
    query: u64,
    distance: u32,
    positions: &mut Positions,
) -> usize {
    let wanted = _mm512_set1_epi64(query as i64);
    let limit = _mm512_set1_epi64(i64::from(distance));
    let mut count = 0;
    let mut at = 0;
    // Two vectors a round: hits are rare, so one branch for sixteen elements.
    while at + 16 <= haystack.len() {
        // SAFETY: sixteen elements are left.
        let (low, high) = unsafe {
            let from = haystack.as_ptr().add(at).cast();
            (_mm512_loadu_si512(from), _mm512_loadu_si512(from.add(1)))
        };
        let low = _mm512_popcnt_epi64(_mm512_xor_si512(low, wanted));
        let high = _mm512_popcnt_epi64(_mm512_xor_si512(high, wanted));
        let low = u32::from(_mm512_cmple_epu64_mask(low, limit));
        let high = u32::from(_mm512_cmple_epu64_mask(high, limit));
        report(low | high << 8, at, positions, &mut count);
        at += 16;
    }
    while at < haystack.len() {
        let left = (haystack.len() - at).min(8);
        let some = (0xffu32 >> (8 - left)) as __mmask8;
        // SAFETY: only the lanes of elements that are left are read.
        let lanes = unsafe { _mm512_maskz_loadu_epi64(some, haystack.as_ptr().add(at).cast()) };
        let counts = _mm512_popcnt_epi64(_mm512_xor_si512(lanes, wanted));
        let near = _mm512_mask_cmple_epu64_mask(some, counts, limit);
        report(u32::from(near), at, positions, &mut count);
        at += left;
    }
    count
}

/// Bits of each half byte.
const NIBBLES: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
#[inline]
fn avx512(haystack: &[u64], query: u64, distance: u32, positions: &mut Positions) -> usize {
    let wanted = _mm512_set1_epi64(query as i64);
    let limit = _mm512_set1_epi64(i64::from(distance));
    // SAFETY: the table has sixteen bytes.
    let table = unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(NIBBLES.as_ptr().cast())) };
    let half = _mm512_set1_epi8(15);
    let mut count = 0;
    let mut at = 0;
    while at < haystack.len() {
        let left = (haystack.len() - at).min(8);
        let some = (0xffu32 >> (8 - left)) as __mmask8;
        // SAFETY: only the lanes of elements that are left are read.
        let lanes = unsafe { _mm512_maskz_loadu_epi64(some, haystack.as_ptr().add(at).cast()) };
        let differ = _mm512_xor_si512(lanes, wanted);
        let low = _mm512_shuffle_epi8(table, _mm512_and_si512(differ, half));
        let high = _mm512_and_si512(_mm512_srli_epi16::<4>(differ), half);
        let bytes = _mm512_add_epi8(low, _mm512_shuffle_epi8(table, high));
        let counts = _mm512_sad_epu8(bytes, _mm512_setzero_si512());
        let near = _mm512_mask_cmple_epu64_mask(some, counts, limit);
        report(u32::from(near), at, positions, &mut count);
        at += left;
    }
    count
}

#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn avx2(haystack: &[u64], query: u64, distance: u32, positions: &mut Positions) -> usize {
    let wanted = _mm256_set1_epi64x(query as i64);
    let limit = _mm256_set1_epi64x(i64::from(distance));
    // SAFETY: the table has sixteen bytes.
    let table = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(NIBBLES.as_ptr().cast())) };
    let half = _mm256_set1_epi8(15);
    let far = |lanes: __m256i| {
        let differ = _mm256_xor_si256(lanes, wanted);
        let low = _mm256_shuffle_epi8(table, _mm256_and_si256(differ, half));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differ), half);
        let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(table, high));
        let counts = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
        let far = _mm256_cmpgt_epi64(counts, limit);
        _mm256_movemask_pd(_mm256_castsi256_pd(far)).cast_unsigned()
    };
    let mut count = 0;
    let mut at = 0;
    while at + 8 <= haystack.len() {
        // SAFETY: eight elements are left.
        let (low, high) = unsafe {
            let from: *const __m256i = haystack.as_ptr().add(at).cast();
            (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        };
        report((far(low) | far(high) << 4) ^ 0xff, at, positions, &mut count);
        at += 8;
    }
    tail(haystack, query, distance, positions, at, count)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn avx512_vpopcntdq_pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| avx512_vpopcntdq(rest, value, distance, out));
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn avx512_pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| avx512(rest, value, distance, out));
}

#[target_feature(enable = "avx2,popcnt")]
fn avx2_pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| avx2(rest, value, distance, out));
}

#[target_feature(enable = "popcnt")]
fn popcnt_pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| popcnt_only(rest, value, distance, out));
}
