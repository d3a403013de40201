//! Where the changes of a live index go: nowhere, to the log of its directory, or to somebody who keeps them.
//!
//! Changes are kept in the order in which they were made: a single change between two items of a batch keeps what the batch
//! has changed so far along with its own.

use std::path::PathBuf;
use std::sync::Arc;

use super::change::Change;
use super::kind::Kind;
use crate::IndexError;
use crate::durable::Journal;

/// Bytes of changes that a batch gathers before they are written down.
const PIECE: usize = 1 << 20;

/// Room on the disk for changes that are small: deletions, times, positions.
const SMALL: u64 = 1 << 16;

/// Where changes go.
#[derive(Debug)]
pub(crate) enum Keeping {
    Memory,
    /// The log of a directory.
    Journal(Arc<Journal>),
    /// Somebody else keeps them and takes them from here.
    Elsewhere(Vec<u8>),
    /// Another process changes the index of this directory, and this one follows.
    Following(PathBuf),
    /// Its owner has let go of the directory.
    Closed(PathBuf),
}

/// What only the one who changes the index looks at.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) keeping: Keeping,
    changes: Vec<u8>,
    count: u64,
    /// A write failed: the index holds what the log does not.
    stopped: bool,
    /// The first document whose addition is noted and not kept yet.
    unkept: Option<u64>,
    /// A batch is under way that is written down as one frame.
    pub(crate) whole: bool,
}

impl Log {
    pub(crate) fn new(keeping: Keeping) -> Self {
        Self { keeping, changes: Vec::new(), count: 0, stopped: false, unkept: None, whole: false }
    }

    /// Whether changes are written down.
    pub(super) fn writes(&self) -> bool {
        matches!(self.keeping, Keeping::Journal(_) | Keeping::Elsewhere(_))
    }

    /// Whether changes can be kept.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), IndexError> {
        match &self.keeping {
            Keeping::Memory => Ok(()),
            _ => self.check_keeping(),
        }
    }

    fn check_keeping(&self) -> Result<(), IndexError> {
        match &self.keeping {
            Keeping::Journal(journal) if self.stopped || journal.has_failed() => {
                Err(IndexError::Stopped { path: journal.path().to_owned() })
            }
            Keeping::Journal(journal) => journal.reserve(self.changes.len() as u64 + SMALL),
            Keeping::Following(path) => Err(IndexError::ReadOnly { path: path.clone() }),
            Keeping::Closed(path) => Err(IndexError::Stopped { path: path.clone() }),
            _ => Ok(()),
        }
    }

    /// That its owner has not let go of the directory.
    pub(super) fn refuse_closed(&self) -> Result<(), IndexError> {
        match &self.keeping {
            Keeping::Closed(path) => Err(IndexError::Stopped { path: path.clone() }),
            _ => Ok(()),
        }
    }

    /// That the disk has room for so many bytes of changes beside those that are noted.
    pub(super) fn reserve(&self, bytes: usize) -> Result<(), IndexError> {
        match &self.keeping {
            Keeping::Journal(journal) => {
                journal.reserve((self.changes.len() + bytes) as u64 + SMALL)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn note<K: Kind>(&mut self, options: &K::Options, change: &Change<'_, K>) {
        if self.writes() {
            change.write(options, &mut self.changes);
            self.count += 1;
        }
    }

    /// Notes additions that are written already; the first of them gets this id.
    pub(super) fn note_written(&mut self, changes: &[u8], count: u64, first: u64) {
        self.unkept.get_or_insert(first);
        self.changes.extend_from_slice(changes);
        self.count += count;
    }

    /// Keeps what a batch has gathered, if that is much.
    pub(super) fn keep_some(&mut self) -> Result<(), IndexError> {
        if self.changes.len() < PIECE || self.whole { Ok(()) } else { self.keep() }
    }

    /// Tells the directory how many documents are alive: space returns when many have left.
    #[inline]
    pub(super) fn has_left(&self, live: impl FnOnce() -> u64) {
        if let Keeping::Journal(journal) = &self.keeping {
            journal.has_left(live());
        }
    }

    /// After a write that failed: the first document of which the log knows nothing.
    #[inline]
    pub(super) fn take_unkept(&mut self) -> Option<u64> {
        // Nothing is noted where nobody keeps changes.
        self.unkept?;
        self.unkept.take().filter(|_| self.stopped)
    }

    /// Keeps what was noted. Where that fails no further change is made.
    #[inline]
    pub(crate) fn keep(&mut self) -> Result<(), IndexError> {
        if self.changes.is_empty() { Ok(()) } else { self.keep_changes() }
    }

    fn keep_changes(&mut self) -> Result<(), IndexError> {
        let count = std::mem::take(&mut self.count);
        let kept = match &mut self.keeping {
            Keeping::Memory | Keeping::Following(_) | Keeping::Closed(_) => Ok(()),
            Keeping::Elsewhere(taken) => {
                taken.append(&mut self.changes);
                Ok(())
            }
            Keeping::Journal(journal) => journal.append(&self.changes, count),
        };
        self.stopped |= kept.is_err();
        if kept.is_ok() {
            self.unkept = None;
        }
        // A large batch should not hold its memory for ever.
        self.changes.clear();
        self.changes.shrink_to(1 << 16);
        kept
    }

    /// Forgets what was noted and what nobody has taken yet: it is in a whole.
    pub(crate) fn forget(&mut self) {
        if let Keeping::Elsewhere(taken) = &mut self.keeping {
            taken.clear();
            // Those of a batch under way.
            self.changes.clear();
            self.count = 0;
        }
    }
}
