//! What a directory holds: one small file, replaced whole.
//!
//! ```text
//! head  kind "directory"
//! FILE  identity u64 u64  number of the checkpoint u64  numbers of the logs since it: count u64, each u64, ascending
//! END!
//! ```
//! The first one of a directory names no checkpoint (0) and no log: the index is being made.

use std::io::Read;

use crate::{Fields, FileError, Input, Kind, Output, Section};

const KIND: Kind = Kind {
    name: "directory",
    made: "directory",
    advice: "name the folder of an index, or a folder that does not exist yet",
};

const FILES: [u8; 4] = *b"FILE";

/// Which directory a file belongs to: 128 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(pub(super) [u64; 2]);

impl Identity {
    /// One that no other directory has.
    pub(super) fn random() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // The keys of the standard library's maps come from the system's random numbers.
        Self([0u64, 1].map(|salt| RandomState::new().hash_one(salt)))
    }
}

/// What counts of a directory: a checkpoint, and the logs of what came after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Whose files they are.
    pub identity: Identity,
    /// The checkpoint's number.
    pub checkpoint: u64,
    /// Numbers of the logs, in order; the last is the one that is appended to. At least one.
    pub logs: Vec<u64>,
}

impl Manifest {
    /// Whether the index is still being made.
    pub(super) fn is_begun(&self) -> bool {
        self.checkpoint == 0
    }

    pub(super) fn write(&self, out: &mut dyn std::io::Write) -> Result<(), FileError> {
        let mut out = Output::begin(out, KIND, "", &Fields::default())?;
        let mut fields = Fields::default();
        for number in [self.identity.0[0], self.identity.0[1], self.checkpoint] {
            fields.number(number);
        }
        fields.numbers(self.logs.iter().copied());
        out.frame(FILES, &fields.0)?;
        out.end()
    }

    pub(super) fn read(input: impl Read, length: u64) -> Result<Self, FileError> {
        let mut input = Input::new(input, Some(length));
        input.head(KIND, None)?.end()?;
        let mut fields: Section = input.frame(FILES)?;
        let identity = Identity([fields.number()?, fields.number()?]);
        let (checkpoint, logs) = (fields.number()?, fields.numbers()?);
        if logs.is_empty() != (checkpoint == 0) || !logs.is_sorted_by(|one, next| one < next) {
            return Err(fields.damaged(format!("logs {logs:?}")));
        }
        fields.end()?;
        input.end()?;
        Ok(Self { identity, checkpoint, logs })
    }
}
