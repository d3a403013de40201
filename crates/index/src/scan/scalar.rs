//! The plain kernel, and the tail of the others.

use std::mem::MaybeUninit;

use super::{BLOCK, Positions};

#[inline]
pub(super) fn positions(
    haystack: &[u64],
    query: u64,
    distance: u32,
    positions: &mut Positions,
) -> usize {
    tail(haystack, query, distance, positions, 0, 0)
}

/// Goes on at element `from` with `count` hits so far. Branch-free: hits are rare but random.
#[inline]
pub(super) fn tail(
    haystack: &[u64],
    query: u64,
    distance: u32,
    positions: &mut Positions,
    from: usize,
    mut count: usize,
) -> usize {
    for (at, value) in haystack.iter().enumerate().skip(from) {
        positions[count].write(at as u16);
        count += usize::from((value ^ query).count_ones() <= distance);
        if count == positions.len() {
            break;
        }
    }
    count
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
            found.extend(super::written(&positions, count).iter().map(behind));
        }
    }
}

pub(super) fn pairs(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    pairs_by(group, found, |rest, value, out| positions(rest, value, distance, out));
}
