//! The logs that an index appends to, shared by those who change it, those who wait for the disk, and the keeper.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex, RwLock};
use simhash_store::directory::{Directory, Manifest};
use simhash_store::log::{FRAMES, Log};
use simhash_store::{Fields, FileError, Section};

use super::{Durability, DurableOptions, DurableStats};
use crate::IndexError;

/// Changes beyond which a checkpoint is written however short they are: each takes up to a microsecond when it is made again.
const MOST_CHANGES: u64 = 4_000_000;

/// Bytes of a checkpoint that is written again when most of its documents have left; what a smaller one takes is not worth it.
const WORTH: u64 = 1 << 20;

/// The log of a directory.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) directory: Directory,
    pub(super) options: DurableOptions,
    pub(super) manifest: Mutex<Manifest>,
    /// The log that changes go to; another one takes its place within a turn.
    current: RwLock<Arc<Log>>,
    /// Logs before it of which the disk may not have everything yet.
    older: Mutex<Vec<Arc<Log>>>,
    /// Bytes of the logs before the current one.
    older_bytes: AtomicU64,
    changes: AtomicU64,
    /// A write or a flush failed: what the disk has is not known, and no change is made until the directory is opened again.
    failed: AtomicBool,
    /// The keeper has been called because of the length of the logs.
    pub(super) called: AtomicBool,
    pub(super) checkpoint_bytes: AtomicU64,
    /// Live documents at the last checkpoint.
    documents: AtomicU64,
    /// Bytes of logs at which the next checkpoint is written.
    limit: AtomicU64,
    /// The next checkpoint is due when fewer documents are alive, however short the logs: the others take space in the last one.
    fewest: AtomicU64,
    pub(super) torn_bytes: u64,
    pub(super) checkpoint_error: Mutex<Option<String>>,
    pub(super) wake: Wake,
}

/// What the keeper waits for.
#[derive(Debug, Default)]
pub(super) struct Wake {
    pub(super) asked: Mutex<Asked>,
    pub(super) bell: Condvar,
    /// Ends the writing of a checkpoint.
    pub(super) cancel: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Checkpoints asked for, and of how many of these calls the keeper is done.
    pub(super) wanted: u64,
    pub(super) done: u64,
    /// What came of the last one.
    pub(super) outcome: Option<IndexError>,
    pub(super) end: bool,
}

/// The logs of a directory as they were read.
#[derive(Debug)]
pub(super) struct Read {
    /// Live documents of the checkpoint, before the logs.
    pub(super) documents: u64,
    pub(super) logs: Vec<Arc<Log>>,
    pub(super) changes: u64,
    pub(super) torn_bytes: u64,
}

/// The first frame of a log: where the log before it ended; 0: there was none.
pub(super) fn after(end: u64) -> Vec<u8> {
    let mut frame = Fields(vec![AFTER]);
    frame.number(end);
    frame.0
}

/// What such a frame says.
pub(super) fn read_after(frame: &mut Section) -> Result<u64, FileError> {
    let (kind, end) = (frame.byte()?, frame.number()?);
    if kind != AFTER || !frame.is_empty() {
        return Err(frame.damaged("the first frame of a log says where the one before it ended"));
    }
    Ok(end)
}

const AFTER: u8 = 10;

impl Journal {
    pub(super) fn new(
        directory: Directory,
        manifest: Manifest,
        options: DurableOptions,
        read: Read,
        checkpoint_bytes: u64,
    ) -> Option<Self> {
        let (mut older, documents) = (read.logs, read.documents);
        let current = older.pop()?;
        let journal = Self {
            directory,
            options,
            manifest: Mutex::new(manifest),
            current: RwLock::new(current),
            older_bytes: AtomicU64::new(older.iter().map(|log| log.end()).sum()),
            older: Mutex::new(older),
            changes: AtomicU64::new(read.changes),
            failed: AtomicBool::new(false),
            called: AtomicBool::new(false),
            checkpoint_bytes: AtomicU64::new(checkpoint_bytes),
            documents: AtomicU64::new(documents),
            limit: AtomicU64::new(0),
            fewest: AtomicU64::new(0),
            torn_bytes: read.torn_bytes,
            checkpoint_error: Mutex::default(),
            wake: Wake::default(),
        };
        journal.set_limit(0);
        journal.set_fewest(documents);
        Some(journal)
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    fn current(&self) -> Arc<Log> {
        Arc::clone(&self.current.read())
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire) || self.current.read().has_failed()
    }

    /// Remembers an error.
    fn noted<T>(&self, done: Result<T, FileError>) -> Result<T, IndexError> {
        if done.is_err() {
            self.failed.store(true, Ordering::Release);
        }
        Ok(done?)
    }

    /// Takes room on the disk for so many bytes of changes.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), IndexError> {
        Ok(self.current.read().reserve(bytes)?)
    }

    /// That this process may write here: a fork of it has the files open, and neither the threads nor what the log holds since.
    fn check_own(&self) -> Result<(), IndexError> {
        if self.directory.is_own() {
            return Ok(());
        }
        let reason =
            "this process is a fork of the one that opened the index; open it after the fork";
        let error = std::io::Error::other(reason);
        Err(FileError::unwritable(error).in_file(self.path()).into())
    }

    /// Appends changes, so many of them, by the one whose turn it is.
    pub(crate) fn append(&self, changes: &[u8], count: u64) -> Result<(), IndexError> {
        self.check_own()?;
        self.noted(self.current.read().append(changes))?;
        self.changes.fetch_add(count, Ordering::Relaxed);
        if self.is_due() {
            self.call();
        }
        Ok(())
    }

    /// So many documents are alive after a change.
    pub(crate) fn has_left(&self, live: u64) {
        if live < self.fewest.load(Ordering::Relaxed) {
            self.call();
        }
    }

    /// Calls the keeper, once until it is done.
    fn call(&self) {
        if !self.called.swap(true, Ordering::Relaxed) {
            self.ask(|asked| asked.wanted += 1);
        }
    }

    /// Another log takes the place of the current one, by the one whose turn it is.
    ///
    /// # Errors
    /// [`IndexError::File`]; the current one stays.
    pub(super) fn rotate(&self, next: Arc<Log>) -> Result<(), IndexError> {
        let mut current = self.current.write();
        next.append(&after(current.end()))?;
        self.older_bytes.fetch_add(current.end(), Ordering::Relaxed);
        // Before it can be appended to: who flushes the new one flushes this one first.
        self.older.lock().push(Arc::clone(&current));
        *current = next;
        self.changes.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Has the disk take everything that was appended before the call.
    pub(crate) fn sync(&self) -> Result<(), IndexError> {
        self.check_own()?;
        let current = self.current();
        let end = current.end();
        self.sync_older()?;
        self.noted(current.sync(end))
    }

    /// Logs are flushed in their order, so that what the disk has is a prefix.
    pub(super) fn sync_older(&self) -> Result<(), IndexError> {
        let older = self.older.lock().clone();
        for log in &older {
            self.noted(log.close())?;
        }
        if !older.is_empty() {
            self.older.lock().retain(|log| !older.iter().any(|done| Arc::ptr_eq(log, done)));
        }
        Ok(())
    }

    /// Waits until what was changed is as durable as was promised.
    pub(crate) fn committed(&self) -> Result<(), IndexError> {
        if self.options.durability == Durability::Commit { self.sync() } else { Ok(()) }
    }

    /// Flushes everything and gives unused room back.
    pub(super) fn close(&self) -> Result<(), IndexError> {
        self.check_own()?;
        self.sync_older()?;
        self.noted(self.current().close())
    }

    pub(super) fn is_synced(&self) -> bool {
        self.older.lock().is_empty() && self.current.read().is_synced()
    }

    fn log_bytes(&self) -> u64 {
        self.older_bytes.load(Ordering::Relaxed) + self.current.read().end()
    }

    fn is_due(&self) -> bool {
        let (limit, documents) = (&self.limit, self.documents.load(Ordering::Relaxed));
        self.log_bytes() >= limit.load(Ordering::Relaxed)
            || self.changes.load(Ordering::Relaxed) >= MOST_CHANGES.max(documents / 2)
    }

    /// When the next checkpoint is due; `more` bytes later than usual.
    pub(super) fn set_limit(&self, more: u64) {
        let half = self.checkpoint_bytes.load(Ordering::Relaxed) / 2;
        let limit = more + FRAMES + self.options.checkpoint_bytes.max(half);
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// A checkpoint of so many documents counts: the next one that few documents call for is as costly as half of this at most.
    fn set_fewest(&self, documents: u64) {
        let is_worth = self.checkpoint_bytes.load(Ordering::Relaxed) >= WORTH;
        let half = if is_worth { documents.div_ceil(2) } else { 0 };
        self.fewest.store(half, Ordering::Relaxed);
    }

    /// A checkpoint could not be written: the next is tried when the logs have grown by as much again, or half as many documents
    /// are left.
    pub(super) fn postpone(&self, error: &IndexError) {
        *self.checkpoint_error.lock() = Some(error.to_string());
        self.set_limit(self.log_bytes());
        self.fewest.store(self.fewest.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
        self.changes.store(0, Ordering::Relaxed);
    }

    /// The logs before the current one are in a checkpoint of so many documents and bytes.
    pub(super) fn forget_older(&self, documents: u64, checkpoint_bytes: u64) {
        self.documents.store(documents, Ordering::Relaxed);
        self.older.lock().clear();
        self.older_bytes.store(0, Ordering::Relaxed);
        self.checkpoint_bytes.store(checkpoint_bytes, Ordering::Relaxed);
        *self.checkpoint_error.lock() = None;
        self.set_limit(0);
        self.set_fewest(documents);
    }

    pub(super) fn ask(&self, ask: impl FnOnce(&mut Asked)) {
        let mut asked = self.wake.asked.lock();
        ask(&mut asked);
        self.wake.bell.notify_all();
    }

    pub(super) fn stats(&self) -> DurableStats {
        DurableStats {
            path: self.path().to_owned(),
            checkpoint_bytes: self.checkpoint_bytes.load(Ordering::Relaxed),
            log_bytes: self.log_bytes(),
            log_bytes_limit: self.limit.load(Ordering::Relaxed),
            torn_bytes: self.torn_bytes,
            checkpoint_error: self.checkpoint_error.lock().clone(),
        }
    }
}
