//! Many items at a time: the same answers as one by one, in order, whatever the threads.
//!
//! A batched check-and-add first looks every item up in parallel, holding no lock beyond a slice (a lock held across a
//! parallel loop could be waited for by a task that the same thread picks up). Until then it can be cancelled and has changed
//! nothing. Then it takes its turns, a slice of items each: it corrects what has changed since the look, decides in order
//! against what has come since (a tables of its own), and adds.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use ahash::AHashMap;

use super::{Hamming, Item, Match, Stage, Unsealed, stored, stored_all};
use crate::IndexError;
use crate::hamming::scan::{self, Hit};
use crate::hamming::tables::Tables;
use crate::ids::Ids;
use crate::live::{Added, Kind, Live, Outcome, SLICE, Writer, each};

/// Items decided on, or added at times of their own, in one turn: a tenth of a millisecond, and as long a single change waits.
pub(super) const TURN: usize = 64;

/// What has been added since the parallel look began, by others and by the batch itself.
struct Late {
    tables: Tables,
    first: AHashMap<u64, u64>,
    texts: AHashMap<u128, u64>,
    /// Ids before this one are in it, or were there before.
    seen: u64,
}

impl Late {
    fn nearest(&self, stored: Item, distance: u32) -> Option<Match> {
        match stored {
            // Its table has room for the whole batch: a look into it reads memory, even if nothing is there.
            Item::Fingerprint(_) if self.first.is_empty() => None,
            Item::Fingerprint(value) => {
                let mut hits = Vec::new();
                self.tables.find(value, distance, &mut hits);
                hits.into_iter()
                    .map(|hit| Match { id: self.first[&hit.value], distance: hit.distance })
                    .min_by_key(|found| (found.distance, found.id))
            }
            Item::Exact(text) => self.texts.get(&text).map(|&id| Match { id, distance: 0 }),
            Item::Empty => None,
        }
    }

    fn add(&mut self, stored: Item, id: u64) {
        match stored {
            Item::Fingerprint(value) => {
                if let Entry::Vacant(free) = self.first.entry(value) {
                    free.insert(id);
                    self.tables.push(value);
                }
            }
            Item::Exact(text) => drop(self.texts.entry(text).or_insert(id)),
            Item::Empty => {}
        }
    }

    /// Takes in what others have added.
    fn catch_up(&mut self, ids: &super::Documents) {
        let next = ids.ids().next();
        for id in self.seen..next {
            if let Some(item) = ids.item(id) {
                self.add(item, id);
            }
        }
        self.seen = next;
    }
}

/// Bits by which two items of one kind differ, if they can be compared.
fn apart(one: Item, other: Item) -> Option<u32> {
    match (one, other) {
        (Item::Fingerprint(one), Item::Fingerprint(other)) => Some((one ^ other).count_ones()),
        (Item::Exact(one), Item::Exact(other)) if one == other => Some(0),
        _ => None,
    }
}

/// Queries whose look-ups overlap: their hits, too, are resolved together.
const GROUP: usize = 32;

impl Hamming {
    /// Calls `answer(item, hits)` for each item in order, the items' look-ups overlapping in the tables and the ids.
    pub(super) fn each_with_hits<T>(
        &self,
        items: &[Item],
        distance: u32,
        answer: impl Fn(Item, &mut [Hit]) -> T,
    ) -> Vec<T> {
        let mut answers = Vec::with_capacity(items.len());
        let (mut queries, mut hits) = (Vec::new(), Vec::new());
        for group in items.chunks(GROUP) {
            queries.clear();
            hits.clear();
            let fingerprints = group.iter().filter_map(|&item| match item {
                Item::Fingerprint(value) => Some(value),
                _ => None,
            });
            queries.extend(fingerprints);
            self.tables.find_each(&queries, distance, |query, hit| hits.push((query, hit)));
            if let Some(Unsealed { values, given_up: true, .. }) = &self.unsealed {
                // A block at a time, so that all queries read it from the cache.
                for block in values.chunks(scan::BLOCK) {
                    for (query, &value) in queries.iter().enumerate() {
                        scan::within(block, value, distance, |at, distance| {
                            hits.push((query, Hit { distance, value: block[at] }));
                        });
                    }
                }
                // Some may be in tables by now.
                hits.sort_unstable();
                hits.dedup();
            }
            let hit_values = |hits: &[(usize, Hit)], touch: &dyn Fn(u64)| {
                for (_, hit) in hits {
                    touch(hit.value);
                }
            };
            hit_values(&hits, &|value| self.ids.prefetch(value));
            hit_values(&hits, &|value| self.ids.prefetch_records(value));
            hits.sort_by_key(|(query, _)| *query);
            let mut left = hits.as_slice();
            let (mut query, mut own) = (0, Vec::new());
            for &item in group {
                own.clear();
                if matches!(item, Item::Fingerprint(_)) {
                    let (mine, others) = left.split_at(left.partition_point(|hit| hit.0 <= query));
                    own.extend(mine.iter().map(|(_, hit)| *hit));
                    (left, query) = (others, query + 1);
                }
                answers.push(answer(item, &mut own));
            }
        }
        answers
    }

    /// The nearest live match of each item. Who has an equal one needs no table: that is most of what comes twice.
    fn nearest_each(&self, items: &[Item], distance: u32) -> Vec<Option<Match>> {
        let mut nearest = self.equal_each(items);
        let rows: Vec<usize> = (0..items.len()).filter(|&row| nearest[row].is_none()).collect();
        let left: Vec<Item> = rows.iter().map(|&row| items[row]).collect();
        let found = self.each_with_hits(&left, distance, |_, hits| self.nearest_of(hits));
        for (row, found) in rows.into_iter().zip(found) {
            nearest[row] = found;
        }
        nearest
    }

    /// The first live document that is equal to each item, their look-ups overlapping.
    fn equal_each(&self, items: &[Item]) -> Vec<Option<Match>> {
        let mut equal = Vec::with_capacity(items.len());
        for group in items.chunks(GROUP) {
            let touch_all = |touch: &dyn Fn(u64)| {
                for &item in group {
                    if let Item::Fingerprint(value) = item {
                        touch(value);
                    }
                }
            };
            touch_all(&|value| self.ids.prefetch(value));
            touch_all(&|value| self.ids.prefetch_records(value));
            equal.extend(group.iter().map(|&item| {
                let id = match item {
                    Item::Fingerprint(value) => self.ids.first(value),
                    Item::Exact(text) => self.ids.first_text(text),
                    Item::Empty => None,
                };
                id.map(|id| Match { id, distance: 0 })
            }));
        }
        equal
    }
}

impl Live<Hamming> {
    /// As if `check_and_add` were called for every item in order; other calls may come between two items, other batches do
    /// not. On the current rayon pool, on at most `threads` tasks.
    pub(super) fn check_together<B: AsRef<Item> + Sync>(
        &self,
        items: &[B],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Outcome<Match>>, IndexError> {
        let most = self.max_distance();
        let mut late = {
            let kind = &self.shared.state.read().kind;
            let unsealed = kind.unsealed.as_ref().map(|unsealed| unsealed.from);
            Late {
                tables: Tables::with_memtable(self.shared_plan(), items.len()),
                first: AHashMap::new(),
                texts: AHashMap::new(),
                seen: unsealed.unwrap_or(kind.ids.ids().next()),
            }
        };
        let length = || self.shared.state.read().kind.at_once();
        let before = each(items, threads, cancel, length, |slice| {
            self.shared.state.read().kind.nearest_each(&stored_all(slice), most)
        })?;
        Hamming::sound(&self.shared.options)?;
        self.shared.background.reached(Stage::Looked);
        let mut writer = self.batch(items.len(), cancel)?;
        let mut answers = Vec::with_capacity(items.len());
        for (slice, before) in items.chunks(TURN).zip(before.chunks(TURN)) {
            writer.next(slice.len())?;
            writer.decide(slice, before, &mut late, &mut answers);
        }
        writer.keep()?;
        Hamming::sound(&self.shared.options)?;
        Ok(answers)
    }
}

impl Writer<'_, Hamming> {
    /// Adds the items of a batch. One of at least 65,536 and of an eighth of what is there is sealed at once, on all cores,
    /// which costs a third of single additions or less; it is found when the call returns. Who is in a hurry does not wait for that.
    pub(super) fn add_items<B: AsRef<Item>>(&mut self, items: &[B]) -> Result<Added, IndexError> {
        if self.is_bulk(items.len()) {
            return self.add_bulk(items);
        }
        let mut added = Added::from(self.next_id());
        for slice in items.chunks(SLICE) {
            self.next(slice.len())?;
            self.note_all(slice.iter().map(AsRef::as_ref))?;
            added.push(self.add_slice(&stored_all(slice)));
        }
        Ok(added)
    }

    /// Whether so many had better be sealed at once.
    fn is_bulk(&self, count: usize) -> bool {
        let shared = &self.live.shared;
        let state = shared.state.read();
        // One that was cancelled may still be on its way to the tables.
        let free = state.kind.unsealed.is_none() && !shared.background.worker.has_failed();
        free && !shared.is_hurried() && state.kind.tables.is_bulk(count)
    }

    /// Adds a few items for which there is room, one after the other, their reads overlapping.
    fn add_slice(&mut self, items: &[Item]) -> Range<u64> {
        let mut state = self.live.shared.state.write();
        let Hamming { tables, ids, .. } = &mut state.kind;
        for &item in items {
            if let Item::Fingerprint(value) = item {
                ids.prefetch(value);
                tables.prefetch(value);
            }
        }
        let first = ids.ids().next();
        let fresh: Vec<u64> = items
            .iter()
            .filter_map(|&item| match (item, ids.add(item).1) {
                (Item::Fingerprint(value), true) => Some(value),
                _ => None,
            })
            .collect();
        let due = tables.extend(&fresh);
        let added = first..ids.ids().next();
        drop(state);
        if due {
            self.overdue();
        }
        added
    }

    /// Decides on a few items in order, and adds those that are new. `before` are their nearest at the time of the look,
    /// `late` is what has come since.
    fn decide<B: AsRef<Item>>(
        &mut self,
        items: &[B],
        before: &[Option<Match>],
        late: &mut Late,
        answers: &mut Vec<Outcome<Match>>,
    ) {
        let most = self.live.max_distance();
        let (mut new, mut given): (Vec<Item>, Vec<&Item>) = Default::default();
        let first = {
            let state = &self.live.shared.state.read().kind;
            late.catch_up(&state.ids);
            let first = late.seen;
            for (item, &before) in items.iter().zip(before) {
                let stored = stored(*item.as_ref());
                let mut near = before;
                if near.is_none_or(|near| near.distance > 0 || near.id >= first) {
                    let reach = near.map_or(most, |near| near.distance);
                    let came = late.nearest(stored, reach);
                    near = near.into_iter().chain(came).min_by_key(|near| (near.distance, near.id));
                }
                // What is to be added in this turn is not in the index yet.
                if near.is_some_and(|near| near.id < first && !state.ids.ids().has(near.id)) {
                    let there = state.nearest_within(stored, most).0;
                    let own = (first..).zip(&new).filter_map(|(id, &other)| {
                        let distance = apart(stored, other)?;
                        (distance <= most).then_some(Match { id, distance })
                    });
                    near = there.into_iter().chain(own).min_by_key(|near| (near.distance, near.id));
                }
                let id = near.is_none().then(|| first + new.len() as u64);
                if let Some(id) = id {
                    late.add(stored, id);
                    new.push(stored);
                    given.push(item.as_ref());
                }
                answers.push(Outcome { id, duplicate_of: near, truncated: false });
            }
            first
        };
        self.note_added(given.into_iter());
        let ids = self.add_slice(&new);
        debug_assert_eq!(ids.start, first);
        late.seen = ids.end;
    }
}
