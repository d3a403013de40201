//! Looking many buckets up at once.
//!
//! A look-up misses the cache twice, first in the directory, then in the entries. A modern core overlaps a dozen
//! misses if it knows the addresses early, so look-ups pass through a small ring: the directory line is asked for when
//! a probe enters, the entries' lines `LAG` probes later, and the bucket is read another `LAG` probes later. The probes
//! of one query, of several runs and of many queries are all the same to the ring.

use super::{LONG, Run};
use crate::memory::prefetch;
use crate::plan::{Prefix, Schedule};

/// Look-ups between asking for a line and reading it: about as many misses as a core has in flight.
const LAG: usize = 12;
const RING: usize = 32;

/// Entries in a cache line of 64 bytes.
const LINE: usize = 8;

/// A look-up on its way: of which query, by which look-up of the schedule, in which run, and where.
#[derive(Clone, Copy)]
struct Pending<'a> {
    query: u32,
    lookup: u32,
    run: u32,
    slot: u32,
    directory: &'a [u32],
    /// All entries of the table at first, then those of the slot.
    entries: &'a [u64],
}

/// Calls `visit(query, lookup, run, bucket)` for every look-up of the schedule, query and run, with the entries that
/// may have the key looked for; by query, then look-up, then run.
#[inline]
pub(crate) fn sweep<'a>(
    prefixes: &'a [Prefix],
    schedule: &Schedule,
    runs: &[&'a Run],
    queries: &[u64],
    mut visit: impl FnMut(usize, usize, usize, &'a [u64]),
) {
    if runs.is_empty() {
        return;
    }
    let key = |query: usize, lookup: usize| {
        let lookup = schedule.lookups[lookup];
        prefixes[usize::from(lookup.table)].key(queries[query] ^ lookup.flips)
    };
    let table_of = |lookup: usize| usize::from(schedule.lookups[lookup].table);
    let nothing = Pending { query: 0, lookup: 0, run: 0, slot: 0, directory: &[], entries: &[] };
    let mut ring = [nothing; RING];
    let (mut query, mut lookup, mut run) = (0, 0, 0);
    let mut wanted = 0;
    let (mut entered, mut located, mut read) = (0usize, 0usize, 0usize);
    loop {
        let more = query < queries.len();
        if more {
            if run == 0 {
                wanted = key(query, lookup);
            }
            let table = runs[run].table(table_of(lookup), prefixes);
            let slot = table.slot(wanted);
            prefetch(table.directory, slot);
            ring[entered % RING] = Pending {
                query: query as u32,
                lookup: lookup as u32,
                run: run as u32,
                slot: slot as u32,
                directory: table.directory,
                entries: table.entries,
            };
            entered += 1;
            run += 1;
            if run == runs.len() {
                run = 0;
                lookup += 1;
                if lookup == schedule.lookups.len() {
                    lookup = 0;
                    query += 1;
                }
            }
        }
        let locating = located < entered && (!more || located + LAG < entered);
        if locating {
            let pending = &mut ring[located % RING];
            let ends = &pending.directory[pending.slot as usize..pending.slot as usize + 2];
            let bucket = &pending.entries[ends[0] as usize..ends[1] as usize];
            for line in (0..bucket.len().min(LONG)).step_by(LINE) {
                prefetch(bucket, line);
            }
            // A bucket need not start with a line.
            prefetch(bucket, bucket.len().min(LONG).saturating_sub(1));
            pending.entries = bucket;
            located += 1;
        }
        if read < located && (!locating || read + LAG < located) {
            let Pending { query, lookup, run, entries, .. } = ring[read % RING];
            let (query, lookup, run) = (query as usize, lookup as usize, run as usize);
            let mut bucket = entries;
            if bucket.len() > LONG {
                let table = runs[run].table(table_of(lookup), prefixes);
                bucket = table.narrow(bucket, key(query, lookup));
            }
            visit(query, lookup, run, bucket);
            read += 1;
        } else if !more && !locating {
            return;
        }
    }
}
