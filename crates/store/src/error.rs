//! Why a file did not get its name.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file could not be published. Nothing has changed then, unless [`PublishError::published`] names outputs, or the message
/// says that a file is there whose name may not survive a power cut.
#[derive(Debug)]
pub struct PublishError {
    path: PathBuf,
    action: String,
    source: io::Error,
    published: Vec<PathBuf>,
    missing: Vec<PathBuf>,
}

impl PublishError {
    pub(crate) fn new(path: &Path, action: impl Into<String>, source: io::Error) -> Self {
        let (path, action) = (path.to_owned(), action.into());
        Self { path, action, source, published: Vec::new(), missing: Vec::new() }
    }

    /// Other outputs of the same run: those that stand, and those that do not either.
    pub(crate) fn among(mut self, published: &[PathBuf], missing: &[PathBuf]) -> Self {
        (self.published, self.missing) = (published.to_vec(), missing.to_vec());
        self
    }

    /// The target as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The system's kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.source.kind()
    }

    /// Targets of the same run that stand, new and whole.
    pub fn published(&self) -> &[PathBuf] {
        &self.published
    }

    /// Target and reason: for errors of a caller that name the path themselves. The kind stays.
    pub fn into_parts(self) -> (PathBuf, io::Error) {
        let reason = self.reason();
        (self.path, io::Error::new(self.source.kind(), reason))
    }

    fn reason(&self) -> String {
        let list = |intro: &str, paths: &[PathBuf]| {
            let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            if shown.is_empty() {
                String::new()
            } else {
                format!("; {intro}: {}", shown.join(", "))
            }
        };
        let action = if self.action.is_empty() { "" } else { &format!("{}: ", self.action) };
        let published = list("these outputs of the run stand", &self.published);
        let missing = list("these were not written either", &self.missing);
        format!("{action}{}{published}{missing}", self.source)
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.reason())
    }
}

impl std::error::Error for PublishError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
