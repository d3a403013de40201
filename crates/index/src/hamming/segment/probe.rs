//! Looking many buckets up at once.
//!
//! A look-up misses the cache twice, first in the directory, then in the entries. A modern core overlaps a dozen
//! misses if it knows the addresses early, so look-ups pass through a small ring: the directory line is asked for when
//! a probe enters, the entries' lines `LAG` probes later, and the bucket is read another `LAG` probes later. The probes
//! of one query, of several runs and of many queries are all the same to the ring.

use super::{LONG, Segment};
use crate::hamming::plan::Prefix;
use crate::memory::prefetch;

/// Look-ups between asking for a line and reading it: about as many misses as a core has in flight.
const LAG: usize = 12;
const RING: usize = 32;

/// Entries in a cache line of 64 bytes.
const LINE: usize = 8;

/// A key to look up in a table, for one query by one look-up of the schedule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) key: u64,
    pub(crate) query: u32,
    pub(crate) lookup: u32,
    pub(crate) table: usize,
}

/// A look-up on its way.
#[derive(Clone, Copy)]
struct Pending<'a> {
    slot: usize,
    directory: &'a [u32],
    /// All entries of the table at first, then those of the slot.
    entries: &'a [u64],
}

/// Calls `visit(wanted, bucket)` for every look-up in order, with the entries that may have its key; none where a mapped
/// table is damaged.
#[inline]
pub(crate) fn sweep<'a>(
    prefixes: &'a [Prefix],
    run: &'a Segment,
    wanted: &[Wanted],
    mut visit: impl FnMut(&Wanted, &'a [u64]),
) {
    if run.is_mapped() {
        pass::<true>(prefixes, run, wanted, &mut visit);
    } else {
        pass::<false>(prefixes, run, wanted, &mut visit);
    }
}

/// [`sweep`]; `MAPPED`: what a table says is checked before it is used, so that memory does not pay for it.
#[inline]
fn pass<'a, const MAPPED: bool>(
    prefixes: &'a [Prefix],
    run: &'a Segment,
    wanted: &[Wanted],
    visit: &mut impl FnMut(&Wanted, &'a [u64]),
) {
    let mut ring = [Pending { slot: 0, directory: &[], entries: &[] }; RING];
    let (mut entered, mut located, mut read) = (0usize, 0usize, 0usize);
    while read < wanted.len() {
        if let Some(next) = wanted.get(entered) {
            let table = run.table(next.table, prefixes);
            let slot = table.slot(next.key);
            prefetch(table.directory, slot);
            ring[entered % RING] =
                Pending { slot, directory: table.directory, entries: table.entries };
            entered += 1;
        }
        let all_in = entered == wanted.len();
        if located < entered && (all_in || located + LAG < entered) {
            let pending = &mut ring[located % RING];
            let bucket = if MAPPED {
                run.bucket(wanted[located].table, pending.slot)
            } else {
                let ends = &pending.directory[pending.slot..pending.slot + 2];
                &pending.entries[ends[0] as usize..ends[1] as usize]
            };
            for line in (0..bucket.len().min(LONG)).step_by(LINE) {
                prefetch(bucket, line);
            }
            // A bucket need not start with a line.
            prefetch(bucket, bucket.len().min(LONG).saturating_sub(1));
            pending.entries = bucket;
            located += 1;
        }
        if read < located && (located == wanted.len() || read + LAG < located) {
            let mut bucket = ring[read % RING].entries;
            let wanted = &wanted[read];
            if bucket.len() > LONG {
                bucket = run.table(wanted.table, prefixes).narrow(bucket, wanted.key);
            }
            visit(wanted, bucket);
            read += 1;
        }
    }
}
