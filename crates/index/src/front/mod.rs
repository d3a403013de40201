//! The growing part: fingerprints that are not sealed yet, found by line buckets that are written in place.
//!
//! A few fingerprints are simply scanned. Beyond [`SCANNED`] every table of the plan gets [`Buckets`]: a search looks
//! into one line for each look-up, beside those of the sealed run, and an addition writes the lines that its own search
//! has just read. A front has a capacity, four fingerprints per line, so that one line in fifty overflows; when it is
//! full it becomes immutable, still searched, until a merge has sealed it.
//!
//! Source of the layout: in-place hash lines of one cache line each, measured against sorted runs in
//! `benches/RESULTS.md`; sealed tables take half the memory, lines take additions without rewriting anything.

mod buckets;

use self::buckets::Buckets;
use crate::plan::{Lookup, Plan, Prefix};

/// Fingerprints that are scanned rather than looked up: some 30 ns, less than a look-up in every table.
const SCANNED: usize = 256;

/// Fingerprints per line of a full front.
const PER_LINE: usize = 4;

/// Look-ups whose lines are asked for before the first is read.
const AHEAD: usize = 32;

/// Fingerprints, each once, in order of arrival and by table.
#[derive(Debug)]
pub(crate) struct Front {
    values: Vec<u64>,
    tables: Vec<Buckets>,
    capacity: usize,
}

impl Front {
    /// An empty front for so many fingerprints.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { values: Vec::new(), tables: Vec::new(), capacity }
    }

    /// Adds a fingerprint that is not in it. Amortised O(tables).
    pub(crate) fn push(&mut self, value: u64, plan: &Plan) {
        self.values.push(value);
        if self.values.len() <= SCANNED {
            return;
        }
        if !self.tables.is_empty() {
            enter(&mut self.tables, plan.prefixes(), &[value]);
            return;
        }
        let bits = (self.capacity / PER_LINE).max(1).ilog2();
        self.tables = plan.prefixes().iter().map(|prefix| Buckets::new(prefix, bits)).collect();
        enter(&mut self.tables, plan.prefixes(), &self.values);
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
        !self.tables.is_empty()
    }

    /// Asks for what [`Front::look_up`] and [`Front::push`] will read.
    #[inline]
    pub(crate) fn ask(&self, prefixes: &[Prefix], lookups: &[Lookup], query: u64) {
        for lookup in lookups {
            self.table(prefixes, *lookup, query, Buckets::ask);
        }
    }

    /// Calls `visit(number, bucket)` for each look-up with fingerprints that may have the key looked for, some at a time.
    #[inline]
    pub(crate) fn look_up(
        &self,
        prefixes: &[Prefix],
        lookups: &[Lookup],
        query: u64,
        mut visit: impl FnMut(usize, &[u64]),
    ) {
        for (part, lookups) in lookups.chunks(AHEAD).enumerate() {
            self.ask(prefixes, lookups, query);
            for (number, lookup) in (part * AHEAD..).zip(lookups) {
                self.table(prefixes, *lookup, query, |table, slot| {
                    table.visit(slot, |bucket| visit(number, bucket));
                });
            }
        }
    }

    /// Asks for the lines that an addition will write.
    #[inline]
    pub(crate) fn ask_all(&self, prefixes: &[Prefix], value: u64) {
        for (table, prefix) in self.tables.iter().zip(prefixes) {
            table.ask(table.slot(prefix.key(value)));
        }
    }

    #[inline]
    fn table<'a>(
        &'a self,
        prefixes: &[Prefix],
        lookup: Lookup,
        query: u64,
        then: impl FnOnce(&'a Buckets, usize),
    ) {
        let number = usize::from(lookup.table);
        if let Some(table) = self.tables.get(number) {
            then(table, table.slot(prefixes[number].key(query ^ lookup.flips)));
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
