//! The plain kernel, and what the others share: their loop over steps, their tail, their pairs.

use super::{BLOCK, Kernels, Positions, written};
use crate::simd::Level;
use std::mem::MaybeUninit;

pub(super) const KERNELS: Kernels = Kernels { level: Level::Scalar, positions, pairs };

fn positions(haystack: &[u64], query: u64, most: u32, positions: &mut Positions) -> usize {
    tail(haystack, query, most, positions, 0, 0)
}

fn pairs(group: &[u64], most: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| positions(rest, value, most, out));
}

/// Goes on at element `from` with `count` hits so far. Branch-free: hits are rare but random.
#[inline]
pub(super) fn tail(
    haystack: &[u64],
    query: u64,
    most: u32,
    positions: &mut Positions,
    from: usize,
    mut count: usize,
) -> usize {
    for (at, value) in haystack.iter().enumerate().skip(from) {
        positions[count].write(at as u16);
        count += usize::from((value ^ query).count_ones() <= most);
        if count == positions.len() {
            break;
        }
    }
    count
}

/// Appends the positions of the set bits of `near(step)` for every whole step from element `from` on; bit 0 is the step's
/// first element. Returns where the last step ends.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "neon")))]
#[expect(
    clippy::inline_always,
    reason = "a step that is called has its constants loaded anew each time"
)]
#[inline(always)]
pub(super) fn by_steps<const STEP: usize>(
    haystack: &[u64],
    from: usize,
    positions: &mut Positions,
    count: &mut usize,
    near: impl Fn(&[u64; STEP]) -> u32,
) -> usize {
    let mut at = from;
    for step in haystack[from..].as_chunks::<STEP>().0 {
        report(near(step), at, positions, count);
        at += STEP;
    }
    at
}

/// Appends the positions of the set bits of `near`, `at` being the position of bit 0.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "neon")))]
#[inline]
pub(super) fn report(mut near: u32, at: usize, positions: &mut Positions, count: &mut usize) {
    while near != 0 {
        positions[*count].write((at + near.trailing_zeros() as usize) as u16);
        *count += 1;
        near &= near - 1;
    }
}

/// All pairs of a group, by way of a kernel that is inlined here.
#[inline]
pub(super) fn pairs_by(
    group: &[u64],
    found: &mut Vec<(u16, u16)>,
    kernel: impl Fn(&[u64], u64, &mut Positions) -> usize,
) {
    let mut positions: Positions = [MaybeUninit::uninit(); BLOCK];
    for (at, &value) in group.iter().enumerate() {
        let count = kernel(&group[at + 1..], value, &mut positions);
        let behind = |position: &u16| (at as u16, at as u16 + 1 + position);
        if count > 0 {
            found.extend(written(&positions, count).iter().map(behind));
        }
    }
}
