//! A directory that appears whole: it is made beside its name, and gets the name when everything is on the disk.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use simhash_store::directory::Directory;
use simhash_store::{FileError, folder};

use crate::error::DedupError;
use crate::live::Snapshot;

fn unwritable(error: io::Error, path: &Path) -> DedupError {
    FileError::unwritable(error).in_file(path).into()
}

/// That a directory can get this name: nothing has it, or an empty folder.
pub(super) fn check_free(path: &Path) -> Result<(), DedupError> {
    let taken = |reason: &str| unwritable(io::Error::new(ErrorKind::AlreadyExists, reason), path);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritable(error, path)),
        Ok(about) if !about.is_dir() => {
            Err(taken("it is there and no folder; name a folder that does not exist yet"))
        }
        Ok(_) => match fs::read_dir(path).map_err(|error| unwritable(error, path))?.next() {
            None => Ok(()),
            Some(_) => Err(taken("it is there; name a folder that does not exist yet")),
        },
    }
}

/// Where the directory is made. A process that is killed leaves it, and the next one begins it anew.
fn beside(path: &Path) -> PathBuf {
    // Without a separator at its end.
    let mut name: PathBuf = path.components().collect();
    name.as_mut_os_string().push(".converting");
    name
}

/// Writes a snapshot to a directory that did not exist.
pub(super) fn write(
    snapshot: Snapshot,
    path: &Path,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    let making = beside(path);
    let (directory, whole) = Directory::claim(&making, true)?;
    if whole.is_some() {
        let reason =
            "it holds an index that was converted before and not named; rename or remove it";
        return Err(unwritable(io::Error::new(ErrorKind::AlreadyExists, reason), &making));
    }
    let written = snapshot.write_claimed(&directory, cancel).and_then(|()| {
        directory.release();
        check_free(path)?;
        name(&making, path).map_err(|error| unwritable(error, path))
    });
    if written.is_err() {
        // What is left of it is of no use, and this process has made it.
        let _ = fs::remove_dir_all(&making);
    }
    written
}

fn name(making: &Path, path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) && path.is_dir() {
        // There an empty folder is not replaced.
        fs::remove_dir(path)?;
    }
    // Never over a folder that holds something: the system refuses that.
    fs::rename(making, path)?;
    folder::sync(folder::of(path))
}
