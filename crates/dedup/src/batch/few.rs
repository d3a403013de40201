//! The pairs of fingerprints that have few, where there is no room for all.
//!
//! Near pairs are spread unevenly. Of 2.4 million fingerprints of generated documents 90 % had one pair at most within distance 8, and the 5 % that had
//! more than 4 had nine tenths of all pairs. So pairs are counted by fingerprint as they are found; when they are too many, those of the fingerprints that have
//! most are dropped. What is left is complete for each fingerprint, and the few that have more are asked for in another way ([`Crowd`](super::crowd::Crowd)).

use super::pairs::Pair;
use crate::error::DedupError;
use crate::parallel;
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// Pairs or fingerprints between two looks at whether the run is cancelled.
const LOOK: usize = 1024;

/// Pairs, at most so many, and how many each fingerprint has.
///
/// Disk within a bound: 12 bytes for each pair, 4 for each fingerprint.
pub(super) struct Few {
    pairs: Column<Pair>,
    /// By number: pairs found.
    counts: Column<u32>,
    /// Pairs of one fingerprint that are held; of one that has more none are at the end.
    each: u32,
    most: usize,
}

impl Few {
    /// Of numbers below `count`.
    pub(super) fn new(count: usize, most: usize, room: &Room) -> Result<Self, DedupError> {
        let counts = Column::made(room, count, |_| 0)?;
        Ok(Self { pairs: Column::new(room)?, counts, each: u32::MAX, most })
    }

    /// Whether no pair was dropped.
    pub(super) fn is_all(&self) -> bool {
        self.each == u32::MAX
    }

    pub(super) fn take(
        &mut self,
        found: &[Pair],
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        for &pair in found {
            // Counts lie at random places.
            room.relieve()?;
            let count = &mut self.counts[pair.0 as usize];
            *count = count.saturating_add(1);
            if *count <= self.each {
                self.pairs.push(pair)?;
            }
        }
        if self.pairs.len() > self.most {
            self.drop_some(room, cancel)?;
        }
        Ok(())
    }

    /// Those of fingerprints whose pairs are complete, and a bit for each that has more, no bits where none has.
    pub(super) fn end(
        mut self,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<(Column<Pair>, Column<u64>), DedupError> {
        if self.is_all() {
            return Ok((self.pairs, Column::default()));
        }
        self.drop_some(room, cancel)?;
        self.pairs.fit()?;
        let (counts, each) = (&self.counts, self.each);
        let crowded = Column::made(room, counts.len().div_ceil(64), |place| {
            let some = counts[place * 64..].iter().take(64).zip(0..);
            some.fold(0, |bits, (&count, bit)| bits | u64::from(count > each) << bit)
        })?;
        Ok((self.pairs, crowded))
    }

    /// Leaves half as many as there may be, those of fingerprints that have no more than so many.
    fn drop_some(&mut self, room: &Room, cancel: &AtomicBool) -> Result<(), DedupError> {
        // Pairs by the bits of how many their fingerprint has.
        let mut sums = [0usize; 33];
        for (place, &count) in self.counts.iter().enumerate() {
            sums[(u32::BITS - count.leading_zeros()) as usize] += count as usize;
            if place % LOOK == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
        let mut sum = 0usize;
        let fits = sums.iter().take_while(|&&some| {
            sum = sum.saturating_add(some);
            sum <= self.most / 2
        });
        // Of no pair at least.
        let bits = fits.count().max(1) as u32 - 1;
        self.each = self.each.min(u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0));
        // Where they lie: a second column would be as much disk again.
        let mut left = 0;
        for place in 0..self.pairs.len() {
            room.relieve()?;
            let pair = self.pairs[place];
            if self.counts[pair.0 as usize] <= self.each {
                self.pairs[left] = pair;
                left += 1;
            }
            if place % LOOK == 0 {
                parallel::check(cancel)?;
            }
        }
        self.pairs.truncate(left);
        Ok(())
    }
}
