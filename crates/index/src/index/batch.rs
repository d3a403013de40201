//! Many items at a time: the same answers as one by one, in order, whatever the threads.
//!
//! A batched check-and-add first looks every item up in parallel, holding no lock beyond a slice (a lock held across a
//! parallel loop could be waited for by a task that the same thread picks up). Until then it can be cancelled and has changed
//! nothing. Then it takes its turns, a slice of items each: it corrects what has changed since the look, decides in order
//! against what has come since (a stack of its own), and adds.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;
use rayon::prelude::*;

use super::{Added, Index, OnDuplicate, Stage, State, Writer, stored};
use crate::scan::Hit;
use crate::stack::Stack;
use crate::window::clock;
use crate::{Checked, IndexError, Item, Match, Matches, SearchOptions};

/// Items looked up between two looks at the cancel flag: about a millisecond, and as long a writer waits at most.
const SLICE: usize = 512;

/// Items decided on in one turn: a tenth of a millisecond, and as long a single change waits.
const TURN: usize = 64;

/// `decide` for every item on the current pool, in slices, on at most `threads` tasks (0: as many as the pool has).
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    cancel: &AtomicBool,
    decide: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Result<Vec<T>, IndexError> {
    let live = || if cancel.load(Ordering::Relaxed) { Err(IndexError::Cancelled) } else { Ok(()) };
    let tasks = if threads == 0 { rayon::current_num_threads() } else { threads };
    if tasks == 1 || items.len() <= SLICE {
        let mut all = Vec::with_capacity(items.len());
        for slice in items.chunks(SLICE) {
            live()?;
            all.extend(decide(slice));
        }
        live()?;
        return Ok(all);
    }
    // One contiguous share per task keeps the number of tasks at the cap; slices inside poll the flag.
    let share = items.len().div_ceil(tasks * 4).max(SLICE);
    let parts: Result<Vec<Vec<T>>, IndexError> = items
        .par_chunks(share)
        .with_min_len(items.len().div_ceil(share).div_ceil(tasks))
        .map(|part| {
            let mut all = Vec::with_capacity(part.len());
            for slice in part.chunks(SLICE) {
                live()?;
                all.extend(decide(slice));
            }
            Ok(all)
        })
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// What has been added since the parallel look began, by others and by the batch itself.
struct Late {
    stack: Stack,
    first: AHashMap<u64, u64>,
    texts: AHashMap<u128, u64>,
    /// Ids before this one are in it, or were there before.
    seen: u64,
}

impl Late {
    fn nearest(&self, stored: Item, distance: u32) -> Option<Match> {
        match stored {
            Item::Fingerprint(value) => {
                let mut hits = Vec::new();
                self.stack.find(value, distance, &mut hits);
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
                    self.stack.push(value);
                }
            }
            Item::Exact(text) => drop(self.texts.entry(text).or_insert(id)),
            Item::Empty => {}
        }
    }

    /// Takes in what others have added.
    fn catch_up(&mut self, state: &State) {
        for id in self.seen..state.ids.next() {
            if let Some(item) = state.ids.item(id) {
                self.add(item, id);
            }
        }
        self.seen = state.ids.next();
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

impl State {
    /// Calls `answer(item, hits)` for each item in order, the items' look-ups overlapping in the tables and the ids.
    fn each_with_hits<T>(
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
            let fingerprints = group.iter().filter_map(|&item| match stored(item) {
                Item::Fingerprint(value) => Some(value),
                _ => None,
            });
            queries.extend(fingerprints);
            self.stack.find_each(&queries, distance, |query, hit| hits.push((query, hit)));
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
                answers.push(answer(stored(item), &mut own));
            }
        }
        answers
    }

    fn search_each(&self, items: &[Item], distance: u32, limit: usize) -> Vec<Matches> {
        self.each_with_hits(items, distance, |item, hits| self.matches(item, hits, limit))
    }

    fn nearest_each(&self, items: &[Item], distance: u32) -> Vec<Option<Match>> {
        self.each_with_hits(items, distance, |item, hits| match item {
            Item::Exact(text) => self.ids.first_text(text).map(|id| Match { id, distance: 0 }),
            _ => self.nearest_of(hits),
        })
    }
}

impl Index {
    /// Adds all items in order, without looking for near ones; other calls may come between two items, other batches do not.
    /// A batch of at least 65,536 and of an eighth of what is there is sealed at once, on all cores, which costs a third of
    /// single additions or less; it is found when the call returns.
    ///
    /// # Errors
    /// [`IndexError::Full`]; nothing was added then.
    pub fn add_many(&self, items: &[Item]) -> Result<Added, IndexError> {
        self.add_many_at(items, &[])
    }

    /// [`Index::add_many`] of documents of these times, one for each item; none at all: the clock. Only an index with a
    /// window looks at them.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`]; nothing was added then.
    pub fn add_many_at(&self, items: &[Item], times: &[u64]) -> Result<Added, IndexError> {
        self.admit(times)?;
        let mut writer = self.batch(items.len(), &AtomicBool::new(false))?;
        let mut added = Added::from(writer.next_id());
        if self.shared.window.is_some() {
            let now = clock();
            for (number, &item) in items.iter().enumerate() {
                writer.next(1);
                let at = writer.advance(Some(times.get(number).copied().unwrap_or(now)));
                let id = writer.add(item, at)?;
                added.push(id..id + 1);
            }
        } else if writer.is_bulk(items.len()) {
            return Ok(writer.add_bulk(items));
        } else {
            for slice in items.chunks(SLICE) {
                writer.next(slice.len());
                added.push(writer.add_slice(slice));
            }
        }
        Ok(added)
    }

    /// One answer per item, in order. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Distance`], [`IndexError::Cancelled`].
    pub fn search_many(
        &self,
        items: &[Item],
        options: SearchOptions,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Matches>, IndexError> {
        let (distance, limit) = self.resolve(options)?;
        let found = each(items, threads, cancel, |slice| {
            let state = self.shared.state.read();
            state.search_each(slice, distance, limit)
        })?;
        self.count_truncated(&found);
        Ok(found)
    }

    /// As if `check_and_add` were called for every item in order; other calls may come between two items, other batches do
    /// not. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Cancelled`] if the flag goes up before the first item is added; nothing was added
    /// then.
    pub fn check_and_add_many(
        &self,
        items: &[Item],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Checked>, IndexError> {
        if self.shared.window.is_some() {
            let answers = self.check_and_add_many_with(items, &[], OnDuplicate::Skip, cancel)?;
            return Ok(answers.into_iter().map(Checked::from).collect());
        }
        let mut late = {
            let state = self.shared.state.read();
            let unsealed = state.unsealed.as_ref().map(|unsealed| unsealed.from);
            Late {
                stack: Stack::with_front(Arc::clone(&self.plan), items.len()),
                first: AHashMap::new(),
                texts: AHashMap::new(),
                seen: unsealed.unwrap_or(state.ids.next()),
            }
        };
        let before = each(items, threads, cancel, |slice| {
            let state = self.shared.state.read();
            state.nearest_each(slice, self.max_distance)
        })?;
        self.shared.reached(Stage::Looked);
        let mut writer = self.batch(items.len(), cancel)?;
        let mut answers = Vec::with_capacity(items.len());
        for (slice, before) in items.chunks(TURN).zip(before.chunks(TURN)) {
            writer.next(slice.len());
            writer.decide(slice, before, &mut late, &mut answers);
        }
        Ok(answers)
    }
}

impl Writer<'_> {
    /// Whether so many had better be sealed at once.
    fn is_bulk(&self, count: usize) -> bool {
        let shared = &self.index.shared;
        shared.state.read().stack.is_bulk(count) && !shared.worker.has_failed()
    }

    /// Adds a few items for which there is room, one after the other, their reads overlapping.
    fn add_slice(&mut self, items: &[Item]) -> Range<u64> {
        let mut state = self.index.shared.state.write();
        for &item in items {
            if let Item::Fingerprint(value) = stored(item) {
                state.ids.prefetch(value);
                state.stack.prefetch(value);
            }
        }
        let first = state.ids.next();
        let fresh: Vec<u64> = items
            .iter()
            .filter_map(|&item| match (stored(item), state.ids.add(stored(item)).1) {
                (Item::Fingerprint(value), true) => Some(value),
                _ => None,
            })
            .collect();
        let due = state.stack.extend(&fresh);
        let ids = first..state.ids.next();
        drop(state);
        if due {
            self.merge();
        }
        ids
    }

    /// Decides on a few items in order, and adds those that are new. `before` are their nearest at the time of the look,
    /// `late` is what has come since.
    fn decide(
        &mut self,
        items: &[Item],
        before: &[Option<Match>],
        late: &mut Late,
        answers: &mut Vec<Checked>,
    ) {
        let most = self.index.max_distance;
        let mut new: Vec<Item> = Vec::new();
        let first = {
            let state = self.index.shared.state.read();
            late.catch_up(&state);
            let first = late.seen;
            for (&item, &before) in items.iter().zip(before) {
                let stored = stored(item);
                let mut near = before;
                if near.is_none_or(|near| near.distance > 0 || near.id >= first) {
                    let reach = near.map_or(most, |near| near.distance);
                    let came = late.nearest(stored, reach);
                    near = near.into_iter().chain(came).min_by_key(|near| (near.distance, near.id));
                }
                // What is to be added in this turn is not in the index yet.
                if near.is_some_and(|near| near.id < first && !state.ids.has(near.id)) {
                    let there = state.nearest(stored, most).0;
                    let own = (first..).zip(&new).filter_map(|(id, &other)| {
                        let distance = apart(stored, super::stored(other))?;
                        (distance <= most).then_some(Match { id, distance })
                    });
                    near = there.into_iter().chain(own).min_by_key(|near| (near.distance, near.id));
                }
                answers.push(if let Some(near) = near {
                    Checked::Duplicate(near)
                } else {
                    let id = first + new.len() as u64;
                    late.add(stored, id);
                    new.push(item);
                    Checked::Added(id)
                });
            }
            first
        };
        let ids = self.add_slice(&new);
        debug_assert_eq!(ids.start, first);
        late.seen = ids.end;
    }
}
