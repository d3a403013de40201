//! Many items at a time: the same answers as one by one, in order, whatever the threads.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::kind::Kind;
use super::window::clock;
use super::{AddOptions, Added, Answer, Live, OnDuplicate, Outcome};
use crate::IndexError;

/// Items looked up between two looks at the cancel flag: about a millisecond, and as long a writer waits at most.
pub(crate) const SLICE: usize = 512;

/// Takes steps while there is one to take: `step` holds a lock for a moment.
pub(crate) fn compact_in_steps(
    cancel: &AtomicBool,
    mut step: impl FnMut() -> bool,
) -> Result<(), IndexError> {
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        if !step() {
            return Ok(());
        }
    }
}

/// `decide` for every item on the current pool, in slices of `length` or less, on at most `threads` tasks (0: as many as the pool has).
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    cancel: &AtomicBool,
    length: impl Fn() -> usize + Sync,
    decide: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Result<Vec<T>, IndexError> {
    let decide_all = |part: &[I]| in_slices(part, cancel, &length, &decide);
    let tasks = if threads == 0 { rayon::current_num_threads() } else { threads };
    if tasks == 1 || items.len() <= SLICE {
        return decide_all(items);
    }
    // One contiguous share per task keeps the number of tasks at the cap; slices inside poll the flag.
    let share = items.len().div_ceil(tasks * 4).max(SLICE);
    let parts: Result<Vec<Vec<T>>, IndexError> = items
        .par_chunks(share)
        .with_min_len(items.len().div_ceil(share).div_ceil(tasks))
        .map(decide_all)
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// Not inlined, for it would be there twice for each kind.
#[inline(never)]
fn in_slices<I, T>(
    mut left: &[I],
    cancel: &AtomicBool,
    length: &dyn Fn() -> usize,
    decide: &dyn Fn(&[I]) -> Vec<T>,
) -> Result<Vec<T>, IndexError> {
    let live = || if cancel.load(Ordering::Relaxed) { Err(IndexError::Cancelled) } else { Ok(()) };
    let mut all = Vec::with_capacity(left.len());
    while !left.is_empty() {
        live()?;
        let (slice, rest) = left.split_at(length().clamp(1, left.len()));
        all.extend(decide(slice));
        left = rest;
    }
    live()?;
    Ok(all)
}

impl<K: Kind> Live<K> {
    fn check_items<B: AsRef<K::Item>>(&self, items: &[B]) -> Result<(), IndexError> {
        items.iter().try_for_each(|item| K::check(&self.shared.options, item.as_ref()))
    }

    /// Adds all items in order, without looking for near ones; other calls may come between two items, or where an addition costs
    /// little between two turns of 64 or 512 of them; other batches do not.
    /// `times` has one for each item, or is empty for the clock; only an index with a window looks at them.
    ///
    /// # Errors
    /// As [`Live::add_at`], and [`IndexError::Cancelled`] if the flag is up at the start; nothing was added then.
    pub fn add_many<B: AsRef<K::Item>>(
        &self,
        items: &[B],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, IndexError> {
        self.check_items(items)?;
        self.admit(times)?;
        let mut writer = self.batch(items.len(), cancel)?;
        let work = |writer: &mut super::Writer<'_, K>| {
            if self.shared.window().is_none()
                && let Some(added) = K::add_all(writer, items)
            {
                return added;
            }
            let (mut added, now) = (Added::from(writer.next_id()), clock());
            let at = |number: usize| times.get(number).copied().unwrap_or(now);
            let mut number = 0;
            while number < items.len() {
                let few = &items[number..items.len().min(number + writer.together())];
                let ids = match few {
                    [item] => {
                        writer.next(1)?;
                        writer.advance(Some(at(number)))?;
                        let id = writer.add(item.as_ref())?;
                        id..id + 1
                    }
                    few => writer.add_together(few, |place| at(number + place))?,
                };
                number += (ids.end - ids.start) as usize;
                added.push(ids);
            }
            Ok(added)
        };
        let done = work(&mut writer);
        writer.keep()?;
        let done = done?;
        K::sound(&self.shared.options)?;
        Ok(done)
    }

    /// One answer per item, in order. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// As [`Live::search`], and [`IndexError::Cancelled`].
    pub fn search_many<B: AsRef<K::Item> + Sync>(
        &self,
        items: &[B],
        search: K::Search,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer<K::Match>>, IndexError> {
        let found = self.look_many(items, search, threads, cancel)?;
        self.shared.count_truncated(found.iter().map(|found| found.truncated));
        Ok(found)
    }

    /// [`Live::search_many`] of which none is counted where a limit cut it: for who makes answers of them.
    ///
    /// # Errors
    /// As [`Live::search_many`].
    pub fn look_many<B: AsRef<K::Item> + Sync>(
        &self,
        items: &[B],
        search: K::Search,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer<K::Match>>, IndexError> {
        let options = &self.shared.options;
        let search = K::search_options(options, search)?;
        self.check_items(items)?;
        let length = || self.shared.state.read().kind.at_once();
        let found = each(items, threads, cancel, length, |slice| {
            let forms: Vec<_> = slice.iter().map(|item| K::form(options, item.as_ref())).collect();
            let state = self.shared.state.read();
            if let Some(first) = forms.first() {
                state.kind.prefetch(first);
            }
            state.kind.near_each(&forms, search)
        })?;
        K::sound(options)?;
        Ok(found)
    }

    /// As if [`Live::check_and_add_with`] were called for every item in order; other calls may come between two items, other
    /// batches do not. `times` has one for each item, or is empty for the clock. What can be done in parallel runs on the
    /// current rayon pool on at most `threads` tasks (0: all of it): the looks of a Hamming index without a window whose
    /// duplicates are skipped.
    ///
    /// # Errors
    /// As [`Live::add_at`], and [`IndexError::Cancelled`] if the flag goes up before the first item is added; nothing was
    /// added then.
    pub fn check_and_add_many<B: AsRef<K::Item> + Sync>(
        &self,
        items: &[B],
        times: &[u64],
        on_duplicate: OnDuplicate,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Outcome<K::Match>>, IndexError> {
        self.check_items(items)?;
        self.admit(times)?;
        if self.shared.window().is_none()
            && on_duplicate != OnDuplicate::Add
            && let Some(outcomes) = K::check_all(self, items, threads, cancel)
        {
            return outcomes;
        }
        let mut writer = self.batch(items.len(), cancel)?;
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        let check = |(item, at): (&B, Option<u64>)| {
            writer.next(1)?;
            let form = K::form(&self.shared.options, item.as_ref());
            writer.check(item.as_ref(), &form, AddOptions { at, on_duplicate })
        };
        let outcomes: Result<Vec<_>, IndexError> = items.iter().zip(times).map(check).collect();
        writer.keep()?;
        let outcomes = outcomes?;
        self.shared.count_truncated(outcomes.iter().map(|outcome| outcome.truncated));
        Ok(outcomes)
    }
}
