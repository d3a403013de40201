//! Files that are written whole and read whole, and may be given up on the way.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Access, Draft, FileError};

/// Bytes read or written at a time.
const PIECE: usize = 1 << 20;

/// A stream that ends when the flag is raised.
struct Watched<'a, S> {
    stream: S,
    cancel: &'a AtomicBool,
}

impl<S> Watched<'_, S> {
    fn run<T>(&mut self, work: impl FnOnce(&mut S) -> io::Result<T>) -> io::Result<T> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        work(&mut self.stream)
    }
}

impl<S: Read> Read for Watched<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.run(|stream| stream.read(bytes))
    }
}

impl<S: Write> Write for Watched<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.run(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.run(Write::flush)
    }
}

fn check(cancel: &AtomicBool) -> Result<(), FileError> {
    if cancel.load(Ordering::Relaxed) { Err(FileError::Cancelled) } else { Ok(()) }
}

/// Publishes what `write` writes, whole or not at all. `access` is that of a file which is new. Its errors do not name the
/// file yet where `write` made them: see [`FileError::in_file`].
///
/// # Errors
/// [`FileError::Write`], [`FileError::Cancelled`], and what `write` says.
pub fn save<E: From<FileError>>(
    path: &Path,
    access: Access,
    cancel: &AtomicBool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut draft = Draft::new(path, access).map_err(FileError::from)?;
    let stream = BufWriter::with_capacity(PIECE, draft.file());
    let mut out = Watched { stream, cancel };
    let written = write(&mut out);
    check(cancel)?;
    written?;
    // Past the flag: what it says now is looked at below.
    out.stream.flush().map_err(FileError::unwritable)?;
    drop(out);
    draft.seal().map_err(FileError::from)?;
    check(cancel)?;
    draft.publish().map_err(FileError::from)?;
    Ok(())
}

/// Reads a file, whose length `read` is told where it has one: a pipe has none. Its errors do not name the file yet: see [`FileError::in_file`].
///
/// # Errors
/// [`FileError::Read`], [`FileError::Cancelled`], and what `read` says.
pub fn open<T, E: From<FileError>>(
    path: &Path,
    cancel: &AtomicBool,
    read: impl FnOnce(&mut dyn Read, Option<u64>) -> Result<T, E>,
) -> Result<T, E> {
    let file = File::open(path).map_err(FileError::unreadable)?;
    let known = file.metadata().map_err(FileError::unreadable)?;
    let length = known.is_file().then_some(known.len());
    let mut input = Watched { stream: BufReader::with_capacity(PIECE, file), cancel };
    let opened = read(&mut input, length);
    check(cancel)?;
    opened
}
