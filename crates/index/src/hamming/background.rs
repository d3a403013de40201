//! Changes to the shared state, and the merges that follow from them.
//!
//! A merge is due when a memtable is full, too much is dead, or somebody asks for one segment of everything. It then runs on a
//! thread that lives only as long as there is work. If additions outrun the merges, the adding thread waits for them, unless it is
//! in a hurry ([`Live::hurry`](crate::live::Live::hurry)).
//!
//! Whatever a merge does to the state it does in slices, so that nobody waits for long. What it drops it forgets before
//! it puts the first table in place: a fingerprint that is added again before its turn goes into a memtable then, one that
//! is added later is new. So a live fingerprint is in a memtable or in every table at any moment.
//!
//! A merge that panics is the last one. The memtables that it was to merge stay, and so do the tables that it has replaced:
//! every answer remains exact, additions go into memtables, and who asks for a segment gets [`IndexError::Merge`].

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ahash::AHashSet;
use parking_lot::{Condvar, Mutex};

use super::{Hamming, Stage};
use crate::IndexError;
use crate::hamming::segment::Segment;
use crate::hamming::tables::{BACKLOG, Job};
use crate::ids::Ids;
use crate::live::{Kind, Shared};

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

    /// Keeps merges from beginning, as if one were running.
    #[cfg(test)]
    pub(super) fn hold(&self, held: bool) {
        self.busy.store(held, Ordering::SeqCst);
    }

    pub(super) fn has_failed(&self) -> bool {
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

#[cfg(test)]
impl crate::live::Live<Hamming> {
    /// Whether no merge may begin.
    pub(crate) fn hold_merges(&self, held: bool) {
        self.shared.background.worker.hold(held);
    }
}

impl Shared<Hamming> {
    /// Waits while too many memtables wait for their merge, or more is dead than lives. Whoever has added or deleted so much
    /// does so without keeping others from their turns.
    pub(super) fn catch_up(self: &Arc<Self>, cancel: &AtomicBool) {
        let is_behind = || {
            let state = self.state.read();
            state.kind.tables.waiting() > BACKLOG || state.kind.ids.is_mostly_dead()
        };
        let is_over = || self.background.worker.has_failed() || cancel.load(Ordering::Relaxed);
        while is_behind() && !is_over() {
            self.background.reached(Stage::Behind);
            if self.is_due() {
                self.start();
            }
            self.background.worker.wait();
        }
    }

    /// Makes sure that a thread works on what is due.
    pub(super) fn start(self: &Arc<Self>) {
        if self.background.worker.has_failed()
            || self.background.worker.busy.swap(true, Ordering::SeqCst)
        {
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
                // A damaged file is read by nobody any more. Every lock is free again after a panic, and the state whole between
                // any two of them.
                if job.check().is_err()
                    || catch_unwind(AssertUnwindSafe(|| self.finish(job))).is_err()
                {
                    self.background.worker.failed.store(true, Ordering::SeqCst);
                    break;
                }
            }
            self.background.worker.busy.store(false, Ordering::SeqCst);
            self.background.worker.notify();
            // Work that came after the last look found this thread still busy.
            if self.background.worker.has_failed()
                || !self.is_due()
                || self.background.worker.busy.swap(true, Ordering::SeqCst)
            {
                return;
            }
        }
    }

    pub(super) fn is_due(&self) -> bool {
        let state = self.state.read();
        state.kind.tables.is_idle() && (state.kind.tables.is_due() || state.kind.ids.should_purge())
    }

    /// What is dead is dropped when there is much of it, and whenever little is rewritten.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state.write();
        if !state.kind.tables.is_idle() {
            return None;
        }
        if state.kind.ids.known().1 == 0 {
            state.kind.tables.answer();
        }
        let purge = state.kind.ids.should_purge() || state.kind.tables.is_requested();
        if !(purge || state.kind.tables.is_due()) {
            return None;
        }
        if purge {
            // The dead of the memtable would have to stay, and might be most of all.
            state.kind.tables.set_aside();
        }
        let job = state.kind.tables.job();
        let drop = purge || job.drops_easily(state.kind.ids.died());
        Some(if drop { job.purging(state.kind.ids.take_died()) } else { job })
    }

    /// Forgets what is dead, builds the tables and puts each in place.
    fn finish(&self, job: Job) {
        let mut dead = AHashSet::new();
        for died in job.died().chunks(SLICE) {
            let state = self.state.read();
            dead.extend(died.iter().filter(|&&value| state.kind.ids.first(value).is_none()));
        }
        let job = &mut job.without(dead);
        let dropped = job.dropped();
        self.background.reached(Stage::Sorted);
        self.state.write().kind.tables.begin();
        for values in dropped.chunks(SLICE) {
            let mut state = self.state.write();
            for &value in values {
                if !state.kind.ids.forget(value) {
                    state.kind.tables.push(value);
                }
            }
        }
        drop(dropped);
        for died in job.died().chunks(SLICE) {
            self.state.write().kind.ids.remember_dead(died);
        }
        let threads = if job.is_requested() { cores() } else { 1 };
        self.background.worker.taken.store(job.bytes(threads), Ordering::Relaxed);
        job.run(threads, |number, table| self.state.write().kind.tables.put_table(number, table));
        self.background.worker.taken.store(0, Ordering::Relaxed);
        self.state.write().kind.tables.commit(job);
        // Its memory serves again: a page that the system must clear first costs more than the additions that fill it.
        if let Some(memtable) = job.take_memtable().filter(|_| !job.is_requested()) {
            let empty = memtable.emptied();
            self.state.write().kind.tables.reuse(empty);
        }
        self.background.worker.notify();
    }

    /// One run of everything that is here now; additions and searches go on meanwhile, and what is added then is not in
    /// it. `cancel` ends the waiting, not the merge.
    pub(super) fn seal(
        self: &Arc<Self>,
        cancel: &AtomicBool,
    ) -> Result<Option<Segment>, IndexError> {
        let sealed = self.state.write().kind.tables.request();
        self.wait(&sealed, cancel)
    }

    /// [`Shared::seal`], and the id that the next addition got at that moment.
    pub(super) fn seal_before(
        self: &Arc<Self>,
        cancel: &AtomicBool,
    ) -> Result<(Option<Segment>, u64), IndexError> {
        let (sealed, end) = {
            let mut state = self.state.write();
            (state.kind.tables.request(), state.kind.ids.ids().next())
        };
        Ok((self.wait(&sealed, cancel)?, end))
    }

    /// What a merge that was asked for has made; `cancel` ends the waiting, not the merge.
    pub(super) fn wait(
        self: &Arc<Self>,
        sealed: &Receiver<Option<Segment>>,
        cancel: &AtomicBool,
    ) -> Result<Option<Segment>, IndexError> {
        loop {
            if self.is_due() {
                self.start();
            }
            match sealed.recv_timeout(MOMENT) {
                Ok(run) => return Ok(run),
                Err(RecvTimeoutError::Disconnected) => return Err(self.failure()),
                Err(RecvTimeoutError::Timeout) if self.background.worker.has_failed() => {
                    return Err(self.failure());
                }
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                    return Err(IndexError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Shared<Hamming> {
    /// Why no merge will come.
    fn failure(&self) -> IndexError {
        Hamming::sound(&self.options).err().unwrap_or(IndexError::Merge)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests;
