//! All pairs and clusters of a plain set of fingerprints, without an index.
//!
//! A search per fingerprint would miss the cache in every table, and an index would hold every table at once. Here
//! each table of the plan is made, used and dropped: one partition pass on some prefix bits gives parts that fit the
//! second-level cache, a counting sort on further bits gives buckets, and only inside a bucket fingerprints are
//! compared. So memory is read and written front to back, and parts are independent: any number of threads, no locks.
//!
//! ```text
//!  entries ──► distinct fingerprints, in the order of the first table (equal ones: a star to the lowest ordinal)
//!                 │ per table: partition ──► part ──► buckets ──► compare
//!                 ▼                                      └── large? cut it again by the bits that still vary
//!              pairs: pulled in batches          clusters: a forest over ranks, never a list of pairs
//! ```
//! A pair that several tables see belongs to the first table whose mask it matches, so no set of seen pairs is kept.
//! That also holds within a large bucket, which is cut by the same design over the bits in which its members differ:
//! whether a plan is exact depends on which blocks its tables keep, not on where the bits of a block lie.
//!
//! Sources: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007) for the tables; the proof
//! of a plan is in [`plan`](crate::plan).

mod clusters;
mod compare;
mod distinct;
mod forest;
mod group;
mod key;
mod pairs;
mod partition;
mod table;
mod tables;
mod tasks;
mod walk;

use std::sync::atomic::AtomicBool;

pub use clusters::Clusters;
pub use pairs::{PairBatch, Pairs};

use self::distinct::Distinct;
use self::group::Group;
use self::key::Key;
use self::partition::{Chunk, part_bits};
use self::table::Table;
use self::tables::Tables;
use crate::IndexError;
use crate::plan::{MAX_DISTANCE, Plan};

/// A set of fingerprints, ready to be joined with itself.
///
/// Memory: 13 bytes per distinct fingerprint and 8 per copy; 9 more while pairs or clusters are looked for (one table
/// at a time), 4 more for clusters; 25 more while it is made.
#[derive(Debug)]
pub struct Join {
    distance: u32,
    tables: Tables,
    distinct: Distinct,
    /// Part key of each table.
    keys: Vec<Key>,
}

impl Join {
    /// Of fingerprints whose ordinals are their places. See [`Join::of_entries`].
    ///
    /// # Errors
    /// Those of [`Join::of_entries`].
    pub fn new(
        fingerprints: &[u64],
        plan: &Plan,
        distance: u32,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        let entry = |number: usize| (fingerprints[number], number as u32);
        Self::of(fingerprints.len(), entry, plan, distance, threads, cancel)
    }

    /// Of fingerprints with ordinals, which must differ. Within the plan's radius its tables are used (fewer for lower
    /// distances), beyond it those of the plan that covers the distance: a join makes its tables itself. Up to a few
    /// thousand fingerprints are compared without. Runs on the current rayon pool on at most `threads` tasks (0: all
    /// of it); the cost is that of two tables.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`], [`IndexError::Full`] for 2^32 - 1 entries or more,
    /// [`IndexError::Cancelled`].
    pub fn of_entries(
        entries: &[(u64, u32)],
        plan: &Plan,
        distance: u32,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        Self::of(entries.len(), |number| entries[number], plan, distance, threads, cancel)
    }

    fn of(
        count: usize,
        entry: impl Fn(usize) -> (u64, u32) + Sync,
        plan: &Plan,
        distance: u32,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        if distance > MAX_DISTANCE {
            return Err(IndexError::Distance { given: distance, max: MAX_DISTANCE });
        }
        if count >= u32::MAX as usize {
            return Err(IndexError::Full { oldest: 0 });
        }
        let tables = if distance <= plan.radius() {
            Tables::new(plan, distance, count)
        } else {
            Tables::new(&Plan::covering(distance)?, distance, count)
        };
        let distinct = Distinct::new(count, entry, tables.masks[0], threads, cancel)?;
        let bits = part_bits(distinct.len());
        let mut keys: Vec<Key> = tables.masks.iter().map(|&mask| Key::new(mask, bits)).collect();
        keys[0] = distinct.key().clone();
        Ok(Self { distance, tables, distinct, keys })
    }

    /// How many distinct fingerprints.
    pub fn distinct(&self) -> usize {
        self.distinct.len()
    }

    /// Every pair within the distance, lazily.
    ///
    /// Pairs are of fingerprints: entries that share one are represented by that of the lowest ordinal, and each
    /// further one comes once, paired with it at distance 0. So c copies make c - 1 pairs, never c².
    pub fn pairs(self) -> Pairs {
        Pairs::new(self)
    }

    /// How many parts a table has.
    fn parts(&self, number: usize) -> usize {
        1 << self.keys[number].bits()
    }

    /// How many parts all tables have.
    fn steps(&self) -> u64 {
        (0..self.keys.len()).map(|number| self.parts(number) as u64).sum()
    }

    /// Makes a table in the room of the one before.
    fn make(
        &self,
        number: usize,
        before: Option<Table>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Table, IndexError> {
        tasks::live(cancel)?;
        let key = &self.keys[number];
        let mut chunks = before.map_or_else(Vec::new, |table| table.chunks);
        if number > 0 {
            let tasks = tasks::count(threads).min(self.distinct.parts());
            let bound = |task: usize| self.distinct.parts() * task / tasks;
            let share = |task: usize| {
                let groups = self.distinct.groups().skip(bound(task));
                groups.take(bound(task + 1) - bound(task)).map(|group: &Group| &group.values[..])
            };
            if chunks.len() != tasks {
                let room = |task| Chunk::with_room(share(task).map(<[u64]>::len).sum());
                chunks = (0..tasks).map(room).collect();
            }
            let work = chunks.iter_mut().enumerate().collect();
            tasks::each_mut(work, threads, |(task, chunk): (usize, &mut Chunk)| {
                chunk.fill(share(task), key);
            });
        }
        Ok(Table::new(number, self.tables.masks[number], key, chunks))
    }
}
