//! Changes to the shared state, and the merges that follow from them.
//!
//! A merge is due when a front is full or too much is dead. It then runs on a thread that lives only as long as there
//! is work. If additions outrun the merges, the adding thread waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Shared;
use crate::stack::{BACKLOG, Job};
use crate::{IndexError, Item};

/// Items added under one exclusive hold of the state: about a tenth of a millisecond.
const SLICE: usize = 512;

/// Whether the merging thread is running.
#[derive(Debug, Default)]
pub(super) struct Worker {
    busy: AtomicBool,
    stopped: Mutex<()>,
    progress: Condvar,
}

impl Worker {
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
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
    /// Adds a stored item; the caller holds `writers`. `unknown`: no table has its fingerprint, as a search has shown.
    pub(super) fn add(self: &Arc<Self>, stored: Item, unknown: bool) -> Result<u64, IndexError> {
        let (id, due) = {
            let mut state = self.state.write();
            state.ids.check_room(1)?;
            if let Item::Fingerprint(value) = stored {
                // Written last: by then the lines have come.
                state.stack.prefetch(value);
            }
            state.add(stored, unknown)
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
                    state.stack.prefetch(*value);
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

    /// Starts the merge that is due, and waits while too many fronts do.
    fn merge(self: &Arc<Self>) {
        self.start();
        while self.state.read().stack.waiting() > BACKLOG {
            self.worker.wait();
            self.start();
        }
    }

    /// Starts a purge if too much is dead, and waits for it if that is more than what lives; the caller holds
    /// `writers`.
    pub(super) fn tidy(self: &Arc<Self>) {
        if self.is_due() {
            self.start();
        }
        while self.state.read().ids.is_mostly_dead() {
            self.worker.wait();
            if self.is_due() {
                self.start();
            }
        }
    }

    /// Makes sure that a thread works on what is due.
    fn start(self: &Arc<Self>) {
        if self.worker.busy.swap(true, Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(self);
        let started =
            thread::Builder::new().name("simhash-merge".into()).spawn(move || shared.work());
        if started.is_err() {
            // No thread to be had: the caller does the work.
            self.work();
        }
    }

    fn work(self: &Arc<Self>) {
        loop {
            while let Some(job) = self.next_job() {
                self.finish(job);
            }
            self.worker.busy.store(false, Ordering::SeqCst);
            self.worker.notify();
            // Work that came after the last look found this thread still busy.
            if !self.is_due() || self.worker.busy.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    fn is_due(&self) -> bool {
        let state = self.state.read();
        state.stack.is_idle() && (state.stack.is_due() || state.ids.should_purge())
    }

    /// What is dead is dropped when there is much of it, and whenever little is rewritten.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state.write();
        let purge = state.ids.should_purge();
        if !state.stack.is_idle() || !(purge || state.stack.is_due()) {
            return None;
        }
        let job = state.stack.job();
        let drop = purge || job.drops_easily(state.ids.died());
        Some(if drop { job.without(state.ids.dead()) } else { job })
    }

    /// Builds and commits; fingerprints left out are forgotten, unless they were added again meanwhile.
    fn finish(&self, job: Job) {
        let merged = job.run();
        let mut state = self.state.write();
        let dropped = state.stack.commit(&job, merged);
        for value in dropped {
            if !state.ids.forget(value) {
                state.stack.push(value);
            }
        }
        if job.purges() {
            state.ids.purged();
        }
        drop(state);
        // Its memory serves again: a page that the system must clear first costs more than the additions that fill it.
        if let Some(front) = job.into_front() {
            self.state.write().stack.reuse(front.emptied());
        }
        self.worker.notify();
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
                self.finish(job);
                return;
            }
            self.worker.wait();
        }
    }
}
