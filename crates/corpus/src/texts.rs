//! Which files an input is that has a text in each: looked for once, and the same for whoever reads them or asks which one a record is.

use crate::error::CorpusError;
use crate::glob;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Endings of the files of a folder that are texts.
const ENDINGS: [&str; 5] = ["txt", "text", "md", "html", "htm"];

/// The files of a folder or a pattern, or one that is named. They are held as long as the input is: names need not be UTF-8, so that an id does not
/// always lead back to its file.
pub(crate) struct Texts {
    root: PathBuf,
    paths: OnceLock<Vec<PathBuf>>,
}

impl Texts {
    /// Nothing is looked at yet.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), paths: OnceLock::new() }
    }

    /// Of a folder, all below it in the order of their paths; of a pattern its files; of a file that one.
    pub(crate) fn paths(&self) -> io::Result<&[PathBuf]> {
        if let Some(paths) = self.paths.get() {
            return Ok(paths);
        }
        let found = self.find()?;
        Ok(self.paths.get_or_init(|| found))
    }

    /// The same, only so many of them: the first of each row of equally many.
    pub(crate) fn some(&self, count: usize) -> io::Result<Self> {
        let all = self.paths()?;
        let step = all.len().div_ceil(count.max(1)).max(1);
        let some: Vec<PathBuf> = all.iter().step_by(step).cloned().collect();
        Ok(Self { root: self.root.clone(), paths: OnceLock::from(some) })
    }

    fn find(&self) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        if self.root.is_dir() {
            gather(&self.root, &mut paths)?;
            if paths.is_empty() {
                return Err(no_texts());
            }
        } else if glob::is_pattern(&self.root) {
            paths = glob::files(&self.root).map_err(|error| match error {
                CorpusError::Input { source, .. } => source,
                error => io::Error::other(error),
            })?;
        } else {
            paths.push(self.root.clone());
        }
        Ok(paths)
    }
}

/// A path as an id, with the same separators everywhere; a backslash is a character like any other but on Windows.
pub(crate) fn id_of(path: &Path) -> String {
    let path = path.to_string_lossy();
    if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() }
}

/// Whether a file is a text, by its name.
pub(crate) fn is_text(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The texts below a folder, by path; what begins with a dot is not looked at, links to folders are not followed.
fn gather(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(named)?;
    // A name is made anew each time that it is asked for.
    let mut entries: Vec<(OsString, fs::DirEntry)> = entries
        .map(|entry| entry.map(|entry| (entry.file_name(), entry)))
        .collect::<io::Result<_>>()
        .map_err(named)?;
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (name, entry) in entries {
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = folder.join(name);
        let kind = entry.file_type().map_err(named)?;
        if kind.is_dir() {
            gather(&path, paths)?;
            continue;
        }
        // Behind a link may be anything.
        if is_text(&path) && (kind.is_file() || path.is_file()) {
            paths.push(path);
        }
    }
    Ok(())
}

/// The texts below a folder, as far as it can be read.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let _ = gather(folder, &mut paths);
    paths
}

/// A folder without texts is rather a wrong one than an empty input.
fn no_texts() -> io::Error {
    let endings = ENDINGS.map(|ending| format!(".{ending}")).join(", ");
    let reason = format!("a folder in which no file is a text, whose name ends in {endings}");
    io::Error::new(io::ErrorKind::NotFound, reason)
}
