//! In builds with debug assertions (others record nothing), the order of what is asked of the file system, so that tests can prove it.
//!
//! Files are known by the number that the file system has for them: they are written before they have a name.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was asked of the system, and done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Bytes were written to this file, a log, at this place.
    Write(u64, u64),
    /// The disk has this file, of so many bytes.
    Flush(u64, u64),
    /// This file has this name, whatever had it before.
    Name(u64, PathBuf),
    /// The disk has the names in this folder.
    FlushFolder(PathBuf),
    /// A name is gone.
    Remove(PathBuf),
}

/// What is told of each call once it is done, by the thread that made it. It must not ask this crate for anything that is recorded.
pub type Watch = Box<dyn FnMut(&Call) + Send>;

#[derive(Default)]
struct Recording {
    calls: Vec<Call>,
    watch: Option<Watch>,
}

static RECORDING: Mutex<Option<Recording>> = Mutex::new(None);

fn recording() -> MutexGuard<'static, Option<Recording>> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins; what was recorded before is forgotten. All threads of the process are recorded.
pub fn start() {
    *recording() = Some(Recording::default());
}

/// As [`start`], and has `watch` look at the files after each call.
pub fn watched(watch: Watch) {
    *recording() = Some(Recording { calls: Vec::new(), watch: Some(watch) });
}

/// Ends; what was recorded is forgotten.
pub fn stop() {
    *recording() = None;
}

/// What was recorded so far.
pub fn so_far() -> Vec<Call> {
    recording().as_ref().map_or_else(Vec::new, |recording| recording.calls.clone())
}

/// Calls until the process ends; 0: it does not.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// Ends the process, as a kill does, when this many calls have been made from now on.
pub fn end_after(calls: u64) {
    LEFT.store(calls, Ordering::SeqCst);
}

/// Whether the disk is said to be full.
static FULL: AtomicBool = AtomicBool::new(false);

/// Has the disk be full, or not: no file is made and no log gets more room, for all threads of the process. What a log has reserved it
/// can write all the same, as on a real one.
pub fn fill(is_full: bool) {
    FULL.store(is_full, Ordering::SeqCst);
}

/// That the disk is not said to be full.
pub(crate) fn room() -> io::Result<()> {
    let is_full = cfg!(debug_assertions) && FULL.load(Ordering::SeqCst);
    if is_full { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
}

fn note(call: impl FnOnce() -> Option<Call>) {
    if !cfg!(debug_assertions) {
        return;
    }
    if let Some(recording) = &mut *recording()
        && let Some(call) = call()
    {
        if let Some(watch) = &mut recording.watch {
            watch(&call);
        }
        recording.calls.push(call);
    }
    let is_last = |left: u64| left.checked_sub(1);
    if LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_last) == Ok(1) {
        std::process::abort();
    }
}

#[cfg(unix)]
fn number(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> u64 {
    0
}

pub(crate) fn write(file: &File, at: u64) {
    note(|| Some(Call::Write(number(&file.metadata().ok()?), at)));
}

pub(crate) fn flush(file: &File) {
    note(|| file.metadata().ok().map(|about| Call::Flush(number(&about), about.len())));
}

pub(crate) fn name(path: &Path) {
    note(|| Some(Call::Name(number(&path.metadata().ok()?), path.to_owned())));
}

pub(crate) fn flush_folder(path: &Path) {
    note(|| Some(Call::FlushFolder(path.to_owned())));
}

pub(crate) fn remove(path: &Path) {
    note(|| Some(Call::Remove(path.to_owned())));
}
