//! The kernel for 64-bit Arm, where every machine has NEON.

#[allow(clippy::wildcard_imports)] // an instruction set
use std::arch::aarch64::*;

use super::scalar::{pairs_by, tail};
use super::{Kernels, Positions};

pub(super) fn available() -> Vec<Kernels> {
    vec![Kernels { name: "neon", positions: neon, pairs }]
}

fn pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| neon(rest, value, distance, out));
}

fn neon(haystack: &[u64], query: u64, distance: u32, positions: &mut Positions) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at + 2 <= haystack.len() {
        // SAFETY: two elements are left, and NEON is part of the base architecture.
        let counts: [u64; 2] = unsafe {
            let lanes = vld1q_u64(haystack.as_ptr().add(at));
            let differ = veorq_u64(lanes, vdupq_n_u64(query));
            let bytes = vcntq_u8(vreinterpretq_u8_u64(differ));
            let sums = vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes)));
            [vgetq_lane_u64::<0>(sums), vgetq_lane_u64::<1>(sums)]
        };
        for (lane, bits) in counts.into_iter().enumerate() {
            if bits <= u64::from(distance) {
                positions[count].write((at + lane) as u16);
                count += 1;
            }
        }
        at += 2;
    }
    tail(haystack, query, distance, positions, at, count)
}
