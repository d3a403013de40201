//! An input file: one handle for reading on and reading again, and what tells whether the file changed meanwhile.

use crate::error::DedupError;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A regular file that is an input, as it was when the run began.
pub(crate) struct Origin {
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

    pub(crate) fn length(&self) -> u64 {
        self.stamp.length
    }

    /// Reads exactly these bytes, wherever anybody else reads.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, bytes, offset)
    }

    /// A reader from the beginning.
    pub(crate) fn reader(self: &Arc<Self>) -> impl Read + Send + use<> {
        Sequential { origin: Arc::clone(self), offset: 0 }
    }

    /// [`DedupError::InputChanged`] where the file, or what has its name, is no longer what it was.
    pub(crate) fn check(&self) -> Result<(), DedupError> {
        let fail = |error| DedupError::input(&self.path, error);
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

    fn changed(&self, what: String) -> DedupError {
        DedupError::InputChanged { path: self.path.clone(), line: None, what }
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

struct Sequential {
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
pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
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
