//! An input file: one handle for reading on and reading again, and what tells whether the file changed meanwhile.

use crate::error::CorpusError;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A regular file that is an input, as it was when the run began.
pub struct Origin {
    path: PathBuf,
    file: File,
    stamp: Stamp,
}

/// What differs once somebody wrote to a file or put another in its place. A write that leaves length and time of
/// modification as they are is not seen.
#[derive(PartialEq)]
struct Stamp {
    identity: Identity,
    length: u64,
    modified: Option<SystemTime>,
}

/// Device and inode.
#[cfg(unix)]
type Identity = (u64, u64);
/// The time of making: elsewhere files have no number that the standard library tells.
#[cfg(not(unix))]
type Identity = Option<SystemTime>;

impl Origin {
    pub(crate) fn new(path: &Path, file: File, about: &Metadata) -> Self {
        Self { path: path.to_owned(), file, stamp: Stamp::of(about) }
    }

    /// Its bytes when the run began.
    pub fn length(&self) -> u64 {
        self.stamp.length
    }

    /// Reads exactly these bytes, wherever anybody else reads.
    ///
    /// # Errors
    /// Those of the operating system; the file may be shorter now.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, bytes, offset)
    }

    /// A reader from the beginning.
    pub fn reader(self: &Arc<Self>) -> impl Read + Send + use<> {
        self.reader_at(0)
    }

    /// A reader from this byte on.
    pub(crate) fn reader_at(self: &Arc<Self>, offset: u64) -> Sequential {
        Sequential { origin: Arc::clone(self), offset }
    }

    /// Looks whether it is still there as it was.
    ///
    /// # Errors
    /// [`CorpusError::Changed`] where the file, or what has its name, is no longer what it was.
    pub fn check(&self) -> Result<(), CorpusError> {
        let fail = |error| CorpusError::input(&self.path, error);
        let open = self.file.metadata().map_err(fail)?;
        let named = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.changed("it is no longer there".into()));
            }
            named => named.map_err(fail)?,
        };
        for now in [Stamp::of(&open), Stamp::of(&named)] {
            if let Some(what) = self.stamp.difference(&now) {
                return Err(self.changed(what));
            }
        }
        Ok(())
    }

    /// What tells it from what it may be later, as a run in another process sees it: inode (elsewhere the time of making), bytes, time of modification in
    /// nanoseconds. Not the device, whose number a restart of the system may change.
    pub fn stamp(&self) -> [u64; 3] {
        let nanoseconds = |at: Option<SystemTime>| {
            let since = at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            since.map_or(0, |since| since.as_nanos() as u64)
        };
        #[cfg(unix)]
        let identity = self.stamp.identity.1;
        #[cfg(not(unix))]
        let identity = nanoseconds(self.stamp.identity);
        [identity, self.stamp.length, nanoseconds(self.stamp.modified)]
    }

    /// Looks whether it is what it was when it had this stamp.
    ///
    /// # Errors
    /// [`CorpusError::Changed`].
    pub fn check_since(&self, stamp: [u64; 3]) -> Result<(), CorpusError> {
        let now = self.stamp();
        let what = if stamp[0] != now[0] {
            "another file has its name now".to_owned()
        } else if stamp[1] != now[1] {
            format!("it had {} bytes and has {} now", stamp[1], now[1])
        } else if stamp[2] != now[2] {
            "it was written to".to_owned()
        } else {
            return Ok(());
        };
        Err(self.changed(what))
    }

    fn changed(&self, what: String) -> CorpusError {
        CorpusError::Changed { path: self.path.clone(), what }
    }
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (about.dev(), about.ino())
        };
        #[cfg(not(unix))]
        let identity = about.created().ok();
        Self { identity, length: about.len(), modified: about.modified().ok() }
    }

    fn difference(&self, now: &Self) -> Option<String> {
        if self.identity != now.identity {
            return Some("another file has its name now".into());
        }
        if self.length != now.length {
            return Some(format!("it had {} bytes and has {} now", self.length, now.length));
        }
        (self.modified != now.modified).then(|| "it was written to".into())
    }
}

/// Reads on from where it stands.
pub(crate) struct Sequential {
    origin: Arc<Origin>,
    offset: u64,
}

impl Read for Sequential {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.origin.file, buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Reads exactly these bytes of a file, by position.
///
/// # Errors
/// Those of the operating system; the file may be shorter.
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match read_at(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}
