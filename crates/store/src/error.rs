//! Why a file did not get its name, and what is wrong with one that is read.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::folder;
use crate::head::FORMAT;

/// Why a file cannot be read, written or used. The path is empty where bytes come from elsewhere, or were not named yet.
#[derive(Debug, Clone)]
pub enum FileError {
    /// It cannot be read, or its folder not be used.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// It cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// It is truncated, changed, or something else.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte where that was noticed.
        offset: u64,
        /// What was found there.
        reason: String,
    },
    /// It was saved by another release, whose format this one does not read.
    Format {
        /// The file.
        path: PathBuf,
        /// The number of its format.
        found: u32,
    },
    /// It was made with other options.
    Mismatch {
        /// The file.
        path: PathBuf,
        /// The option's name.
        option: &'static str,
        /// What it was made with.
        saved: String,
        /// What it is opened with.
        given: String,
    },
    /// It was moved, replaced or deleted while it was open; what has its name now was left alone.
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or somebody else in this one, has it open.
    Locked {
        /// The file or folder.
        path: PathBuf,
        /// Who has it, as far as that is known: `process 4711`.
        by: String,
    },
    /// The caller's flag was raised.
    Cancelled,
}

impl FileError {
    /// That it cannot be read.
    pub fn unreadable(source: io::Error) -> Self {
        Self::Read { path: PathBuf::new(), source: Arc::new(source) }
    }

    /// That it cannot be written.
    pub fn unwritable(source: io::Error) -> Self {
        Self::Write { path: PathBuf::new(), source: Arc::new(source) }
    }

    /// That something is wrong at this byte.
    pub fn damaged(offset: u64, reason: impl Into<String>) -> Self {
        Self::Damaged { path: PathBuf::new(), offset, reason: reason.into() }
    }

    pub(crate) fn format(found: u32) -> Self {
        Self::Format { path: PathBuf::new(), found }
    }

    /// That it was made with something else.
    pub fn mismatch(
        option: &'static str,
        saved: impl Into<String>,
        given: impl Into<String>,
    ) -> Self {
        Self::Mismatch { path: PathBuf::new(), option, saved: saved.into(), given: given.into() }
    }

    /// The same error of this file, unless it names one.
    #[must_use]
    pub fn in_file(mut self, named: &Path) -> Self {
        if let Self::Write { source, .. } = &mut self
            && let Some(reason) = folder::missing(named)
        {
            *source = Arc::new(io::Error::new(source.kind(), reason));
        }
        match &mut self {
            Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Damaged { path, .. }
            | Self::Format { path, .. }
            | Self::Mismatch { path, .. }
            | Self::Moved { path }
            | Self::Locked { path, .. }
                if path.as_os_str().is_empty() =>
            {
                named.clone_into(path);
            }
            _ => {}
        }
        self
    }
}

/// What names the same thing and says the same is equal: the system's errors cannot be compared.
impl PartialEq for FileError {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Eq for FileError {}

impl From<PublishError> for FileError {
    fn from(error: PublishError) -> Self {
        let (path, source) = error.into_parts();
        Self::Write { path, source: Arc::new(source) }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_named = |path: &Path| !path.as_os_str().is_empty();
        let named = |path: &Path| {
            if is_named(path) { format!("{}: ", path.display()) } else { String::new() }
        };
        let file = |path: &Path| {
            if is_named(path) { path.display().to_string() } else { "the saved index".to_owned() }
        };
        match self {
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", file(path)),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", file(path)),
            Self::Damaged { path, offset, reason } => {
                write!(f, "{}the saved index is damaged at byte {offset}: {reason}", named(path))
            }
            Self::Format { path, found } if *found < FORMAT => write!(
                f,
                "{}the index was saved by release 0.1 (format {found}), and this release reads format {FORMAT} only; \
                 make a folder of it with `simhash-native index convert`, or build it again from its documents",
                named(path)
            ),
            Self::Format { path, found } => write!(
                f,
                "{}the index was saved by a later release (format {found}), and this one reads format {FORMAT} only; \
                 update this library, or build the index again",
                named(path)
            ),
            Self::Mismatch { path, option, saved, given } => write!(
                f,
                "{}the index was saved with {option} ({saved}) and is opened with ({given})",
                named(path)
            ),
            Self::Moved { path } => write!(
                f,
                "{} is no longer the file that this index has open: it was moved, replaced or deleted; save the index \
                 to another path",
                path.display()
            ),
            Self::Locked { path, by } => {
                let by = if by.is_empty() { "this process or another" } else { by };
                let path = path.display();
                write!(f, "{path} is open already, in {by}; close it there first")
            }
            Self::Cancelled => write!(f, "the call was cancelled"),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

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
