//! The growing part: fingerprints that are not sealed yet, found by line buckets that are written in place.
//!
//! A few fingerprints are simply scanned. Beyond [`SCANNED`] every table of the plan gets [`Buckets`]: a search looks
//! into one line for each look-up, beside those of the segment, and an addition writes the lines that its own search
//! has just read. A memtable has a capacity, four fingerprints per line, so that one line in fifty overflows; when it is
//! full it becomes immutable, still searched, until a merge has sealed it.
//!
//! Source of the layout: in-place hash lines of one cache line each, measured against sorted runs in
//! `benches/RESULTS.md`; sealed tables take half the memory, lines take additions without rewriting anything.

mod buckets;

use self::buckets::Buckets;
use crate::hamming::plan::{Plan, Prefix};
use crate::hamming::segment::Wanted;

/// Fingerprints that are scanned rather than looked up: some 30 ns, less than a look-up in every table.
const SCANNED: usize = 256;

/// Fingerprints per line of a full memtable.
const PER_LINE: usize = 4;

/// Fingerprints, each once, in order of arrival and by table.
#[derive(Debug)]
pub(crate) struct Memtable {
    values: Vec<u64>,
    tables: Vec<Buckets>,
    capacity: usize,
}

impl Memtable {
    /// An empty memtable for so many fingerprints.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { values: Vec::new(), tables: Vec::new(), capacity }
    }

    /// Adds a fingerprint that is not in it. Amortised O(tables).
    pub(crate) fn push(&mut self, value: u64, plan: &Plan) {
        self.values.push(value);
        if self.values.len() <= SCANNED {
            return;
        }
        if self.values.len() > SCANNED + 1 {
            enter(&mut self.tables, plan.prefixes(), &[value]);
            return;
        }
        if self.tables.is_empty() {
            let bits = (self.capacity / PER_LINE).max(1).ilog2();
            self.tables = plan.prefixes().iter().map(|prefix| Buckets::new(prefix, bits)).collect();
        }
        enter(&mut self.tables, plan.prefixes(), &self.values);
    }

    /// The same memory, with nothing in it.
    pub(crate) fn emptied(mut self) -> Self {
        self.values.clear();
        self.tables.iter_mut().for_each(Buckets::clear);
        self
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn is_full(&self) -> bool {
        self.values.len() >= self.capacity
    }

    /// All fingerprints, in order of arrival.
    pub(crate) fn values(&self) -> &[u64] {
        &self.values
    }

    /// Whether it has tables to look into; else it is to be scanned.
    pub(crate) fn has_tables(&self) -> bool {
        self.values.len() > SCANNED
    }

    /// Asks for what [`Memtable::look_up`] will read, and [`Memtable::push`] write.
    #[inline]
    pub(crate) fn ask(&self, wanted: &Wanted) {
        let table = &self.tables[wanted.table];
        table.ask(table.slot(wanted.key));
    }

    /// Calls `visit` with fingerprints that may have the key looked for, some at a time.
    #[inline]
    pub(crate) fn look_up(&self, wanted: &Wanted, mut visit: impl FnMut(&Wanted, &[u64])) {
        let table = &self.tables[wanted.table];
        table.visit(table.slot(wanted.key), |bucket| visit(wanted, bucket));
    }

    /// Asks for the lines that an addition will write.
    #[inline]
    pub(crate) fn ask_all(&self, prefixes: &[Prefix], value: u64) {
        for (table, prefix) in self.tables.iter().zip(prefixes) {
            table.ask(table.slot(prefix.key(value)));
        }
    }

    /// Bytes reserved: 8 for each fingerprint and `64 / PER_LINE` for each table and fingerprint of its capacity, and
    /// what overflows.
    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * 8 + self.tables.iter().map(Buckets::bytes).sum::<usize>()
    }
}

fn enter(tables: &mut [Buckets], prefixes: &[Prefix], values: &[u64]) {
    for (table, prefix) in tables.iter_mut().zip(prefixes) {
        for &value in values {
            table.insert(table.slot(prefix.key(value)), value);
        }
    }
}
