//! A live index in a directory: made or opened, flushed, written as a checkpoint, followed.
//!
//! Keys and texts are written down with their documents, in the same frame; see [`simhash_index::durable`].

use std::path::Path;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLockReadGuard};
use simhash_index::IndexError;
use simhash_index::durable::{self, DurableOptions, DurableStats, Follower, Frames, Settled};
use simhash_index::live::Kept;
use simhash_store::FileError;
use simhash_store::directory::{Directory, Manifest};

use super::engine::Engine;
use super::image::Source;
use super::kind::Method;
use super::options::OnSameKey;
use super::{Any, LiveIndex, LiveMethod, LiveOptions};
use crate::error::DedupError;

/// How often a checkpoint that its writer replaces meanwhile is tried.
pub(super) const TRIES: u32 = 64;

/// How a directory is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether an index is made where there is none. Default true.
    pub create: bool,
    /// Whether it is only read: another process may write to it meanwhile. Default false.
    pub read_only: bool,
    /// Whether what method simhash looks up stays in the checkpoint's file, which is mapped: opening builds nothing then, and each block of
    /// 64 KiB is checked when it is first touched. Nobody may cut the file meanwhile. Default false: all is read and checked at once. Other
    /// methods refuse it.
    pub mmap: bool,
    /// When a change counts as kept.
    pub durable: DurableOptions,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { create: true, read_only: false, mmap: false, durable: DurableOptions::default() }
    }
}

/// The directory of an index.
#[derive(Debug)]
pub(super) enum Held {
    /// Changes go there.
    Kept(durable::Kept),
    /// Another process writes there.
    Followed(Box<Mutex<Follower>>, Frames),
    /// Changes are kept aside until the run is committed.
    Aside(durable::Run),
}

impl<K: Method> Engine<K> {
    /// Takes what was kept of documents back.
    fn take(&self, kept: &Kept<'_>) -> Result<(), FileError> {
        let is_alive = |id| self.index.has(id);
        match *kept {
            Kept::Beside(id, bytes) => self.store.write().add_written(id, bytes, is_alive),
            Kept::Deleted(_) => {
                self.store.write().tend(1, is_alive);
                Ok(())
            }
            Kept::Note(note) if self.on_same_key == OnSameKey::Repeat => {
                let now = self.moment();
                let mut store = self.store.write();
                store.answers.take(note, now)?;
                store.answers.tend(1, now, is_alive);
                Ok(())
            }
            Kept::Note(_) => Err(FileError::damaged(0, "a note that nobody has left")),
        }
    }

    fn create(
        &self,
        directory: Directory,
        (recipe, hashes): (&str, usize),
        how: DurableOptions,
    ) -> Result<Held, IndexError> {
        let beside = self.beside(hashes);
        durable::create(&self.index, directory, recipe, beside, how).map(Held::Kept)
    }

    fn go_on(
        &self,
        (directory, manifest): (Directory, Manifest),
        (recipe, hashes): (&str, usize),
        how: DurableOptions,
    ) -> Result<(Held, Option<Settled>), DedupError> {
        let (logs, settled) = self.replay(&directory, &manifest)?;
        let beside = self.beside(hashes);
        match durable::start(&self.index, directory, &manifest, logs, recipe, beside, how) {
            Ok(kept) => Ok((Held::Kept(kept), settled)),
            Err(error) => Err(DedupError::from(error).after_settling(settled.as_ref())),
        }
    }

    /// Makes the changes of the logs again, and finishes a run that was about to count.
    pub(super) fn replay(
        &self,
        directory: &Directory,
        manifest: &Manifest,
    ) -> Result<(durable::Logs, Option<Settled>), IndexError> {
        let (index, mut take) = (&self.index, |kept: Kept<'_>| self.take(&kept));
        let mut logs = durable::replay(index, directory, manifest, &mut take)?;
        let settled = durable::settle(index, directory, manifest, &mut logs, &mut take)?;
        Ok((logs, settled))
    }

    fn follow(
        &self,
        (directory, manifest): (Directory, Manifest),
    ) -> Result<Option<Held>, IndexError> {
        let mut take = |kept: Kept<'_>| self.take(&kept);
        let follower = Follower::follow(&self.index, directory, manifest, &mut take)?;
        Ok(follower.map(|follower| {
            let frames = follower.frames();
            Held::Followed(Box::new(Mutex::new(follower)), frames)
        }))
    }
}

impl LiveIndex {
    /// Opens the index of a directory, or makes both. Of one that is there method, fingerprinter, scheme, seed, shortest sentence
    /// and its hash must be those that it was made with; all else comes from the directory ([`LiveIndex::options`]), but for the
    /// bound of memory.
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`], [`FileError::Locked`] where another process writes to it; [`DedupError::Cancelled`];
    /// [`DedupError::Option`] for `mmap` of another method than simhash.
    pub fn open_directory(
        path: &Path,
        options: &LiveOptions,
        how: OpenOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let opened = Self::open_directory_if(path, options, how, cancel, &mut |_| true)?;
        opened.ok_or(DedupError::Stopped)
    }

    /// [`LiveIndex::open_directory`] of an index whose options `accepts` takes; none of another, of which nothing has changed: a run
    /// that was about to count is settled by the next opening.
    ///
    /// # Errors
    /// As [`LiveIndex::open_directory`].
    pub fn open_directory_if(
        path: &Path,
        options: &LiveOptions,
        how: OpenOptions,
        cancel: &AtomicBool,
        accepts: &mut dyn FnMut(&LiveOptions) -> bool,
    ) -> Result<Option<Self>, DedupError> {
        if how.mmap && !matches!(options.method, LiveMethod::SimHash { .. }) {
            let (argument, value) = ("mmap", "true".to_owned());
            let expected = "left out of an index of another method than simhash: nothing of it is looked up in a file";
            return Err(DedupError::Option { argument, value, expected });
        }
        if how.read_only {
            let live = Self::follow_directory(path, options, how.mmap, cancel)?;
            return Ok(Some(live).filter(|live| accepts(&live.options)));
        }
        let claimed = Directory::claim(path, how.create).map_err(IndexError::from)?;
        let mut live = match &claimed {
            (_, None) => Self::new(options)?,
            (directory, Some(manifest)) => {
                Self::read(Source::Directory(directory, manifest, how.mmap, cancel), options)?
            }
        };
        if !accepts(&live.options) {
            return Ok(None);
        }
        let (recipe, hashes) = (live.options.recipe(live.fingerprinter()), live.options.hashes());
        let made = (recipe.as_str(), hashes);
        let (held, settled) = match claimed {
            (directory, None) => {
                let held = each!(&live.any, engine => engine.create(directory, made, how.durable));
                (held?, None)
            }
            (directory, Some(manifest)) => {
                each!(&live.any, engine => engine.go_on((directory, manifest), made, how.durable))?
            }
        };
        (live.directory, live.settled) = (Some(held), settled);
        live.path = Some(path.to_owned());
        Ok(Some(live))
    }

    fn follow_directory(
        path: &Path,
        options: &LiveOptions,
        mmap: bool,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut gone = None;
        for _ in 0..TRIES {
            let (directory, manifest) = Directory::look(path).map_err(IndexError::from)?;
            let mut live =
                match Self::read(Source::Directory(&directory, &manifest, mmap, cancel), options) {
                    Ok(live) => live,
                    // The writer has written a newer one meanwhile, unless it is missing for good.
                    Err(error)
                        if directory.manifest().ok().flatten().as_ref() != Some(&manifest) =>
                    {
                        gone = Some(error);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
            let (logs, before) = (manifest.logs.clone(), manifest.clone());
            let held = each!(&live.any, engine => engine.follow((directory, manifest)))?;
            if held.is_none() {
                // The writer has removed a log with a newer manifest, or somebody else has.
                let (now, manifest) = Directory::look(path).map_err(IndexError::from)?;
                let missing = logs.iter().map(|&log| now.log(log)).find(|log| !log.exists());
                if let Some(log) = missing.filter(|_| manifest == before) {
                    let reason = "the manifest names it, and it is not there";
                    let missing = std::io::Error::new(std::io::ErrorKind::NotFound, reason);
                    return Err(
                        IndexError::from(FileError::unreadable(missing).in_file(&log)).into()
                    );
                }
            }
            if let Some(held) = held {
                (live.directory, live.path) = (Some(held), Some(path.to_owned()));
                return Ok(live);
            }
        }
        Err(gone.unwrap_or(DedupError::Stopped))
    }

    /// Of an index that was opened for reading: makes what its writer has changed since visible, frame by frame: searches wait while
    /// one is made, and see it whole. False: the writer has gone on so
    /// far that the directory has to be opened again.
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`].
    pub fn refresh(&self) -> Result<bool, DedupError> {
        let Some(Held::Followed(follower, _)) = &self.directory else { return Ok(true) };
        let mut follower = follower.lock();
        Ok(each!(&self.any, engine => {
            follower.refresh(&engine.index, &mut |kept| engine.take(&kept))
        })?)
    }

    /// While it is held, no frame of the writer that is followed is half made. Not to be taken twice by one thread.
    pub(super) fn whole(&self) -> Option<RwLockReadGuard<'_, ()>> {
        match &self.directory {
            Some(Held::Followed(_, frames)) => Some(frames.read()),
            _ => None,
        }
    }

    /// The directory to which changes go.
    fn kept(&self) -> Option<&durable::Kept> {
        match &self.directory {
            Some(Held::Kept(kept)) => Some(kept),
            _ => None,
        }
    }

    /// Whether it is kept in a directory.
    pub fn is_durable(&self) -> bool {
        self.directory.is_some()
    }

    /// Whether a change has to wait for the disk before its answer counts.
    pub fn waits(&self) -> bool {
        self.kept().is_some_and(durable::Kept::waits)
    }

    /// Waits until what was changed is as durable as was promised.
    pub(super) fn committed(&self) -> Result<(), DedupError> {
        Ok(self.kept().map_or(Ok(()), durable::Kept::committed)?)
    }

    /// Waits until the disk has all that was changed before the call. Without a directory nothing happens.
    ///
    /// # Errors
    /// [`FileError::Write`] in [`DedupError::Index`]: no further change is made.
    pub fn flush(&self) -> Result<(), DedupError> {
        Ok(self.kept().map_or(Ok(()), durable::Kept::flush)?)
    }

    /// Writes the directory's checkpoint now and waits for it: what has left takes no space from then on.
    ///
    /// # Errors
    /// [`FileError::Write`] in [`DedupError::Index`], after which changes go on; [`DedupError::Cancelled`].
    pub fn checkpoint(&self, cancel: &AtomicBool) -> Result<(), DedupError> {
        Ok(self.kept().map_or(Ok(()), |kept| kept.checkpoint(cancel))?)
    }

    /// Flushes everything and lets go of the directory; changes are refused from now on. Without a directory nothing happens.
    ///
    /// # Errors
    /// As [`LiveIndex::flush`].
    pub fn close(&self) -> Result<(), DedupError> {
        Ok(self.kept().map_or(Ok(()), durable::Kept::close)?)
    }

    /// What there is on the disk; none without a directory. O(1).
    pub fn durable_stats(&self) -> Option<DurableStats> {
        self.kept().map(durable::Kept::stats)
    }

    /// How far the caller has come, by what it said with its batches; none: it never said.
    pub fn position(&self) -> Option<u64> {
        each!(&self.any, engine => engine.index.position())
    }
}
