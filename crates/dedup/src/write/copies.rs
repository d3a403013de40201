//! Files that are kept, copied into a folder: all of them or none, and nothing that is there is replaced.

use crate::error::DedupError;
use crate::parallel;
use crate::read::Layout;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes between two looks at the cancel flag.
const PIECE: usize = 1 << 20;

/// Copies files when all of them are known.
pub(super) struct Copies<'a> {
    folder: &'a Path,
    /// Of the inputs: where the files of each lie.
    roots: Vec<PathBuf>,
    /// From, and to.
    files: Vec<(PathBuf, PathBuf)>,
    /// Files and folders that were made, and are taken back where not all can be.
    made: Vec<PathBuf>,
    cancel: &'a AtomicBool,
}

impl<'a> Copies<'a> {
    /// Of inputs with these names: folders, patterns or files.
    pub(super) fn new(folder: &'a Path, names: &[PathBuf], cancel: &'a AtomicBool) -> Self {
        let roots = names.iter().map(|name| root(name)).collect();
        Self { folder, roots, files: Vec::new(), made: Vec::new(), cancel }
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
            self.files.push((path.to_owned(), self.folder.join(to)));
        }
    }

    /// Copies them.
    ///
    /// # Errors
    /// [`DedupError::Output`] where a file is there already, or two have one name: then nothing is copied.
    pub(super) fn finish(&mut self) -> Result<(), DedupError> {
        let there = |to: &Path| {
            let reason = "there is a file of this name, and nothing is replaced";
            DedupError::output(to, io::Error::new(io::ErrorKind::AlreadyExists, reason))
        };
        let mut names: Vec<&PathBuf> = self.files.iter().map(|(_, to)| to).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(there(twice[0]));
        }
        if let Some(to) = names.into_iter().find(|to| fs::symlink_metadata(to).is_ok()) {
            return Err(there(to));
        }
        for (from, to) in std::mem::take(&mut self.files) {
            self.copy(&from, &to)?;
        }
        Ok(())
    }

    /// They stay.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), DedupError> {
        let failed = |error| DedupError::output(to, error);
        self.make_folder(to.parent().unwrap_or(self.folder))?;
        let mut source = File::open(from).map_err(|error| DedupError::input(from, error))?;
        let mut copy = File::options().write(true).create_new(true).open(to).map_err(failed)?;
        self.made.push(to.to_owned());
        let mut piece = vec![0; PIECE];
        loop {
            parallel::check(self.cancel)?;
            let read = source.read(&mut piece).map_err(|error| DedupError::input(from, error))?;
            if read == 0 {
                return copy.sync_all().map_err(failed);
            }
            copy.write_all(&piece[..read]).map_err(failed)?;
        }
    }

    fn make_folder(&mut self, folder: &Path) -> Result<(), DedupError> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(around) = folder.parent() {
            self.make_folder(around)?;
        }
        fs::create_dir(folder).map_err(|error| DedupError::output(folder, error))?;
        self.made.push(folder.to_owned());
        Ok(())
    }
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
