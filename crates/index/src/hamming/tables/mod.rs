//! The set of distinct fingerprints that searches read: one segment, and a memtable in which new ones are found at once.
//!
//! A new fingerprint goes into the memtable, whose line buckets are written in place. A full memtable is set aside, still
//! searched, until a merge in the background has rewritten it and the segment as one new segment. The memtable's capacity is an
//! eighth to a sixteenth of what is there ([`capacity`]), so a fingerprint is rewritten 8 to 16 times for each doubling:
//! insertion is amortised O(log n), and a search reads one set of sealed tables and one or two memtables, never more.
//!
//! Merging is cut up so that it can happen beside everything else: [`Tables::job`] takes inputs (which stay searchable),
//! [`Job::run`] builds table by table without looking at the tables, [`Tables::put_table`] swaps one, [`Tables::commit`]
//! lets the inputs go.

mod merge;

use std::sync::Arc;

pub(crate) use merge::Job;
use merge::Request;

use crate::hamming::memtable::Memtable;
use crate::hamming::plan::{Lookup, Plan, Prefix, Schedule};
use crate::hamming::scan::{self, Hit};
use crate::hamming::segment::{Segment, Sorted, Wanted, sweep};

/// Capacity of the first memtables: sealing fewer is not worth a merge.
const LEAST: usize = 2048;

/// Full memtables that may wait: beyond, additions are faster than merges and must wait for them.
pub(crate) const BACKLOG: usize = 2;

/// Look-ups whose lines in a memtable are asked for before the segment is read: as many lines as fit the first-level cache.
const ASKED: usize = 256;

/// A batch this large, and as large as a memtable or larger, is sealed at once: fewer are in memtables in the time that
/// it takes to start threads.
const BULK: usize = 1 << 16;

/// Capacity of a memtable beside so many other fingerprints: the power of two from a sixteenth to an eighth of them.
fn capacity(others: usize) -> usize {
    (others / 8).max(LEAST).checked_ilog2().map_or(LEAST, |bits| 1 << bits)
}

/// The segment, and whether a merge is using it.
#[derive(Debug)]
struct Sealed {
    run: Segment,
    busy: bool,
}

/// A full memtable waiting for its merge.
#[derive(Debug)]
struct Waiting {
    memtable: Arc<Memtable>,
    busy: bool,
}

#[derive(Debug)]
pub(crate) struct Tables {
    plan: Arc<Plan>,
    /// Capacity of the smallest memtable.
    least: usize,
    memtable: Memtable,
    waiting: Vec<Waiting>,
    sealed: Option<Sealed>,
    /// An empty memtable whose memory is already there.
    spare: Option<Memtable>,
    /// Who waits for everything to be in the segment.
    requests: Vec<Request>,
    /// Fingerprints for the next merge that are in no memtable.
    bulk: Vec<Arc<Vec<u64>>>,
    /// Tables of the first run while it is being built.
    begun: Vec<Arc<Sorted>>,
    halfway: bool,
}

impl Tables {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self::with_memtable(plan, LEAST)
    }

    /// A tables that seals nothing before so many fingerprints have come.
    pub(crate) fn with_memtable(plan: Arc<Plan>, capacity: usize) -> Self {
        let least = capacity.max(LEAST).next_power_of_two();
        Self {
            plan,
            least,
            memtable: Memtable::new(least),
            waiting: Vec::new(),
            sealed: None,
            spare: None,
            requests: Vec::new(),
            bulk: Vec::new(),
            begun: Vec::new(),
            halfway: false,
        }
    }

    /// Adds a fingerprint that the tables does not hold. True when that has set a memtable aside.
    pub(crate) fn push(&mut self, value: u64) -> bool {
        self.memtable.push(value, &self.plan);
        let full = self.memtable.is_full();
        if full {
            self.set_aside();
        }
        full
    }

    /// Adds fingerprints that the tables does not hold. True when that has set a memtable aside.
    pub(crate) fn extend(&mut self, values: &[u64]) -> bool {
        let mut due = false;
        for &value in values {
            due |= self.push(value);
        }
        due
    }

    /// Asks for the memory that [`Tables::push`] will write.
    #[inline]
    pub(crate) fn prefetch(&self, value: u64) {
        self.memtable.ask_all(self.plan.prefixes(), value);
    }

    /// Closes the memtable, if there is anything in it; it then waits to be merged.
    pub(crate) fn set_aside(&mut self) {
        if self.memtable.values().is_empty() {
            return;
        }
        let full = self.memtable.values().len() + self.waiting_len();
        let sealed = self.run().map_or(0, Segment::len);
        let capacity = capacity(full + sealed);
        let spare = self.spare.take().filter(|spare| spare.capacity() == capacity);
        let empty = spare.unwrap_or_else(|| Memtable::new(capacity));
        let memtable = std::mem::replace(&mut self.memtable, empty);
        self.waiting.push(Waiting { memtable: Arc::new(memtable), busy: false });
    }

    /// Whether so many more had better be sealed at once.
    pub(crate) fn is_bulk(&self, count: usize) -> bool {
        let here = self.memtable_len() + self.run().map_or(0, Segment::len);
        count >= BULK && count >= here / 8
    }

    fn run(&self) -> Option<&Segment> {
        self.sealed.as_ref().map(|sealed| &sealed.run)
    }

    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        self.waiting.iter().map(|waiting| &*waiting.memtable).chain([&self.memtable])
    }

    /// Appends every fingerprint within `distance`, once each, in no particular order.
    pub(crate) fn find(&self, query: u64, distance: u32, hits: &mut Vec<Hit>) {
        self.find_each(&[query], distance, |_, hit| hits.push(hit));
    }

    /// Calls `on_hit(number, hit)` for every fingerprint within `distance` of the queries, once each, in no
    /// particular order. The look-ups of all queries overlap.
    pub(crate) fn find_each(
        &self,
        queries: &[u64],
        distance: u32,
        mut on_hit: impl FnMut(usize, Hit),
    ) {
        let schedule = self.plan.schedule(distance);
        // Hits that may repeat, of look-ups with flips at most once per table, are gathered and made unique.
        let repeats = self.is_halfway() || schedule.is_some_and(|schedule| !schedule.plain);
        let mut repeated: Vec<(usize, Hit)> = Vec::new();
        let mut on_any = |query: usize, hit: Hit| {
            if repeats { repeated.push((query, hit)) } else { on_hit(query, hit) }
        };
        if let Some(schedule) = schedule {
            self.probe(schedule, queries, distance, &mut on_any);
        }
        let scanned = |count: usize| schedule.is_none_or(|schedule| !schedule.pays(count));
        let memtables = self
            .memtables()
            .filter(|memtable| !memtable.has_tables() || scanned(memtable.values().len()));
        let run = self.run().filter(|run| scanned(run.len()));
        for values in memtables.map(Memtable::values).chain(run.map(Segment::values)) {
            // A block at a time, so that all queries read it from the cache.
            for block in values.chunks(scan::BLOCK) {
                for (number, &query) in queries.iter().enumerate() {
                    scan::within(block, query, distance, |position, apart| {
                        on_any(number, Hit { distance: apart, value: block[position] });
                    });
                }
            }
        }
        repeated.sort_unstable();
        repeated.dedup();
        for (query, hit) in repeated {
            on_hit(query, hit);
        }
    }

    /// The look-ups of all queries in the segment and in the memtables, where they pay.
    fn probe(
        &self,
        schedule: &Schedule,
        queries: &[u64],
        distance: u32,
        on_hit: &mut impl FnMut(usize, Hit),
    ) {
        let (prefixes, lookups) = (self.plan.prefixes(), &schedule.lookups[..]);
        let mut visit = |wanted: &Wanted, bucket: &[u64]| {
            let (query, number) = (wanted.query as usize, wanted.lookup as usize);
            scan::within(bucket, queries[query], distance, |position, apart| {
                let value = bucket[position];
                let differ = value ^ queries[query];
                if (differ ^ lookups[number].flips) & prefixes[wanted.table].mask() != 0 {
                    return;
                }
                if !schedule.plain || is_first(&lookups[..number], prefixes, differ) {
                    on_hit(query, Hit { distance: apart, value });
                }
            });
        };
        let run = self.run().filter(|run| schedule.pays(run.len()));
        let memtables = || {
            let pays = |memtable: &&Memtable| {
                memtable.has_tables() && schedule.pays(memtable.values().len())
            };
            self.memtables().filter(pays)
        };
        let mut each = (0..queries.len()).flat_map(|query| {
            lookups.iter().enumerate().map(move |(number, lookup)| {
                let table = usize::from(lookup.table);
                let key = prefixes[table].key(queries[query] ^ lookup.flips);
                Wanted { key, query: query as u32, lookup: number as u32, table }
            })
        });
        let mut wanted = Vec::with_capacity(ASKED.min(queries.len() * lookups.len()));
        loop {
            wanted.clear();
            wanted.extend(each.by_ref().take(ASKED));
            if wanted.is_empty() {
                break;
            }
            // The memtables' lines come while the segment is read.
            for memtable in memtables() {
                for wanted in &wanted {
                    memtable.ask(wanted);
                }
            }
            if let Some(run) = run {
                sweep(prefixes, run, &wanted, &mut visit);
            }
            for memtable in memtables() {
                for wanted in &wanted {
                    memtable.look_up(wanted, &mut visit);
                }
            }
        }
    }

    /// Fingerprints not sealed yet.
    pub(crate) fn memtable_len(&self) -> usize {
        self.memtables().map(|memtable| memtable.values().len()).sum()
    }

    /// Fingerprints set aside, not yet merged.
    fn waiting_len(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.memtable.values().len()).sum()
    }

    /// Full memtables, not yet merged.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// After a merge of everything the memory of memtables goes: an index that is sealed and then only searched has none.
    fn trim(&mut self) {
        self.spare = None;
        if self.memtable.values().is_empty() {
            let others = self.waiting_len() + self.run().map_or(0, Segment::len);
            self.memtable = Memtable::new(capacity(others).max(self.least));
        }
    }

    /// Keeps an empty memtable for the next one, which then costs no new memory; none but the last is kept.
    pub(crate) fn reuse(&mut self, empty: Memtable) {
        self.spare = Some(empty);
    }

    /// Fingerprints in the segment, if there is one.
    pub(crate) fn segment_lens(&self) -> impl Iterator<Item = usize> {
        self.run().map(Segment::len).into_iter()
    }

    /// Puts in a run of fingerprints that the tables does not hold, in place of the one there was.
    pub(crate) fn put(&mut self, run: Segment) {
        self.sealed = Some(Sealed { run, busy: false });
    }

    /// Bytes held by the memtables and all tables.
    pub(crate) fn bytes(&self) -> usize {
        let memtables = self.memtables().chain(&self.spare);
        memtables.map(Memtable::bytes).sum::<usize>() + self.run().map_or(0, Segment::bytes)
    }

    /// Bytes of the tables that lie in a file.
    pub(crate) fn mapped_bytes(&self) -> usize {
        self.run().map_or(0, Segment::mapped_bytes)
    }

    /// Whether huge pages were asked for in the segment.
    pub(crate) fn is_huge(&self) -> bool {
        self.run().is_some_and(Segment::is_huge)
    }
}

/// The first-mask rule: of the tables where a hit shares the query's prefix, the first one reports it.
#[inline]
fn is_first(earlier: &[Lookup], prefixes: &[Prefix], differ: u64) -> bool {
    earlier.iter().all(|lookup| prefixes[usize::from(lookup.table)].mask() & differ != 0)
}

#[cfg(test)]
mod tests;
