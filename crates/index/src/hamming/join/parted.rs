//! The self-join of fingerprints of which the tables do not fit into memory: part by part.
//!
//! Fingerprints that share a bucket of a table have one key there. So each table is cut by its keys: the fingerprints, which lie in a
//! column of a room, are put apart by the first bits of their key, and those of some keys at a time are joined as if there were no others, in
//! that table alone. A pair is reported by the first table whose mask it matches, as ever.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use simhash_store::{Column, Room, RoomError};

use super::copies::{Copies, tables};
use super::near::{Near, SelfJoin};
use crate::IndexError;
use crate::hamming::plan::Plan;

/// First bits of a key by which fingerprints are put apart.
const PART_BITS: u32 = 11;
/// Bytes of a part for each of its fingerprints: itself, its place in the table, and as much again while that is made.
const BYTES: usize = 32;
/// The share of memory that a part takes.
const SHARE: u64 = 16;
/// Least fingerprints of a part.
const LEAST: usize = 1 << 12;

/// All pairs of different fingerprints within a distance, each once, within the memory of a room; [`PartedJoin::next_batch`] goes on with it.
///
/// Disk: 16 bytes for each fingerprint. Memory: a sixteenth of the bound, or what the fingerprints take whose keys have the same first 11
/// bits in a table, where that is more.
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
    /// Parts of the table before that are not joined yet.
    parts: VecDeque<Range<usize>>,
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
            if let Some(part) = self.parts.pop_front() {
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

    /// Cuts the next table into parts.
    fn put_apart<E: From<RoomError> + From<IndexError>>(
        &mut self,
        cancel: &AtomicBool,
    ) -> Result<(), E> {
        let prefix = &self.plan.prefixes()[self.tables[self.next].0];
        let rest = prefix.bits() - prefix.bits().min(PART_BITS);
        let part = |&value: &u64| (prefix.key(value) >> rest) as u32;
        let check = || {
            let is_set = cancel.load(Ordering::Relaxed);
            if is_set { Err(E::from(IndexError::Cancelled)) } else { Ok(()) }
        };
        let ends =
            self.values.put_apart(&mut self.other, &self.room, 1 << PART_BITS, part, check)?;
        std::mem::swap(&mut self.values, &mut self.other);
        let (mut start, mut last) = (0, 0);
        for end in ends {
            if end - start > self.most && last > start {
                self.parts.push_back(start..last);
                start = last;
            }
            last = end;
        }
        self.parts.push_back(start..last);
        // One alone has no pairs.
        self.parts.retain(|part| part.len() > 1);
        self.next += 1;
        Ok(())
    }
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
}
