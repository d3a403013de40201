//! Files that are kept, copied into a folder: all of them or none, and nothing that is there is replaced.
//!
//! ```text
//! known ──► names looked at ──► copied beside the folder, none flushed ──► one flush for all ──► a name for all, or for each ──► flush
//! ```
//!
//! Each file that has its name is whole, and on the disk. A folder that is new appears in one step, so a kill leaves all of it or nothing. In one that was
//! there files get their names one after the other: an error takes them back, a kill in these moments leaves the first of them, and a hidden
//! folder that the next run removes.

use crate::error::DedupError;
use crate::parallel;
use crate::read::Layout;
use rayon::prelude::*;
use simhash_store::{Staging, folder, rename_new, sync_below};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes between two looks at the cancel flag.
const PIECE: usize = 1 << 20;

/// Copies files when all of them are known.
pub(crate) struct Copies<'a> {
    folder: &'a Path,
    /// Of the inputs: where the files of each lie.
    roots: Vec<PathBuf>,
    /// From, and to, below the folder.
    files: Vec<(PathBuf, PathBuf)>,
    /// Files and folders that were made, and are taken back where not all can be.
    made: Vec<PathBuf>,
    leftovers: Vec<PathBuf>,
    cancel: &'a AtomicBool,
}

impl<'a> Copies<'a> {
    /// Of inputs with these names: folders, patterns or files. The first are `known`, and never copied.
    ///
    /// # Errors
    /// [`DedupError::Output`] where the folder cannot be one, or lies in an input whose files are copied: found before anything is read, not when
    /// all is done.
    pub(super) fn new(
        folder: &'a Path,
        names: &[PathBuf],
        known: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let there = folder.ancestors().find(|it| fs::symlink_metadata(it).is_ok());
        // Of a relative path the last ancestor is empty: where we are.
        let there = there.filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !there.is_dir() {
            let reason = format!("{} is no folder", there.display());
            return Err(DedupError::output(folder, io::Error::other(reason)));
        }
        let place = fs::canonicalize(there).map_err(|error| DedupError::output(folder, error))?;
        // What is not there yet has no links: without `..` it lies below what is.
        let new = folder.strip_prefix(there).unwrap_or(folder);
        if new.components().any(|part| part == Component::ParentDir) {
            let reason = "it leads out of a folder that is not there by ..; name it without that";
            return Err(DedupError::output(folder, io::Error::other(reason)));
        }
        let is_around = |name: &&PathBuf| {
            // Of other patterns the copies are no files.
            let at_any_depth = name.components().any(|part| part.as_os_str() == "**");
            let input = if name.is_dir() || at_any_depth { root(name) } else { return false };
            let input = if input.as_os_str().is_empty() { Path::new(".") } else { &input };
            fs::canonicalize(input).is_ok_and(|input| place.starts_with(input))
        };
        if let Some(input) = names.iter().skip(known).find(is_around) {
            let input = input.display();
            let reason = format!(
                "it lies in the input {input}, where the next run would read the copies as documents; name a folder outside of it"
            );
            return Err(DedupError::output(folder, io::Error::other(reason)));
        }
        let roots = names.iter().map(|name| root(name)).collect();
        let (files, made, leftovers) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { folder, roots, files, made, leftovers, cancel })
    }

    /// Appends what [`Copies::take`] takes: a file by its input and its line there. Not by its id: names need not be UTF-8.
    pub(super) fn push(input: u32, line: u64, out: &mut Vec<u8>) {
        out.extend(input.to_le_bytes());
        out.extend(line.to_le_bytes());
    }

    /// Notes files that are kept.
    pub(super) fn take(&mut self, mut pushed: &[u8], layouts: &[Arc<Layout>]) {
        while let Some((input, rest)) = pushed.split_first_chunk::<4>()
            && let Some((line, behind)) = rest.split_first_chunk::<8>()
        {
            pushed = behind;
            let input = u32::from_le_bytes(*input) as usize;
            // Who pushed it has seen that it is there.
            let layout = layouts.get(input);
            let Some(path) = layout.and_then(|it| it.nth_file(u64::from_le_bytes(*line))) else {
                continue;
            };
            let root = self.roots.get(input);
            let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
            let plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
            let to = below.components().filter(plain).collect::<PathBuf>();
            self.files.push((path.to_owned(), to));
        }
    }

    /// Copies them.
    ///
    /// # Errors
    /// [`DedupError::Output`] where a file is there already, or two have one name: then nothing is copied.
    pub(super) fn finish(&mut self) -> Result<(), DedupError> {
        let mut names: Vec<&PathBuf> = self.files.iter().map(|(_, to)| to).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            let reason = "two inputs have a file of this name below them; copy one after the other, into folders of their own";
            let reason = io::Error::new(io::ErrorKind::AlreadyExists, reason);
            return Err(DedupError::output(&self.folder.join(twice[0]), reason));
        }
        // A link to nothing is a name that is taken, too.
        let is_new = fs::symlink_metadata(self.folder).is_err();
        if !is_new
            && let Some(to) = names
                .iter()
                .map(|to| self.folder.join(to))
                .find(|to| fs::symlink_metadata(to).is_ok())
        {
            return Err(there(&to));
        }
        let failed = |error| DedupError::output(self.folder, error);
        let around = folder::of(self.folder).to_owned();
        self.made_below(&around)?;
        // In the folder itself where that is there: it may be on another disk than what is around it.
        let target = if is_new { self.folder.to_owned() } else { self.folder.join("copies") };
        let staging = Staging::beside(&target).map_err(failed)?;
        self.leftovers = staging.leftovers().to_vec();
        let files = std::mem::take(&mut self.files);
        self.copy(&files, staging.path())?;
        if !is_new {
            return self.name_each(&files, &staging);
        }
        let folders = folders_of(&files);
        staging.rename(self.folder).map_err(failed)?;
        self.made.push(self.folder.to_owned());
        self.made.extend(folders.iter().map(|below| self.folder.join(below)));
        self.made.extend(files.iter().map(|(_, to)| self.folder.join(to)));
        Ok(())
    }

    /// What killed runs had left, and was removed.
    pub(crate) fn leftovers(&self) -> &[PathBuf] {
        &self.leftovers
    }

    /// They stay.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }

    /// Copies the files below a folder that nobody else knows, and has the disk hold them.
    fn copy(&self, files: &[(PathBuf, PathBuf)], below: &Path) -> Result<(), DedupError> {
        let named = |to: &Path, error| DedupError::output(&self.folder.join(to), error);
        let folders = folders_of(files);
        for folder in &folders {
            fs::create_dir(below.join(folder)).map_err(|error| named(folder, error))?;
        }
        let mut piece = vec![0; PIECE];
        for (from, to) in files {
            let failed = |error| named(to, error);
            let mut source = File::open(from).map_err(|error| DedupError::input(from, error))?;
            let mut options = File::options();
            let copy = options.write(true).create_new(true).open(below.join(to));
            let mut copy = copy.map_err(failed)?;
            loop {
                parallel::check(self.cancel)?;
                let read = source.read(&mut piece);
                let read = read.map_err(|error| DedupError::input(from, error))?;
                if read == 0 {
                    break;
                }
                copy.write_all(&piece[..read]).map_err(failed)?;
            }
        }
        parallel::check(self.cancel)?;
        // A flush of each of 30,000 files takes more than a minute, one for all of them a second.
        if sync_below(below).map_err(|error| named(Path::new(""), error))? {
            return Ok(());
        }
        files.par_iter().try_for_each(|(_, to)| {
            parallel::check(self.cancel)?;
            let file = File::options().write(true).open(below.join(to));
            file.and_then(|file| file.sync_all()).map_err(|error| named(to, error))
        })?;
        let mut folders = folders.iter().map(PathBuf::as_path).chain([Path::new("")]);
        folders.try_for_each(|it| folder::sync(&below.join(it)).map_err(|error| named(it, error)))
    }

    /// Gives files their names in a folder that is there.
    fn name_each(
        &mut self,
        files: &[(PathBuf, PathBuf)],
        staging: &Staging,
    ) -> Result<(), DedupError> {
        for below in folders_of(files) {
            self.make_folder(&self.folder.join(below))?;
        }
        for (_, to) in files {
            let name = self.folder.join(to);
            rename_new(&staging.path().join(to), &name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => there(&name),
                _ => DedupError::output(&name, error),
            })?;
            self.made.push(name);
        }
        let failed = |error| DedupError::output(self.folder, error);
        if sync_below(self.folder).map_err(failed)? {
            return Ok(());
        }
        let folders = folders_of(files).into_iter().map(|below| self.folder.join(below));
        folders.chain([self.folder.to_owned()]).try_for_each(|it| folder::sync(&it)).map_err(failed)
    }

    /// Makes the folders that lead here.
    fn made_below(&mut self, folder: &Path) -> Result<(), DedupError> {
        if folder.is_dir() {
            return Ok(());
        }
        self.made_below(folder::of(folder))?;
        self.make_folder(folder)
    }

    fn make_folder(&mut self, folder: &Path) -> Result<(), DedupError> {
        if folder.is_dir() {
            return Ok(());
        }
        fs::create_dir(folder).map_err(|error| DedupError::output(folder, error))?;
        self.made.push(folder.to_owned());
        Ok(())
    }
}

fn there(to: &Path) -> DedupError {
    let reason = "there is a file of this name, and nothing is replaced";
    DedupError::output(to, io::Error::new(io::ErrorKind::AlreadyExists, reason))
}

/// The folders in which files lie, each behind what it lies in.
fn folders_of(files: &[(PathBuf, PathBuf)]) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for (_, to) in files {
        let mut around = to.parent();
        while let Some(folder) = around.filter(|it| !it.as_os_str().is_empty())
            && folders.insert(folder.to_owned())
        {
            around = folder.parent();
        }
    }
    folders
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        for path in self.made.iter().rev() {
            // Of a folder that somebody else has used meanwhile nothing is taken.
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
    }
}

/// What the names of copies begin behind: the folder, that of a file, or the part of a pattern that has no signs.
fn root(name: &Path) -> PathBuf {
    if name.is_dir() {
        return name.to_owned();
    }
    let has_signs =
        |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let mut parts = name.components();
    parts.next_back();
    parts.take_while(|part| !has_signs(part)).collect()
}
