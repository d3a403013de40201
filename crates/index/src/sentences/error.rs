//! What can go wrong with an index of sentences and its file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use simhash_store::FileError;

use crate::IndexError;
use crate::error::file_code;

/// Why a call failed. Unless it says otherwise, nothing was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SentenceError {
    /// The call itself, whatever holds the documents.
    Index(IndexError),
    /// The file. After a [`FileError::Write`] what the call changed is undone, by reading the file again, which takes as
    /// long as opening it; from now on every change is refused. Close the index and open it again.
    File(FileError),
    /// A change after one that could not be written.
    Stopped {
        /// The file.
        path: PathBuf,
    },
}

impl SentenceError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Index(error) => error.code(),
            Self::File(error) => file_code(error),
            Self::Stopped { .. } => "ERR_SIMHASH_OUTPUT",
        }
    }

    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::File(FileError::unwritable(source).in_file(path))
    }

    /// An error of something read from a file, with the file's name.
    pub(super) fn of(path: &Path, error: IndexError) -> Self {
        error.in_file(path).into()
    }
}

impl From<IndexError> for SentenceError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::File(error) => Self::File(error),
            error => Self::Index(error),
        }
    }
}

impl From<FileError> for SentenceError {
    fn from(error: FileError) -> Self {
        IndexError::from(error).into()
    }
}

impl fmt::Display for SentenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Stopped { path } => write!(
                f,
                "{}: an earlier change could not be written; close this index and open it again",
                path.display()
            ),
        }
    }
}

impl std::error::Error for SentenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Index(error) => Some(error),
            Self::File(error) => error.source(),
            Self::Stopped { .. } => None,
        }
    }
}
