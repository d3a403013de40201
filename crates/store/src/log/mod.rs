//! A log: a file that changes are appended to, frame by frame, by one writer.
//!
//! ```text
//! byte 0     head, filled up with zeros                                3,072 bytes
//! byte 3072  mark:  bytes that are on the disk u64  turn u64  XXH3-64  0 …   512 bytes
//! byte 3584  mark:  the same, written in turns                               512 bytes
//! byte 4096  frames CHNG
//! ```
//! The checksums of marks and frames begin with their place, so that nothing counts elsewhere. **Before the mark every byte has
//! to be right. Behind it an incomplete last frame is a torn tail, and all else that is wrong is damage** ([`tail`](crate::tail)).
//!
//! [`Log::append`] gives a frame to the operating system: it survives `kill -9`. [`Log::sync`] has the disk take what was
//! appended, then moves the mark and has the disk take that: nothing before the mark is lost by a power cut, and it is missed
//! if it is. Threads that sync at the same time share these flushes. A mark is 24 bytes in a sector of its own, which a disk
//! writes whole or not at all.
//!
//! **Room first.** [`Log::reserve`] takes room on the disk before anything is changed, so that a full disk refuses a change in
//! place of leaving one that is not written down.

mod mark;
mod medium;
mod read;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::mark::FRAMES;
use self::mark::{HEAD, MARKS, Mark};
pub use self::medium::Medium;
pub use self::read::{Opened, Reader};
use crate::frame::{AROUND, Name};
use crate::{Access, Created, Draft, Fields, FileError, Frame, Kind, head};

/// The frames of a log.
pub(crate) const CHANGES: Name = *b"CHNG";

/// Its files, as their heads call them.
pub(crate) const KIND: Kind =
    Kind { name: "log", made: "log", advice: "name the folder of an index" };

/// Room is taken on the disk by so many bytes at least.
const LEAST_ROOM: u64 = 1 << 20;
/// And by so many at most, beside what is needed.
const MOST_ROOM: u64 = 16 << 20;

/// A log that is open for appending.
#[derive(Debug)]
pub struct Log<M: Medium = File> {
    path: PathBuf,
    medium: M,
    /// Where the next frame goes.
    end: AtomicU64,
    /// Up to where the disk has room.
    room: AtomicU64,
    /// A write failed: what the disk has is no longer known, and no mark may say that it counts.
    failed: AtomicBool,
    mark: Mutex<Mark>,
}

impl Log {
    /// A new, empty log on the disk under a name that nothing has. `options` is what its head says.
    ///
    /// # Errors
    /// [`FileError::Write`]; where the name is taken, its source says so.
    pub fn create(path: &Path, options: &Fields) -> Result<Self, FileError> {
        let mut draft = Draft::new(path, Access::Private)?;
        let written = draft.file().write_all(&empty(options));
        written.map_err(|error| FileError::unwritable(error).in_file(path))?;
        match draft.create()? {
            Created::New(file) => Ok(Self::of(path, file, Mark::FIRST, FRAMES)),
            Created::Exists(_) => {
                let taken = io::Error::from(io::ErrorKind::AlreadyExists);
                Err(FileError::unwritable(taken).in_file(path))
            }
        }
    }
}

/// The bytes of an empty log.
fn empty(options: &Fields) -> Vec<u8> {
    // Options of a log are a few numbers.
    let mut bytes = head::bytes(KIND, "", options, Some(HEAD)).unwrap_or_default();
    for (turn, at) in (0..).zip(MARKS) {
        bytes.extend(Mark { end: FRAMES, turn }.bytes(at));
    }
    bytes
}

impl<M: Medium> Log<M> {
    fn of(path: &Path, medium: M, mark: Mark, end: u64) -> Self {
        Self {
            path: path.to_owned(),
            medium,
            end: AtomicU64::new(end),
            room: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            mark: Mutex::new(mark),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file: the end of what was appended.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Whether a write or a flush has failed: nothing is appended any more.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    fn mark(&self) -> MutexGuard<'_, Mark> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritable(&self, error: io::Error) -> FileError {
        FileError::unwritable(error).in_file(&self.path)
    }

    /// Takes room on the disk for changes of so many bytes, by the one who appends. Where the file system cannot do that,
    /// nothing happens.
    ///
    /// # Errors
    /// [`FileError::Write`]: there is no room, and nothing has changed.
    pub fn reserve(&self, bytes: u64) -> Result<(), FileError> {
        let (end, room) = (self.end(), self.room.load(Ordering::Relaxed));
        let wanted = end + bytes + AROUND;
        if wanted <= room {
            return Ok(());
        }
        let more = (end / 8).clamp(LEAST_ROOM, MOST_ROOM);
        // Room for this one alone is enough where there is no more.
        for upto in [wanted + more, wanted] {
            match self.medium.reserve(end, upto - end) {
                Ok(taken) => {
                    self.room.store(if taken { upto } else { u64::MAX }, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) if upto == wanted => return Err(self.unwritable(error)),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Appends changes as one frame, by one thread at a time: when this returns the operating system has them. The end of the
    /// frame. After an error the log ends where it ended before.
    ///
    /// # Errors
    /// [`FileError::Write`]; nothing can be appended any more.
    pub fn append(&self, changes: &[u8]) -> Result<u64, FileError> {
        if self.has_failed() {
            return Err(self.stopped());
        }
        let at = self.end();
        let frame = Frame { name: CHANGES, at }.bytes(changes);
        if let Err(error) = self.medium.write_at(at, &frame) {
            self.failed.store(true, Ordering::Release);
            // Part of the frame, which nothing says counts. If it stays the next opener takes it for a torn tail.
            let _ = self.medium.cut(at);
            return Err(self.unwritable(error));
        }
        let end = at + frame.len() as u64;
        self.end.store(end, Ordering::Release);
        Ok(end)
    }

    /// The error after one that was told already.
    fn stopped(&self) -> FileError {
        self.unwritable(io::Error::other("an earlier write or flush failed; open the index again"))
    }

    /// Has the disk take everything up to there, and what else was appended meanwhile; when this returns a power cut loses
    /// none of it.
    ///
    /// # Errors
    /// [`FileError::Write`]: what the disk has is not known, and nothing can be appended any more.
    pub fn sync(&self, upto: u64) -> Result<(), FileError> {
        let mut mark = self.mark();
        if self.has_failed() {
            return Err(self.stopped());
        }
        if mark.end >= upto {
            return Ok(());
        }
        let next = Mark { end: self.end(), turn: mark.turn + 1 };
        let at = next.place();
        let synced = self.medium.sync().and_then(|()| {
            // Once the mark is under way it may be on the disk whatever the system says: what it counts is there.
            self.medium.write_at(at, &next.bytes(at))?;
            self.medium.sync()
        });
        synced.map_err(|error| {
            self.failed.store(true, Ordering::Release);
            self.unwritable(error)
        })?;
        *mark = next;
        Ok(())
    }

    /// Whether the disk has everything.
    pub fn is_synced(&self) -> bool {
        self.mark().end >= self.end()
    }

    /// Syncs everything and gives unused room back.
    ///
    /// # Errors
    /// As [`Log::sync`].
    pub fn close(&self) -> Result<(), FileError> {
        let end = self.end();
        self.sync(end)?;
        let room = self.room.swap(end, Ordering::Relaxed);
        if room > end && room < u64::MAX {
            self.medium.cut(end).map_err(|error| self.unwritable(error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
