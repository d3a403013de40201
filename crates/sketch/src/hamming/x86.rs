//! The kernels for x86-64: AVX-512 with and without a population count of lanes, AVX2, and plain POPCNT.
//!
//! Without VPOPCNTDQ the bits of each half byte are looked up in a table of 16 bytes (Muła, Kurz, Lemire, "Faster population
//! counts using AVX2 instructions", 2016).

#![allow(clippy::wildcard_imports)] // an instruction set

use std::arch::x86_64::*;

use super::scalar::{by_steps, pairs_by, report, tail};
use super::{Kernels, Positions};
use crate::simd::Level;

/// The kernels that this machine can run, of each level the best first.
pub(super) fn available() -> Vec<Kernels> {
    /// Makes both kernels of one function that needs `$features`, which the caller has found here. That for pairs goes
    /// without the long steps: its groups are short, and only a small function is inlined.
    macro_rules! kernels {
        ($level:ident, $features:literal, $near:ident) => {{
            #[target_feature(enable = $features)]
            fn pairs(group: &[u64], most: u32, found: &mut Vec<(u16, u16)>) {
                pairs_by(group, found, |rest, value, out| $near::<false>(rest, value, most, out));
            }
            Kernels {
                level: Level::$level,
                // SAFETY: this machine has the features that the loop is compiled for.
                positions: |h, q, k, out| unsafe { $near::<true>(h, q, k, out) },
                // SAFETY: as above.
                pairs: |g, k, found| unsafe { pairs(g, k, found) },
            }
        }};
    }
    let mut kernels = Vec::new();
    if !is_x86_feature_detected!("popcnt") {
        return kernels;
    }
    if Level::Avx512.is_available() {
        if is_x86_feature_detected!("avx512vpopcntdq") {
            kernels.push(kernels!(Avx512, "avx512f,avx512bw,avx512vpopcntdq,popcnt", vpopcntdq));
        }
        kernels.push(kernels!(Avx512, "avx512f,avx512bw,popcnt", avx512));
    }
    if Level::Avx2.is_available() {
        kernels.push(kernels!(Avx2, "avx2,popcnt", avx2));
    }
    kernels.push(kernels!(Scalar, "popcnt", popcnt));
    kernels
}

#[target_feature(enable = "popcnt")]
#[inline]
fn popcnt<const LONG: bool>(
    haystack: &[u64],
    query: u64,
    most: u32,
    positions: &mut Positions,
) -> usize {
    tail(haystack, query, most, positions, 0, 0)
}

/// The loop of AVX-512, by a function that counts the bits of each lane.
macro_rules! avx512 {
    ($name:ident, $features:literal, $count:ident) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn $name<const LONG: bool>(
            haystack: &[u64],
            query: u64,
            most: u32,
            positions: &mut Positions,
        ) -> usize {
            let mut count = 0;
            let wanted = _mm512_set1_epi64(query.cast_signed());
            let limit = _mm512_set1_epi64(i64::from(most));
            let long = if LONG { haystack } else { &[] };
            let mut at = by_steps::<32>(long, 0, positions, &mut count, |step| {
                let hit = |at: usize| {
                    // SAFETY: eight elements are there; unaligned loads are allowed.
                    let lanes = unsafe { _mm512_loadu_epi64(step[at..at + 8].as_ptr().cast()) };
                    _mm512_cmple_epu64_mask($count(_mm512_xor_si512(lanes, wanted)), limit)
                };
                let hits = [hit(0), hit(8), hit(16), hit(24)];
                if hits[0] | hits[1] | hits[2] | hits[3] == 0 {
                    return 0;
                }
                u32::from_le_bytes(hits)
            });
            while at < haystack.len() {
                let left = (haystack.len() - at).min(8);
                let some = (0xff_u32 >> (8 - left)) as __mmask8;
                let from = haystack[at..].as_ptr().cast();
                // SAFETY: only the lanes of elements that are left are read.
                let lanes = unsafe { _mm512_maskz_loadu_epi64(some, from) };
                let bits = $count(_mm512_xor_si512(lanes, wanted));
                let near = _mm512_mask_cmple_epu64_mask(some, bits, limit);
                report(u32::from(near), at, positions, &mut count);
                at += left;
            }
            count
        }
    };
}

avx512!(vpopcntdq, "avx512f,avx512bw,avx512vpopcntdq,popcnt", _mm512_popcnt_epi64);
avx512!(avx512, "avx512f,avx512bw,popcnt", looked_up);

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn looked_up(lanes: __m512i) -> __m512i {
    // Bits of 0..=15, one byte each, in every 128-bit lane.
    let table = _mm512_set4_epi32(0x0403_0302, 0x0302_0201, 0x0302_0201, 0x0201_0100);
    let half = _mm512_set1_epi8(15);
    let low = _mm512_shuffle_epi8(table, _mm512_and_si512(lanes, half));
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(lanes), half);
    let bytes = _mm512_add_epi8(low, _mm512_shuffle_epi8(table, high));
    _mm512_sad_epu8(bytes, _mm512_setzero_si512())
}

#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn avx2<const LONG: bool>(
    haystack: &[u64],
    query: u64,
    most: u32,
    positions: &mut Positions,
) -> usize {
    let wanted = _mm256_set1_epi64x(query.cast_signed());
    let beyond = _mm256_set1_epi64x(i64::from(most) + 1);
    // As in `looked_up`.
    let table = _mm256_set_epi64x(
        0x0403_0302_0302_0201,
        0x0302_0201_0201_0100,
        0x0403_0302_0302_0201,
        0x0302_0201_0201_0100,
    );
    let half = _mm256_set1_epi8(15);
    let hit = |lanes: &[u64]| {
        assert!(lanes.len() >= 4, "a vector holds four");
        // SAFETY: just checked that 32 bytes are there; unaligned loads are allowed.
        let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
        let differing = _mm256_xor_si256(lanes, wanted);
        let low = _mm256_shuffle_epi8(table, _mm256_and_si256(differing, half));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differing), half);
        let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(table, high));
        _mm256_cmpgt_epi64(beyond, _mm256_sad_epu8(bytes, _mm256_setzero_si256()))
    };
    let lanes = |hit: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(hit)).cast_unsigned();
    let mut count = 0;
    let long = if LONG { haystack } else { &[] };
    let at = by_steps::<16>(long, 0, positions, &mut count, |step| {
        let hits = [hit(step), hit(&step[4..]), hit(&step[8..]), hit(&step[12..])];
        let low = _mm256_or_si256(hits[0], hits[1]);
        let any = _mm256_or_si256(low, _mm256_or_si256(hits[2], hits[3]));
        if _mm256_testz_si256(any, any) == 1 {
            return 0;
        }
        hits.into_iter().rev().fold(0, |near, hit| near << 4 | lanes(hit))
    });
    let at = by_steps::<4>(haystack, at, positions, &mut count, |step| lanes(hit(step)));
    tail(haystack, query, most, positions, at, count)
}
