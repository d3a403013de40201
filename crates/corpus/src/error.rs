//! Why inputs cannot be read at all. What is wrong with one record is no error: it is rejected, and reading goes on.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why reading stopped.
#[derive(Debug)]
pub enum CorpusError {
    /// An option has no meaning, or inputs do not go together; the message says what is allowed.
    Option {
        /// Name of the option, in the spelling of Rust.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// An input cannot be opened or read: missing, no permission, damaged, of no format that is known, failing disk.
    Input {
        /// The input as it was named.
        path: PathBuf,
        /// The reason of the operating system, the decoder or the format.
        source: io::Error,
    },
    /// An input file was truncated, written to, replaced or removed while it was in use.
    Changed {
        /// The input as it was named.
        path: PathBuf,
        /// How it changed.
        what: String,
    },
}

impl CorpusError {
    pub(crate) fn input(path: &Path, source: io::Error) -> Self {
        Self::Input { path: path.to_owned(), source }
    }
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { argument, value, expected } => {
                write!(f, "{argument} must be {expected}, got {value}")
            }
            Self::Input { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Changed { path, what } => {
                write!(f, "{} changed while it was being read: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for CorpusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// An error of reading that names what is wrong with the bytes.
pub(crate) fn malformed(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}
