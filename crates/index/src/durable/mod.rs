//! A live index in a directory: what was answered survives the process, and with [`Durability::Commit`] a power cut.
//!
//! ```text
//!  change ──► turn ──► state in memory ──► log-N           a frame per change or batch; flushed as `Durability` says
//!                         │ when the log has grown
//!                         ├──► log-N+1 begins; a copy of that moment
//!                         └──► checkpoint-N+1 is written beside the changes ──► MANIFEST ──► checkpoint-N, log-N go
//!  open: checkpoint, then the logs since it, in order
//! ```
//! Everything is answered from memory. A change is made there and appended to the log in the same turn, so the log has the order
//! of changes, and what is left after a crash is always a prefix of them. The disk gives room before a change is made: a full
//! disk refuses it, and changes nothing.
//!
//! A **checkpoint** is the whole index in the form in which it is saved, sorted tables as they lie in memory. It is written in the
//! background when the log is half as long as the last one, so that a document is written about four times in all; changes go on.
//! What has left is in no checkpoint: that is how its space returns. Where fewer than half as many documents are alive as in the last
//! one, and it takes a mebibyte or more, the next one is written at once, however short the log.
//!
//! The files and their rules are those of [`simhash_store::directory`] and [`simhash_store::log`].

mod follow;
mod journal;
mod keeper;
mod open;
mod records;
mod run;

use std::path::PathBuf;
use std::time::Duration;

pub use self::follow::{Follower, Frames};
pub(crate) use self::journal::Journal;
pub use self::keeper::Kept;
pub use self::open::{Logs, create, read, replay, start, write_directory};
pub use self::records::{Record, copy_records};
pub use self::run::{Run, Settled, check_runs, settle};

/// When a change counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Durability {
    /// When the disk has it: it survives `kill -9` and a power cut. Threads that wait at the same time share two flushes.
    Commit,
    /// When the operating system has it: it survives `kill -9`; so long after a flush has ended the next one begins.
    Interval(Duration),
    /// When the operating system has it: it survives `kill -9`; of a power cut it survives as much as the system had written out.
    None,
}

impl Default for Durability {
    /// Flushed every second.
    fn default() -> Self {
        Self::Interval(Duration::from_secs(1))
    }
}

/// How a directory is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DurableOptions {
    /// When a change counts as kept.
    pub durability: Durability,
    /// Least bytes of logs for which a checkpoint is written. Default 32 MiB.
    pub checkpoint_bytes: u64,
}

impl Default for DurableOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), checkpoint_bytes: 32 << 20 }
    }
}

/// What there is on the disk, and what opening found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DurableStats {
    /// The directory.
    pub path: PathBuf,
    /// Bytes of the checkpoint.
    pub checkpoint_bytes: u64,
    /// Bytes of logs since it: read again by who opens the directory.
    pub log_bytes: u64,
    /// Bytes of logs for which the next checkpoint is written.
    pub log_bytes_limit: u64,
    /// Bytes of an incomplete last change that opening cut off: what a crash had interrupted.
    pub torn_bytes: u64,
    /// Why the last checkpoint could not be written; changes go on into the log.
    pub checkpoint_error: Option<String>,
}

#[cfg(test)]
pub(crate) mod testing {
    //! An index of a directory with nothing beside it.

    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use simhash_store::Fields;
    use simhash_store::directory::Directory;

    use super::{Durability, DurableOptions, Kept, create, read, replay, start};
    use crate::live::{Later, Live, Whole};

    fn nothing() -> Later {
        Box::new(|_| Fields::default())
    }

    /// Opens it, or makes it of `empty`.
    pub(crate) fn opened<K: Whole>(
        path: &Path,
        empty: impl FnOnce() -> Live<K>,
    ) -> (Live<K>, Kept) {
        let options = DurableOptions { durability: Durability::None, ..DurableOptions::default() };
        let (directory, manifest) = Directory::claim(path, true).unwrap();
        let Some(manifest) = manifest else {
            let live = empty();
            let kept = create(&live, directory, "", nothing, options).unwrap();
            return (live, kept);
        };
        let never = AtomicBool::new(false);
        let (live, _) = read(&directory, &manifest, "", false, &never).unwrap();
        let logs = replay(&live, &directory, &manifest, &mut |_| Ok(())).unwrap();
        let kept = start(&live, directory, &manifest, logs, "", nothing, options).unwrap();
        (live, kept)
    }
}
