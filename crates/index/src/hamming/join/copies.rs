//! The sorted copies of fingerprints that a join goes through, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use rayon::prelude::*;

use crate::hamming::plan::{Plan, Prefix};
use crate::hamming::segment::{Segment, Sorted, Sources, Table, slots};
use crate::memory::Words;

/// Fingerprints by the tables of a plan that covers a distance.
#[derive(Debug)]
pub(super) struct Copies {
    plan: Arc<Plan>,
    /// Numbers of the tables that matter for the distance, in order, with their masks.
    tables: Vec<(usize, u64)>,
    /// Those from here on are none of this join's.
    end: usize,
    from: From,
}

#[derive(Debug)]
enum From {
    /// An index has them all.
    Sealed(Option<Segment>),
    /// They are made when they are wanted, and forgotten: a join goes through each once.
    Made(Made),
}

/// The copies from one on that are there.
#[derive(Debug)]
struct Made {
    values: Values,
    first: usize,
    tables: VecDeque<Sorted>,
    /// Memory of those that were forgotten.
    spare: Vec<Words>,
}

/// Fingerprints, each once, in any order.
#[derive(Debug)]
pub(super) enum Values {
    Own(Vec<u64>),
    /// Those of a checked segment.
    Of(Segment),
}

impl std::convert::From<Option<Segment>> for Values {
    fn from(run: Option<Segment>) -> Self {
        run.map_or_else(|| Self::Own(Vec::new()), Self::Of)
    }
}

impl Values {
    fn get(&self) -> &[u64] {
        match self {
            Self::Own(values) => values,
            Self::Of(run) => run.values(),
        }
    }
}

impl Copies {
    /// The tables of a checked segment, whose plan reaches.
    pub(super) fn sealed(plan: Arc<Plan>, run: Option<Segment>, distance: u32) -> Self {
        let tables = tables(&plan, distance);
        Self { end: tables.len(), plan, tables, from: From::Sealed(run) }
    }

    /// Tables of their own.
    pub(super) fn made(plan: Arc<Plan>, values: Values, distance: u32) -> Self {
        let tables = tables(&plan, distance);
        let made = Made { values, first: 0, tables: VecDeque::new(), spare: Vec::new() };
        Self { end: tables.len(), plan, tables, from: From::Made(made) }
    }

    /// The table at this place alone, of a part of the fingerprints: all of some keys.
    pub(super) fn of_part(
        plan: Arc<Plan>,
        tables: Vec<(usize, u64)>,
        place: usize,
        part: Vec<u64>,
    ) -> Self {
        let values = Values::Own(part);
        let made = Made { values, first: place, tables: VecDeque::new(), spare: Vec::new() };
        Self { plan, tables, end: place + 1, from: From::Made(made) }
    }

    /// Behind the last one.
    pub(super) fn len(&self) -> usize {
        let is_empty = match &self.from {
            From::Sealed(run) => run.is_none(),
            From::Made(made) => made.values.get().is_empty(),
        };
        if is_empty { 0 } else { self.end }
    }

    /// Bits on which those agree that lie together in this copy.
    pub(super) fn mask(&self, place: usize) -> u64 {
        self.tables[place].1
    }

    /// Buckets of this copy.
    pub(super) fn slots(&self, place: usize) -> usize {
        let table = self.tables[place].0;
        match &self.from {
            From::Sealed(run) => run.as_ref().map_or(0, |run| run.slots(table)),
            From::Made(made) => slots(made.values.get().len(), self.prefix(place)),
        }
    }

    fn prefix(&self, place: usize) -> &Prefix {
        &self.plan.prefixes()[self.tables[place].0]
    }

    /// Forgets the copies before this one.
    pub(super) fn forget(&mut self, before: usize) {
        let From::Made(Made { first, tables, spare, .. }) = &mut self.from else { return };
        while *first < before {
            spare.extend(tables.pop_front().and_then(Sorted::into_words));
            *first += 1;
        }
    }

    /// Makes this copy, the next one that is not there, and some of those behind it, on at most `threads` tasks of the current pool
    /// (0: all of it).
    pub(super) fn make(&mut self, place: usize, threads: usize) {
        let From::Made(Made { values, first, tables, spare }) = &mut self.from else { return };
        if place < *first + tables.len() {
            return;
        }
        let tasks = if threads == 0 { rayon::current_num_threads() } else { threads };
        let numbers = &self.tables[place..self.end.min(place + tasks)];
        let work: Vec<(usize, Option<Words>)> =
            numbers.iter().map(|table| (table.0, spare.pop())).collect();
        let scratch = Mutex::new(std::mem::take(spare));
        let (plan, fresh) = (&*self.plan, values.get());
        let sources = Sources { plan, runs: Vec::new(), fresh, keep: None, scratch: &scratch };
        let made: Vec<Sorted> = match work.len() {
            1 => work.into_iter().map(|(number, old)| sources.table(number, old)).collect(),
            _ => work.into_par_iter().map(|(number, old)| sources.table(number, old)).collect(),
        };
        tables.extend(made);
        *spare = scratch.into_inner();
    }

    /// A copy that is there.
    pub(super) fn view(&self, place: usize) -> Option<Table<'_>> {
        let table = self.tables[place].0;
        match &self.from {
            From::Sealed(run) => run.as_ref().map(|run| run.table(table, self.plan.prefixes())),
            From::Made(Made { first, tables, .. }) => {
                let made = tables.get(place.checked_sub(*first)?)?;
                Some(made.view(self.prefix(place)))
            }
        }
    }
}

/// Masks of the tables that matter for this distance, in order, with their numbers.
pub(super) fn tables(plan: &Plan, distance: u32) -> Vec<(usize, u64)> {
    let prefixes = plan.prefixes();
    // A plan that just reaches needs them all, and its schedule, a long search, need not be made.
    let schedule = if distance < plan.radius() { plan.schedule(distance) } else { None };
    match schedule.filter(|schedule| schedule.plain) {
        Some(schedule) => {
            let lookups = schedule.lookups.iter().map(|lookup| usize::from(lookup.table));
            lookups.map(|table| (table, prefixes[table].mask())).collect()
        }
        None => prefixes.iter().map(Prefix::mask).enumerate().collect(),
    }
}
