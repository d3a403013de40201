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
#[derive(Clone, Copy, Default)]
struct Pending {
    query: u32,
    lookup: u32,
    run: u32,
    slot: u32,
    from: u32,
    to: u32,
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
    let number_of = |lookup: u32| usize::from(schedule.lookups[lookup as usize].table);
    let mut ring = [Pending::default(); RING];
    let (mut query, mut lookup, mut run) = (0, 0, 0);
    let mut wanted = 0;
    let (mut entered, mut located, mut read) = (0usize, 0usize, 0usize);
    loop {
        let more = query < queries.len();
        if more {
            if run == 0 {
                wanted = key(query, lookup);
            }
            let table = runs[run].table(number_of(lookup as u32), prefixes);
            let slot = table.slot(wanted);
            prefetch(table.directory, slot);
            ring[entered % RING] = Pending {
                query: query as u32,
                lookup: lookup as u32,
                run: run as u32,
                slot: slot as u32,
                ..Pending::default()
            };
            entered += 1;
            run += 1;
            if run == runs.len() {
                run = 0;
                lookup += 1;
            }
            if lookup == schedule.lookups.len() {
                lookup = 0;
                query += 1;
            }
        }
        let locating = located < entered && (!more || located + LAG < entered);
        if locating {
            let pending = &mut ring[located % RING];
            let table = runs[pending.run as usize].table(number_of(pending.lookup), prefixes);
            pending.from = table.directory[pending.slot as usize];
            pending.to = table.directory[pending.slot as usize + 1];
            let bucket = &table.entries[pending.from as usize..pending.to as usize];
            for line in (0..bucket.len().min(LONG)).step_by(LINE) {
                prefetch(bucket, line);
            }
            // A bucket need not start with a line.
            prefetch(bucket, bucket.len().min(LONG).saturating_sub(1));
            located += 1;
        }
        if read < located && (!locating || read + LAG < located) {
            let pending = ring[read % RING];
            let table = runs[pending.run as usize].table(number_of(pending.lookup), prefixes);
            let mut bucket = &table.entries[pending.from as usize..pending.to as usize];
            if bucket.len() > LONG {
                bucket = table.narrow(bucket, key(pending.query as usize, pending.lookup as usize));
            }
            let (query, lookup) = (pending.query as usize, pending.lookup as usize);
            visit(query, lookup, pending.run as usize, bucket);
            read += 1;
        } else if !more && !locating {
            return;
        }
    }
}
