//! A sealed run: immutable sorted copies of one set of fingerprints, a copy per table of the plan.
//!
//! Each copy lists the fingerprints by the top `d` bits of its prefix key, with a directory of `2^d + 1` offsets in
//! front: the bucket of a key is one look-up and about one cache line away. `d` is at most the prefix and leaves
//! about eight fingerprints per bucket; a bucket may therefore be coarser than the prefix, and every hit is verified
//! by popcount anyway. Buckets that grow long because their prefixes agree are sorted by the rest of the key, so that
//! a query reads only its own part.
//!
//! All tables lie in one array of words and are views of it, directories as 32-bit halves: what is in memory is what
//! can be saved.

mod build;
mod probe;

pub(crate) use build::build;
pub(crate) use probe::{Wanted, sweep};

use crate::memory::{Words, halves};
use crate::plan::{Plan, Prefix};

/// Fingerprints per directory slot, about: one cache line.
const BUCKET: usize = 8;

/// Longer buckets are sorted by key and searched by halving before they are scanned.
const LONG: usize = 64;

/// Where a table lies in its run's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Directory bits.
    bits: u32,
    /// First word of the directory.
    directory: usize,
    /// First word of the entries, and how many there are.
    entries: usize,
    length: usize,
}

/// All copies of one set of fingerprints.
#[derive(Debug)]
pub(crate) struct Run {
    words: Words,
    spans: Vec<Span>,
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

/// Bytes per fingerprint of a table with a prefix of so many bits, in a run of `count`.
pub(crate) fn bytes_per_fingerprint(count: usize, prefix_bits: u32) -> f64 {
    let directory = directory_words(directory_bits(count, prefix_bits));
    8.0 + (directory * 8) as f64 / count.max(1) as f64
}

/// Words of a directory of `2^bits + 1` halves.
fn directory_words(bits: u32) -> usize {
    (1 << bits >> 1) + 1
}

impl Run {
    /// How many fingerprints.
    pub(crate) fn len(&self) -> usize {
        self.spans[0].length
    }

    /// All fingerprints, each once, in the first table's order.
    pub(crate) fn values(&self) -> &[u64] {
        let span = self.spans[0];
        &self.words[span.entries..span.entries + span.length]
    }

    /// A view of one table; the caller brings the plan's prefixes.
    #[inline]
    pub(crate) fn table<'a>(&'a self, number: usize, prefixes: &'a [Prefix]) -> Table<'a> {
        let (span, prefix) = (self.spans[number], &prefixes[number]);
        let directory = &self.words[span.directory..span.directory + directory_words(span.bits)];
        Table {
            directory: &halves(directory)[..=1 << span.bits],
            entries: &self.words[span.entries..span.entries + span.length],
            prefix,
            rest: prefix.bits() - span.bits,
        }
    }

    /// Directory slots of a table.
    pub(crate) fn slots(&self, number: usize) -> usize {
        1 << self.spans[number].bits
    }

    /// Bytes of all tables and directories.
    pub(crate) fn bytes(&self) -> usize {
        let words = |span: &Span| directory_words(span.bits) + span.length;
        self.spans.iter().map(words).sum::<usize>() * 8
    }

    /// Calls `on_span` with the numbers that say where each table lies.
    pub(crate) fn spans(&self, mut on_span: impl FnMut([u64; 4])) {
        for span in &self.spans {
            let Span { bits, directory, entries, length } = *span;
            on_span([u64::from(bits), directory as u64, entries as u64, length as u64]);
        }
    }

    /// The memory of all tables.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A run from saved words, if they are sound: tables within the words, directories ascending, every entry in the
    /// bucket of its key.
    pub(crate) fn restored(plan: &Plan, words: Words, saved: &[Vec<u64>]) -> Option<Self> {
        let mut spans = Vec::new();
        for (numbers, prefix) in saved.iter().zip(plan.prefixes()) {
            let &[bits, directory, entries, length] = numbers.as_slice() else { return None };
            let bits = u32::try_from(bits)
                .ok()
                .filter(|bits| (1..=prefix.bits().min(31)).contains(bits))?;
            let (directory, entries) =
                (usize::try_from(directory).ok()?, usize::try_from(entries).ok()?);
            let length = usize::try_from(length).ok()?;
            let ends =
                [directory.checked_add(directory_words(bits))?, entries.checked_add(length)?];
            if ends.into_iter().any(|end| end > words.len()) {
                return None;
            }
            spans.push(Span { bits, directory, entries, length });
        }
        let run = Self { words, spans };
        let sound = (0..plan.prefixes().len()).all(|number| run.is_sound(number, plan.prefixes()));
        let equal = run.spans.iter().all(|span| span.length == run.spans[0].length);
        (sound && equal).then_some(run)
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
        self.words.is_huge()
    }
}

#[cfg(test)]
mod tests;
