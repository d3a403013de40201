//! The records and the rejects.

use super::marks::{marked, unmarked};
use super::{Duplicates, Output, Outputs, Rejects};
use crate::decide::Relation;
use crate::error::DedupError;
use crate::read::{Block, Id};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A block whose lines are all decided.
pub(crate) struct Decided {
    pub(crate) block: Block,
    /// One for each line.
    pub(crate) entries: Vec<Entry>,
}

/// What becomes of a line.
pub(crate) enum Entry {
    Kept,
    /// With the link that marks it, where duplicates are marked.
    Duplicate(Option<Link>),
    /// With the reason.
    Rejected(String),
}

/// What a mark says.
pub(crate) struct Link {
    pub(crate) of: Id,
    pub(crate) relation: Relation,
}

/// Writes records and rejects.
pub(crate) struct RecordWriter<'a> {
    records: Option<Output<'a>>,
    pub(crate) rejects: Rejects<'a>,
    duplicates: Duplicates,
}

impl<'a> RecordWriter<'a> {
    /// Opens the outputs; who waits for a reader looks at `cancel`.
    pub(crate) fn open(
        outputs: &'a Outputs,
        names: Vec<PathBuf>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let records = outputs.records.as_ref();
        Ok(Self {
            records: records.map(|target| Output::open(target, cancel)).transpose()?,
            rejects: Rejects::open(outputs.rejects.as_ref(), names, cancel)?,
            duplicates: outputs.duplicates,
        })
    }

    /// A block as it was read.
    pub(crate) fn write(&mut self, decided: &Decided) -> Result<(), DedupError> {
        let block = &decided.block;
        for (line, entry) in block.lines.iter().zip(&decided.entries) {
            match entry {
                Entry::Rejected(reason) => self.rejects.write(block, line, reason)?,
                entry => self.record(block.bytes_of(line), entry)?,
            }
        }
        Ok(())
    }

    /// A record that was not rejected.
    pub(crate) fn record(&mut self, bytes: &[u8], entry: &Entry) -> Result<(), DedupError> {
        let Some(output) = &mut self.records else { return Ok(()) };
        match (self.duplicates, entry) {
            (Duplicates::Remove, Entry::Kept) => output.write(bytes)?,
            (Duplicates::Mark, Entry::Kept) => output.write(&unmarked(bytes))?,
            (Duplicates::Mark, Entry::Duplicate(Some(link))) => {
                for part in marked(bytes, link) {
                    output.write(&part)?;
                }
            }
            _ => return Ok(()),
        }
        output.write(b"\n")
    }

    /// Whether records are written at all.
    pub(crate) fn wants_records(&self) -> bool {
        self.records.is_some()
    }

    /// The open file of rejects alone; the records are given up.
    pub(crate) fn into_rejects(self) -> Rejects<'a> {
        self.rejects
    }

    /// The open files, to be sealed and moved into place.
    pub(crate) fn into_outputs(self) -> impl Iterator<Item = Output<'a>> {
        [self.records, self.rejects.into_output()].into_iter().flatten()
    }
}
