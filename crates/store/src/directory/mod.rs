//! The directory of an index: a checkpoint, logs, and a manifest that says which of them count.
//!
//! ```text
//! MANIFEST               which checkpoint and which logs count; replaced whole
//! checkpoint-0000000007  the whole, as it was when log 7 began
//! log-0000000007         changes since, in order; then log-0000000008, where a checkpoint 8 is being written
//! LOCK                   locked by the one process that writes; says which
//! run-…, COMMIT          what runs did that counted together with other files, and one that is about to count
//! ```
//! A file with a number is never changed once it has its name, but for a log's end. So whoever has read the manifest finds what
//! it names, or, where it has been replaced meanwhile, a newer manifest. What is not named and has such a name was left by a
//! process that was killed, and is removed by the next writer: once it has read all that is named, so that a manifest that is not of
//! these files removes none of them. Files of other names are nobody's business here and stay.
//!
//! Every file says in its head or at its end whose it is, so that files of two directories, or two files of one, cannot be
//! mistaken for each other.

mod manifest;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use self::manifest::{Identity, Manifest};
use crate::lock::{self, Lock};
use crate::{Access, Draft, Fields, FileError, Section, folder, record};

const MANIFEST: &str = "MANIFEST";
const LOCK: &str = "LOCK";
const CHECKPOINT: &str = "checkpoint-";
const LOG: &str = "log-";
/// What the names of records of runs begin with.
pub const RECORD: &str = "run-";

/// How often a manifest that is replaced meanwhile, or a lock that is removed, is tried.
const TRIES: u32 = 64;

/// The directory of an index.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The writer's; who only reads has none.
    lock: Mutex<Option<File>>,
    /// The process that opened it.
    process: u32,
}

impl Directory {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), lock: Mutex::default(), process: std::process::id() }
    }

    /// Whether this process has opened it, and is not a fork of that one: the lock is a process's own.
    pub fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// Takes a directory for writing, and makes it if it is not there and `create` says so; and its manifest. No manifest: it is
    /// a new one, to be [begun](Directory::begin). No file is removed: whoever has read what the manifest names
    /// [sweeps](Directory::sweep).
    ///
    /// # Errors
    /// [`FileError::Locked`] with the process that has it; [`FileError::Read`] where it is not there, or is no directory of an
    /// index; those of the manifest.
    pub fn claim(path: &Path, create: bool) -> Result<(Self, Option<Manifest>), FileError> {
        let unnamed = |error| FileError::unwritable(error).in_file(path);
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => return Err(not_one(path, "it is a file; name the folder of an index")),
            Err(error) if error.kind() == ErrorKind::NotFound && create => match make(path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(unnamed(error));
                }
                _ => folder::sync(folder::of(path)).map_err(unnamed)?,
            },
            Err(error) => return Err(FileError::unreadable(error).in_file(path)),
        }
        let mut held = Self::of(path);
        match held.manifest()? {
            Some(_) => {}
            None if create => match held.check_empty() {
                // Another process may make the index just now: then it has the lock.
                Err(error) if held.manifest()?.is_none() => return Err(error),
                _ => {}
            },
            None => return Err(not_one(path, "it holds no index")),
        }
        held.lock = Mutex::new(Some(held.take_lock()?));
        // Another process may have made the index before this one had the lock.
        let Some(manifest) = held.manifest()? else {
            held.check_empty()?;
            return Ok((held, None));
        };
        if manifest.is_begun() && !create {
            return Err(not_one(path, "it holds an index that was never finished"));
        }
        Ok((held, Some(manifest).filter(|manifest| !manifest.is_begun())))
    }

    /// Looks at a directory that another process may be writing to.
    ///
    /// # Errors
    /// As [`Directory::claim`], but for the lock.
    pub fn look(path: &Path) -> Result<(Self, Manifest), FileError> {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => return Err(not_one(path, "it is a file; name the folder of an index")),
            Err(error) => return Err(FileError::unreadable(error).in_file(path)),
        }
        let looked = Self::of(path);
        let manifest = looked.manifest()?.filter(|manifest| !manifest.is_begun());
        let manifest = manifest.ok_or_else(|| not_one(path, "it holds no index"))?;
        Ok((looked, manifest))
    }

    /// Lets others write; nothing may be written here any more.
    pub fn release(&self) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(lock) = lock.filter(|_| self.is_own()) {
            // Who looks finds nobody named. A process that is being started has this file open too, until it becomes another
            // program: closing alone would keep others out until then.
            let _ = lock.set_len(0);
            let _ = lock.unlock();
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new index: the manifest to be published once its files are there. Until then the directory says that it is being made,
    /// so that files without a manifest are never taken for the leavings of that. What was there before goes.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn begin(&self) -> Result<Manifest, FileError> {
        let identity = Identity::random();
        let begun = Manifest { identity, checkpoint: 0, logs: Vec::new() };
        self.publish(&begun)?;
        self.sweep(&begun).map_err(|error| FileError::unwritable(error).in_file(&self.path))?;
        Ok(Manifest { identity, checkpoint: 1, logs: vec![1] })
    }

    /// Removes all files of this directory and, if nothing else is in it, the folder. A process that is killed meanwhile leaves one that is
    /// being made.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn discard(&self) -> Result<(), FileError> {
        self.begin()?;
        let removed = || {
            for entry in fs::read_dir(&self.path)? {
                let entry = entry?;
                if is_draft(&entry.file_name().to_string_lossy()) {
                    fs::remove_file(entry.path())?;
                }
            }
            fs::remove_file(self.path.join(MANIFEST))?;
            record::remove(&self.path.join(MANIFEST));
            fs::remove_file(self.path.join(LOCK))
        };
        removed().map_err(|error| FileError::unwritable(error).in_file(&self.path))?;
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    /// Whether this is a directory, or the beginning of one, that no process has open. False where that cannot be told.
    pub fn is_left(path: &Path) -> bool {
        if !path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
            return false;
        }
        match lock::claim(&path.join(LOCK)) {
            Ok(free) => free.is_some(),
            // Its maker was killed before it had its lock.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
            }
            Err(_) => false,
        }
    }

    /// Where a checkpoint lies.
    pub fn checkpoint(&self, number: u64) -> PathBuf {
        self.path.join(format!("{CHECKPOINT}{number:010}"))
    }

    /// Where a log lies.
    pub fn log(&self, number: u64) -> PathBuf {
        self.path.join(format!("{LOG}{number:010}"))
    }

    /// Whether there is an index in a folder, which may be missing or empty.
    ///
    /// # Errors
    /// [`FileError::Read`] for what is no folder; those of the manifest.
    pub fn is_there(path: &Path) -> Result<bool, FileError> {
        match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(FileError::unreadable(error).in_file(path)),
            Ok(about) if !about.is_dir() => {
                return Err(not_one(path, "it is a file; name the folder of an index"));
            }
            Ok(_) => {}
        }
        let looked = Self::of(path);
        Ok(looked.manifest()?.is_some_and(|manifest| !manifest.is_begun()))
    }

    /// That an index can be made in a folder: it is missing, or empty, or holds one that was never finished.
    ///
    /// # Errors
    /// [`FileError::Write`] for anything else.
    pub fn check_free(path: &Path) -> Result<(), FileError> {
        Self::is_free(path).map_err(|error| match error {
            FileError::Read { path, source } => FileError::Write { path, source },
            other => other,
        })
    }

    fn is_free(path: &Path) -> Result<(), FileError> {
        if Self::is_there(path)? {
            let taken = "it holds an index already; name a folder that does not exist yet";
            let taken = io::Error::new(ErrorKind::AlreadyExists, taken);
            return Err(FileError::unwritable(taken).in_file(path));
        }
        if let Some(reason) = folder::missing(path) {
            let missing = io::Error::new(ErrorKind::NotFound, reason);
            return Err(FileError::unwritable(missing).in_file(path));
        }
        let looked = Self::of(path);
        if path.exists() && looked.manifest()?.is_none() { looked.check_empty() } else { Ok(()) }
    }

    /// Files of an index that was never finished, in a folder where the process was killed that made it: the next one that is made
    /// there takes their place.
    pub fn unfinished(path: &Path) -> Vec<PathBuf> {
        let looked = Self::of(path);
        let is_left = match looked.manifest() {
            Ok(Some(manifest)) => manifest.is_begun(),
            // It may have come no further than a draft of its first manifest.
            Ok(None) => looked.check_empty().is_ok(),
            Err(_) => false,
        };
        if !is_left {
            return Vec::new();
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> =
            entries.filter(|entry| entry.file_name() != LOCK).map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Gives up an index that was begun here and not published: what was written of it goes, and with `folder` the folder, if
    /// nothing else is in it. One that was published stays.
    pub fn abandon(self, folder: bool) {
        match self.manifest() {
            Ok(Some(manifest)) if !manifest.is_begun() => return,
            Ok(Some(manifest)) => {
                // What cannot be removed is removed by the next one that is made here.
                let _ = self.sweep(&manifest);
                let _ = fs::remove_file(self.path.join(MANIFEST));
            }
            _ => {}
        }
        let _ = fs::remove_file(self.path.join(LOCK));
        if folder {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Where a file of this name lies.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The manifest as it is now; none: there is none.
    ///
    /// # Errors
    /// [`FileError::Read`], [`FileError::Damaged`], [`FileError::Format`].
    pub fn manifest(&self) -> Result<Option<Manifest>, FileError> {
        let path = self.path.join(MANIFEST);
        let unreadable = |error| FileError::unreadable(error).in_file(&path);
        let file = match lock::at_once(OpenOptions::new().read(true)).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let length = file.metadata().map_err(unreadable)?.len();
        let read = Manifest::read(BufReader::new(file), length);
        read.map(Some).map_err(|error| error.in_file(&path))
    }

    /// Replaces the manifest; from when this returns it is on the disk.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn publish(&self, manifest: &Manifest) -> Result<(), FileError> {
        let path = self.path.join(MANIFEST);
        let mut draft = Draft::new(&path, Access::Private)?;
        manifest.write(draft.file()).map_err(|error| error.in_file(&path))?;
        draft.publish()?;
        Ok(())
    }

    /// Removes files that the manifest does not name. Only for who has read those that it names, or has written them.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sweep(&self, manifest: &Manifest) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let counts = match number(&name.to_string_lossy()) {
                Some((CHECKPOINT, number)) => manifest.checkpoint == number,
                Some((_, number)) => manifest.logs.contains(&number),
                // Those of an index that was never finished.
                None => !(manifest.is_begun() && name.to_string_lossy().starts_with(RECORD)),
            };
            if !counts {
                match fs::remove_file(entry.path()) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => record::remove(&entry.path()),
                }
            }
        }
        Ok(())
    }

    /// That a new index is made in an empty folder. A draft of a manifest was left by a process that was killed.
    fn check_empty(&self) -> Result<(), FileError> {
        let unreadable = |error| FileError::unreadable(error).in_file(&self.path);
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let name = name.to_string_lossy();
            if number(&name).is_some() {
                let path = self.path.join(MANIFEST);
                let reason =
                    format!("it is not there, but {name} is: restore it, or name another folder");
                return Err(not_one(&path, &reason));
            }
            if name != LOCK && !name.starts_with(&format!(".{MANIFEST}.")) {
                let reason = format!(
                    "it holds no index, and other files ({name}); name a folder of its own"
                );
                return Err(not_one(&self.path, &reason));
            }
        }
        Ok(())
    }

    fn take_lock(&self) -> Result<File, FileError> {
        let path = self.path.join(LOCK);
        let unwritable = |error| FileError::unwritable(error).in_file(&path);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        for _ in 0..TRIES {
            let mut file = lock::at_once(&mut options).open(&path).map_err(unwritable)?;
            if lock::lock(&file).map_err(unwritable)? == Lock::Taken {
                let by = fs::read_to_string(&path).unwrap_or_default();
                return Err(FileError::Locked {
                    path: self.path.clone(),
                    by: by.trim().to_owned(),
                });
            }
            if lock::is_current(&file, &path) {
                file.set_len(0).map_err(unwritable)?;
                writeln!(file, "process {}", std::process::id()).map_err(unwritable)?;
                return Ok(file);
            }
        }
        Err(FileError::Locked { path: self.path.clone(), by: String::new() })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.release();
    }
}

impl Manifest {
    /// What file number `number` of this directory says of itself.
    pub fn mark(&self, number: u64) -> Fields {
        let mut fields = Fields::default();
        for number in [self.identity.0[0], self.identity.0[1], number] {
            fields.number(number);
        }
        fields
    }

    /// That a file is number `number` of this directory, by what it says of itself.
    ///
    /// # Errors
    /// [`FileError::Damaged`].
    pub fn check(&self, said: &mut Section, number: u64) -> Result<(), FileError> {
        let at = said.offset();
        let identity = Identity([said.number()?, said.number()?]);
        let own = said.number()?;
        if identity != self.identity {
            return Err(FileError::damaged(at, "this file belongs to another index"));
        }
        if own != number {
            return Err(FileError::damaged(
                at,
                format!("this is file {own} of the index, under another name"),
            ));
        }
        Ok(())
    }
}

/// A folder for its owner only.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn not_one(path: &Path, reason: &str) -> FileError {
    FileError::unreadable(io::Error::new(ErrorKind::InvalidInput, reason.to_owned())).in_file(path)
}

/// Whether this is the name of a file of a directory that a process was writing when it was killed.
fn is_draft(name: &str) -> bool {
    let of = name.strip_prefix('.').and_then(|name| name.split_once(".simhash-"));
    of.is_some_and(|(of, _)| of == MANIFEST || number(of).is_some())
}

/// What a name with a number stands for.
fn number(name: &str) -> Option<(&'static str, u64)> {
    [CHECKPOINT, LOG].into_iter().find_map(|kind| {
        let digits = name.strip_prefix(kind)?;
        let all = digits.len() >= 10 && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some((kind, digits.parse().ok().filter(|_| all)?))
    })
}

#[cfg(test)]
mod tests;
