//! Making a run out of others and of unsorted fingerprints.
//!
//! Inputs are walked in groups: a group is a directory slot of the coarsest input, hence one contiguous stretch of
//! every input. A counting sort on the further directory bits of the output scatters the group within the cache.
//! So a merge reads and writes each table once, front to back, whatever the sizes.

use super::{LONG, Run, Table, directory_bits};
use crate::plan::{Plan, Prefix};

/// What a table is made of.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// `2^bits + 1` offsets.
    directory: &'a [u32],
    bits: u32,
    entries: &'a [u64],
}

/// Builds the run that holds the fingerprints of `runs` and `fresh` for which `keep` answers true. A fingerprint must
/// occur once in all inputs together; `keep` must answer the same each time it is asked.
pub(crate) fn build(
    plan: &Plan,
    runs: &[&Run],
    fresh: &[u64],
    keep: &(dyn Fn(u64) -> bool + Sync),
) -> Run {
    let tables = plan
        .prefixes()
        .iter()
        .enumerate()
        .map(|(number, prefix)| {
            let whole = [0, fresh.len() as u32];
            let mut sources: Vec<Source<'_>> = runs
                .iter()
                .map(|run| {
                    let table = &run.tables[number];
                    let bits = prefix.bits() - table.rest;
                    Source { directory: &table.directory, bits, entries: &table.entries }
                })
                .collect();
            if !fresh.is_empty() || sources.is_empty() {
                sources.push(Source { directory: &whole, bits: 0, entries: fresh });
            }
            table(prefix, &sources, keep)
        })
        .collect();
    Run { tables }
}

fn table(prefix: &Prefix, sources: &[Source<'_>], keep: &dyn Fn(u64) -> bool) -> Table {
    let total: usize = sources.iter().map(|source| source.entries.len()).sum();
    let bits = directory_bits(total, prefix.bits());
    let rest = prefix.bits() - bits;
    // An input may be finer than the output when entries are dropped; its slots are then taken several at once.
    let group_bits = sources.iter().map(|source| source.bits).min().unwrap_or(0).min(bits);
    let below = bits - group_bits;
    let slots = 1usize << below;
    let mut directory = vec![0u32; (1usize << bits) + 1];
    let mut entries = vec![0u64; total];
    let mut counts = vec![0u32; slots];
    let mut kept: Vec<u64> = Vec::new();
    let mut done = 0usize;
    for group in 0..1usize << group_bits {
        counts.fill(0);
        kept.clear();
        for source in sources {
            let finer = source.bits - group_bits;
            let from = source.directory[group << finer] as usize;
            let to = source.directory[(group + 1) << finer] as usize;
            for &value in &source.entries[from..to] {
                if keep(value) {
                    kept.push(value);
                    counts[(prefix.key(value) >> rest) as usize & (slots - 1)] += 1;
                }
            }
        }
        let mut next = done as u32;
        for (slot, count) in counts.iter_mut().enumerate() {
            directory[(group << below) + slot] = next;
            next += std::mem::replace(count, next);
        }
        for &value in &kept {
            let at = &mut counts[(prefix.key(value) >> rest) as usize & (slots - 1)];
            entries[*at as usize] = value;
            *at += 1;
        }
        done = next as usize;
    }
    if let Some(end) = directory.last_mut() {
        *end = done as u32;
    }
    entries.truncate(done);
    if rest > 0 {
        for slot in directory.windows(2) {
            let bucket = &mut entries[slot[0] as usize..slot[1] as usize];
            if bucket.len() > LONG {
                bucket.sort_unstable_by_key(|&value| prefix.key(value));
            }
        }
    }
    Table { directory, entries, rest }
}
