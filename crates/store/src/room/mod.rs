//! Columns: values one behind the other, in memory, or in files where the memory of the process is bounded.
//!
//! A [`Room`] says which. Within a bound each [`Column`] lies in a file without a name, of which the process sees a mapping. The pages
//! of it that are in memory count for the process, but it can do without them at any time: they are let go of
//! ([`Room::relieve`]) whenever the process comes near its bound, and come back from the file when they are touched. Space on the disk is
//! taken before anything is written there, so a full disk is an error and no signal.

mod column;
mod pages;
mod parts;
mod sort;
mod space;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

pub use column::Column;
use pages::Pages;
pub use parts::Parts;
use space::{Regions, Resident, Space};

/// Bytes that come into memory in a nanosecond, of each thread, while it does nothing but touch pages at random places. A fault brings the 16
/// pages around it in half a microsecond, and since Linux 6.18 all of a large folio of the page cache, 2 MB in some 7: 281 were measured.
const RATE: u64 = 320;
/// Least nanoseconds between two looks at the memory of the process: each takes some 1,000.
const LOOK: u64 = 20_000;
/// Looks at which the process held too much, one after the other, before [`Room::relieve`] gives up.
const PATIENCE: u64 = 8;
/// Nanoseconds for which it did, at least: a text that another thread compares is let go of in less.
const PATIENT: u64 = 2_000_000;

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
    held: Resident,
    began: std::time::Instant,
    /// When the memory is to be looked at next, in nanoseconds.
    due: AtomicU64,
    /// Of who looks: others whose turn it is wait, for while pages are let go of they would touch others.
    looking: Mutex<()>,
    /// Bytes that come into memory in a nanosecond at most.
    rate: u64,
    /// Bytes of the files, now and at most.
    disk: Mutex<(u64, u64)>,
    /// Looks at which too much was held, one after the other; calls where the bound is 0.
    over: AtomicU64,
    /// When the first of them was, in nanoseconds.
    over_since: AtomicU64,
}

/// Why a column cannot grow, or a run not go on.
#[derive(Debug)]
pub enum RoomError {
    /// A file cannot be made or read, or there is no space for more.
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
                write!(
                    f,
                    "a temporary file in {} cannot be written or read: {source}",
                    folder.display()
                )
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
            held: Resident::new(),
            began: std::time::Instant::now(),
            due: AtomicU64::new(0),
            looking: Mutex::new(()),
            disk: Mutex::new((0, 0)),
            rate: RATE * std::thread::available_parallelism().map_or(1, usize::from) as u64,
            over: AtomicU64::new(0),
            over_since: AtomicU64::new(0),
        };
        let room = Self(Self::CAN_BOUND.then(|| Arc::new(bound)));
        // Better to know now that the folder cannot be used.
        room.space(1).map(|_| room)
    }

    /// Bytes that the process may hold; `None`: any.
    pub fn most(&self) -> Option<u64> {
        self.0.as_ref().map(|bound| bound.most)
    }

    /// Most bytes that files of this room have had at once; 0 where there are none.
    pub fn most_on_disk(&self) -> u64 {
        let disk = self.0.as_ref().map(|bound| bound.disk.lock());
        disk.map_or(0, |disk| disk.unwrap_or_else(PoisonError::into_inner).1)
    }

    /// Lets go of pages of columns where the process holds nearly as much as it may. Cheap: to be called within every loop over many
    /// documents, and after some ten values at random places, each of which may bring in 2 MB. It looks at the memory when it may have come near, not before.
    ///
    /// # Errors
    /// [`RoomError::Memory`] where the process held a tenth more than it may, several times, without a page of columns.
    #[inline]
    pub fn relieve(&self) -> Result<(), RoomError> {
        self.0.as_ref().map_or(Ok(()), |bound| bound.relieve())
    }

    /// A new file of pages; `None`: they lie in memory.
    fn pages(&self) -> Result<Option<Pages>, RoomError> {
        self.0.as_ref().map(Pages::new).transpose()
    }

    /// A new space of a column; `None`: it lies in memory.
    fn space(&self, bytes: usize) -> Result<Option<Space>, RoomError> {
        let Some(bound) = &self.0 else { return Ok(None) };
        let mut space = Space::new(bound).map_err(|error| bound.disk_error(error))?;
        space.grow(bytes)?;
        Ok(Some(space))
    }
}

impl Bound {
    fn disk_error(&self, source: io::Error) -> RoomError {
        RoomError::Disk { folder: self.folder.clone(), source }
    }

    /// A file has taken so many bytes.
    fn take(&self, bytes: usize) {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        disk.0 += bytes as u64;
        disk.1 = disk.1.max(disk.0);
    }

    /// A file has given so many bytes back.
    fn give_back(&self, bytes: usize) {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner).0 -= bytes as u64;
    }

    fn relieve(&self) -> Result<(), RoomError> {
        if self.most == 0 {
            if self.over.fetch_add(1, Relaxed).is_multiple_of(CALLS) {
                self.regions.release();
            }
            return Ok(());
        }
        if !self.is_due() {
            return Ok(());
        }
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have looked meanwhile.
        if self.is_due() { self.look() } else { Ok(()) }
    }

    fn is_due(&self) -> bool {
        self.now() >= self.due.load(Relaxed)
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Looks again when as much may have come as there is room for now.
    fn wait(&self, room: u64) {
        self.due.store(self.now() + (room / self.rate).max(LOOK), Relaxed);
    }

    /// Only one thread at a time.
    fn look(&self) -> Result<(), RoomError> {
        // A sixteenth stays free for what comes until the next look.
        let near = self.most - self.most / 16;
        let mut held = self.held.bytes();
        if held <= near {
            self.wait(near - held);
            self.over.store(0, Relaxed);
            return Ok(());
        }
        self.regions.release();
        held = self.held.bytes();
        if held > self.most - self.most / 8 {
            // Freed memory that the allocator has kept for later.
            space::trim();
            held = self.held.bytes();
        }
        self.wait(near.saturating_sub(held));
        if held <= self.most + self.most / 10 {
            self.over.store(0, Relaxed);
            return Ok(());
        }
        let before = self.over.fetch_add(1, Relaxed);
        if before == 0 {
            self.over_since.store(self.now(), Relaxed);
        }
        if before + 1 < PATIENCE || self.now() < self.over_since.load(Relaxed) + PATIENT {
            return Ok(());
        }
        Err(RoomError::Memory { held, most: self.most })
    }
}

#[cfg(test)]
mod tests;
