//! Whose a file is: exclusive advisory locks, which the system lets go of when the process ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::Place;

/// What came of an attempt to lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It is locked until the file is closed.
    Held,
    /// Somebody else has it, in this process or another.
    Taken,
    /// The file system has no locks: nobody else's can be seen there either.
    Unsupported,
}

/// Locks an open file without waiting.
///
/// # Errors
/// Those of the system.
pub fn lock(file: &File) -> io::Result<Lock> {
    match file.try_lock() {
        Ok(()) => Ok(Lock::Held),
        Err(TryLockError::WouldBlock) => Ok(Lock::Taken),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
            Ok(Lock::Unsupported)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the path names this open file, and not one that has taken its place or nothing.
pub fn is_current(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt;
        let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
        file.metadata().and_then(|a| Ok(same(&a, &fs::metadata(path)?))).unwrap_or(false)
    };
    #[cfg(not(unix))]
    let same = {
        // Where a file that is open cannot be replaced the question does not arise.
        let _ = (file, path);
        true
    };
    same
}

/// Opens a file that exists, for reading and writing, and locks it. `None`: somebody else has it, or had it until a
/// moment ago and has put another file in its place. A pipe or device is not opened at all.
///
/// # Errors
/// Those of the system.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    open_and(path, true, || ())
}

/// Like [`open`], but only to have it: for who will put another file in its place and may not write to this one.
///
/// # Errors
/// Those of the system.
pub fn claim(path: &Path) -> io::Result<Option<File>> {
    open_and(path, false, || ())
}

/// `between` runs when the file is open and not locked yet: where somebody else may replace it.
fn open_and(path: &Path, write: bool, between: impl FnOnce()) -> io::Result<Option<File>> {
    if let Ok(Place::Special(kind)) = Place::of(path) {
        // Opening one can be noticed at its other end.
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {kind}, not a file")));
    }
    let file = at_once(OpenOptions::new().read(true).write(write)).open(path)?;
    between();
    let taken = lock(&file)? == Lock::Taken || !is_current(&file, path);
    Ok((!taken).then_some(file))
}

/// These options, but opening does not wait for the other end of a pipe.
pub(crate) fn at_once(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Of no consequence for regular files.
        options.custom_flags(libc::O_NONBLOCK);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_had_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "1").unwrap();
        let first = open(&path).unwrap().unwrap();
        assert!(open(&path).unwrap().is_none());
        assert_eq!(lock(&File::open(&path).unwrap()).unwrap(), Lock::Taken);
        drop(first);
        assert!(open(&path).unwrap().is_some());
        assert_eq!(open(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn who_opens_a_file_that_is_replaced_before_the_lock_does_not_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        fs::write(&path, "1").unwrap();
        fs::write(&other, "2").unwrap();
        let opened = open_and(&path, true, || fs::rename(&other, &path).unwrap()).unwrap();
        assert!(opened.is_none());
        let opened = open_and(&path, true, || fs::remove_file(&path).unwrap()).unwrap();
        assert!(opened.is_none());
    }
}
