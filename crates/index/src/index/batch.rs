//! Many items at a time: the same answers as one by one, in order, whatever the threads.
//!
//! A batched check-and-add first looks every item up in parallel, holding no lock beyond a slice (a lock held across a
//! parallel loop could be waited for by a task that the same thread picks up). Then it stops other writers, corrects
//! what has changed since, decides in order against what the batch itself would add (a stack of its own), and adds,
//! all at once. A batch that is cancelled has changed nothing.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;
use rayon::prelude::*;

use super::{Index, OnDuplicate, State, stored};
use crate::scan::Hit;
use crate::stack::Stack;
use crate::{Checked, IndexError, Item, Match, Matches, SearchOptions};

/// Items looked up between two looks at the cancel flag: about a millisecond, and as long a writer waits at most.
const SLICE: usize = 512;

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

/// What came after the parallel look: additions of others, then what the batch itself would add.
struct Planned {
    stack: Stack,
    first: AHashMap<u64, u64>,
    texts: AHashMap<u128, u64>,
}

impl Planned {
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
    /// Adds all items, without looking for near ones; their ids are consecutive. A batch of at least 65,536 and of an
    /// eighth of what is there is sealed at once, on all cores, which costs a third of single additions or less; it is
    /// found when the call returns.
    ///
    /// # Errors
    /// [`IndexError::Full`]; nothing was added then.
    pub fn add_many(&self, items: &[Item]) -> Result<Range<u64>, IndexError> {
        self.add_many_at(items, &[])
    }

    /// [`Index::add_many`] of documents of these times, one for each item; none at all: the clock. Only an index with a
    /// window looks at them.
    ///
    /// # Errors
    /// [`IndexError::Full`]; nothing was added then.
    pub fn add_many_at(&self, items: &[Item], times: &[u64]) -> Result<Range<u64>, IndexError> {
        let _writer = self.shared.writers.lock();
        if self.shared.window.is_some() {
            return self.add_each(items, times);
        }
        let first = self.shared.state.read().ids.next();
        self.shared.add_all(items.iter().copied().map(stored), items.len())?;
        Ok(first..first + items.len() as u64)
    }

    /// With a window, documents may leave between two of a batch; the caller holds `writers`.
    fn add_each(&self, items: &[Item], times: &[u64]) -> Result<Range<u64>, IndexError> {
        let first = self.shared.state.read().ids.next();
        self.shared.state.read().ids.check_room(items.len() as u64)?;
        let now = self.shared.advance(times.first().copied());
        for (number, &item) in items.iter().enumerate() {
            let at = times.get(number).map_or(now, |&at| self.shared.advance(Some(at)));
            self.shared.add_at(stored(item), at, false)?;
        }
        Ok(first..first + items.len() as u64)
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

    /// As if `check_and_add` were called for every item in order, as one atomic step. Runs on the current rayon pool
    /// on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Cancelled`]; nothing was added then.
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
        let mark = {
            let state = self.shared.state.read();
            state.unsealed.unwrap_or(state.ids.next())
        };
        let before = each(items, threads, cancel, |slice| {
            let state = self.shared.state.read();
            state.nearest_each(slice, self.max_distance)
        })?;
        let _writer = self.shared.writers.lock();
        let state = self.shared.state.read();
        let mut planned = Planned {
            stack: Stack::with_front(Arc::clone(&self.plan), items.len()),
            first: AHashMap::new(),
            texts: AHashMap::new(),
        };
        for id in mark..state.ids.next() {
            if let Some(item) = state.ids.item(id) {
                planned.add(item, id);
            }
        }
        let from = state.ids.next();
        let mut next = from;
        let mut answers = Vec::with_capacity(items.len());
        for (number, (&item, near)) in items.iter().zip(before).enumerate() {
            if number % SLICE == 0 && cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            let stored = stored(item);
            let near = match near {
                Some(near) if !state.ids.has(near.id) => state.nearest(stored, self.max_distance).0,
                near => near,
            };
            // What was there before has the lower ids, so it wins ties.
            let own = match near {
                Some(near) if near.distance == 0 => None,
                Some(near) => planned.nearest(stored, near.distance - 1),
                None => planned.nearest(stored, self.max_distance),
            };
            answers.push(if let Some(near) = own.or(near) {
                Checked::Duplicate(near)
            } else {
                planned.add(stored, next);
                next += 1;
                Checked::Added(next - 1)
            });
        }
        let added = |(item, answer): (&Item, &Checked)| {
            matches!(answer, Checked::Added(_)).then(|| stored(*item))
        };
        drop(state);
        self.shared
            .add_all(items.iter().zip(&answers).filter_map(added), (next - from) as usize)?;
        Ok(answers)
    }
}
