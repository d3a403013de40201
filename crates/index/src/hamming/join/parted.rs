//! The self-join of fingerprints of which the tables do not fit into memory: part by part.
//!
//! Fingerprints that share a bucket of a table have one key there. So each table is cut by its keys: the fingerprints, which lie in a
//! column of a room, are put apart by the first bits of their key, and those of some keys at a time are joined as if there were no others, in
//! that table alone. Where those with the same first bits do not fit, they are put apart by the next bits. A pair is reported by the first
//! table whose mask it matches, as ever.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use simhash_store::{Column, Room, RoomError};

use super::copies::{Copies, tables};
use super::near::{Near, SelfJoin};
use crate::IndexError;
use crate::hamming::plan::{Plan, Prefix};

/// Bits of a key by which fingerprints are put apart at a time.
const PART_BITS: u32 = 11;
/// Bytes of a part for each of its fingerprints: itself, its place in the table, and as much again while that is made.
const BYTES: usize = 32;
/// The share of memory that a part takes.
const SHARE: u64 = 16;
/// Least fingerprints of a part.
const LEAST: usize = 1 << 12;
/// Fingerprints that are copied between two looks at the memory.
const LOOK: usize = 1024;

/// Fingerprints that lie one behind the other.
#[derive(Debug)]
struct Part {
    places: Range<usize>,
    /// Bits of their keys that are looked at: they have these alike, or are few enough.
    bits: u32,
}

/// All pairs of different fingerprints within a distance, each once, within the memory of a room; [`PartedJoin::next_batch`] goes on with it.
///
/// Disk: 16 bytes for each fingerprint, and as many for those of one part that is cut again. Memory: a sixteenth of the bound, or what the
/// fingerprints take that have one key in a table, where that is more.
#[derive(Debug)]
pub struct PartedJoin {
    plan: Arc<Plan>,
    tables: Vec<(usize, u64)>,
    distance: u32,
    room: Room,
    values: Column<u64>,
    /// Where they are put apart.
    other: Column<u64>,
    /// The next table.
    next: usize,
    /// Most fingerprints of a part.
    most: usize,
    /// Parts of the table before that are not joined yet, in order.
    parts: VecDeque<Part>,
    join: Option<SelfJoin>,
}

impl PartedJoin {
    /// Of these fingerprints, each given once.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`](crate::MAX_DISTANCE); [`RoomError`].
    pub fn new<E: From<RoomError> + From<IndexError>>(
        fingerprints: impl ExactSizeIterator<Item = u64>,
        distance: u32,
        room: &Room,
    ) -> Result<Self, E> {
        let plan = Arc::new(Plan::covering(distance)?);
        let mut values = Column::new(room)?;
        let count = fingerprints.len();
        values.reserve(count)?;
        for (place, value) in fingerprints.enumerate() {
            values.push(value)?;
            if place % 1024 == 0 {
                room.relieve()?;
            }
        }
        let most = room.most().map_or(usize::MAX, |most| (most / SHARE) as usize / BYTES);
        Ok(Self {
            tables: tables(&plan, distance),
            plan,
            distance,
            other: Column::made(room, count, |_| 0)?,
            room: room.clone(),
            values,
            next: 0,
            most: most.max(LEAST),
            parts: VecDeque::new(),
            join: None,
        })
    }

    /// As [`SelfJoin::next_batch`].
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; [`RoomError`].
    pub fn next_batch<E: From<RoomError> + From<IndexError>>(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Near>>, E> {
        loop {
            self.room.relieve()?;
            if let Some(join) = &mut self.join {
                if let Some(found) = join.next_batch(threads, cancel)? {
                    return Ok(Some(found));
                }
                self.join = None;
            }
            if let Some(part) = self.next_part::<E>(cancel)? {
                let place = self.next - 1;
                let (plan, part) = (Arc::clone(&self.plan), self.values[part].to_vec());
                let copies = Copies::of_part(plan, self.tables.clone(), place, part);
                self.join = Some(SelfJoin::from(copies, self.distance, place));
            } else if self.next == self.tables.len() {
                return Ok(None);
            } else {
                self.put_apart::<E>(cancel)?;
            }
        }
    }

    /// The next part that is joined: one that fits, or whose keys are equal.
    fn next_part<E: From<RoomError> + From<IndexError>>(
        &mut self,
        cancel: &AtomicBool,
    ) -> Result<Option<Range<usize>>, E> {
        while let Some(part) = self.parts.pop_front() {
            let key_bits = self.plan.prefixes()[self.tables[self.next - 1].0].bits();
            if part.places.len() <= self.most || part.bits >= key_bits {
                return Ok(Some(part.places));
            }
            self.cut_again::<E>(&part, cancel)?;
        }
        Ok(None)
    }

    /// Cuts the next table into parts.
    fn put_apart<E: From<RoomError> + From<IndexError>>(
        &mut self,
        cancel: &AtomicBool,
    ) -> Result<(), E> {
        let prefix = &self.plan.prefixes()[self.tables[self.next].0];
        let (digit, bits) = digit(prefix, 0);
        let check = || checked::<E>(cancel);
        let ends =
            self.values.put_apart(&mut self.other, &self.room, 1 << PART_BITS, digit, check)?;
        std::mem::swap(&mut self.values, &mut self.other);
        let parts = parts(ends, self.most, 0, bits);
        self.parts.extend(parts);
        self.next += 1;
        Ok(())
    }

    /// Cuts a part of the table before by the next bits of its keys.
    fn cut_again<E: From<RoomError> + From<IndexError>>(
        &mut self,
        part: &Part,
        cancel: &AtomicBool,
    ) -> Result<(), E> {
        let prefix = &self.plan.prefixes()[self.tables[self.next - 1].0];
        let (digit, bits) = digit(prefix, part.bits);
        let mut whole: Column<u64> = Column::new(&self.room)?;
        for values in self.values[part.places.clone()].chunks(LOOK) {
            whole.extend_from_slice(values)?;
            self.room.relieve()?;
        }
        let mut apart = Column::made(&self.room, whole.len(), |_| 0)?;
        let check = || checked::<E>(cancel);
        let ends = whole.put_apart(&mut apart, &self.room, 1 << PART_BITS, digit, check)?;
        drop(whole);
        let places = self.values[part.places.clone()].chunks_mut(LOOK);
        for (places, values) in places.zip(apart.chunks(LOOK)) {
            places.copy_from_slice(values);
            self.room.relieve()?;
        }
        for part in parts(ends, self.most, part.places.start, bits).into_iter().rev() {
            self.parts.push_front(part);
        }
        Ok(())
    }
}

/// The bits of a key that follow so many of it, and how many are looked at with these.
fn digit(prefix: &Prefix, before: u32) -> (impl Fn(&u64) -> u32, u32) {
    let bits = prefix.bits().min(before + PART_BITS);
    let (rest, mask) = (prefix.bits() - bits, (1 << (bits - before)) - 1);
    let digit = move |&value: &u64| (prefix.key(value) >> rest) as u32 & mask;
    (digit, bits)
}

/// Values that end there by the bits of their keys, in parts: as many bits as fit together, from this place on.
fn parts(ends: Vec<usize>, most: usize, from: usize, bits: u32) -> Vec<Part> {
    let (mut start, mut last, mut parts) = (0, 0, Vec::new());
    let part = |start, end| Part { places: from + start..from + end, bits };
    for end in ends {
        if end - start > most && last > start {
            parts.push(part(start, last));
            start = last;
        }
        last = end;
    }
    parts.push(part(start, last));
    // One alone has no pairs.
    parts.retain(|part| part.places.len() > 1);
    parts
}

fn checked<E: From<IndexError>>(cancel: &AtomicBool) -> Result<(), E> {
    let is_set = cancel.load(Ordering::Relaxed);
    if is_set { Err(E::from(IndexError::Cancelled)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug)]
    struct Failed;

    impl From<RoomError> for Failed {
        fn from(_: RoomError) -> Self {
            Self
        }
    }

    impl From<IndexError> for Failed {
        fn from(_: IndexError) -> Self {
            Self
        }
    }

    proptest! {
        /// Crowds and what is between them, in parts of a few fingerprints.
        #[test]
        fn a_join_in_parts_finds_what_a_whole_one_does(
            given in proptest::collection::vec((0u64..4, any::<u64>(), 0u32..64), 0..300),
            distance in 0u32..17,
            most in 1usize..400,
            threads in 1usize..3,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let room = Room::bounded(0, folder.path()).unwrap();
            let mut given: Vec<u64> = given
                .into_iter()
                .map(|(center, noise, bits)| (center.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ noise.checked_shr(bits).unwrap_or(0))
                .collect();
            given.sort_unstable();
            given.dedup();
            let cancel = AtomicBool::new(false);
            let (mut whole, mut all) = (SelfJoin::new(given.clone(), distance).unwrap(), Vec::new());
            while let Some(found) = whole.next_batch(threads, &cancel).unwrap() {
                all.extend(found);
            }
            let mut parted = PartedJoin::new::<Failed>(given.iter().copied(), distance, &room).unwrap();
            parted.most = most;
            let mut found = Vec::new();
            while let Some(some) = parted.next_batch::<Failed>(threads, &cancel).unwrap() {
                found.extend(some);
            }
            let ordered = |pairs: Vec<Near>| {
                let mut pairs: Vec<Near> =
                    pairs.into_iter().map(|(a, b, distance)| (a.min(b), a.max(b), distance)).collect();
                pairs.sort_unstable();
                pairs
            };
            prop_assert_eq!(ordered(found), ordered(all));
        }
    }

    /// Keys that begin alike in the first table, and differ in their last bits alone.
    #[test]
    fn a_part_that_does_not_fit_is_cut_by_the_next_bits() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::bounded(0, folder.path()).unwrap();
        let plan = Plan::covering(3).unwrap();
        let prefix = &plan.prefixes()[tables(&plan, 3)[0].0];
        let behind = (1u64 << (prefix.bits() - PART_BITS)) - 1;
        let first: u64 = (0..64)
            .map(|bit| 1 << bit)
            .filter(|&bit| prefix.key(bit) & !behind != 0)
            .fold(0, |first, bit| first | bit);
        let mixed = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut given: Vec<u64> = (0..500).map(|number| mixed(number) & !first).collect();
        // And some with one key.
        given.extend((0..50).map(|number| mixed(number) & !prefix.mask()));
        given.sort_unstable();
        given.dedup();
        let cancel = AtomicBool::new(false);
        let mut parted = PartedJoin::new::<Failed>(given.iter().copied(), 3, &room).unwrap();
        parted.most = 8;
        parted.put_apart::<Failed>(&cancel).unwrap();
        assert!(given.len() > 500 && parted.parts.len() == 1, "{} in one part", given.len());
        let (mut last, mut joined) = (None, 0);
        while let Some(part) = parted.next_part::<Failed>(&cancel).unwrap() {
            let keys: Vec<u64> =
                parted.values[part.clone()].iter().map(|&value| prefix.key(value)).collect();
            let (least, most) = (*keys.iter().min().unwrap(), *keys.iter().max().unwrap());
            assert!(part.len() <= 8 || least == most, "{part:?}");
            assert!(last < Some(least), "keys of two parts");
            (last, joined) = (Some(most), joined + part.len());
        }
        let mut values = parted.values.to_vec();
        values.sort_unstable();
        given.sort_unstable();
        assert!(values == given && joined <= given.len(), "{joined} of {}", given.len());
    }
}
