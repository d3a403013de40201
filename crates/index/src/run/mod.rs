//! A sealed run: immutable sorted copies of one set of fingerprints, a copy per table of the plan.
//!
//! Each copy lists the fingerprints by the top `d` bits of its prefix key, with a directory of `2^d + 1` offsets in
//! front: the bucket of a key is one look-up and about one cache line away. `d` is at most the prefix and leaves
//! about eight fingerprints per bucket; a bucket may therefore be coarser than the prefix, and every hit is verified
//! by popcount anyway. Buckets that grow long because their prefixes agree are sorted by the rest of the key, so that
//! a query reads only its own part.
//!
//! A neighbour usually lies in several tables' buckets. It is reported by the *first table whose mask it matches*, so
//! that no set of seen answers is needed.

mod build;

pub(crate) use build::build;

use crate::plan::Plan;
use crate::scan::{self, Hit};

/// Fingerprints per directory slot, about: one cache line.
const BUCKET: usize = 8;

/// Longer buckets are sorted by key and searched by halving before they are scanned.
const LONG: usize = 64;

/// One sorted copy.
#[derive(Debug)]
pub(crate) struct Table {
    directory: Vec<u32>,
    entries: Vec<u64>,
    /// Prefix bits below the directory's.
    rest: u32,
}

/// All copies of one set of fingerprints.
#[derive(Debug)]
pub(crate) struct Run {
    tables: Vec<Table>,
}

impl Table {
    /// The stretch that holds every entry with this prefix key.
    #[inline]
    fn bucket(&self, plan_table: &crate::plan::Prefix, key: u64) -> &[u64] {
        let slot = (key >> self.rest) as usize;
        let bucket =
            &self.entries[self.directory[slot] as usize..self.directory[slot + 1] as usize];
        if bucket.len() <= LONG || self.rest == 0 {
            return bucket;
        }
        let from = bucket.partition_point(|&entry| plan_table.key(entry) < key);
        let count = bucket[from..].partition_point(|&entry| plan_table.key(entry) <= key);
        &bucket[from..from + count]
    }
}

/// Directory bits for so many entries under a prefix of so many bits.
fn directory_bits(count: usize, prefix_bits: u32) -> u32 {
    // At least one bit, so that shifting by the rest of a 64-bit prefix stays defined.
    (count / BUCKET).max(2).ilog2().min(prefix_bits)
}

impl Run {
    /// How many fingerprints.
    pub(crate) fn len(&self) -> usize {
        self.tables[0].entries.len()
    }

    /// All fingerprints, each once, in the first table's order.
    pub(crate) fn values(&self) -> &[u64] {
        &self.tables[0].entries
    }

    /// Bytes held by all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.tables.iter().map(|table| table.entries.len() * 8 + table.directory.len() * 4).sum()
    }

    /// Appends every fingerprint within `distance` of `query`, once. `distance` must be within the plan's radius.
    pub(crate) fn find(&self, plan: &Plan, query: u64, distance: u32, hits: &mut Vec<Hit>) {
        debug_assert!(distance <= plan.radius());
        for (number, (table, prefix)) in self.tables.iter().zip(plan.prefixes()).enumerate() {
            let bucket = table.bucket(prefix, prefix.key(query));
            scan::within(bucket, query, distance, |position, apart| {
                let value = bucket[position];
                let differ = value ^ query;
                let earlier = &plan.prefixes()[..number];
                if differ & prefix.mask() == 0 && earlier.iter().all(|p| differ & p.mask() != 0) {
                    hits.push(Hit { distance: apart, value });
                }
            });
        }
    }
}

#[cfg(test)]
mod tests;
