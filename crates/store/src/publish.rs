//! One way to make a file appear under a name: whole, or not at all.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::PublishError;
use crate::folder;
use crate::lock::{self, Lock};
use crate::place::Place;
use crate::slot::{Beside, sweep};
use crate::system::{Os, System, is_taken};

/// Who may read a file that is new. One that is replaced keeps its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// As any new file: everybody, less what the process's umask takes away.
    Usual,
    /// Its owner only, as is right for a file that holds texts of others.
    Private,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Self::Usual => 0o666,
            Self::Private => 0o600,
        }
    }
}

/// What came of making a new file.
#[derive(Debug)]
pub enum Created {
    /// It is there; the file is still locked.
    New(File),
    /// The name was taken meanwhile. Nothing has changed.
    Exists(Draft),
}

/// A file that is being written and has not got its name yet. Dropped, it leaves nothing.
///
/// On Linux it has no name at all until it is sealed, where the file system can do that: a process that is killed
/// meanwhile leaves nothing either. Elsewhere it is called `.NAME.simhash-N.tmp`, and the next draft of the same target
/// removes what a killed process left ([`Draft::leftovers`]). It is locked ([`lock`](crate::lock)) from the beginning, and
/// stays so for who goes on with the file.
#[derive(Debug)]
pub struct Draft {
    /// The target as it was named, for messages.
    named: PathBuf,
    /// Behind all links.
    target: PathBuf,
    // Dropped before the file: as long as the name is there, its lock is held.
    beside: Option<Beside>,
    file: File,
    sealed: bool,
    leftovers: Vec<PathBuf>,
    system: &'static dyn System,
}

impl Draft {
    /// A draft of a regular file, which may exist.
    ///
    /// # Errors
    /// The path is a folder, a pipe or a device ([`ErrorKind::InvalidInput`]), or no file can be made beside it.
    pub fn new(path: &Path, access: Access) -> Result<Self, PublishError> {
        Self::with(path, access, &Os)
    }

    fn with(
        path: &Path,
        access: Access,
        system: &'static dyn System,
    ) -> Result<Self, PublishError> {
        let (target, about) = match Place::of(path) {
            Ok(Place::File { target, about }) => (target, about),
            Ok(Place::Special(kind)) => {
                let what =
                    format!("it is {kind}, which a file cannot replace; name a regular file");
                let source = io::Error::new(ErrorKind::InvalidInput, what);
                return Err(PublishError::new(path, "", source));
            }
            Err(error) => return Err(PublishError::new(path, "", error)),
        };
        let leftovers = sweep(&target, system);
        // What replaces a file gets its permissions at the end; until then nobody else needs to see it.
        let mode = if about.is_some() { Access::Private } else { access }.mode();
        let folder = folder::of(&target);
        let (file, beside) = match system.unnamed(folder, mode) {
            Some(file) => (file, None),
            None => named(&target, mode, system)
                .map(|(file, beside)| (file, Some(beside)))
                .map_err(|error| refused(path, &target, error))?,
        };
        if beside.is_none() {
            lock::lock(&file)
                .map_err(|error| PublishError::new(path, "it cannot be locked", error))?;
        }
        let named = path.to_owned();
        Ok(Self { named, target, beside, file, sealed: false, leftovers, system })
    }

    /// The file, open for reading and writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// The path behind all links.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Its name beside the target, once it is sealed.
    pub(crate) fn sealed_name(&self) -> Option<&Path> {
        self.beside.as_ref().filter(|_| self.sealed).map(Beside::name)
    }

    /// Unfinished files of processes that were killed while they wrote to the same target: they have been removed.
    pub fn leftovers(&self) -> &[PathBuf] {
        &self.leftovers
    }

    /// Has everything written out to the disk, gives the file the permissions of the one that it replaces, and a name
    /// beside it. Nothing may be written afterwards. Done by the verbs that publish, if it has not been.
    ///
    /// # Errors
    /// Those of the system.
    pub fn seal(&mut self) -> Result<(), PublishError> {
        if self.sealed {
            return Ok(());
        }
        self.flush()?;
        if self.beside.is_none() {
            let linked = self.name_it();
            linked.map_err(|error| refused(&self.named, &self.target, error))?;
        }
        self.sealed = true;
        Ok(())
    }

    /// Publishes: replaces what is there. The file, still locked.
    ///
    /// # Errors
    /// Those of the system. Only where [`PublishError::published`] names the path it has been replaced.
    pub fn publish(self) -> Result<File, PublishError> {
        let mut files = publish_all(vec![self])?;
        // One draft, one file.
        Ok(files.remove(0))
    }

    /// Publishes under a name that nothing has: of two who do so at once exactly one succeeds.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(mut self) -> Result<Created, PublishError> {
        self.flush()?;
        let linked = match &self.beside {
            None => self.system.link(&self.file, &self.target),
            Some(beside) => self.system.hard_link(beside.name(), &self.target),
        };
        match linked {
            Ok(()) => {}
            Err(error) if is_taken(&error) => return Ok(Created::Exists(self)),
            // No links here. Who makes an empty file of the name has it, and may replace that.
            Err(_) => {
                self.seal()?;
                match self.system.create(&self.target, Access::Private.mode()) {
                    Ok(empty) => drop(empty),
                    Err(error) if is_taken(&error) => return Ok(Created::Exists(self)),
                    Err(error) => return Err(refused(&self.named, &self.target, error)),
                }
                let target = self.target.clone();
                let published = self.publish();
                if published.is_err() {
                    // Only the empty file that this call made: a whole one stays.
                    if target.metadata().is_ok_and(|about| about.len() == 0) {
                        let _ = std::fs::remove_file(&target);
                    }
                }
                return published.map(Created::New);
            }
        }
        let Self { named, target, beside, file, system, .. } = self;
        drop(beside);
        let synced = system.sync_folder(folder::of(&target));
        synced.map_err(|error| PublishError::new(&named, FOLDER, error))?;
        Ok(Created::New(file))
    }

    /// Permissions, then everything to the disk.
    fn flush(&mut self) -> Result<(), PublishError> {
        if self.sealed {
            return Ok(());
        }
        if let Some(old) = self.target.metadata().ok().filter(Metadata::is_file) {
            keep_owner(&self.file, &old);
            let kept = self.file.set_permissions(old.permissions());
            kept.map_err(|error| {
                PublishError::new(&self.named, "its permissions cannot be kept", error)
            })?;
        }
        let synced = self.system.sync_file(&self.file);
        synced.map_err(|error| PublishError::new(&self.named, "it cannot be flushed", error))
    }

    /// Gives an unnamed file its name beside the target. Where that does not work after all, a copy gets it.
    fn name_it(&mut self) -> io::Result<()> {
        let Self { target, file, system, .. } = self;
        let linked = Beside::take(target, *system, |name| system.link(file, name).map(Some));
        if let Ok(((), beside)) = linked {
            self.beside = Some(beside);
            return Ok(());
        }
        let (mut copy, beside) = named(target, Access::Private.mode(), *system)?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(file, &mut copy)?;
        copy.set_permissions(file.metadata()?.permissions())?;
        system.sync_file(&copy)?;
        (self.file, self.beside) = (copy, Some(beside));
        Ok(())
    }
}

const FOLDER: &str =
    "it is there, but its name may not survive a power cut: its folder cannot be flushed";

/// A file with a name beside the target, locked.
fn named(target: &Path, mode: u32, system: &'static dyn System) -> io::Result<(File, Beside)> {
    Beside::take(target, system, |name| {
        let file = system.create(name, mode)?;
        // Between the two lines another process may have thought it a leftover.
        let taken = matches!(lock::lock(&file), Ok(Lock::Taken));
        let is_ours = !taken && lock::is_current(&file, name);
        Ok(is_ours.then_some(file))
    })
}

/// Publishes the outputs of one run: all are sealed before the first takes its name. The files, still locked.
///
/// # Errors
/// Those of the system; [`PublishError::published`] says which outputs stand then.
pub fn publish_all(mut drafts: Vec<Draft>) -> Result<Vec<File>, PublishError> {
    for draft in &mut drafts {
        draft.seal()?;
    }
    let names: Vec<PathBuf> = drafts.iter().map(|draft| draft.named.clone()).collect();
    // The one that failed, and how many stand.
    let failed = |number: usize, stand: usize, action, source| {
        let error = PublishError::new(&names[number], action, source);
        error.among(&names[..stand], &names[number + 1..])
    };
    for (number, draft) in drafts.iter_mut().enumerate() {
        if let Some(beside) = &mut draft.beside {
            let renamed = beside.rename(&draft.target);
            renamed.map_err(|error| failed(number, number, "it cannot take its name", error))?;
        }
    }
    let mut synced: Vec<&Path> = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        let folder = folder::of(&draft.target);
        if !synced.contains(&folder) {
            let result = draft.system.sync_folder(folder);
            result.map_err(|error| failed(number, names.len(), FOLDER, error))?;
            synced.push(folder);
        }
    }
    Ok(drafts.into_iter().map(|draft| draft.file).collect())
}

/// Why no file can be made beside `target`. The system's error names a file of which nobody has heard.
fn refused(path: &Path, target: &Path, error: io::Error) -> PublishError {
    if let Some(reason) = folder::missing(target) {
        return PublishError::new(path, "", io::Error::new(error.kind(), reason));
    }
    let folder = folder::of(target).display();
    PublishError::new(path, format!("no file can be made in the folder {folder}"), error)
}

/// Owner and group of the file that is replaced, where this process may give files away.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata().map(|new| (new.uid(), new.gid()));
    if own.is_ok_and(|own| own != (old.uid(), old.gid())) {
        // Who may write a file may not always give it away: then it is the writer's, as before this was tried.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

#[cfg(test)]
mod tests;
