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

/// Why rows cannot be read: a column that is asked for is not there. The [`io::Error`] of a [`CorpusError::Input`] holds it, so that
/// who knows how options are spelled can say which to set.
#[derive(Debug)]
pub struct NoColumn {
    /// The option that names the column, in the spelling of Rust; none of the column of a keep rule.
    pub argument: Option<&'static str>,
    /// What the option may be set to.
    pub example: &'static str,
    /// What seems to stand between the fields of rows instead of what was looked for.
    pub delimiter: Option<char>,
    /// The first row was taken for the names of columns, and may be a record.
    pub by_header: bool,
    said: String,
}

impl NoColumn {
    /// The error of a table with these columns.
    pub(crate) fn error(
        argument: Option<&'static str>,
        path: &str,
        all: &[String],
        by_header: bool,
    ) -> io::Error {
        /// More of them, and more characters of one, tell nothing new.
        const NAMED: usize = 24;
        const SHOWN: usize = 100;
        let said = match all {
            [] => format!("it has no column {path}, and no other"),
            [one] => {
                let shown: String = one.chars().take(SHOWN).collect();
                let more = if shown.len() < one.len() { "…" } else { "" };
                format!("it has no column {path}; its only column is {shown:?}{more}")
            }
            all => {
                let named = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
                let more = if all.len() > NAMED { ", …" } else { "" };
                format!("it has no column {path}; its columns are {}{more}", named.join(", "))
            }
        };
        let delimiter = match all {
            [one] if by_header => "\t;|,".chars().find(|&sign| one.contains(sign)),
            _ => None,
        };
        Self { argument, example: "NAME", delimiter, by_header, said }.into()
    }

    /// The error of rows without a header, whose columns have no names.
    pub(crate) fn unnumbered(argument: Option<&'static str>, path: &str) -> io::Error {
        let said = format!("without a header columns have numbers, from 1, and {path} is none");
        Self { argument, example: "1", delimiter: None, by_header: false, said }.into()
    }
}

impl fmt::Display for NoColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for NoColumn {}

impl From<NoColumn> for io::Error {
    fn from(missing: NoColumn) -> Self {
        Self::new(io::ErrorKind::InvalidData, missing)
    }
}

/// An error of reading that names what is wrong with the bytes.
pub(crate) fn malformed(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}
