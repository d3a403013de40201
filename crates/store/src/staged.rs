//! A file that is whole and on the disk, and has not got its name yet: described, so that another process can give it the name.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::{Draft, Fields, FileError, PublishError, Section};
use crate::{folder, record};

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

/// What a sealed draft is called, what it will be called, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    name: PathBuf,
    target: PathBuf,
    length: u64,
    sum: u128,
    /// What has the name until then.
    before: Stood,
}

/// Which file has a name, as its folder tells: device, number, length, and when it was changed, in nanoseconds; zeros: none.
type Stood = [u64; 4];

#[cfg(unix)]
fn stood(path: &Path) -> Stood {
    use std::os::unix::fs::MetadataExt;
    path.symlink_metadata().map_or([0; 4], |about| {
        let changed = about.mtime().wrapping_mul(1_000_000_000).wrapping_add(about.mtime_nsec());
        [about.dev(), about.ino(), about.len(), changed.cast_unsigned()]
    })
}

#[cfg(not(unix))]
fn stood(path: &Path) -> Stood {
    path.symlink_metadata().map_or([0; 4], |about| {
        let changed =
            about.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        [1, 0, about.len(), changed.map_or(0, |since| since.as_nanos() as u64)]
    })
}

impl Draft {
    /// Seals it and describes it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn staged(&mut self) -> Result<Staged, PublishError> {
        self.seal()?;
        let described = || {
            let name = self.sealed_name().ok_or(io::ErrorKind::NotFound)?;
            let (length, sum) = content(name)?;
            let [name, target] = [std::path::absolute(name)?, std::path::absolute(self.target())?];
            // Who reads of the file after a power cut finds it.
            folder::sync(folder::of(&name))?;
            let before = stood(&target);
            Ok(Staged { name, target, length, sum, before })
        };
        described().map_err(|error| PublishError::new(self.target(), "it cannot be read", error))
    }
}

impl Staged {
    /// The name it gets.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Whether the file has its name.
    pub fn stands(&self) -> bool {
        self.is_at(&self.target)
    }

    /// Whether the file is there and can get its name.
    pub fn waits(&self) -> bool {
        self.is_at(&self.name)
    }

    /// Whether the name is still that of the file that had it, or of none: nobody has put another one there since.
    pub fn is_as_it_was(&self) -> bool {
        stood(&self.target) == self.before
    }

    fn is_at(&self, path: &Path) -> bool {
        let is_as_long = path
            .symlink_metadata()
            .is_ok_and(|about| about.is_file() && about.len() == self.length);
        is_as_long && content(path).is_ok_and(|found| found == (self.length, self.sum))
    }

    /// Gives the file its name, if it has it not yet; from when this returns the name is on the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub fn publish(&self) -> Result<(), FileError> {
        let named = || {
            if self.waits() {
                fs::rename(&self.name, &self.target)?;
                record::name(&self.target);
            }
            folder::sync(folder::of(&self.target))
        };
        named().map_err(|error| FileError::unwritable(error).in_file(&self.target))
    }

    /// Removes the file if it has not got its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn discard(&self) -> Result<(), FileError> {
        if !self.waits() {
            return Ok(());
        }
        folder::remove(&self.name).map_err(|error| FileError::unwritable(error).in_file(&self.name))
    }

    /// Writes the description down.
    ///
    /// # Errors
    /// [`FileError::Write`] for a path that is no Unicode.
    pub fn write(&self, out: &mut Fields) -> Result<(), FileError> {
        for path in [&self.name, &self.target] {
            let Some(text) = path.to_str() else {
                let what = io::Error::new(io::ErrorKind::InvalidInput, "its path is no Unicode");
                return Err(FileError::unwritable(what).in_file(path));
            };
            out.text(text);
        }
        out.number(self.length);
        out.number(self.sum as u64);
        out.number((self.sum >> 64) as u64);
        self.before.iter().for_each(|&number| out.number(number));
        Ok(())
    }

    /// Reads a description.
    ///
    /// # Errors
    /// [`FileError::Damaged`].
    pub fn read(from: &mut Section) -> Result<Self, FileError> {
        let (name, target) = (from.text()?.into(), from.text()?.into());
        let (length, low, high) = (from.number()?, from.number()?, from.number()?);
        let before = [from.number()?, from.number()?, from.number()?, from.number()?];
        Ok(Self { name, target, length, sum: u128::from(low) | u128::from(high) << 64, before })
    }
}

/// Length and checksum of a file.
fn content(path: &Path) -> io::Result<(u64, u128)> {
    let (mut file, mut sum) = (File::open(path)?, Xxh3::new());
    let (mut room, mut length) = (vec![0; PIECE], 0);
    loop {
        match file.read(&mut room)? {
            0 => return Ok((length, sum.digest128())),
            read => {
                length += read as u64;
                sum.update(&room[..read]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;
    use std::io::Write;

    fn staged(folder: &Path) -> (Draft, Staged) {
        let mut draft = Draft::new(&folder.join("out"), Access::Usual).unwrap();
        draft.file().write_all(b"content").unwrap();
        let staged = draft.staged().unwrap();
        (draft, staged)
    }

    #[test]
    fn who_has_the_description_gives_the_file_its_name_once() {
        let folder = tempfile::tempdir().unwrap();
        let (draft, staged) = staged(folder.path());
        let mut fields = Fields::default();
        staged.write(&mut fields).unwrap();
        assert_eq!(Staged::read(&mut Section::new(fields.0, 0)).unwrap(), staged);
        assert!(staged.waits() && !staged.stands());
        // As after kill -9: nobody removes the file.
        std::mem::forget(draft);
        staged.publish().unwrap();
        assert!(!staged.waits() && staged.stands());
        staged.publish().unwrap();
        staged.discard().unwrap();
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"content");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(all(unix, debug_assertions))]
    #[test]
    fn the_disk_has_the_name_of_each_step_before_it_returns() {
        use crate::record::Call;
        let folder = tempfile::tempdir().unwrap();
        record::start();
        let last = || {
            let own =
                |path: &PathBuf| path == folder.path() || path.parent() == Some(folder.path());
            let mut calls = record::so_far();
            calls.retain(|call| match call {
                Call::Name(_, path) | Call::FlushFolder(path) => own(path),
                _ => false,
            });
            calls
        };
        let (draft, staged) = staged(folder.path());
        let flushed = Call::FlushFolder(folder.path().to_owned());
        assert_eq!(last().last(), Some(&flushed));
        let before = last().len();
        std::mem::forget(draft);
        staged.publish().unwrap();
        let [Call::Name(_, named), then] = &last()[before..] else { panic!("{:?}", last()) };
        assert_eq!((named, then), (&folder.path().join("out"), &flushed));
    }

    #[test]
    fn a_file_with_another_content_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let (draft, staged) = staged(folder.path());
        fs::write(folder.path().join("out"), b"Content").unwrap();
        assert!(!staged.stands());
        staged.discard().unwrap();
        assert!(!staged.waits());
        drop(draft);
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"Content");
    }
}
