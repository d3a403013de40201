//! NEON: 32 positions at a time; multiplication and addition are one instruction.

use std::arch::aarch64::{uint32x4_t, vdupq_n_u32, vld1q_u32, vminq_u32, vmlaq_u32, vst1q_u32};

/// Lowers 32-bit minima. NEON is part of every `AArch64` target of Rust.
pub(super) fn lower32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    for (by, minima) in by.chunks(8 * 4).zip(minima.chunks_mut(8 * 4)) {
        // SAFETY: NEON is in the baseline of the target.
        unsafe {
            match by.len() / 4 {
                8 => tile32::<8>(low, high, by, minima),
                _ => tile32::<4>(low, high, by, minima),
            }
        }
    }
}

#[target_feature(enable = "neon")]
fn tile32<const N: usize>(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    let (by, minima) = (&by[..N * 4], &mut minima[..N * 4]);
    // SAFETY: N registers of 4 values were sliced above.
    let load = |from: &[u32], at: usize| unsafe { vld1q_u32(from[at * 4..].as_ptr()) };
    let factors: [uint32x4_t; N] = std::array::from_fn(|at| load(by, at));
    let mut least: [uint32x4_t; N] = std::array::from_fn(|at| load(minima, at));
    for (&low, &high) in low.iter().zip(high) {
        let (low, high) = (vdupq_n_u32(low), vdupq_n_u32(high));
        for (least, &factor) in least.iter_mut().zip(&factors) {
            *least = vminq_u32(*least, vmlaq_u32(high, factor, low));
        }
    }
    for (out, least) in minima.chunks_exact_mut(4).zip(least) {
        // SAFETY: each chunk is 4 × 4 bytes, the width of the register.
        unsafe { vst1q_u32(out.as_mut_ptr(), least) };
    }
}
