//! Sorting a column whose memory may be bounded: in the space that it has.

use crate::error::DedupError;
use crate::parallel;
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// Bits by which values are put apart in a pass: so many places are written at a time.
const DIGIT: u32 = 11;
/// Values that are sorted as they lie: together some pages of a file.
const FEW: usize = if cfg!(test) { 8 } else { 1 << 14 };
/// Values between two looks at the memory, one behind the other.
const LOOK: usize = 1024;
/// And of those that are put into as many places.
const LOOK_AT_PLACES: usize = 64;

/// A value that sorts as a number does.
pub(super) trait Numbered: Copy + Ord + Send + Sync {
    fn number(&self) -> u128;
}

impl Numbered for (u32, u32) {
    fn number(&self) -> u128 {
        u128::from(self.0) << 32 | u128::from(self.1)
    }
}

impl Numbered for (u64, u32) {
    fn number(&self) -> u128 {
        u128::from(self.0) << 32 | u128::from(self.1)
    }
}

impl Numbered for (u32, u32, u32) {
    fn number(&self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1) << 32 | u128::from(self.2)
    }
}

impl Numbered for (u32, u32, u64) {
    fn number(&self) -> u128 {
        u128::from(self.0) << 96 | u128::from(self.1) << 64 | u128::from(self.2)
    }
}

/// Sorts a column: in memory by all threads, with half as much again; within a bound by one and without a second file.
pub(super) fn sort<T: Numbered>(
    column: &mut Column<T>,
    room: &Room,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    if room.most().is_some() {
        in_place(column, room, cancel)
    } else {
        parallel::sort(column, threads, cancel)
    }
}

/// By the highest bits in which the values differ, each of them swapped to where those of its bits belong ("Engineering radix
/// sort", Computing Systems 6, 1993: American flag sort); then what has these bits alike.
fn in_place<T: Numbered>(
    values: &mut [T],
    room: &Room,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    parallel::check(cancel)?;
    room.relieve()?;
    if values.len() <= FEW {
        values.sort_unstable();
        return Ok(());
    }
    let (first, mut differ) = (values[0].number(), 0);
    for some in values.chunks(LOOK) {
        differ = some.iter().fold(differ, |differ, value| differ | (value.number() ^ first));
        room.relieve()?;
    }
    if differ == 0 {
        return Ok(());
    }
    let shift = (u128::BITS - differ.leading_zeros()).saturating_sub(DIGIT);
    let digit = |value: &T| (value.number() >> shift) as usize & ((1 << DIGIT) - 1);
    let mut ends = vec![0usize; 1 << DIGIT];
    for some in values.chunks(LOOK) {
        for value in some {
            ends[digit(value)] += 1;
        }
        room.relieve()?;
    }
    let (mut next, mut end) = (Vec::with_capacity(ends.len()), 0);
    for count in &mut ends {
        next.push(end);
        end += *count;
        *count = end;
    }
    let mut swapped = 0;
    for own in 0..ends.len() {
        while next[own] < ends[own] {
            let of = digit(&values[next[own]]);
            values.swap(next[own], next[of]);
            next[of] += 1;
            swapped += 1;
            if swapped % LOOK_AT_PLACES == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
    }
    let mut start = 0;
    for end in ends {
        if end > start + 1 {
            in_place(&mut values[start..end], room, cancel)?;
        }
        start = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Debug;

    /// By both ways as the library does.
    fn check<T: Numbered + Debug>(given: &[T]) {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = given.to_vec();
        expected.sort_unstable();
        for room in [Room::default(), Room::bounded(0, folder.path()).unwrap()] {
            let mut column = Column::new(&room).unwrap();
            column.extend_from_slice(given).unwrap();
            sort(&mut column, &room, 2, &AtomicBool::new(false)).unwrap();
            assert_eq!(column[..], expected);
        }
    }

    /// Numbers that differ in few bits, high ones or low ones.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), prop_oneof![Just(u64::MAX), Just(7), Just(7 << 60), Just(0x8001)])
            .prop_map(|(number, bits)| number & bits)
    }

    proptest! {
        #[test]
        fn what_is_sorted_in_place_is_sorted(
            given in proptest::collection::vec((number(), number(), number()), 0..300),
        ) {
            let low = |number: u64| (number ^ number >> 32) as u32;
            check(&given.iter().map(|&(a, b, _)| (low(a), low(b))).collect::<Vec<_>>());
            check(&given.iter().map(|&(a, b, _)| (a, low(b))).collect::<Vec<_>>());
            check(&given.iter().map(|&(a, b, c)| (low(a), low(b), low(c))).collect::<Vec<_>>());
            check(&given.iter().map(|&(a, b, c)| (low(a), low(b), c)).collect::<Vec<_>>());
        }
    }

    /// One value of most, and of each of the others one: no pass goes on for ever, and none is deeper than the bits.
    #[test]
    fn many_equal_values_are_sorted() {
        let several = (0..5_000u32).map(|at| (if at % 100 == 0 { at } else { 9 }, 9u32));
        check(&several.collect::<Vec<_>>());
        let powers = (0..64u32).flat_map(|bit| vec![(1u64 << bit, 0u32); 9]);
        check(&powers.collect::<Vec<_>>());
    }

    #[test]
    fn a_sort_in_place_is_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::bounded(0, folder.path()).unwrap();
        let mut column = Column::new(&room).unwrap();
        column.extend((0..100u32).rev().map(|number| (number, 0u32))).unwrap();
        let sorted = sort(&mut column, &room, 1, &AtomicBool::new(true));
        assert!(matches!(sorted, Err(DedupError::Cancelled)));
    }
}
