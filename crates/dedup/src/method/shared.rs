//! What the methods share whose candidates have a key in common: a band, a sentence.
//!
//! A key that very many documents have (boilerplate) counts for the oldest [`BUCKET`] of them only, and a document that
//! would have seen more is reported as cut. So a document reads a bounded number of others. Which ones must not depend on
//! batches: a batch never reaches across the moment at which a key gets crowded ([`together`]).

use super::Candidate;
use crate::error::DedupError;
use crate::parallel;
use ahash::AHashMap;
use std::sync::atomic::AtomicBool;

/// Documents that a key counts for: with 24 bands a document reads 6,144 at most, in about 0.1 ms.
pub(super) const BUCKET: usize = 256;
/// Documents decided together: enough for every core, few enough that comparing them with each other stays cheap.
const TOGETHER: usize = 512;

/// How many rows can be decided together ([`Sieve::together`](super::Sieve::together)). `holders` counts the documents
/// taken in that have a key, up to `BUCKET + 1`.
pub(super) fn together(
    rows: &[&[u64]],
    keys_of: impl Fn(&[u64], &mut Vec<u64>),
    holders: impl Fn(u64) -> usize,
) -> usize {
    // By key: how often it occurred, and how many have it already, looked up when it occurs again.
    let mut seen: AHashMap<u64, (usize, usize)> = AHashMap::new();
    let mut keys = Vec::new();
    for (number, row) in rows.iter().enumerate().take(TOGETHER) {
        keys_of(row, &mut keys);
        let mut crosses = false;
        for &key in &keys {
            let (times, before) = seen.entry(key).or_default();
            *times += 1;
            if *times == 2 {
                *before = holders(key);
            }
            crosses |= *times > 1 && *before <= BUCKET && *before + *times > BUCKET;
        }
        if crosses {
            return number;
        }
    }
    rows.len().min(TOGETHER)
}

/// Rows with the same key, which stands before each.
type Group<'a> = &'a [(u64, u32)];

/// For each row its candidates among those before it; the rank is `most` less the number of keys in common.
pub(super) fn among(
    rows: &[&[u64]],
    keys_of: impl Fn(&[u64], &mut Vec<u64>),
    holders: impl Fn(u64) -> usize,
    most: usize,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Vec<Candidate>>, DedupError> {
    let mut shared: Vec<(u64, u32)> = Vec::new();
    let mut keys = Vec::new();
    for (row, number) in rows.iter().zip(0u32..) {
        keys_of(row, &mut keys);
        shared.extend(keys.iter().map(|&key| (key, number)));
    }
    shared.sort_unstable();
    // By row: of each key that it shares, the rows before it.
    let mut slots: Vec<(Vec<Group<'_>>, Vec<Candidate>)> = Vec::new();
    slots.resize_with(rows.len(), Default::default);
    for group in shared.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        if holders(group[0].0) > BUCKET {
            continue; // crowded: none of these counts
        }
        for (place, &(_, row)) in group.iter().enumerate().skip(1) {
            slots[row as usize].0.push(&group[..place]);
        }
    }
    let new = || vec![0u32; rows.len()];
    parallel::for_each(&mut slots, threads, cancel, new, |counts, (groups, found)| {
        for &(_, earlier) in groups.iter().flat_map(|group| group.iter()) {
            counts[earlier as usize] += 1;
            if counts[earlier as usize] == 1 {
                found.push(Candidate { number: earlier, rank: 0 });
            }
        }
        for found in &mut *found {
            found.rank = most as u32 - std::mem::take(&mut counts[found.number as usize]);
        }
        found.sort_unstable_by_key(|found| (found.rank, found.number));
        Ok(())
    })?;
    Ok(slots.into_iter().map(|(_, found)| found).collect())
}
