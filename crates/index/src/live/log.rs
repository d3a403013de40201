//! Where the changes of a live index go: nowhere, to its file, or to somebody who keeps them.
//!
//! Changes are kept in the order in which they were made: a single change between two items of a batch keeps what the batch
//! has changed so far along with its own.

use std::fmt::Debug;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::State;
use super::kind::{Change, Kind};
use crate::IndexError;

/// A file to which changes are appended.
pub(crate) trait File<K: Kind>: Debug + Send {
    /// Appends changes, so many of them; they are kept when this returns. After an error the file holds what it held
    /// before.
    fn commit(&mut self, changes: &[u8], count: u64) -> Result<(), IndexError>;

    /// The state that was acknowledged, read from the file again.
    fn read_again(&mut self) -> Result<State<K>, IndexError>;

    /// Whether the file holds so much more than is alive that writing it anew pays.
    fn is_mostly_gone(&self, live: u64) -> bool;

    /// Writes the whole in place of the changes.
    fn rewrite(&mut self, state: &State<K>) -> Result<(), IndexError>;

    /// The file could not be written anew, but is as good as it was: next time when it has grown as much again.
    fn postpone(&mut self);

    /// Whether a path leads to this file.
    fn is_at(&self, path: &Path) -> bool;

    /// What the file says of itself before its contents.
    fn header(&self) -> &[u8];

    fn path(&self) -> &Path;

    /// Bytes of the file.
    fn len(&self) -> u64;

    #[cfg(test)]
    fn refuse_writes(&mut self, read_only: std::fs::File);
}

/// Where changes go.
#[derive(Debug)]
pub(crate) enum Keeping<K: Kind> {
    Memory,
    File(Box<dyn File<K>>),
    /// Somebody else keeps them and takes them from here.
    Elsewhere(Vec<u8>),
}

/// What only the one who changes the index looks at.
#[derive(Debug)]
pub(crate) struct Log<K: Kind> {
    pub(crate) keeping: Keeping<K>,
    changes: Vec<u8>,
    count: u64,
    stopped: bool,
}

impl<K: Kind> Log<K> {
    pub(crate) fn new(keeping: Keeping<K>) -> Self {
        Self { keeping, changes: Vec::new(), count: 0, stopped: false }
    }

    /// Whether changes can still be kept.
    pub(crate) fn check(&self) -> Result<(), IndexError> {
        match &self.keeping {
            Keeping::File(file) if self.stopped => {
                Err(IndexError::Stopped { path: file.path().to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Whether somebody keeps changes.
    pub(super) fn is_kept(&self) -> bool {
        !matches!(self.keeping, Keeping::Memory)
    }

    pub(super) fn note(&mut self, options: &K::Options, change: &Change<'_, K>) {
        if self.is_kept() {
            K::write(options, change, &mut self.changes);
            self.count += 1;
        }
    }

    /// Keeps what was noted. Where that fails the state is what was kept, and no further change is made.
    pub(crate) fn keep(
        &mut self,
        state: &RwLock<State<K>>,
        file_bytes: &AtomicU64,
    ) -> Result<(), IndexError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let (changes, count) = (&mut self.changes, std::mem::take(&mut self.count));
        let kept = match &mut self.keeping {
            Keeping::Memory => Ok(()),
            Keeping::Elsewhere(taken) => {
                taken.append(changes);
                Ok(())
            }
            Keeping::File(file) => {
                let kept = file.commit(changes, count);
                if kept.is_ok() {
                    let state = state.read();
                    if file.is_mostly_gone(state.live()) && file.rewrite(&state).is_err() {
                        file.postpone();
                    }
                } else if let Ok(acknowledged) = file.read_again() {
                    *state.write() = acknowledged;
                }
                file_bytes.store(file.len(), Ordering::Relaxed);
                kept
            }
        };
        self.stopped = kept.is_err();
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
