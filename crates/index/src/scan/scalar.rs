//! The plain kernel, and the tail of the others.

use super::Positions;

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
