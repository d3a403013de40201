//! AVX-512 VBMI2: sixteen units at a time, each encoded in four bytes of its own, then the bytes that count put together.

use super::SLACK;
use std::arch::x86_64::{
    _mm256_maskz_loadu_epi16, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_cmplt_epu32_mask,
    _mm512_cvtepu16_epi32, _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8,
    _mm512_maskz_mov_epi32, _mm512_movepi8_mask, _mm512_or_si512, _mm512_set1_epi32,
    _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_epi8,
};

/// Units of a vector.
const LANES: usize = 16;

/// Whether this machine has it (Ice Lake, Zen 4 and later).
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

/// Adds the text of the leading units, sixteen by sixteen as long as none of them is a surrogate; returns the others.
pub(super) fn groups<'a>(units: &'a [u16], bytes: &mut Vec<u8>) -> &'a [u16] {
    assert!(is_available(), "this machine has no AVX-512 VBMI2");
    // SAFETY: the features are there.
    unsafe { encode(units, bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
fn encode<'a>(units: &'a [u16], bytes: &mut Vec<u8>) -> &'a [u16] {
    let all = _mm512_set1_epi32;
    bytes.reserve(units.len() * 3 + SLACK);
    let (mut rest, mut end) = (units, bytes.len());
    while !rest.is_empty() {
        let count = rest.len().min(LANES);
        let lanes = u16::MAX >> (LANES - count);
        // SAFETY: only the first `count` units are read.
        let wide = _mm512_cvtepu16_epi32(unsafe {
            _mm256_maskz_loadu_epi16(lanes, rest.as_ptr().cast::<i16>())
        });
        let halves = _mm512_and_si512(wide, all(0xF800));
        if _mm512_cmpeq_epi32_mask(halves, all(0xD800)) != 0 {
            break;
        }
        // As in `super::encode`.
        let [by_2, by_8, by_16] = [
            _mm512_and_si512(_mm512_slli_epi32::<2>(wide), all(0x3F00)),
            _mm512_and_si512(_mm512_slli_epi32::<8>(wide), all(0x3F00)),
            _mm512_and_si512(_mm512_slli_epi32::<16>(wide), all(0x3F_0000)),
        ];
        let two = _mm512_or_si512(_mm512_or_si512(_mm512_srli_epi32::<6>(wide), by_8), all(0x80C0));
        let lead = _mm512_or_si512(_mm512_srli_epi32::<12>(wide), all(0x80_80E0));
        let three = _mm512_or_si512(lead, _mm512_or_si512(by_2, by_16));
        let (ascii, short) =
            (_mm512_cmplt_epu32_mask(wide, all(0x80)), _mm512_cmplt_epu32_mask(wide, all(0x800)));
        let encoded = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(three, short, two), ascii, wide);
        // The highest bit of a byte says that it counts.
        let of_three = _mm512_maskz_mov_epi32(lanes, all(0x80_8080));
        let counts = _mm512_mask_mov_epi32(of_three, lanes & short, all(0x8080));
        let counts = _mm512_movepi8_mask(_mm512_mask_mov_epi32(counts, lanes & ascii, all(0x80)));
        // SAFETY: every unit so far took at most three bytes, so below the capacity there are `SLACK` bytes, a vector, from here on.
        unsafe {
            let to = bytes.as_mut_ptr().add(end).cast::<i8>();
            _mm512_storeu_epi8(to, _mm512_maskz_compress_epi8(counts, encoded));
        }
        end += counts.count_ones() as usize;
        rest = &rest[count..];
    }
    // SAFETY: the bytes up to here were written.
    unsafe { bytes.set_len(end) };
    rest
}
