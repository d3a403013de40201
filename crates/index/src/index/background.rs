//! Changes to the shared state, and the merges that follow from them.
//!
//! A merge is due when a front is full, too much is dead, or somebody asks for one run of everything. It then runs on a
//! thread that lives only as long as there is work. If additions outrun the merges, the adding thread waits for them.
//!
//! Whatever a merge does to the state it does in slices, so that nobody waits for long. What it drops it forgets before
//! it puts the first table in place: a fingerprint that is added again before its turn goes into a front then, one that
//! is added later is new. So a live fingerprint is in a front or in every table at any moment.
//!
//! A merge that panics is the last one. The fronts that it was to merge stay, and so do the tables that it has replaced:
//! every answer remains exact, additions go into fronts, and who asks for a sealed run gets [`IndexError::Merge`].

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ahash::AHashSet;
use parking_lot::{Condvar, Mutex};

use super::Shared;
use crate::run::Run;
use crate::stack::{BACKLOG, Job};
use crate::{IndexError, Item};

/// Items added under one exclusive hold of the state: about a tenth of a millisecond.
pub(super) const SLICE: usize = 512;

/// Between two looks at whether what is waited for will come.
const MOMENT: Duration = Duration::from_millis(1);

/// Whether the merging thread is running, and whether one has panicked.
#[derive(Debug, Default)]
pub(super) struct Worker {
    busy: AtomicBool,
    failed: AtomicBool,
    /// Bytes that a merge takes.
    taken: AtomicUsize,
    stopped: Mutex<()>,
    progress: Condvar,
}

impl Worker {
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
    }

    pub(super) fn merge_bytes(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    fn notify(&self) {
        drop(self.stopped.lock());
        self.progress.notify_all();
    }

    /// Waits for some merge to end, a moment at most.
    fn wait(&self) {
        let mut stopped = self.stopped.lock();
        self.progress.wait_for(&mut stopped, MOMENT);
    }
}

impl Shared {
    /// Adds a stored item; the caller holds `writers`. `unknown`: no table has its fingerprint, as a search has shown.
    pub(super) fn add(self: &Arc<Self>, stored: Item, unknown: bool) -> Result<u64, IndexError> {
        let (id, due) = {
            let mut state = self.state.write();
            state.ids.check_room(1)?;
            if let Item::Fingerprint(value) = stored
                && !unknown
            {
                // Written last: by then the lines have come. A search has read them already.
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
        {
            let state = self.state.read();
            state.ids.check_room(count as u64)?;
            if state.stack.is_bulk(count) && !self.worker.has_failed() {
                drop(state);
                self.add_bulk(stored, count);
                return Ok(());
            }
        }
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
    pub(super) fn merge(self: &Arc<Self>) {
        self.start();
        while self.state.read().stack.waiting() > BACKLOG && !self.worker.has_failed() {
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
        while self.state.read().ids.is_mostly_dead() && !self.worker.has_failed() {
            self.worker.wait();
            if self.is_due() {
                self.start();
            }
        }
    }

    /// Makes sure that a thread works on what is due.
    pub(super) fn start(self: &Arc<Self>) {
        if self.worker.has_failed() || self.worker.busy.swap(true, Ordering::SeqCst) {
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
                // Every lock is free again after a panic, and the state whole between any two of them.
                if catch_unwind(AssertUnwindSafe(|| self.finish(job))).is_err() {
                    self.worker.failed.store(true, Ordering::SeqCst);
                    break;
                }
            }
            self.worker.busy.store(false, Ordering::SeqCst);
            self.worker.notify();
            // Work that came after the last look found this thread still busy.
            if self.worker.has_failed()
                || !self.is_due()
                || self.worker.busy.swap(true, Ordering::SeqCst)
            {
                return;
            }
        }
    }

    pub(super) fn is_due(&self) -> bool {
        let state = self.state.read();
        state.stack.is_idle() && (state.stack.is_due() || state.ids.should_purge())
    }

    /// What is dead is dropped when there is much of it, and whenever little is rewritten.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state.write();
        if !state.stack.is_idle() {
            return None;
        }
        if state.ids.known().1 == 0 {
            state.stack.answer();
        }
        let purge = state.ids.should_purge() || state.stack.is_requested();
        if !(purge || state.stack.is_due()) {
            return None;
        }
        if purge {
            // The dead of the front would have to stay, and might be most of all.
            state.stack.set_aside();
        }
        let job = state.stack.job();
        let drop = purge || job.drops_easily(state.ids.died());
        Some(if drop { job.purging(state.ids.take_died()) } else { job })
    }

    /// Forgets what is dead, builds the tables and puts each in place.
    fn finish(&self, job: Job) {
        let mut dead = AHashSet::new();
        for died in job.died().chunks(SLICE) {
            let state = self.state.read();
            dead.extend(died.iter().filter(|&&value| state.ids.first(value).is_none()));
        }
        let job = &mut job.without(dead);
        let dropped = job.dropped();
        self.state.write().stack.begin();
        for values in dropped.chunks(SLICE) {
            let mut state = self.state.write();
            for &value in values {
                if !state.ids.forget(value) {
                    state.stack.push(value);
                }
            }
        }
        drop(dropped);
        for died in job.died().chunks(SLICE) {
            self.state.write().ids.remember_dead(died);
        }
        let threads = if job.is_requested() { cores() } else { 1 };
        self.worker.taken.store(job.bytes(threads), Ordering::Relaxed);
        job.run(threads, |number, table| self.state.write().stack.put_table(number, table));
        self.worker.taken.store(0, Ordering::Relaxed);
        self.state.write().stack.commit(job);
        // Its memory serves again: a page that the system must clear first costs more than the additions that fill it.
        if let Some(front) = job.take_front().filter(|_| !job.is_requested()) {
            let empty = front.emptied();
            self.state.write().stack.reuse(empty);
        }
        self.worker.notify();
    }

    /// One run of everything that is here now; additions and searches go on meanwhile, and what is added then is not in
    /// it. `cancel` ends the waiting, not the merge.
    pub(super) fn seal(self: &Arc<Self>, cancel: &AtomicBool) -> Result<Option<Run>, IndexError> {
        let sealed = self.state.write().stack.request();
        self.wait(&sealed, cancel)
    }

    /// What a merge that was asked for has made; `cancel` ends the waiting, not the merge.
    pub(super) fn wait(
        self: &Arc<Self>,
        sealed: &Receiver<Option<Run>>,
        cancel: &AtomicBool,
    ) -> Result<Option<Run>, IndexError> {
        loop {
            if self.is_due() {
                self.start();
            }
            match sealed.recv_timeout(MOMENT) {
                Ok(run) => return Ok(run),
                Err(RecvTimeoutError::Disconnected) => return Err(IndexError::Merge),
                Err(RecvTimeoutError::Timeout) if self.worker.has_failed() => {
                    return Err(IndexError::Merge);
                }
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                    return Err(IndexError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests;
