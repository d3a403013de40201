//! A directory made, or opened: the checkpoint, then the logs since it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::RwLock;
use simhash_store::directory::{Directory, Manifest};
use simhash_store::log::{FRAMES, Log, Opened, Reader};
use simhash_store::{Access, FileError, Input, Section, saved};

use super::DurableOptions;
use super::journal::{Journal, Read, after, read_after};
use super::keeper::{Beside, Kept};
use crate::IndexError;
use crate::live::{self, Later, Live, Snapshot, Whole};

/// Puts an index that is in memory only into a directory that holds none; its changes go there from now on.
///
/// `recipe` is what made its items of texts, in words. `beside` copies what the caller keeps with the documents, with every
/// checkpoint while other writers are kept out.
///
/// # Errors
/// [`IndexError::File`].
pub fn create<K: Whole>(
    live: &Live<K>,
    directory: Directory,
    recipe: &str,
    beside: impl Fn() -> Later + Send + Sync + 'static,
    options: DurableOptions,
) -> Result<Kept, IndexError> {
    let manifest = directory.begin()?;
    let kept = Arc::new(beside);
    let asked = Arc::clone(&kept);
    let snapshot = live.snapshot_between(move || asked(), |_| Ok(()));
    let never = AtomicBool::new(false);
    let log = write(&directory, &manifest, snapshot, recipe, &never)?;
    let (documents, logs) = (live.len(), vec![Arc::new(log)]);
    let read = Read { documents, logs, changes: 0, torn_bytes: 0 };
    start_with(live, directory, manifest, read, recipe, kept, options)
}

/// Writes an index as it was at one moment to a directory that holds none: to be opened by [`read`] and [`replay`]. `also` puts what
/// else belongs to it there, before it counts.
///
/// # Errors
/// [`IndexError::File`], [`IndexError::Cancelled`], those of `also`.
pub fn write_directory<K: Whole>(
    directory: &Directory,
    snapshot: Snapshot<K>,
    recipe: &str,
    cancel: &AtomicBool,
    also: &mut dyn FnMut(&Manifest) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let manifest = directory.begin()?;
    let log = write_files(directory, &manifest, snapshot, recipe, cancel)?;
    also(&manifest)?;
    directory.publish(&manifest)?;
    log.close()?;
    Ok(())
}

fn write<K: Whole>(
    directory: &Directory,
    manifest: &Manifest,
    snapshot: Snapshot<K>,
    recipe: &str,
    cancel: &AtomicBool,
) -> Result<Log, IndexError> {
    let log = write_files(directory, manifest, snapshot, recipe, cancel)?;
    directory.publish(manifest)?;
    Ok(log)
}

/// The first checkpoint and log, which count when the manifest is published.
fn write_files<K: Whole>(
    directory: &Directory,
    manifest: &Manifest,
    snapshot: Snapshot<K>,
    recipe: &str,
    cancel: &AtomicBool,
) -> Result<Log, IndexError> {
    let number = manifest.checkpoint;
    let snapshot = snapshot.marked(manifest.mark(number));
    snapshot.write_file((&directory.checkpoint(number), Access::Private), recipe, cancel)?;
    let log = Log::create(&directory.log(number), &manifest.mark(number))?;
    let end = log.append(&after(0))?;
    log.sync(end)?;
    Ok(log)
}

/// Reads the checkpoint of a directory; the index as it was then, and what the caller kept with it. `recipe` must be what it was
/// made with. `mmap`: what searches look up stays in the file, where the kind can, see [`Live::open_mapped`]; a checkpoint is never
/// changed, only replaced and unlinked.
///
/// # Errors
/// [`IndexError::File`] with file and place; [`IndexError::Cancelled`].
pub fn read<K: Whole>(
    directory: &Directory,
    manifest: &Manifest,
    recipe: &str,
    mmap: bool,
    cancel: &AtomicBool,
) -> Result<(Live<K>, Section), IndexError> {
    let number = manifest.checkpoint;
    let path = directory.checkpoint(number);
    let check = |said: &mut Section| manifest.check(said, number);
    let opened = if mmap {
        Live::map_marked(&path, Some(recipe), check)
    } else {
        saved::open(&path, cancel, |input, length| {
            Live::open_marked(Input::new(input, length), Some(recipe), check)
        })
    };
    let (live, kept) = opened.map_err(|error: IndexError| error.in_file(&path))?;
    Ok((live, kept))
}

/// What was read of the logs of a directory.
#[derive(Debug)]
pub struct Logs {
    pub(super) read: Read,
    /// How many of the manifest's logs count.
    count: usize,
}

impl Logs {
    /// The log that goes on, and its number.
    pub(super) fn current(&self, manifest: &Manifest) -> Result<(u64, &Log), IndexError> {
        let number = self.count.checked_sub(1).and_then(|last| manifest.logs.get(last));
        match (number, self.read.logs.last()) {
            (Some(&number), Some(log)) => Ok((number, log)),
            _ => Err(FileError::damaged(0, "the manifest names no log").into()),
        }
    }

    /// Has the disk take all of them, in their order.
    pub(super) fn sync(&self) -> Result<(), IndexError> {
        Ok(self.read.logs.iter().try_for_each(|log| log.sync(log.end()))?)
    }

    /// Appends so many changes as one frame; when this returns the disk has them.
    pub(super) fn append(&mut self, changes: &[u8], count: u64) -> Result<(), IndexError> {
        if let Some(log) = self.read.logs.last().filter(|_| !changes.is_empty()) {
            let end = log.append(changes)?;
            log.sync(end)?;
            self.read.changes += count;
        }
        Ok(())
    }
}

/// Makes the changes of the logs again, telling `kept` what the caller kept with them.
///
/// # Errors
/// [`IndexError::File`] with file and place.
pub fn replay<K: Whole>(
    live: &Live<K>,
    directory: &Directory,
    manifest: &Manifest,
    kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
) -> Result<Logs, IndexError> {
    let documents = live.len();
    let mut read = Read { documents, logs: Vec::new(), changes: 0, torn_bytes: 0 };
    let (mut before, mut is_cut) = (None, false);
    for (at, &number) in (1..).zip(&manifest.logs) {
        let path = directory.log(number);
        let (mut reader, mut said) = Reader::open(&path, true)?;
        manifest.check(&mut said, number).map_err(|error| error.in_file(&path))?;
        if let Some((torn, end)) = before
            && !follows(&mut reader, torn || is_cut, end)?
        {
            // What the disk had not been told to keep: nothing of it was promised, nor of what comes behind it, wherever that says that it
            // goes on.
            is_cut = true;
            read.torn_bytes += reader.length();
            continue;
        }
        read.changes += apply(live, &mut reader, before.is_none(), kept, None)?;
        let torn = reader.torn();
        let Opened { log, .. } = reader.into_log()?;
        read.torn_bytes += torn;
        if log.end() == FRAMES && at == manifest.logs.len() {
            // It was made for a checkpoint, and the process ended before it was turned to.
            log.append(&after(before.map_or(0, |(_, end)| end)))?;
        }
        // One that was never turned to is nothing that the next could go on from.
        if log.end() > FRAMES || torn > 0 {
            before = Some((torn > 0, log.end()));
        }
        read.logs.push(Arc::new(log));
    }
    let count = read.logs.len();
    Ok(Logs { read, count })
}

/// Whether a log goes on where the one before it ended. Where it does not, none of it may have been promised to be on the disk.
pub(super) fn follows(reader: &mut Reader, torn: bool, end: u64) -> Result<bool, FileError> {
    let said = match reader.next_changes()? {
        None => !torn,
        Some(mut first) => {
            read_after(&mut first).map_err(|error| error.in_file(reader.path()))? == end
        }
    };
    if said && !torn {
        return Ok(true);
    }
    if reader.is_marked() {
        let reason = "this log counts, but the one before it is not whole";
        return Err(FileError::damaged(0, reason).in_file(reader.path()));
    }
    Ok(false)
}

/// Makes the changes that a reader comes to again; how many they were. `first`: the frame that says what was before is still to
/// come. `frames` is held while the changes of each frame are made.
pub(super) fn apply<K: Whole>(
    live: &Live<K>,
    reader: &mut Reader,
    first: bool,
    kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
    frames: Option<&RwLock<()>>,
) -> Result<u64, IndexError> {
    let mut count = 0;
    if first {
        match reader.next_changes()? {
            None => return Ok(0),
            Some(mut frame) => {
                read_after(&mut frame).map_err(|error| error.in_file(reader.path()))?;
            }
        }
    }
    while let Some(mut changes) = reader.next_changes()? {
        let mut writer = live.rewriter();
        let whole = frames.map(RwLock::write);
        let made = writer.replay(&mut changes, kept);
        // What the writer waits for at its end is not waited for by searches.
        drop((whole, writer));
        count += made.map_err(|error| error.in_file(reader.path()))?;
    }
    Ok(count)
}

/// Changes of an index that was read go to its directory from now on; `beside` as in [`create`].
///
/// # Errors
/// [`IndexError::File`].
pub fn start<K: Whole>(
    live: &Live<K>,
    directory: Directory,
    manifest: &Manifest,
    logs: Logs,
    recipe: &str,
    beside: impl Fn() -> Later + Send + Sync + 'static,
    options: DurableOptions,
) -> Result<Kept, IndexError> {
    let own = trim(&directory, manifest, &logs)?;
    start_with(live, directory, own, logs.read, recipe, Arc::new(beside), options)
}

/// The manifest without the logs that do not count. What it does not name was left by a process that was killed, and goes: all that it
/// names has been read by now, so it is the manifest of these files.
pub(super) fn trim(
    directory: &Directory,
    manifest: &Manifest,
    logs: &Logs,
) -> Result<Manifest, IndexError> {
    let own = Manifest { logs: manifest.logs[..logs.count].to_vec(), ..*manifest };
    if logs.count < manifest.logs.len() {
        directory.publish(&own)?;
    }
    let swept = directory.sweep(&own);
    swept.map_err(|error| FileError::unwritable(error).in_file(directory.path()))?;
    Ok(own)
}

pub(super) fn start_with<K: Whole>(
    live: &Live<K>,
    directory: Directory,
    manifest: Manifest,
    read: Read,
    recipe: &str,
    beside: Beside,
    options: DurableOptions,
) -> Result<Kept, IndexError> {
    let checkpoint = directory.checkpoint(manifest.checkpoint);
    let bytes = fs::metadata(&checkpoint).map_or(0, |about| about.len());
    let Some(journal) = Journal::new(directory, manifest, options, read, bytes) else {
        return Err(FileError::damaged(0, "the manifest names no log").into());
    };
    // Frames that were read are behind the mark; what a crash left unflushed is flushed now.
    journal.sync()?;
    Kept::start(live, journal, recipe, beside)
}
