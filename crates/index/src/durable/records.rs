//! What runs leave in the directory of an index: a small file each, by which the same run again is answered; those of long ago go.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use simhash_store::directory::{Directory, Manifest};
use simhash_store::{FileError, Section, folder};

use super::run::{read, write};
use crate::IndexError;

pub(super) const RECORD: [u8; 4] = *b"RECD";

/// How many runs are remembered: those of a day for almost three years.
const MOST_RUNS: usize = 1_000;
/// How many bytes their records may have in any case.
const LEAST_BYTES: u64 = 64 << 20;

/// What a run leaves in the directory: a small file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name of the file; begins with [`simhash_store::directory::RECORD`].
    pub name: String,
    /// What it says; begins with the id u64 that the next addition gets.
    pub content: Vec<u8>,
}

/// Reads the file that a run of this name left.
pub(super) fn read_record(
    directory: &Directory,
    manifest: &Manifest,
    name: &str,
) -> Result<Option<Section>, IndexError> {
    read(&directory.file(name), manifest, |input| input.frame(RECORD))
}

/// The names of the files that runs left, in order.
pub(super) fn records(directory: &Directory) -> Result<Vec<String>, IndexError> {
    let unreadable = |error| FileError::unreadable(error).in_file(directory.path());
    let mut names = Vec::new();
    for entry in fs::read_dir(directory.path()).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if name.starts_with(simhash_store::directory::RECORD) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Copies what runs left to a directory of another index that goes on from this one, whose next id is `next`: runs that came later
/// stay behind.
///
/// # Errors
/// [`IndexError::File`].
pub fn copy_records(
    from: (&Directory, &Manifest),
    to: (&Directory, &Manifest),
    next: u64,
) -> Result<(), IndexError> {
    for name in records(from.0)? {
        if let Some(mut record) = read_record(from.0, from.1, &name)? {
            let content = record.left().to_vec();
            let end = record_end(&content);
            if end.is_some_and(|end| end <= next) {
                write(&to.0.file(&name), to.1, &[(RECORD, &content)])?;
            }
        }
    }
    Ok(())
}

/// The id that the next addition got after a run.
fn record_end(content: &[u8]) -> Option<u64> {
    content.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// How many records there may be, and how many bytes they may have together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    runs: usize,
    bytes: u64,
}

impl Bounds {
    /// Those of an index: its records are not larger than the index itself.
    pub(super) fn of(directory: &Directory, manifest: &Manifest) -> Self {
        let length = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
        let logs: u64 = manifest.logs.iter().map(|&log| length(&directory.log(log))).sum();
        let bytes = logs + length(&directory.checkpoint(manifest.checkpoint));
        Self { runs: MOST_RUNS, bytes: bytes.max(LEAST_BYTES) }
    }
}

/// Removes the records of the oldest runs while there are more than these bounds say. The latest stays in any case.
///
/// # Errors
/// [`IndexError::File`].
pub(super) fn forget(
    directory: &Directory,
    manifest: &Manifest,
    bounds: Bounds,
) -> Result<(), IndexError> {
    let mut left = Vec::new();
    for name in records(directory)? {
        let about = fs::metadata(directory.file(&name));
        let about =
            about.map_err(|error| FileError::unreadable(error).in_file(directory.path()))?;
        left.push((name, about.len(), about.modified().unwrap_or(SystemTime::UNIX_EPOCH)));
    }
    let mut bytes: u64 = left.iter().map(|(_, length, _)| length).sum();
    if left.len() <= bounds.runs && bytes <= bounds.bytes {
        return Ok(());
    }
    // Runs are as old as the ids that they gave; those that gave none, as their files.
    let mut by_age = Vec::new();
    for (name, length, modified) in left {
        // One that is damaged stays, for who verifies the index to be told of it; the others go as they would.
        let Ok(Some(mut record)) = read_record(directory, manifest, &name) else { continue };
        let end = record_end(record.left()).unwrap_or(0);
        by_age.push((end, modified, name, length));
    }
    by_age.sort_unstable();
    let mut count = by_age.len();
    for (_, _, name, length) in by_age {
        if count <= 1 || count <= bounds.runs && bytes <= bounds.bytes {
            break;
        }
        let path = directory.file(&name);
        folder::remove(&path).map_err(|error| FileError::unwritable(error).in_file(&path))?;
        count -= 1;
        bytes -= length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::testing::opened;
    use crate::exact::{ExactIndex, ExactOptions};

    #[test]
    fn the_oldest_runs_are_forgotten_and_the_latest_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        drop(opened(&path, || ExactIndex::new(&ExactOptions::default()).unwrap()));
        let (directory, manifest) = Directory::look(&path).unwrap();
        // Names that are in another order than the runs; the last two gave no ids.
        for (age, (name, end)) in
            [("run-c", 3_u64), ("run-a", 9), ("run-d", 20), ("run-b", 20), ("run-e", 20)]
                .iter()
                .enumerate()
        {
            let content = [&end.to_le_bytes()[..], &[7; 100]].concat();
            write(&directory.file(name), &manifest, &[(RECORD, &content)]).unwrap();
            let file = fs::File::options().write(true).open(directory.file(name)).unwrap();
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(age as u64);
            file.set_modified(at).unwrap();
        }
        let length = fs::metadata(directory.file("run-a")).unwrap().len();
        let after = |runs: usize, bytes: u64| {
            forget(&directory, &manifest, Bounds { runs, bytes }).unwrap();
            records(&directory).unwrap().join(" ")
        };
        let all = "run-a run-b run-c run-d run-e";
        assert_eq!(after(5, 5 * length), all);
        assert_eq!(after(4, u64::MAX), "run-a run-b run-d run-e");
        assert_eq!(after(9, 4 * length - 1), "run-b run-d run-e");
        assert_eq!(after(9, 2 * length), "run-b run-e");
        assert_eq!(after(0, 0), "run-e");
        let own = Bounds::of(&directory, &manifest);
        assert_eq!((own.runs, own.bytes), (MOST_RUNS, LEAST_BYTES));
    }
}
