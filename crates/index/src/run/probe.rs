//! Looking many buckets up at once.
//!
//! A look-up misses the cache twice, first in the directory, then in the entries. A modern core overlaps a dozen
//! misses if it knows the addresses early, so look-ups pass through a small ring: the directory line is asked for when
//! a probe enters, the entries' lines `LAG` probes later, and the bucket is read another `LAG` probes later. The probes
//! of one query, of several runs and of many queries are all the same to the ring.

use super::{LONG, Table};
use crate::memory::prefetch;

/// Look-ups between asking for a line and reading it: about as many misses as a core has in flight.
const LAG: usize = 12;
const RING: usize = 32;

/// Entries in a cache line of 64 bytes.
const LINE: usize = 8;

/// One bucket to look up: the table, the wanted key, and what the caller needs to judge the entries.
#[derive(Clone, Copy)]
pub(crate) struct Probe<'a, T> {
    pub(crate) table: Table<'a>,
    pub(crate) key: u64,
    pub(crate) context: T,
}

/// Calls `visit` with the entries that may have each probe's key, in the order of the probes.
#[inline]
pub(crate) fn sweep<'a, T: Copy>(
    mut probes: impl Iterator<Item = Probe<'a, T>>,
    mut visit: impl FnMut(T, &'a [u64]),
) {
    let mut ring: [Option<(Probe<'a, T>, &'a [u64])>; RING] = [const { None }; RING];
    let mut entered = 0usize;
    let mut located = 0usize;
    let mut read = 0usize;
    loop {
        let mut more = false;
        if let Some(probe) = probes.next() {
            prefetch(probe.table.directory, probe.table.slot(probe.key));
            ring[entered % RING] = Some((probe, &[]));
            entered += 1;
            more = true;
        }
        if located < entered && (!more || located + LAG < entered) {
            if let Some((probe, bucket)) = &mut ring[located % RING] {
                let slot = probe.table.slot(probe.key);
                let from = probe.table.directory[slot] as usize;
                let to = probe.table.directory[slot + 1] as usize;
                *bucket = &probe.table.entries[from..to];
                for line in (0..bucket.len().min(LONG)).step_by(LINE) {
                    prefetch(bucket, line);
                }
                // A bucket need not start with a line.
                prefetch(bucket, bucket.len().min(LONG).saturating_sub(1));
            }
            located += 1;
            more = true;
        }
        if read < located && (located == entered && !more || read + LAG < located) {
            if let Some((probe, bucket)) = &ring[read % RING] {
                visit(probe.context, probe.table.narrow(bucket, probe.key));
            }
            read += 1;
            more = true;
        }
        if !more {
            return;
        }
    }
}
