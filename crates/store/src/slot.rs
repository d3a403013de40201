//! The names beside a target that drafts have: few and known, so that what a killed process left is found again.
//!
//! A draft of `NAME` is called `.NAME.simhash-N.tmp`, N from 0, and is locked while its process lives. Who wants such a name
//! and finds it taken tries the lock: if nobody has it, the file is what a process left that was killed, and goes.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::folder;
use crate::lock::{self, Lock};
use crate::system::{System, is_taken};

/// Names that are looked at for leftovers whether they are needed or not. So many drafts of one target at once are rare.
pub(crate) const LOOKED_AT: u32 = 8;
/// Bytes of a target's name that are kept in those of its drafts: file systems allow 255 in all.
const NAME: usize = 200;

/// The name of a draft, which goes with it.
#[derive(Debug)]
pub(crate) struct Beside {
    name: PathBuf,
    system: &'static dyn System,
    is_there: bool,
}

impl Beside {
    /// The first name of this target's drafts by which `take` gets a file.
    pub(crate) fn take<T>(
        target: &Path,
        system: &'static dyn System,
        mut take: impl FnMut(&Path) -> io::Result<Option<T>>,
    ) -> io::Result<(T, Self)> {
        for number in 0.. {
            let name = name(target, number);
            // Once more where the name was a leftover's.
            for _ in 0..2 {
                match take(&name) {
                    Ok(Some(taken)) => return Ok((taken, Self { name, system, is_there: true })),
                    Ok(None) => break,
                    Err(error) if is_taken(&error) => {
                        if !remove_if_left(&name, system) {
                            break;
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Moves the file to its target.
    pub(crate) fn rename(&mut self, target: &Path) -> io::Result<()> {
        self.system.rename(&self.name, target)?;
        // From now on the name may be another draft's.
        self.is_there = false;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if self.is_there {
            // What is left of it is of no use; that it cannot be removed changes nothing about what went wrong.
            let _ = self.system.remove(&self.name);
        }
    }
}

/// The name of a target's draft with this number.
pub(crate) fn name(target: &Path, number: u32) -> PathBuf {
    let whole = target.file_name().unwrap_or_default();
    let mut name = OsString::from(".");
    if whole.len() <= NAME {
        name.push(whole);
    } else {
        let mut hasher = DefaultHasher::new();
        whole.hash(&mut hasher);
        name.push(format!("{:016x}", hasher.finish()));
    }
    name.push(format!(".simhash-{number}.tmp"));
    folder::of(target).join(name)
}

/// Removes what killed processes left beside a target; the names that are free again.
pub(crate) fn sweep(target: &Path, system: &dyn System) -> Vec<PathBuf> {
    let names = (0..LOOKED_AT).map(|number| name(target, number));
    names.filter(|name| remove_if_left(name, system)).collect()
}

/// Whether a name was that of a leftover, and is free now.
pub(crate) fn remove_if_left(name: &Path, system: &dyn System) -> bool {
    let is_file = name.symlink_metadata().is_ok_and(|about| about.is_file());
    is_file
        && abandoned(name).is_some_and(|file| {
            let removed = system.remove(name).is_ok();
            // Locked until here: whoever opened it meanwhile sees that it is no longer current.
            drop(file);
            removed
        })
}

/// The file, locked, if nobody else has it.
fn abandoned(name: &Path) -> Option<File> {
    let open = |write| lock::at_once(OpenOptions::new().read(true).write(write)).open(name);
    let file = open(true).or_else(|_| open(false)).ok()?;
    let free = matches!(lock::lock(&file), Ok(Lock::Held)) && lock::is_current(&file, name);
    free.then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lie_beside_the_target_and_are_never_too_long() {
        assert_eq!(name(Path::new("a/b.idx"), 3), Path::new("a/.b.idx.simhash-3.tmp"));
        let long = "长".repeat(85);
        let (first, second) = (name(Path::new(&long), 0), name(Path::new(&long), 1));
        assert!(first.file_name().unwrap().len() < 255 && first != second);
    }
}
