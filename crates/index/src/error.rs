//! What can go wrong in the index.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use simhash_store::FileError;

/// Why a call on the index failed. A single call has added nothing; with [`IndexError::Full`] in an index with a window its
/// time counts, and documents may have left for it. A batch in a window that fills the index keeps the items before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexError {
    /// A distance outside the range that the index answers exactly.
    Distance {
        /// The distance asked for.
        given: u32,
        /// The largest that can be answered.
        max: u32,
    },
    /// No plan of this name is in the catalog.
    UnknownPlan {
        /// The name asked for.
        name: String,
    },
    /// A plan that would miss neighbours, or whose blocks do not fit 64 bits.
    InvalidPlan {
        /// Name of the plan.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A window limit of zero, or one larger than the index can number.
    Window {
        /// The limit's name.
        name: &'static str,
        /// Its value.
        given: u64,
    },
    /// An option of the sentence map that is out of range.
    Sentences {
        /// The option's name.
        name: &'static str,
        /// Its value.
        given: String,
        /// What it may be.
        range: &'static str,
    },
    /// An option of the band index or its plan that is out of range.
    Bands {
        /// The option's name.
        name: &'static str,
        /// Its value.
        given: String,
        /// What it may be.
        range: &'static str,
    },
    /// A signature of another length than the index takes.
    Signature {
        /// Its length.
        given: usize,
        /// The length of this index; without signatures kept, the least.
        expected: usize,
    },
    /// A time further ahead of the system's clock than the index takes.
    Skew {
        /// The time, in milliseconds since 1970.
        at: u64,
        /// How far ahead it is, in milliseconds.
        ahead: u64,
        /// How far ahead it may be.
        most: u64,
    },
    /// `expire` on an index that keeps no times.
    NoWindow,
    /// The oldest and the newest live id are 2^32 apart: delete or expire old ones first.
    Full {
        /// The oldest id still held.
        oldest: u64,
    },
    /// A Jaccard threshold outside its range.
    Threshold {
        /// The threshold asked for.
        given: String,
    },
    /// More sets than can be numbered.
    TooManySets {
        /// How many there are.
        given: usize,
    },
    /// The caller's cancel flag was raised; nothing was added.
    Cancelled,
    /// The caller's cancel flag was raised in the middle of a batch; the items before stay as they are.
    CancelledAfter {
        /// How many of its items, from the first on, were done.
        items: u64,
    },
    /// Merging has failed for good, by a bug; the process has printed the panic. Everything is still found.
    Merge,
    /// The index could not be copied for a file, by a bug; the process has printed the panic.
    Copy,
    /// A saved index cannot be read or written, is damaged, or does not fit. A change for which the disk had no room has not been
    /// made, and the next is tried again; after another [`FileError::Write`] of a change no further one is made until the index
    /// is closed and opened again.
    File(FileError),
    /// A change after one that could not be written.
    Stopped {
        /// The file or folder.
        path: PathBuf,
    },
    /// A change of an index that only follows what another process writes.
    ReadOnly {
        /// Its folder.
        path: PathBuf,
    },
    /// A position lower than the one before.
    Position {
        /// The position.
        given: u64,
        /// The one before.
        before: u64,
    },
}

impl IndexError {
    /// The same error of this file, where it is one of a file that names none.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::File(error) => Self::File(error.in_file(path)),
            other => other,
        }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_as(f, Cow::Borrowed)
    }
}

impl IndexError {
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
            Self::Distance { given, max } => {
                let name = spell("max_distance");
                write!(f, "{name} is {given}; it must be an integer from 0 to {max}")
            }
            Self::UnknownPlan { name } => write!(
                f,
                "plan {name:?} is unknown; use 'auto', 'classic' or a name of the catalog such as 'k3-t6'"
            ),
            Self::InvalidPlan { name, reason } => {
                write!(f, "plan {name:?} is not usable: {reason}")
            }
            Self::Window { name, given } => write!(
                f,
                "{} is {given}; it must be at least 1 and {} at most 4294967294",
                spell(name),
                spell("max_count")
            ),
            Self::Skew { at, ahead, most } => write!(
                f,
                "at is {at}, {ahead} ms ahead of the system clock; {} is {most} ms. Correct the time",
                spell("window.max_skew")
            ),
            Self::Sentences { name, given, range } => {
                write!(f, "{} is {given}; it must be from {range}", spell(name))
            }
            Self::Bands { name, given, range } => {
                write!(f, "{} is {given}; it must be {range}", spell(name))
            }
            Self::Signature { given, expected } => write!(
                f,
                "the signature has {given} positions; this index takes {expected}, or none for an empty document"
            ),
            Self::NoWindow => {
                write!(f, "this index keeps no times; make it with a window to expire documents")
            }
            Self::Full { oldest } => write!(
                f,
                "the index holds ids 2^32 apart (the oldest live id is {oldest}); delete or expire old documents"
            ),
            Self::Threshold { given } => {
                write!(f, "threshold is {given}; it must be above 0 and at most 1")
            }
            Self::TooManySets { given } => {
                write!(f, "{given} sets were given; at most 4294967295 can be joined at once")
            }
            Self::Cancelled => write!(f, "the call was cancelled; nothing was added"),
            Self::CancelledAfter { items } => write!(
                f,
                "the call was cancelled after the first {items} items; what they changed stays"
            ),
            Self::Merge => write!(
                f,
                "a merge of the index has panicked, see stderr; it can be searched and added to, not sealed or saved: make a new one"
            ),
            Self::Copy => write!(
                f,
                "internal error, please report it: copying the index for a file has panicked, see stderr"
            ),
            Self::File(error) => write!(f, "{error}"),
            Self::ReadOnly { path } => write!(
                f,
                "the index of {} is open for reading only: another process changes it",
                path.display()
            ),
            Self::Position { given, before } => {
                let name = spell("position");
                write!(f, "{name} is {given}; it must not fall, and was {before} before")
            }
            Self::Stopped { path } => write!(
                f,
                "{}: an earlier change could not be written; close this index and open it again",
                path.display()
            ),
        }
    }
}

impl std::error::Error for IndexError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => error.source(),
            _ => None,
        }
    }
}

impl From<FileError> for IndexError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Cancelled => Self::Cancelled,
            error => Self::File(error),
        }
    }
}
