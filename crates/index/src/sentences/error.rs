//! What can go wrong with an index of sentences and its file.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use simhash_store::folder;

use crate::IndexError;

/// Why a call failed. Unless it says otherwise, nothing was changed.
#[derive(Debug)]
pub enum SentenceError {
    /// The call itself, whatever holds the documents.
    Index(IndexError),
    /// The file cannot be read, or its folder not be used.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file cannot be written. What the call changed is undone, by reading the file again, which takes as long as
    /// opening it; from now on every change is refused. Close the index and open it again.
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A change after one that could not be written.
    Stopped {
        /// The file.
        path: PathBuf,
    },
    /// The file is truncated, changed, of another version or something else.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte where the damage was noticed.
        offset: u64,
        /// What was found there.
        reason: String,
    },
    /// The file was made with other options.
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
    /// The file was moved, replaced or deleted while the index had it open; what has its name now was left alone.
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or another index of this one, has the file open.
    Locked {
        /// The file.
        path: PathBuf,
    },
}

impl SentenceError {
    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        let source = match folder::missing(path) {
            Some(reason) => io::Error::new(source.kind(), reason),
            None => source,
        };
        Self::Write { path: path.to_owned(), source }
    }

    pub(super) fn damaged(path: &Path, offset: u64, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), offset, reason: reason.into() }
    }

    /// An error of something read from a file, with the file's name.
    pub(super) fn of(path: &Path, error: IndexError) -> Self {
        match error {
            IndexError::Damaged { offset, reason } => Self::damaged(path, offset, reason),
            other => Self::Index(other),
        }
    }
}

impl From<IndexError> for SentenceError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl fmt::Display for SentenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_as(f, Cow::Borrowed)
    }
}

impl SentenceError {
    /// Writes the message, every option spelled by `spell` from its name in Rust, as `window.max_age`.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn write_as(
        &self,
        f: &mut impl fmt::Write,
        spell: fn(&'static str) -> Cow<'static, str>,
    ) -> fmt::Result {
        match self {
            Self::Index(error) => error.write_as(f, spell),
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Stopped { path } => write!(
                f,
                "{}: an earlier change could not be written; close this index and open it again",
                path.display()
            ),
            Self::Damaged { path, offset, reason } => write!(
                f,
                "{}: the saved index is damaged at byte {offset}: {reason}",
                path.display()
            ),
            Self::Mismatch { path, option, saved, given } => write!(
                f,
                "{}: the index was saved with {option} ({saved}) and is opened with ({given})",
                path.display()
            ),
            Self::Moved { path } => write!(
                f,
                "{} is no longer the file that this index has open: it was moved, replaced or deleted; save the index \
                 to another path",
                path.display()
            ),
            Self::Locked { path } => write!(
                f,
                "{} is open already, in this process or another; close it there first",
                path.display()
            ),
        }
    }
}

impl std::error::Error for SentenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Index(error) => Some(error),
            Self::Read { source, .. } | Self::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}
