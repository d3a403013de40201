//! The thread that keeps a directory: flushes in time, and writes checkpoints beside the changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;
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
    thread: Mutex<Option<JoinHandle<()>>>,
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
        let thread = thread::Builder::new().name("simhash-keeper".into());
        let thread = thread.spawn(move || keeper.run()).map_err(|error| {
            IndexError::from(FileError::unwritable(error).in_file(journal.path()))
        })?;
        live.shared.turns.turn().keeping = Keeping::Journal(Arc::clone(&journal));
        Ok(Self { journal, thread: Mutex::new(Some(thread)), detach })
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
        self.journal.wake.cancel.store(true, Ordering::Relaxed);
        self.journal.ask(|asked| asked.end = true);
        let thread = self.thread.lock().take();
        // The keeper itself may be the last to let go of the index.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id())
        {
            let _ = thread.join();
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
        let pause = match self.journal.options.durability {
            Durability::Interval(pause) => Some(pause.max(Duration::from_millis(1))),
            _ => None,
        };
        loop {
            let mut asked = wake.asked.lock();
            if asked.wanted == asked.done && !asked.end {
                match pause {
                    Some(pause) => drop(wake.bell.wait_for(&mut asked, pause)),
                    None => wake.bell.wait(&mut asked),
                }
            }
            let (wanted, is_wanted, end) = (asked.wanted, asked.wanted > asked.done, asked.end);
            drop(asked);
            if end {
                return;
            }
            if pause.is_some() && !self.journal.is_synced() {
                // A flush that fails is told to who makes the next change.
                let _ = self.journal.sync();
            }
            if is_wanted {
                let outcome = self.checkpoint().err();
                if let Some(error) = &outcome {
                    self.journal.postpone(error);
                }
                self.journal.called.store(false, Ordering::Relaxed);
                self.journal.ask(|asked| (asked.done, asked.outcome) = (wanted, outcome));
            }
        }
    }

    /// Begins another log, writes the whole as it was at that moment, and lets go of what came before.
    fn checkpoint(&self) -> Result<(), IndexError> {
        let Some(shared) = self.shared.upgrade() else { return Ok(()) };
        let (live, journal) = (Live { shared }, &self.journal);
        let directory = &journal.directory;
        let before = journal.manifest.lock().clone();
        let number = before.logs.last().map_or(1, |last| last + 1);

        let log = Arc::new(Log::create(&directory.log(number), &before.mark(number))?);
        let both = Manifest { logs: [&before.logs[..], &[number]].concat(), ..before.clone() };
        if let Err(error) = directory.publish(&both) {
            // Nothing has been appended to it.
            let _ = fs::remove_file(log.path());
            return Err(error.into());
        }
        *journal.manifest.lock() = both;

        let (beside, rotating) = (Arc::clone(&self.beside), Arc::clone(journal));
        let snapshot = live.snapshot_between(
            move || beside(),
            move |own| {
                // What a batch has changed so far belongs to the log before.
                own.keep()?;
                rotating.rotate(log)
            },
        );
        let documents = live.len();
        drop(live);
        let path = directory.checkpoint(number);
        let snapshot = snapshot.marked(before.mark(number));
        snapshot.write_file((&path, Access::Private), &self.recipe, &journal.wake.cancel)?;
        // The logs that it stands for are not needed any more, so nobody needs to flush them.
        let after = Manifest { checkpoint: number, logs: vec![number], ..before };
        directory.publish(&after)?;
        *journal.manifest.lock() = after.clone();
        journal.documents.store(documents, Ordering::Relaxed);
        let bytes = fs::metadata(&path).map_or(0, |about| about.len());
        journal.forget_older(bytes);
        // What cannot be removed now is removed by the next opener.
        let _ = directory.sweep(&after);
        Ok(())
    }
}
