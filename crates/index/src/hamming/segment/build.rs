//! Making a run out of others and of unsorted fingerprints.
//!
//! Inputs are walked in groups: a group is a directory slot of the coarsest input, hence one contiguous stretch of
//! every input. A counting sort on the further directory bits of the output scatters the group within the cache.
//! So a merge reads and writes each table once, memtable to back, whatever the sizes. Unsorted input is one group, too large
//! for the cache: it is first partitioned by its top bits, 2,048 parts at a time. Beside a run it is sorted by itself
//! before, so that what the segment has sorted already is not partitioned again.
//!
//! Memory beside the output, while a table is built: 8 bytes for each unsorted fingerprint, and where there is a run
//! 8.5 more for the sorted copy of these.

use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

use parking_lot::Mutex;

use super::{LONG, Segment, Sorted, Table, directory_bits, directory_words};
use crate::hamming::plan::{Plan, Prefix};
use crate::memory::{Words, halves_mut};

/// What a table is made of.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// `2^bits + 1` offsets.
    directory: &'a [u32],
    bits: u32,
    entries: &'a [u64],
}

/// Entries that are sorted within the second-level cache: 256 KiB.
const CACHED: usize = 1 << 15;
/// Parts of one partition pass: more would exhaust the pages that the core can keep track of.
const PART_BITS: u32 = 11;
/// A group has at most `2^GROUP_BITS` buckets of the output where the inputs leave the choice: 64 KiB, in the cache.
const GROUP_BITS: u32 = 10;

/// What a run is built of. A fingerprint must occur once in all of them together.
pub(crate) struct Sources<'a> {
    pub(crate) plan: &'a Plan,
    /// Sealed tables, those of one number from each; mapped ones checked ([`Segment::check`]).
    pub(crate) runs: Vec<&'a Segment>,
    /// In any order.
    pub(crate) fresh: &'a [u64],
    /// Which fingerprints are kept; the same answer each time it is asked. None: all.
    pub(crate) keep: Option<&'a (dyn Fn(u64) -> bool + Sync)>,
    /// Memory that one table leaves for the next.
    pub(crate) scratch: &'a Mutex<Vec<Words>>,
}

/// Builds all tables of a run, of runs that are checked.
#[cfg(test)]
pub(crate) fn build(
    plan: &Plan,
    runs: &[&Segment],
    fresh: &[&[u64]],
    keep: Option<&(dyn Fn(u64) -> bool + Sync)>,
) -> Segment {
    let scratch = Mutex::default();
    let (runs, fresh) = (runs.to_vec(), &fresh.concat());
    let sources = Sources { plan, runs, fresh, keep, scratch: &scratch };
    let tables = (0..plan.prefixes().len()).map(|number| sources.table(number, None));
    Segment::new(tables.map(std::sync::Arc::new).collect())
}

impl Sources<'_> {
    /// Builds these tables, each on a thread if there is one to be had, in the memory of `old` where that fits.
    pub(crate) fn tables(&self, numbers: Range<usize>, old: Vec<Words>) -> Vec<Sorted> {
        let old = Mutex::new(old);
        let build = &|number| {
            let words = old.lock().pop();
            self.table(number, words)
        };
        thread::scope(|scope| {
            let others: Vec<_> = (numbers.start + 1..numbers.end)
                .map(|number| {
                    let named = thread::Builder::new().name("simhash-table".into());
                    (number, named.spawn_scoped(scope, move || build(number)).ok())
                })
                .collect();
            let first = build(numbers.start);
            let others =
                others.into_iter().map(|(number, other)| match other.map(ScopedJoinHandle::join) {
                    None => build(number),
                    Some(Ok(table)) => table,
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                });
            std::iter::once(first).chain(others).collect()
        })
    }

    /// Builds one table, in the memory of `old` where that fits.
    pub(crate) fn table(&self, number: usize, old: Option<Words>) -> Sorted {
        let prefixes = self.plan.prefixes();
        let prefix = &prefixes[number];
        let mut inputs: Vec<Table<'_>> =
            self.runs.iter().map(|run| run.table(number, prefixes)).collect();
        let known: usize = inputs.iter().map(|input| input.entries.len()).sum();
        let bits = directory_bits(known + self.fresh.len(), prefix.bits());
        if known == 0 || self.fresh.is_empty() {
            return self.merged(prefix, bits, &inputs, self.fresh, old);
        }
        let own = directory_bits(self.fresh.len(), prefix.bits());
        let least = bits.saturating_sub(GROUP_BITS).max(1);
        let fresh = self.merged(prefix, own.max(least), &[], self.fresh, None);
        inputs.push(fresh.view(prefix));
        self.merged(prefix, bits, &inputs, &[], old)
    }

    /// A table of sorted inputs and of unsorted fingerprints, with a directory of so many bits.
    fn merged(
        &self,
        prefix: &Prefix,
        bits: u32,
        inputs: &[Table<'_>],
        fresh: &[u64],
        old: Option<Words>,
    ) -> Sorted {
        let total = inputs.iter().map(|input| input.entries.len()).sum::<usize>() + fresh.len();
        let mut words = Words::reused(old, directory_words(bits) + total);
        let (directory, entries) = words.split_at_mut(directory_words(bits));
        // Its last half may be none of the directory's.
        if let Some(last) = directory.last_mut() {
            *last = 0;
        }
        let whole = [0, fresh.len() as u32];
        let mut sources: Vec<Source<'_>> = inputs
            .iter()
            .map(|input| {
                let bits = prefix.bits() - input.rest;
                Source { directory: input.directory, bits, entries: input.entries }
            })
            .collect();
        if !fresh.is_empty() || sources.is_empty() {
            sources.push(Source { directory: &whole, bits: 0, entries: fresh });
        }
        let mut output = Output {
            prefix,
            rest: prefix.bits() - bits,
            directory: &mut halves_mut(directory)[..=1 << bits],
            entries,
            done: 0,
            counts: Vec::new(),
            parts: self.scratch.lock().pop(),
            slots: Vec::new(),
        };
        output.merge(&sources, bits, self.keep, &mut Vec::new());
        let length = output.done;
        self.scratch.lock().extend(output.parts);
        Sorted::new(words, bits, length)
    }
}

/// A table being written, memtable to back.
struct Output<'a> {
    prefix: &'a Prefix,
    rest: u32,
    directory: &'a mut [u32],
    entries: &'a mut [u64],
    done: usize,
    counts: Vec<u32>,
    /// Memory of parts, to be used again by the next table.
    parts: Option<Words>,
    /// Slot of each value of a group, so that keys are made once.
    slots: Vec<u32>,
}

impl Output<'_> {
    fn merge(
        &mut self,
        sources: &[Source<'_>],
        bits: u32,
        keep: Option<&(dyn Fn(u64) -> bool + Sync)>,
        kept: &mut Vec<u64>,
    ) {
        // An input may be finer than the output when entries are dropped; its slots are then taken several at once.
        let group_bits = sources.iter().map(|source| source.bits).min().unwrap_or(0).min(bits);
        let below = bits - group_bits;
        // What is one group and loses nothing need not be copied first.
        if let (&[Source { bits: 0, entries, .. }], None) = (sources, keep) {
            self.group(entries, 0, below);
            return self.close();
        }
        for group in 0..1usize << group_bits {
            kept.clear();
            for source in sources {
                let finer = source.bits - group_bits;
                let from = source.directory[group << finer] as usize;
                let to = source.directory[(group + 1) << finer] as usize;
                let entries = &source.entries[from..to];
                match keep {
                    None => kept.extend_from_slice(entries),
                    Some(keep) => kept.extend(entries.iter().filter(|&&value| keep(value))),
                }
            }
            self.group(kept, group << below, below);
        }
        self.close();
    }

    fn close(&mut self) {
        let end = self.done as u32;
        if let Some(last) = self.directory.last_mut() {
            *last = end;
        }
    }

    /// Writes a group whose directory slots are the `2^below` from `first` on.
    fn group(&mut self, values: &[u64], first: usize, below: u32) {
        if values.len() > CACHED && below > PART_BITS {
            self.partitioned(values, first, below);
        } else {
            self.sorted(values, first, below);
        }
    }

    /// [`Output::group`] by way of parts.
    fn partitioned(&mut self, values: &[u64], first: usize, below: u32) {
        let (prefix, finer) = (self.prefix, below - PART_BITS);
        let shift = self.rest + finer;
        let part_of = |value: u64| (prefix.key(value) >> shift) as usize & ((1 << PART_BITS) - 1);
        let mut starts = vec![0u32; (1 << PART_BITS) + 1];
        for &value in values {
            starts[part_of(value) + 1] += 1;
        }
        for part in 0..1 << PART_BITS {
            starts[part + 1] += starts[part];
        }
        let mut parts = Words::reused(self.parts.take(), values.len());
        scatter(values, &starts[..1 << PART_BITS], &mut parts, part_of);
        for part in 0..1 << PART_BITS {
            let values = &parts[starts[part] as usize..starts[part + 1] as usize];
            self.group(values, first + (part << finer), finer);
        }
        self.parts = Some(parts);
    }

    /// [`Output::group`] by one counting sort; long buckets are then sorted.
    fn sorted(&mut self, values: &[u64], first: usize, below: u32) {
        let (prefix, rest, slots) = (self.prefix, self.rest, 1usize << below);
        let slot_of = |value: u64| (prefix.key(value) >> rest) as usize & (slots - 1);
        self.counts.clear();
        self.counts.resize(slots, 0);
        self.slots.clear();
        self.slots.extend(values.iter().map(|&value| slot_of(value) as u32));
        for &slot in &self.slots {
            self.counts[slot as usize] += 1;
        }
        let mut next = self.done as u32;
        let mut longest = 0;
        for (count, start) in self.counts.iter_mut().zip(&mut self.directory[first..]) {
            *start = next;
            longest = longest.max(*count);
            next += std::mem::replace(count, next);
        }
        for (&value, &slot) in values.iter().zip(&self.slots) {
            let at = &mut self.counts[slot as usize];
            self.entries[*at as usize] = value;
            *at += 1;
        }
        if longest as usize > LONG && rest > 0 {
            let mut from = self.done;
            for &to in &self.counts {
                let bucket = &mut self.entries[from..to as usize];
                if bucket.len() > LONG {
                    bucket.sort_unstable_by_key(|&value| prefix.key(value));
                }
                from = to as usize;
            }
        }
        self.done = next as usize;
    }
}

/// Entries of one cache line.
const LINE: usize = 8;

/// Scatters `values` to the parts that begin at `starts`. Each part has a line of its own in the cache, which is
/// written out when it is full: so the many ends of parts cost no misses and no page walks one entry at a time.
fn scatter(values: &[u64], starts: &[u32], parts: &mut [u64], part_of: impl Fn(u64) -> usize) {
    let mut lines = vec![[0u64; LINE]; starts.len()];
    let mut next = starts.to_vec();
    for &value in values {
        let part = part_of(value);
        let at = next[part] as usize;
        next[part] += 1;
        lines[part][at % LINE] = value;
        if at % LINE == LINE - 1 {
            let line = at + 1 - LINE;
            let from = line.max(starts[part] as usize);
            parts[from..=at].copy_from_slice(&lines[part][from - line..]);
        }
    }
    for (part, &end) in next.iter().enumerate() {
        let line = end as usize / LINE * LINE;
        let from = line.max(starts[part] as usize);
        parts[from..end as usize].copy_from_slice(&lines[part][from - line..end as usize - line]);
    }
}
