//! A folder of files that appears under its name whole, or file by file and never over anything.
//!
//! ```text
//!  new ──► files are written, none of them flushed ──► sync: one for all ──► rename of the folder, or of each file ──► sync
//! ```

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::folder;
use crate::lock::{self, Lock};
use crate::slot::{self, LOOKED_AT};
use crate::system::is_taken;

/// A new folder beside its target, called `.NAME.simhash-N.tmp`. Dropped, it leaves nothing; what a killed process left is removed by the
/// next one of the same target, where folders can be locked (Unix).
#[derive(Debug)]
pub struct Staging {
    path: PathBuf,
    /// Held as long as the folder has this name.
    lock: Option<File>,
    leftovers: Vec<PathBuf>,
}

impl Staging {
    /// # Errors
    /// Those of the system: no folder can be made there.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let names = (0..LOOKED_AT).map(|number| slot::name(target, number));
        let leftovers = names.filter(|name| remove_if_left(name)).collect();
        let mut number = 0;
        loop {
            let path = slot::name(target, number);
            number += 1;
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if is_taken(&error) => continue,
                Err(error) => return Err(error),
            }
            match locked(&path) {
                // Before the lock another process may have thought it a leftover.
                Ok(None) => {}
                Ok(lock) => return Ok(Self { path, lock, leftovers }),
                // No locks here: nobody takes it for one.
                Err(_) => return Ok(Self { path, lock: None, leftovers }),
            }
        }
    }

    /// Where files are put.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folders of processes that were killed: they have been removed.
    pub fn leftovers(&self) -> &[PathBuf] {
        &self.leftovers
    }

    /// Gives the folder this name, which nothing must have but an empty folder.
    ///
    /// # Errors
    /// Those of the system; the folder is gone then.
    pub fn rename(mut self, to: &Path) -> io::Result<()> {
        // Windows renames no folder in which something is open. Elsewhere nobody takes it for a leftover until it has its name.
        if cfg!(windows) {
            self.lock = None;
        }
        fs::rename(&self.path, to)?;
        // Nothing is left under the first name, and nobody else's folder of that name may go.
        self.path = PathBuf::new();
        folder::sync(folder::of(to))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // What is left of it is of no use; that it cannot be removed changes nothing about what went wrong.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Gives a file this name, which nothing must have: not even a moment in between.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`], and others of the system.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if is_taken(&error) => Err(error),
        // No links here: two steps are all there is.
        Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        Err(_) => Err(ErrorKind::AlreadyExists.into()),
    }
}

/// Has the disk hold everything that was written below this folder, names too. False: the system cannot do that at once, and each file and folder must
/// be flushed.
///
/// # Errors
/// Those of the system.
pub fn sync_below(folder: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::syncfs(File::open(folder)?)?;
        Ok(true)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(false)
    }
}

/// The folder, locked; `None`: somebody else has it, or it has gone.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    match lock::lock(&folder)? {
        Lock::Held if lock::is_current(&folder, path) => Ok(Some(folder)),
        Lock::Held | Lock::Taken => Ok(None),
        Lock::Unsupported => Err(ErrorKind::Unsupported.into()),
    }
}

/// Whether a name was that of a leftover, and is free now.
fn remove_if_left(path: &Path) -> bool {
    let is_folder = path.symlink_metadata().is_ok_and(|about| about.is_dir());
    // Locked until it is gone: whoever opened it meanwhile sees that it is no longer current.
    is_folder && locked(path).ok().flatten().is_some_and(|_lock| fs::remove_dir_all(path).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_and_an_unfinished_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let staging = Staging::beside(&target).unwrap();
        fs::create_dir(staging.path().join("a")).unwrap();
        fs::write(staging.path().join("a/b"), "text").unwrap();
        sync_below(staging.path()).unwrap();
        assert!(!target.exists());
        drop(staging);
        assert_eq!(names(), 0);
        let staging = Staging::beside(&target).unwrap();
        fs::write(staging.path().join("b"), "text").unwrap();
        staging.rename(&target).unwrap();
        assert_eq!(fs::read_to_string(target.join("b")).unwrap(), "text");
        // Never over what somebody has.
        let staging = Staging::beside(&target).unwrap();
        assert!(staging.rename(&target).is_err());
        assert_eq!((names(), target.join("b").exists()), (1, true));
        fs::write(folder.path().join("c"), "mine").unwrap();
        let error = rename_new(&folder.path().join("c"), &target.join("b")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        rename_new(&folder.path().join("c"), &target.join("c")).unwrap();
        assert_eq!((names(), fs::read(target.join("b")).unwrap()), (1, b"text".to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_killed_process_left_goes_and_what_somebody_writes_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let left = slot::name(&target, 0);
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a"), "half").unwrap();
        let writing = Staging::beside(&target).unwrap();
        assert_eq!((writing.path(), writing.leftovers()), (&*left, &[left.clone()][..]));
        assert!(!left.join("a").exists());
        let other = Staging::beside(&target).unwrap();
        assert!(other.leftovers().is_empty() && writing.path().is_dir());
        assert_ne!(other.path(), writing.path());
    }
}
