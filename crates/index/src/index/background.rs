//! Changes to the shared state, and the merges that follow from them.
//!
//! A merge is due when a front is full, when runs crowd a level, or when too much is dead. It then runs on a thread
//! that lives only as long as there is work; small and large merges have a thread each, so that a merge of gigabytes
//! does not hold up the fronts. If additions outrun the merges, the adding thread waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Shared;
use crate::stack::{FRONT, Job};
use crate::{IndexError, Item};

/// Fingerprints set aside before additions wait for the merges: scanning so many costs some 10 µs.
const BACKLOG: usize = 32 * FRONT;

/// Items added under one exclusive hold of the state: about a tenth of a millisecond.
const SLICE: usize = 512;

#[derive(Debug, Clone, Copy)]
enum Size {
    Small,
    Large,
}

/// Which merging threads are running.
#[derive(Debug, Default)]
pub(super) struct Workers {
    busy: [AtomicBool; 2],
    stopped: Mutex<()>,
    progress: Condvar,
}

impl Workers {
    pub(super) fn is_busy(&self) -> bool {
        self.busy.iter().any(|busy| busy.load(Ordering::SeqCst))
    }

    fn notify(&self) {
        drop(self.stopped.lock());
        self.progress.notify_all();
    }

    /// Waits for some merge to end, a moment at most.
    fn wait(&self) {
        let mut stopped = self.stopped.lock();
        self.progress.wait_for(&mut stopped, Duration::from_millis(1));
    }
}

impl Shared {
    /// Adds a stored item; the caller holds `writers`.
    pub(super) fn add(self: &Arc<Self>, stored: Item) -> Result<u64, IndexError> {
        let (id, due) = {
            let mut state = self.state.write();
            state.ids.check_room(1)?;
            state.add(stored)
        };
        if due {
            self.merge();
        }
        Ok(id)
    }

    /// Adds `count` stored items; the caller holds `writers`. Searches get in between slices.
    pub(super) fn add_all(
        self: &Arc<Self>,
        stored: impl Iterator<Item = Item>,
        count: usize,
    ) -> Result<(), IndexError> {
        self.state.read().ids.check_room(count as u64)?;
        let mut stored = stored.peekable();
        let (mut fresh, mut slice) = (Vec::new(), Vec::with_capacity(SLICE));
        while stored.peek().is_some() {
            let mut state = self.state.write();
            fresh.clear();
            slice.clear();
            slice.extend(stored.by_ref().take(SLICE));
            for item in &slice {
                if let Item::Fingerprint(value) = item {
                    state.ids.prefetch(*value);
                }
            }
            for item in slice.drain(..) {
                if let (Item::Fingerprint(value), (_, true)) = (item, state.ids.add(item)) {
                    fresh.push(value);
                }
            }
            let due = state.stack.extend(&fresh);
            drop(state);
            if due {
                self.merge();
            }
        }
        Ok(())
    }

    /// Starts the merges that are due, and waits while the backlog is long.
    fn merge(self: &Arc<Self>) {
        self.start(Size::Small);
        while self.state.read().stack.waiting_len() > BACKLOG {
            self.workers.wait();
            self.start(Size::Small);
        }
    }

    /// Starts a purge if too much is dead, and waits for it if that is more than what lives; the caller holds
    /// `writers`.
    pub(super) fn tidy(self: &Arc<Self>) {
        if self.large_is_due() {
            self.start(Size::Large);
        }
        while self.state.read().ids.is_mostly_dead() {
            self.workers.wait();
            if self.large_is_due() {
                self.start(Size::Large);
            }
        }
    }

    /// Makes sure that a thread works on jobs of this size.
    fn start(self: &Arc<Self>, size: Size) {
        if self.workers.busy[size as usize].swap(true, Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(self);
        let name = format!("simhash-merge-{size:?}").to_lowercase();
        let started = thread::Builder::new().name(name).spawn(move || shared.work(size));
        if started.is_err() {
            // No thread to be had: the caller does the work.
            self.work(size);
        }
    }

    fn work(self: &Arc<Self>, size: Size) {
        loop {
            while let Some(job) = self.next_job(size) {
                self.finish(&job);
                if matches!(size, Size::Small) && self.large_is_due() {
                    self.start(Size::Large);
                }
            }
            self.workers.busy[size as usize].store(false, Ordering::SeqCst);
            self.workers.notify();
            // Work that came after the last look found this thread still busy.
            let due = match size {
                Size::Small => self.state.read().stack.small_is_due(),
                Size::Large => self.large_is_due(),
            };
            if !due || self.workers.busy[size as usize].swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    fn large_is_due(&self) -> bool {
        let state = self.state.read();
        state.stack.large_is_due() || (state.ids.should_purge() && state.stack.purge_is_possible())
    }

    fn next_job(&self, size: Size) -> Option<Job> {
        let mut state = self.state.write();
        match size {
            // Small merges drop what is dead while that is little against what they rewrite.
            Size::Small => state.stack.small_job().map(|job| {
                let few = state.ids.died() > 0 && state.ids.died() <= job.len();
                if few { job.without(state.ids.dead()) } else { job }
            }),
            Size::Large if state.ids.should_purge() && state.stack.purge_is_possible() => {
                let dead = state.ids.dead();
                Some(state.stack.purge_job().without(dead))
            }
            Size::Large => state.stack.large_job(),
        }
    }

    /// Builds and commits; fingerprints left out are forgotten, unless they were added again meanwhile.
    fn finish(&self, job: &Job) {
        let merged = job.run();
        let mut state = self.state.write();
        let dropped = state.stack.commit(job, merged);
        for value in dropped {
            if !state.ids.forget(value) {
                state.stack.push(value);
            }
        }
        if job.purges() {
            state.ids.purged();
        }
        drop(state);
        self.workers.notify();
    }

    /// Merges everything into one run; the caller holds `writers`.
    pub(super) fn compact(self: &Arc<Self>) {
        loop {
            let job = {
                let mut state = self.state.write();
                if state.stack.is_idle() {
                    let dead = state.ids.dead();
                    if dead.is_empty() && state.stack.is_whole() {
                        return;
                    }
                    match state.stack.whole_job() {
                        Some(job) => Some(job.without(dead)),
                        None => return,
                    }
                } else {
                    None
                }
            };
            if let Some(job) = job {
                self.finish(&job);
                return;
            }
            self.workers.wait();
        }
    }
}
