//! The growing part: fingerprints that are not sealed yet, found by line buckets that are written in place.
//!
//! A few fingerprints are simply scanned. Beyond [`SCANNED`] every table of the plan gets [`Buckets`]: a search looks
//! into one line for each look-up, beside those of the segment, and an addition writes the lines that its own search
//! has just read. The memory of the tables is touched a page at a time before that, and what was scanned enters them
//! [`ENTERED`] at a time: the system clears a page of 2 MB when it is first touched, which has taken 4 ms, and an addition
//! that touched all of them would wait for all, 40 to 100 ms at 5 M fingerprints. Until all is there it is scanned. A memtable has a capacity, four fingerprints per line, so that one line in fifty overflows; when it is
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

/// Fingerprints that enter the tables with an addition until none is left out.
const ENTERED: usize = 2;

/// Fingerprints per line of a full memtable.
const PER_LINE: usize = 4;

/// Fingerprints, each once, in order of arrival and by table.
#[derive(Debug)]
pub(crate) struct Memtable {
    values: Vec<u64>,
    tables: Vec<Buckets>,
    /// Table and page to be touched next; behind the tables: all are.
    untouched: (usize, usize),
    /// How many of the values, from the first on, the tables have.
    entered: usize,
    capacity: usize,
}

impl Memtable {
    /// An empty memtable for so many fingerprints.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { values: Vec::new(), tables: Vec::new(), untouched: (0, 0), entered: 0, capacity }
    }

    /// Adds a fingerprint that is not in it. Amortised O(tables).
    pub(crate) fn push(&mut self, value: u64, plan: &Plan) {
        self.values.push(value);
        if self.values.len() <= SCANNED {
            return;
        }
        if self.tables.is_empty() {
            let bits = (self.capacity / PER_LINE).max(1).ilog2();
            self.tables = plan.prefixes().iter().map(|prefix| Buckets::new(prefix, bits)).collect();
        }
        let (table, page) = self.untouched;
        if let Some(lines) = self.tables.get_mut(table) {
            lines.touch(page);
            let is_last = page + 1 == lines.pages();
            self.untouched = if is_last { (table + 1, 0) } else { (table, page + 1) };
            return;
        }
        let end = self.values.len().min(self.entered + ENTERED);
        for (table, prefix) in self.tables.iter_mut().zip(plan.prefixes()) {
            for &value in &self.values[self.entered..end] {
                table.insert(table.slot(prefix.key(value)), value);
            }
        }
        self.entered = end;
    }

    /// The same memory, with nothing in it.
    pub(crate) fn emptied(mut self) -> Self {
        self.values.clear();
        self.tables.iter_mut().for_each(Buckets::clear);
        self.entered = 0;
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

    /// Whether the tables have all of it, to look into; else it is to be scanned.
    pub(crate) fn has_tables(&self) -> bool {
        self.entered > 0 && self.entered == self.values.len()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_addition_enters_more_than_a_few_and_the_tables_serve_when_they_have_all() {
        let plan = Plan::named("k3-t6").unwrap();
        let mut memtable = Memtable::new(1 << 18);
        for round in 0..2u64 {
            for count in 1..=1000usize {
                let (before, value) = (memtable.entered, (count as u64) << 32 | round);
                let untouched = memtable.untouched;
                memtable.push(value.wrapping_mul(0x9e37_79b9_7f4a_7c15), &plan);
                let most = if memtable.untouched == untouched { ENTERED } else { 0 };
                assert!(memtable.entered - before <= most, "{count}");
                // Two pages for each of six tables, once; then two in for one that comes.
                let pages = if round == 0 { 12 } else { 0 };
                assert_eq!(memtable.has_tables(), count >= 2 * (SCANNED + pages), "{count}");
            }
            for &value in memtable.values() {
                for (table, prefix) in plan.prefixes().iter().enumerate() {
                    let wanted = Wanted { key: prefix.key(value), query: 0, lookup: 0, table };
                    let mut times = 0;
                    memtable.look_up(&wanted, |_, bucket| {
                        times += bucket.iter().filter(|&&found| found == value).count();
                    });
                    assert_eq!(times, 1, "{value} of table {table}");
                }
            }
            memtable = memtable.emptied();
            assert!(!memtable.has_tables());
        }
    }
}
