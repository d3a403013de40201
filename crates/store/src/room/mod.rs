//! Columns: values one behind the other, in memory, or in files where the memory of the process is bounded.
//!
//! A [`Room`] says which. Within a bound each [`Column`] lies in a file without a name, of which the process sees a mapping. The pages
//! of it that are in memory count for the process, but it can do without them at any time: they are let go of
//! ([`Room::relieve`]) whenever the process comes near its bound, and come back from the file when they are touched. Space on the disk is
//! taken before anything is written there, so a full disk is an error and no signal.

mod column;
mod parts;
mod sort;
mod space;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub use column::Column;
pub use parts::Parts;
use space::{Regions, Space};

/// Nanoseconds between two looks at the memory of the process: in that time a thread cannot touch more than some megabytes.
const LOOK: u64 = 250_000;
/// Looks at which the process held too much, one after the other, before [`Room::relieve`] gives up.
const PATIENCE: u64 = 8;

/// Calls at one of which pages are let go of where the bound is 0.
const CALLS: u64 = 64;

/// Where columns lie. Clones are one room.
#[derive(Clone, Debug, Default)]
pub struct Room(Option<Arc<Bound>>);

#[derive(Debug)]
struct Bound {
    /// Bytes that the process may hold.
    most: u64,
    /// Where the files are.
    folder: PathBuf,
    regions: Regions,
    began: std::time::Instant,
    /// When the memory was looked at last, in nanoseconds.
    looked: AtomicU64,
    is_looking: AtomicBool,
    /// Looks at which too much was held, one after the other; calls where the bound is 0.
    over: AtomicU64,
}

/// Why a column cannot grow, or a run not go on.
#[derive(Debug)]
pub enum RoomError {
    /// A file cannot be made, or there is no space for more.
    Disk {
        /// The folder of the files.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The process holds more than it may, beside what lies in files.
    Memory {
        /// Bytes held.
        held: u64,
        /// Bytes that it may hold.
        most: u64,
    },
}

impl fmt::Display for RoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk { folder, source } => {
                write!(f, "cannot write a temporary file in {}: {source}", folder.display())
            }
            Self::Memory { held, most } => {
                write!(f, "the process holds {held} bytes of memory and may hold {most}")
            }
        }
    }
}

impl std::error::Error for RoomError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Disk { source, .. } => Some(source),
            Self::Memory { .. } => None,
        }
    }
}

impl Room {
    /// Whether this system can tell the memory of a process and let go of some: Linux.
    pub const CAN_BOUND: bool = space::CAN_BOUND;

    /// A room in which the whole process holds at most this many bytes, as far as columns can help it; their files are in `folder`. 0: pages of
    /// columns are let go of all the time, and what else there is does not count.
    /// Where [`Room::CAN_BOUND`] is false columns lie in memory all the same.
    ///
    /// # Errors
    /// [`RoomError::Disk`] where no file can be made there.
    pub fn bounded(most: u64, folder: &Path) -> Result<Self, RoomError> {
        let bound = Bound {
            most,
            folder: folder.to_owned(),
            regions: Regions::default(),
            began: std::time::Instant::now(),
            looked: AtomicU64::new(0),
            is_looking: AtomicBool::new(false),
            over: AtomicU64::new(0),
        };
        let room = Self(Self::CAN_BOUND.then(|| Arc::new(bound)));
        // Better to know now that the folder cannot be used.
        room.space(1).map(|_| room)
    }

    /// Bytes that the process may hold; `None`: any.
    pub fn most(&self) -> Option<u64> {
        self.0.as_ref().map(|bound| bound.most)
    }

    /// Lets go of pages of columns where the process holds nearly as much as it may. Cheap: to be called within every loop over many
    /// documents. It looks at the memory once in a quarter of a millisecond at most.
    ///
    /// # Errors
    /// [`RoomError::Memory`] where the process held a tenth more than it may, several times, without a page of columns.
    #[inline]
    pub fn relieve(&self) -> Result<(), RoomError> {
        self.0.as_ref().map_or(Ok(()), |bound| bound.relieve())
    }

    /// A new space of a column; `None`: it lies in memory.
    fn space(&self, bytes: usize) -> Result<Option<Space>, RoomError> {
        let Some(bound) = &self.0 else { return Ok(None) };
        let mut space = Space::new(bound).map_err(|error| bound.disk(error))?;
        space.grow(bytes)?;
        Ok(Some(space))
    }
}

impl Bound {
    fn disk(&self, source: io::Error) -> RoomError {
        RoomError::Disk { folder: self.folder.clone(), source }
    }

    fn relieve(&self) -> Result<(), RoomError> {
        if self.most == 0 {
            if self.over.fetch_add(1, Relaxed).is_multiple_of(CALLS) {
                self.regions.release();
            }
            return Ok(());
        }
        let now = self.began.elapsed().as_nanos() as u64;
        let is_due = now - self.looked.load(Relaxed).min(now) >= LOOK;
        if !is_due || self.is_looking.swap(true, Relaxed) {
            return Ok(());
        }
        let looked = self.look();
        self.looked.store(self.began.elapsed().as_nanos() as u64, Relaxed);
        self.is_looking.store(false, Relaxed);
        looked
    }

    /// Only one thread at a time.
    fn look(&self) -> Result<(), RoomError> {
        // A sixteenth stays free for what comes until the next look.
        if space::resident() <= self.most - self.most / 16 {
            self.over.store(0, Relaxed);
            return Ok(());
        }
        self.regions.release();
        let mut held = space::resident();
        if held > self.most - self.most / 8 {
            // Freed memory that the allocator has kept for later.
            space::trim();
            held = space::resident();
        }
        if held <= self.most + self.most / 10 {
            self.over.store(0, Relaxed);
            return Ok(());
        }
        if self.over.fetch_add(1, Relaxed) + 1 < PATIENCE {
            return Ok(());
        }
        Err(RoomError::Memory { held, most: self.most })
    }
}

#[cfg(test)]
mod tests;
