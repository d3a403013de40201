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
//!
//! A table lies in memory or in a mapped file. Of the latter a look-up reads what has passed its checksum, and nothing where
//! that is damaged: the damage stays known to the file ([`simhash_store::Mapped::check`]), which is asked before an answer is
//! given. Who reads whole tables checks them first ([`Segment::check`]).

mod build;
mod probe;

pub(crate) use build::Sources;
#[cfg(test)]
pub(crate) use build::build;
pub(crate) use probe::{Wanted, sweep};

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use simhash_store::{Blocks, FileError};

use crate::hamming::plan::{Plan, Prefix};
use crate::ids::{mix, seed};
use crate::memory::{Words, halves, prefetch};

/// Fingerprints per directory slot, about: one cache line.
const BUCKET: usize = 8;

/// Longer buckets are sorted by key and searched by halving before they are scanned.
const LONG: usize = 64;

/// One sorted copy: a directory of `2^bits + 1` halves, then `length` entries.
#[derive(Debug)]
pub(crate) struct Sorted {
    words: Store,
    bits: u32,
    length: usize,
}

/// Where a table lies.
#[derive(Debug)]
enum Store {
    Memory(Words),
    Mapped {
        blocks: Blocks,
        /// Whether all of it has been checked, what it says too.
        sound: AtomicBool,
    },
}

impl Sorted {
    fn new(words: Words, bits: u32, length: usize) -> Self {
        Self { words: Store::Memory(words), bits, length }
    }

    /// Its memory, to be used again.
    pub(crate) fn into_words(self) -> Option<Words> {
        match self.words {
            Store::Memory(words) => Some(words),
            Store::Mapped { .. } => None,
        }
    }

    fn bytes(&self) -> usize {
        match &self.words {
            Store::Memory(words) => words.bytes(),
            Store::Mapped { blocks, .. } => blocks.bytes(),
        }
    }

    fn blocks(&self) -> Option<&Blocks> {
        match &self.words {
            Store::Memory(_) => None,
            Store::Mapped { blocks, .. } => Some(blocks),
        }
    }

    /// Directory and entries, unchecked where they are mapped.
    #[inline]
    fn words(&self) -> &[u64] {
        match &self.words {
            Store::Memory(words) => words,
            Store::Mapped { blocks, .. } => blocks.unchecked(),
        }
    }

    #[inline]
    pub(crate) fn view<'a>(&'a self, prefix: &'a Prefix) -> Table<'a> {
        let (directory, entries) = self.words().split_at(directory_words(self.bits));
        Table {
            directory: &halves(directory)[..=1 << self.bits],
            entries: &entries[..self.length],
            prefix,
            rest: prefix.bits() - self.bits,
        }
    }

    /// The entries of a slot and the place of the first, of a mapped table none where they are damaged.
    pub(super) fn bucket(&self, slot: usize) -> (usize, &[u64]) {
        let from = directory_words(self.bits);
        let Some(blocks) = self.blocks() else {
            let (directory, entries) = self.words().split_at(from);
            let ends = &halves(directory)[slot..slot + 2];
            return (ends[0] as usize, &entries[ends[0] as usize..ends[1] as usize]);
        };
        let Some(ends) = blocks.get(slot / 2..slot / 2 + 2) else { return (0, &[]) };
        let ends = &halves(ends)[slot % 2..];
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        if end > self.length {
            blocks.contradicts(slot / 2);
            return (0, &[]);
        }
        (start, blocks.get(from + start..from + end).unwrap_or_default())
    }
}

/// All copies of one set of fingerprints; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    tables: Vec<Arc<Sorted>>,
    /// Whether some table is mapped.
    mapped: bool,
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

/// Directory slots of a table of `count` fingerprints that are made anew.
pub(crate) fn slots(count: usize, prefix: &Prefix) -> usize {
    1 << directory_bits(count, prefix.bits())
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
        let mapped = tables.iter().any(|table| table.blocks().is_some());
        Self { tables, mapped }
    }

    /// Whether some table lies in a file.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// How many fingerprints.
    pub(crate) fn len(&self) -> usize {
        self.tables[0].length
    }

    /// All fingerprints, each once, in the first table's order; of a mapped table that is damaged none.
    pub(crate) fn values(&self) -> &[u64] {
        let table = &*self.tables[0];
        let words = match table.blocks() {
            None => table.words(),
            Some(blocks) => match blocks.all() {
                Ok(words) => words,
                Err(_) => return &[],
            },
        };
        &words[directory_words(table.bits)..][..table.length]
    }

    /// The place of a fingerprint among [`Segment::values`].
    pub(crate) fn position(&self, value: u64, prefixes: &[Prefix]) -> Option<usize> {
        let (table, prefix) = (&self.tables[0], &prefixes[0]);
        let (start, bucket) =
            table.bucket((prefix.key(value) >> (prefix.bits() - table.bits)) as usize);
        let near = table.view(prefix).narrow(bucket, prefix.key(value));
        let at = near.iter().position(|&entry| entry == value)?;
        let before = near.as_ptr().addr() - bucket.as_ptr().addr();
        Some(start + before / 8 + at)
    }

    /// Asks for the line of the first table's directory that [`Segment::position`] reads.
    #[inline]
    pub(crate) fn ask(&self, value: u64, prefixes: &[Prefix]) {
        let table = self.table(0, prefixes);
        prefetch(table.directory, table.slot(prefixes[0].key(value)));
    }

    /// Asks for the entries that [`Segment::position`] reads, of tables that are checked.
    #[inline]
    pub(crate) fn ask_entries(&self, value: u64, prefixes: &[Prefix]) {
        let table = self.table(0, prefixes);
        prefetch(table.entries, table.directory[table.slot(prefixes[0].key(value))] as usize);
    }

    /// Checks every mapped table to its last byte, what it says too: to be called before whole tables are read. In memory
    /// nothing is left to check.
    ///
    /// # Errors
    /// The damage.
    pub(crate) fn check(&self, prefixes: &[Prefix]) -> Result<(), FileError> {
        let checked = self.each_table(|number| {
            let Store::Mapped { blocks, sound } = &self.tables[number].words else { return true };
            if !sound.load(Ordering::Relaxed) {
                if blocks.all().is_err() {
                    return false;
                }
                if !self.is_sound(number, prefixes) {
                    blocks.contradicts(0);
                    return false;
                }
                sound.store(true, Ordering::Relaxed);
            }
            true
        });
        let mapped = self.tables.iter().find_map(|table| table.blocks()).filter(|_| !checked);
        mapped.map_or(Ok(()), |blocks| blocks.map().check())
    }

    /// Whether this holds of every table, looked at on all cores.
    fn each_table(&self, holds: impl Fn(usize) -> bool + Sync) -> bool {
        let (next, all) = (AtomicUsize::new(0), AtomicBool::new(true));
        let work = || {
            while let number = next.fetch_add(1, Ordering::Relaxed)
                && number < self.tables.len()
            {
                if !holds(number) {
                    all.store(false, Ordering::Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
            for _ in 1..cores.min(self.tables.len()) {
                // Where no thread is to be had this one does the work.
                let _ =
                    thread::Builder::new().name("simhash-check".into()).spawn_scoped(scope, work);
            }
            work();
        });
        all.into_inner()
    }

    /// A view of one table; the caller brings the plan's prefixes.
    #[inline]
    pub(crate) fn table<'a>(&'a self, number: usize, prefixes: &'a [Prefix]) -> Table<'a> {
        self.tables[number].view(&prefixes[number])
    }

    /// The entries of a slot; of a mapped table none where they are damaged.
    pub(super) fn bucket(&self, number: usize, slot: usize) -> &[u64] {
        self.tables[number].bucket(slot).1
    }

    /// Puts another table in the place of one; returns that one.
    pub(crate) fn replace(&mut self, number: usize, table: Arc<Sorted>) -> Arc<Sorted> {
        let old = std::mem::replace(&mut self.tables[number], table);
        self.mapped = self.mapped && self.tables.iter().any(|table| table.blocks().is_some());
        old
    }

    /// Gives a table up; the segment is then no more to be searched.
    pub(crate) fn forgo(&mut self, number: usize) -> Arc<Sorted> {
        self.replace(number, Arc::new(Sorted::new(Words::zeroed(0), 0, 0)))
    }

    /// Makes a table say that its last slot ends where nothing is.
    #[cfg(test)]
    pub(crate) fn break_table(&mut self, number: usize) {
        let old = self.forgo(number);
        let mut table = Arc::into_inner(old).unwrap();
        let end = 1 << table.bits;
        let Store::Memory(words) = &mut table.words else { unreachable!() };
        crate::memory::halves_mut(words)[end] = u32::MAX;
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

    /// Bytes of the tables that lie in a file.
    pub(crate) fn mapped_bytes(&self) -> usize {
        self.tables.iter().filter_map(|table| table.blocks()).map(|blocks| blocks.len() * 8).sum()
    }

    /// What is sound in itself makes no sense beside the rest of the file.
    pub(crate) fn contradicts(&self) {
        if let Some(blocks) = self.tables[0].blocks() {
            blocks.contradicts(0);
        }
    }

    /// Directory bits and number of entries of each table, and its words. Mapped ones must be checked before.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (u32, usize, &[u64])> + Clone {
        self.tables.iter().map(|table| {
            let words = directory_words(table.bits) + table.length;
            (table.bits, table.length, &table.words()[..words])
        })
    }

    /// A run of saved tables, if they are sound: directories ascending, every entry in the bucket of its key, each entry
    /// once, the same entries in all of them (by the sum of their hashes under a seed that nobody knows, so that their order
    /// does not count).
    pub(crate) fn restored(plan: &Plan, saved: Vec<(u32, usize, Words)>) -> Option<Self> {
        let prefixes = plan.prefixes();
        let sizes = saved.iter().map(|&(bits, length, ref words)| (bits, length, words.len()));
        if !fit(prefixes, sizes) {
            return None;
        }
        let table = |(bits, length, words)| Arc::new(Sorted::new(words, bits, length));
        let run = Self::new(saved.into_iter().map(table).collect());
        let sound = run.each_table(|number| run.is_sound(number, prefixes));
        (sound && run.agrees(prefixes)).then_some(run)
    }

    /// Whether sound tables list the same fingerprints, each once.
    pub(crate) fn agrees(&self, prefixes: &[Prefix]) -> bool {
        let seed = seed();
        let held = |number| {
            let entries = self.table(number, prefixes).entries;
            let sum = entries.iter().fold(0_u64, |sum, &entry| sum.wrapping_add(mix(entry, seed)));
            (entries.len(), sum)
        };
        let first = held(0);
        self.each_table(|number| match number {
            0 => self.is_distinct(prefixes),
            _ => held(number) == first,
        })
    }

    /// A run of tables that lie in a file, if their sizes fit. What they say is checked when it is read.
    pub(crate) fn mapped(plan: &Plan, saved: Vec<(u32, usize, Blocks)>) -> Option<Self> {
        let prefixes = plan.prefixes();
        let sizes = saved.iter().map(|&(bits, length, ref blocks)| (bits, length, blocks.len()));
        let equal = saved.iter().all(|&(_, length, _)| length == saved[0].1);
        if !fit(prefixes, sizes) || !equal {
            return None;
        }
        let table = |(bits, length, blocks)| {
            let words = Store::Mapped { blocks, sound: AtomicBool::new(false) };
            Arc::new(Sorted { words, bits, length })
        };
        Some(Self::new(saved.into_iter().map(table).collect()))
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
        self.tables.iter().all(|table| match &table.words {
            Store::Memory(words) => words.is_huge(),
            Store::Mapped { .. } => false,
        })
    }
}

/// Whether tables of these directory bits, entries and words can be those of a plan.
fn fit(prefixes: &[Prefix], sizes: impl ExactSizeIterator<Item = (u32, usize, usize)>) -> bool {
    let fits = |((bits, length, words), prefix): ((u32, usize, usize), &Prefix)| {
        (1..=prefix.bits().min(31)).contains(&bits)
            && directory_words(bits).checked_add(length) == Some(words)
    };
    sizes.len() == prefixes.len() && sizes.zip(prefixes).all(fits)
}

#[cfg(test)]
mod tests;
