//! NEON scan: 8 fingerprints per step; NEON counts the bits of bytes, and pairwise additions widen the counts.

use std::arch::aarch64::{
    uint64x2_t, vcleq_u64, vcntq_u8, vdupq_n_u64, veorq_u64, vgetq_lane_u64, vld1q_u64, vorrq_u64,
    vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vreinterpretq_u8_u64,
};

/// Fingerprints per vector.
const LANES: usize = 2;
/// Fingerprints per step.
const STEP: usize = 4 * LANES;

/// The scan. NEON is part of every AArch64 target of Rust.
pub(super) fn within(haystack: &[u64], query: u64, k: u32, on_hit: &mut impl FnMut(usize, u32)) {
    // SAFETY: NEON is in the baseline of the target.
    super::scan(haystack, STEP, query, k, on_hit, |rest| unsafe { miss(rest, query, k) });
}

/// Length of the longest prefix of whole steps in which nothing hits.
#[target_feature(enable = "neon")]
fn miss(haystack: &[u64], query: u64, k: u32) -> usize {
    let (query, k) = (vdupq_n_u64(query), vdupq_n_u64(u64::from(k)));
    let steps = haystack.chunks_exact(STEP).position(|step| {
        let hit = |lane: usize| {
            let differing = veorq_u64(load(&step[lane * LANES..]), query);
            let bytes = vcntq_u8(vreinterpretq_u8_u64(differing));
            vcleq_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes))), k)
        };
        let any = vorrq_u64(vorrq_u64(hit(0), hit(1)), vorrq_u64(hit(2), hit(3)));
        vgetq_lane_u64::<0>(any) | vgetq_lane_u64::<1>(any) != 0
    });
    steps.unwrap_or(haystack.len() / STEP) * STEP
}

/// The first two fingerprints of `from`.
#[target_feature(enable = "neon")]
fn load(from: &[u64]) -> uint64x2_t {
    assert!(from.len() >= LANES, "a step holds whole vectors");
    // SAFETY: just checked that 16 bytes are there.
    unsafe { vld1q_u64(from.as_ptr()) }
}
