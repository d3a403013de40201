//! The threads that keep a directory: one flushes in time, one writes checkpoints beside the changes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use parking_lot::Mutex;
use simhash_store::directory::Manifest;
use simhash_store::log::Log;
use simhash_store::{Access, FileError};

use super::journal::Journal;
use super::{Durability, DurableStats};
use crate::IndexError;
use crate::live::{Keeping, Later, Live, Shared, Whole};

/// How often who waits for a checkpoint looks at its own flag.
const MOMENT: Duration = Duration::from_millis(20);

/// Copies what somebody else keeps with the index, for a checkpoint.
pub(super) type Beside = Arc<dyn Fn() -> Later + Send + Sync>;

/// An index in a directory, as its owner has it. Dropped, it flushes what was changed and lets go of the directory; so does
/// [`Kept::close`], which says what came of it.
pub struct Kept {
    journal: Arc<Journal>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Has the index refuse changes.
    detach: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("journal", &self.journal).finish_non_exhaustive()
    }
}

impl Kept {
    /// Changes of this index go to the journal from now on.
    pub(super) fn start<K: Whole>(
        live: &Live<K>,
        journal: Journal,
        recipe: &str,
        beside: Beside,
    ) -> Result<Self, IndexError> {
        let journal = Arc::new(journal);
        let shared = Arc::downgrade(&live.shared);
        let (weak, path) = (Weak::clone(&shared), journal.path().to_owned());
        let detach = Box::new(move || {
            if let Some(shared) = weak.upgrade() {
                let mut turn = shared.turns.turn();
                // What is in memory is in the log, or the log has failed.
                let _ = turn.keep();
                turn.keeping = Keeping::Closed(path.clone());
            }
        });
        let recipe = recipe.to_owned();
        let keeper = Keeper { shared, journal: Arc::clone(&journal), recipe, beside };
        let mut threads = vec![spawned(&journal, "simhash-keeper", move || keeper.run())?];
        if let Durability::Interval(pause) = journal.options.durability {
            let (flushed, pause) = (Arc::clone(&journal), pause.max(Duration::from_millis(1)));
            let flusher =
                spawned(&journal, "simhash-flusher", move || flush_every(&flushed, pause));
            match flusher {
                Ok(flusher) => threads.push(flusher),
                Err(error) => {
                    journal.ask(|asked| asked.end = true);
                    return Err(error);
                }
            }
        }
        live.shared.turns.turn().keeping = Keeping::Journal(Arc::clone(&journal));
        Ok(Self { journal, threads: Mutex::new(threads), detach })
    }

    /// Waits until what was changed before the call is as durable as was promised: for the disk under [`Durability::Commit`].
    ///
    /// # Errors
    /// [`IndexError::File`]: no further change is made.
    pub fn committed(&self) -> Result<(), IndexError> {
        self.journal.committed()
    }

    /// What a call has to wait for before its answer counts; `true` under [`Durability::Commit`].
    pub fn waits(&self) -> bool {
        self.journal.options.durability == Durability::Commit
    }

    /// Waits until the disk has what was changed before the call.
    ///
    /// # Errors
    /// As [`Kept::committed`].
    pub fn flush(&self) -> Result<(), IndexError> {
        self.journal.sync()
    }

    /// Writes a checkpoint now and waits for it: opening is then reading it alone, and what has left takes no space.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Cancelled`]; changes go on into the log.
    pub fn checkpoint(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        let wake = &self.journal.wake;
        let mut asked = wake.asked.lock();
        asked.wanted += 1;
        let own = asked.wanted;
        wake.bell.notify_all();
        while asked.done < own {
            if asked.end || cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            wake.bell.wait_for(&mut asked, MOMENT);
        }
        asked.outcome.clone().map_or(Ok(()), Err)
    }

    /// What there is on the disk. O(1).
    pub fn stats(&self) -> DurableStats {
        self.journal.stats()
    }

    /// Ends the keeper, a checkpoint under way with it, flushes everything and lets go of the directory. Changes are refused from
    /// now on.
    ///
    /// # Errors
    /// [`IndexError::File`]: what the disk has is not known.
    pub fn close(&self) -> Result<(), IndexError> {
        if !self.journal.directory.is_own() {
            // A fork has none of the threads, and leaves the files alone.
            return self.journal.close();
        }
        self.journal.wake.cancel.store(true, Ordering::Relaxed);
        self.journal.ask(|asked| asked.end = true);
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // The keeper itself may be the last to let go of the index.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
        (self.detach)();
        let closed = self.journal.close();
        self.journal.directory.release();
        closed
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // What could not be flushed is with the operating system; who wants to know calls `close`.
        let _ = self.close();
    }
}

fn spawned(
    journal: &Journal,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, IndexError> {
    let spawned = thread::Builder::new().name(name.into()).spawn(work);
    Ok(spawned.map_err(|error| FileError::unwritable(error).in_file(journal.path()))?)
}

/// Has the disk take what was changed, until the end.
fn flush_every(journal: &Journal, pause: Duration) {
    let wake = &journal.wake;
    loop {
        let until = Instant::now() + pause;
        let mut asked = wake.asked.lock();
        while !asked.end && !wake.bell.wait_until(&mut asked, until).timed_out() {}
        if asked.end {
            return;
        }
        drop(asked);
        if !journal.is_synced() {
            // A flush that fails is told to who makes the next change.
            let _ = journal.sync();
        }
    }
}

/// What the thread works with. It does not keep the index.
struct Keeper<K: Whole> {
    shared: Weak<Shared<K>>,
    journal: Arc<Journal>,
    recipe: String,
    beside: Beside,
}

impl<K: Whole> Keeper<K> {
    fn run(self) {
        let wake = &self.journal.wake;
        loop {
            let mut asked = wake.asked.lock();
            while asked.wanted == asked.done && !asked.end {
                wake.bell.wait(&mut asked);
            }
            let (wanted, end) = (asked.wanted, asked.end);
            drop(asked);
            if end {
                return;
            }
            // A panic is told on stderr, and to who waits.
            let outcome = catch_unwind(AssertUnwindSafe(|| self.checkpoint()));
            let outcome = outcome.unwrap_or(Err(IndexError::Copy)).err();
            if let Some(error) = &outcome {
                self.journal.postpone(error);
            }
            self.journal.called.store(false, Ordering::Relaxed);
            self.journal.ask(|asked| (asked.done, asked.outcome) = (wanted, outcome));
        }
    }

    /// Begins another log, writes the whole as it was at that moment, and lets go of what came before.
    fn checkpoint(&self) -> Result<(), IndexError> {
        let Some(shared) = self.shared.upgrade() else { return Ok(()) };
        let (live, journal) = (Live { shared }, &self.journal);
        let directory = &journal.directory;
        if journal.has_failed() {
            return Err(IndexError::Stopped { path: journal.path().to_owned() });
        }
        let before = journal.manifest.lock().clone();
        let number = before.logs.last().map_or(1, |last| last + 1);
        // What an attempt before this one has left would be in the way.
        let swept = directory.sweep(&before);
        swept.map_err(|error| FileError::unwritable(error).in_file(directory.path()))?;

        let log = Arc::new(Log::create(&directory.log(number), &before.mark(number))?);
        let both = Manifest { logs: [&before.logs[..], &[number]].concat(), ..before.clone() };
        if let Err(error) = directory.publish(&both) {
            // It may have its name all the same: then the log counts.
            if directory.manifest()?.as_ref() == Some(&both) {
                *journal.manifest.lock() = both;
            } else {
                let _ = fs::remove_file(log.path());
            }
            return Err(error.into());
        }
        *journal.manifest.lock() = both;

        let (beside, rotating) = (Arc::clone(&self.beside), Arc::clone(journal));
        let snapshot = live.snapshot_between(
            move || beside(),
            move |own| {
                // What was changed so far belongs to the log before.
                own.keep()?;
                own.check()?;
                rotating.rotate(log)
            },
        );
        snapshot.copy_now();
        let documents = live.len();
        drop(live);
        let path = directory.checkpoint(number);
        let snapshot = snapshot.marked(before.mark(number));
        snapshot.write_file((&path, Access::Private), &self.recipe, &journal.wake.cancel)?;
        // The logs that it stands for are not needed any more, so nobody needs to flush them.
        let after = Manifest { checkpoint: number, logs: vec![number], ..before };
        directory.publish(&after)?;
        *journal.manifest.lock() = after.clone();
        let bytes = fs::metadata(&path).map_or(0, |about| about.len());
        journal.forget_older(documents, bytes);
        // What cannot be removed now is removed by the next opener.
        let _ = directory.sweep(&after);
        Ok(())
    }
}
