//! The kernel for 64-bit Arm, where every machine has NEON: it counts the bits of bytes, and pairwise additions widen the
//! counts.

use std::arch::aarch64::{
    uint64x2_t, vcleq_u64, vcntq_u8, vdupq_n_u64, veorq_u64, vgetq_lane_u64, vld1q_u64, vorrq_u64,
    vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vreinterpretq_u8_u64,
};

use super::scalar::{by_steps, pairs_by, tail};
use super::{Kernels, Positions};
use crate::simd::Level;

pub(super) const KERNELS: Kernels = Kernels {
    level: Level::Neon,
    // SAFETY: NEON is in the baseline of the target.
    positions: |h, q, k, out| unsafe { near::<true>(h, q, k, out) },
    // SAFETY: as above.
    pairs: |g, k, found| unsafe { pairs(g, k, found) },
};

#[target_feature(enable = "neon")]
fn pairs(group: &[u64], most: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| near::<false>(rest, value, most, out));
}

#[target_feature(enable = "neon")]
#[inline]
fn near<const LONG: bool>(
    haystack: &[u64],
    query: u64,
    most: u32,
    positions: &mut Positions,
) -> usize {
    let (wanted, limit) = (vdupq_n_u64(query), vdupq_n_u64(u64::from(most)));
    let hit = |lanes: &[u64]| -> uint64x2_t {
        assert!(lanes.len() >= 2, "a vector holds two");
        // SAFETY: just checked that 16 bytes are there.
        let lanes = unsafe { vld1q_u64(lanes.as_ptr()) };
        let bytes = vcntq_u8(vreinterpretq_u8_u64(veorq_u64(lanes, wanted)));
        vcleq_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes))), limit)
    };
    // A lane of a hit is all ones.
    let lanes = |hit: uint64x2_t| -> u32 {
        ((vgetq_lane_u64::<1>(hit) & 2) | (vgetq_lane_u64::<0>(hit) & 1)) as u32
    };
    let mut count = 0;
    let long = if LONG { haystack } else { &[] };
    let at = by_steps::<8>(long, 0, positions, &mut count, |step| {
        let hits = [hit(step), hit(&step[2..]), hit(&step[4..]), hit(&step[6..])];
        let any = vorrq_u64(vorrq_u64(hits[0], hits[1]), vorrq_u64(hits[2], hits[3]));
        if lanes(any) == 0 {
            return 0;
        }
        hits.into_iter().rev().fold(0, |near, hit| near << 2 | lanes(hit))
    });
    let at = by_steps::<2>(haystack, at, positions, &mut count, |step| lanes(hit(step)));
    tail(haystack, query, most, positions, at, count)
}
