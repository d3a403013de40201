//! NEON: each byte of a hash is copied to eight lanes, and each lane tests its own bit (`vtst`).

use simhash_text::Feature;
use std::arch::aarch64::{
    uint8x16_t, uint32x4_t, vaddq_u32, vandq_u32, vcombine_u8, vcreate_u8, vdup_n_u8, vdupq_n_u8,
    vdupq_n_u32, vld1q_u32, vst1q_u8, vst1q_u32, vsubq_u8, vtstq_u8, vtstq_u32,
};

/// Adds at most 255 hashes of weight 1. NEON is part of every AArch64 target of Rust.
pub(super) fn add_hashes(block: &[u64], bits: &mut [u64; 64]) {
    // SAFETY: NEON is in the baseline of the target.
    let counters = unsafe { count(block) };
    for (sum, count) in bits.iter_mut().zip(counters) {
        *sum += u64::from(count);
    }
}

/// Adds features if their weights add up to less than 2^32, and returns that total.
pub(super) fn add_features(block: &[Feature], bits: &mut [u64; 64]) -> Option<u64> {
    // SAFETY: NEON is in the baseline of the target.
    let (sums, total) = unsafe { weigh(block) };
    super::widen(sums, total, bits)
}

#[target_feature(enable = "neon")]
fn count(block: &[u64]) -> [u8; 64] {
    // Byte i of each eight is 1 << i.
    let lane_bit =
        vcombine_u8(vcreate_u8(0x8040_2010_0804_0201), vcreate_u8(0x8040_2010_0804_0201));
    let mut counters: [uint8x16_t; 4] = [vdupq_n_u8(0); 4];
    for hash in block {
        let bytes = hash.to_le_bytes();
        for (pair, counter) in counters.iter_mut().enumerate() {
            let lanes = vcombine_u8(vdup_n_u8(bytes[2 * pair]), vdup_n_u8(bytes[2 * pair + 1]));
            *counter = vsubq_u8(*counter, vtstq_u8(lanes, lane_bit)); // − (−1) where the bit is set
        }
    }
    let mut out = [0_u8; 64];
    for (quarter, counter) in out.chunks_exact_mut(16).zip(counters) {
        // SAFETY: each quarter is 16 bytes, the width of the vector.
        unsafe { vst1q_u8(quarter.as_mut_ptr(), counter) };
    }
    out
}

#[target_feature(enable = "neon")]
fn weigh(block: &[Feature]) -> ([u32; 64], u64) {
    let mut total = 0;
    let mut sums: [uint32x4_t; 16] = [vdupq_n_u32(0); 16];
    let lane_bits: [uint32x4_t; 8] = std::array::from_fn(|four| {
        let bits = [1_u32, 2, 4, 8].map(|bit| bit << (4 * four));
        // SAFETY: the array is 16 bytes, the width of the vector.
        unsafe { vld1q_u32(bits.as_ptr()) }
    });
    for feature in block {
        total += u64::from(feature.weight);
        let weight = vdupq_n_u32(feature.weight);
        let halves = [feature.hash as u32, (feature.hash >> 32) as u32];
        for (index, sum) in sums.iter_mut().enumerate() {
            let set = vtstq_u32(vdupq_n_u32(halves[index / 8]), lane_bits[index % 8]);
            *sum = vaddq_u32(*sum, vandq_u32(set, weight));
        }
    }
    let mut out = [0_u32; 64];
    for (four, sum) in out.chunks_exact_mut(4).zip(sums) {
        // SAFETY: each chunk is 4 × 4 bytes, the width of the vector.
        unsafe { vst1q_u32(four.as_mut_ptr(), sum) };
    }
    (out, total)
}
