//! A segment: immutable sorted copies of one set of fingerprints, a copy per table of the plan.
//!
//! Each copy lists the fingerprints by the top `d` bits of its prefix key, with a directory of `2^d + 1` offsets in
//! memtable: the bucket of a key is one look-up and about one cache line away. `d` is at most the prefix and leaves
//! about eight fingerprints per bucket; a bucket may therefore be coarser than the prefix, and every hit is verified
//! by popcount anyway. Buckets that grow long because their prefixes agree are sorted by the rest of the key, so that
//! a query reads only its own part.
//!
//! A table is one array of words, directory first, as 32-bit halves, then the entries: what is in memory is what can be
//! saved. Tables are shared by reference and replaced one by one, so that rewriting a run takes the memory of one more
//! table and not of them all.

mod build;
mod probe;

pub(crate) use build::{Sources, build};
pub(crate) use probe::{Wanted, sweep};

use std::sync::Arc;

use crate::hamming::plan::{Plan, Prefix};
use crate::ids::{mix, seed};
use crate::memory::{Words, halves};

/// Fingerprints per directory slot, about: one cache line.
const BUCKET: usize = 8;

/// Longer buckets are sorted by key and searched by halving before they are scanned.
const LONG: usize = 64;

/// One sorted copy: a directory of `2^bits + 1` halves, then `length` entries.
#[derive(Debug)]
pub(crate) struct Sorted {
    words: Words,
    bits: u32,
    length: usize,
}

impl Sorted {
    /// Its memory, to be used again.
    pub(crate) fn into_words(self) -> Words {
        self.words
    }

    fn bytes(&self) -> usize {
        self.words.bytes()
    }

    #[inline]
    fn view<'a>(&'a self, prefix: &'a Prefix) -> Table<'a> {
        let (directory, entries) = self.words.split_at(directory_words(self.bits));
        Table {
            directory: &halves(directory)[..=1 << self.bits],
            entries: &entries[..self.length],
            prefix,
            rest: prefix.bits() - self.bits,
        }
    }
}

/// All copies of one set of fingerprints; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    tables: Vec<Arc<Sorted>>,
}

/// A view of one sorted copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    directory: &'a [u32],
    entries: &'a [u64],
    prefix: &'a Prefix,
    /// Prefix bits below the directory's.
    rest: u32,
}

impl<'a> Table<'a> {
    /// Directory slot of a key.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        (key >> self.rest) as usize
    }

    /// Calls `on_group` with the entries of a slot that may be near each other on this table's account: the bucket,
    /// or of a long bucket the stretches with equal keys. Single entries are left out.
    #[inline]
    pub(crate) fn groups(&self, slot: usize, mut on_group: impl FnMut(&'a [u64])) {
        let bucket =
            &self.entries[self.directory[slot] as usize..self.directory[slot + 1] as usize];
        if bucket.len() <= LONG || self.rest == 0 {
            if bucket.len() > 1 {
                on_group(bucket);
            }
            return;
        }
        let equal = |a: &u64, b: &u64| (a ^ b) & self.prefix.mask() == 0;
        bucket.chunk_by(equal).filter(|group| group.len() > 1).for_each(on_group);
    }

    /// Narrows a long bucket to the entries with exactly this key.
    #[inline]
    fn narrow(&self, bucket: &'a [u64], key: u64) -> &'a [u64] {
        if bucket.len() <= LONG || self.rest == 0 {
            return bucket;
        }
        let from = bucket.partition_point(|&entry| self.prefix.key(entry) < key);
        let count = bucket[from..].partition_point(|&entry| self.prefix.key(entry) <= key);
        &bucket[from..from + count]
    }
}

/// Directory bits for so many entries under a prefix of so many bits.
fn directory_bits(count: usize, prefix_bits: u32) -> u32 {
    // At least one bit, so that shifting by the rest of a 64-bit prefix stays defined.
    (count / BUCKET).max(2).ilog2().min(prefix_bits)
}

/// Bytes of a table of `count` fingerprints.
pub(crate) fn table_bytes(count: usize, prefix: &Prefix) -> usize {
    (directory_words(directory_bits(count, prefix.bits())) + count) * 8
}

/// Words of a directory of `2^bits + 1` halves.
pub(crate) fn directory_words(bits: u32) -> usize {
    (1 << bits >> 1) + 1
}

impl Segment {
    /// A run of tables that hold the same fingerprints, one for each prefix of the plan.
    pub(crate) fn new(tables: Vec<Arc<Sorted>>) -> Self {
        Self { tables }
    }

    /// How many fingerprints.
    pub(crate) fn len(&self) -> usize {
        self.tables[0].length
    }

    /// All fingerprints, each once, in the first table's order.
    pub(crate) fn values(&self) -> &[u64] {
        let Sorted { words, bits, length } = &*self.tables[0];
        &words[directory_words(*bits)..][..*length]
    }

    /// Whether it holds this fingerprint.
    pub(crate) fn contains(&self, value: u64, prefixes: &[Prefix]) -> bool {
        let table = self.table(0, prefixes);
        let slot = table.slot(table.prefix.key(value));
        let ends = &table.directory[slot..slot + 2];
        table.entries[ends[0] as usize..ends[1] as usize].contains(&value)
    }

    /// A view of one table; the caller brings the plan's prefixes.
    #[inline]
    pub(crate) fn table<'a>(&'a self, number: usize, prefixes: &'a [Prefix]) -> Table<'a> {
        self.tables[number].view(&prefixes[number])
    }

    /// Puts another table in the place of one; returns that one.
    pub(crate) fn replace(&mut self, number: usize, table: Arc<Sorted>) -> Arc<Sorted> {
        std::mem::replace(&mut self.tables[number], table)
    }

    /// Gives a table up; the segment is then no more to be searched.
    pub(crate) fn forgo(&mut self, number: usize) -> Arc<Sorted> {
        let nothing = Sorted { words: Words::zeroed(0), bits: 0, length: 0 };
        self.replace(number, Arc::new(nothing))
    }

    /// Makes a table say that its last slot ends where nothing is.
    #[cfg(test)]
    pub(crate) fn break_table(&mut self, number: usize) {
        let old = self.forgo(number);
        let mut table = Arc::into_inner(old).unwrap();
        let end = 1 << table.bits;
        crate::memory::halves_mut(&mut table.words)[end] = u32::MAX;
        self.tables[number] = Arc::new(table);
    }

    /// Directory slots of a table.
    pub(crate) fn slots(&self, number: usize) -> usize {
        1 << self.tables[number].bits
    }

    /// Bytes of all tables and directories.
    pub(crate) fn bytes(&self) -> usize {
        self.tables.iter().map(|table| table.bytes()).sum()
    }

    /// Calls `on_table` with the directory bits and the number of entries of each table, and its words.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (u32, usize, &[u64])> + Clone {
        self.tables.iter().map(|table| {
            let words = directory_words(table.bits) + table.length;
            (table.bits, table.length, &table.words[..words])
        })
    }

    /// A run of saved tables, if they are sound: directories ascending, every entry in the bucket of its key, each entry
    /// once, the same entries in all of them (by the sum of their hashes under a seed that nobody knows, so that their order
    /// does not count).
    pub(crate) fn restored(plan: &Plan, saved: Vec<(u32, usize, Words)>) -> Option<Self> {
        let prefixes = plan.prefixes();
        let fits = |(&(bits, length, ref words), prefix): (&(u32, usize, Words), &Prefix)| {
            (1..=prefix.bits().min(31)).contains(&bits)
                && words.len() == directory_words(bits) + length
        };
        if saved.len() != prefixes.len() || !saved.iter().zip(prefixes).all(fits) {
            return None;
        }
        let table = |(bits, length, words)| Arc::new(Sorted { words, bits, length });
        let run = Self { tables: saved.into_iter().map(table).collect() };
        let sound = (0..prefixes.len()).all(|number| run.is_sound(number, prefixes));
        let seed = seed();
        let held = |number| {
            let entries = run.table(number, prefixes).entries;
            let sum = entries.iter().fold(0_u64, |sum, &entry| sum.wrapping_add(mix(entry, seed)));
            (entries.len(), sum)
        };
        let first = sound.then(|| held(0))?;
        let equal = (1..prefixes.len()).all(|number| held(number) == first);
        (equal && run.is_distinct(prefixes)).then_some(run)
    }

    /// Whether no fingerprint is there twice: equal ones would be in one bucket of the first table.
    fn is_distinct(&self, prefixes: &[Prefix]) -> bool {
        let table = self.table(0, prefixes);
        let mut sorted = Vec::new();
        table.directory.windows(2).all(|ends| {
            sorted.clear();
            sorted.extend_from_slice(&table.entries[ends[0] as usize..ends[1] as usize]);
            sorted.sort_unstable();
            sorted.is_sorted_by(|a, b| a < b)
        })
    }

    fn is_sound(&self, number: usize, prefixes: &[Prefix]) -> bool {
        let table = self.table(number, prefixes);
        let whole = table.directory[0] == 0
            && table.directory.is_sorted()
            && table.directory.last().is_some_and(|&end| end as usize == table.entries.len());
        whole
            && table.directory.windows(2).enumerate().all(|(slot, ends)| {
                let bucket = &table.entries[ends[0] as usize..ends[1] as usize];
                let placed =
                    bucket.iter().all(|&entry| table.slot(table.prefix.key(entry)) == slot);
                let sorted = bucket.len() <= LONG
                    || bucket.is_sorted_by_key(|&entry| table.prefix.key(entry));
                placed && sorted
            })
    }

    /// Whether huge pages were asked for.
    pub(crate) fn is_huge(&self) -> bool {
        self.tables.iter().all(|table| table.words.is_huge())
    }
}

#[cfg(test)]
mod tests;
