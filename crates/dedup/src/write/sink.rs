//! An output file that appears whole or not at all.
//!
//! Bytes go to a [`Draft`]; [`Sink::seal`] has the disk take it, [`Sink::commit`] gives all outputs of a run their names
//! when every one of them is sealed. A sink that is dropped before leaves nothing.

use crate::error::DedupError;
use simhash_store::{Access, Draft, PublishError, Staged, publish_all};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes gathered before a write call: calls of this size run at the speed of the disk.
const BUFFER_BYTES: usize = 256 << 10;

/// One open file.
pub(crate) struct Sink<'a> {
    /// The target as it was named, for messages.
    name: &'a Path,
    buffer: Vec<u8>,
    draft: Draft,
}

impl<'a> Sink<'a> {
    pub(crate) fn open(name: &'a Path) -> Result<Self, DedupError> {
        let draft = Draft::new(name, Access::Usual).map_err(failed)?;
        Ok(Self { name, buffer: Vec::new(), draft })
    }

    /// Appends, by way of the buffer.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes everything out, to the disk.
    pub(crate) fn seal(&mut self) -> Result<(), DedupError> {
        self.flush()?;
        self.draft.seal().map_err(failed)
    }

    /// Describes the sealed file.
    pub(crate) fn staged(&mut self) -> Result<Staged, DedupError> {
        self.draft.staged().map_err(failed)
    }

    /// Gives all files of a run their names; the error says which of them stand. Returns what killed runs had left beside them
    /// and was removed.
    pub(crate) fn commit(sinks: impl Iterator<Item = Self>) -> Result<Vec<PathBuf>, DedupError> {
        let drafts: Vec<Draft> = sinks.map(|sink| sink.draft).collect();
        let leftovers = drafts.iter().flat_map(Draft::leftovers).cloned().collect();
        publish_all(drafts).map_err(failed)?;
        Ok(leftovers)
    }

    fn flush(&mut self) -> Result<(), DedupError> {
        let written = self.draft.file().write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| DedupError::output(self.name, error))
    }
}

fn failed(error: PublishError) -> DedupError {
    let (path, source) = error.into_parts();
    DedupError::Output { path, source }
}
