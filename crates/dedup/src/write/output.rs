//! One output of a run: plain or compressed as its name asks for ([`Packer`]), into a file that appears whole or not at all, or to a reader who may stall.

use super::handed::Handed;
use super::sink::Sink;
use super::target::Target;
use crate::error::DedupError;
use simhash_corpus::Packer;
use simhash_store::Staged;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Compressed bytes gathered before they are passed on.
const PACKED_BYTES: usize = 64 << 10;

/// One open output.
pub(crate) struct Output<'a> {
    name: &'a Path,
    packer: Option<Packer>,
    to: To<'a>,
}

enum To<'a> {
    File(Sink<'a>),
    Reader(Handed<'a>),
}

impl<'a> Output<'a> {
    /// Opens a target; who waits for a reader looks at `cancel` while it waits.
    pub(crate) fn open(target: &'a Target, cancel: &'a AtomicBool) -> Result<Self, DedupError> {
        let (name, to) = match target {
            Target::Stream(stream) => {
                let writer = stream.writer();
                let write = move |bytes: &[u8]| {
                    let mut writer = writer.lock();
                    writer.write_all(bytes)?;
                    writer.flush()
                };
                let to = Handed::new(stream.name(), cancel, move || Ok(write));
                (stream.name(), To::Reader(to))
            }
            Target::File(path) if is_passed_on(path) => {
                let file = path.clone();
                let to = Handed::new(path, cancel, move || {
                    // Of a pipe this waits until somebody reads.
                    let mut file = fs::OpenOptions::new().write(true).open(file)?;
                    Ok(move |bytes: &[u8]| file.write_all(bytes))
                });
                (path.as_path(), To::Reader(to))
            }
            Target::File(path) => (path.as_path(), To::File(Sink::open(path)?)),
        };
        let packer = match target {
            Target::File(path) => {
                Packer::of(path).map_err(|error| DedupError::output(path, error))?
            }
            Target::Stream(_) => None,
        };
        Ok(Self { name, packer, to })
    }

    /// As it was named, for messages.
    pub(crate) fn name(&self) -> &Path {
        self.name
    }

    /// Appends.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        let Some(packer) = &mut self.packer else { return self.to.write(bytes) };
        packer.write(bytes).map_err(|error| DedupError::output(self.name, error))?;
        packer.take(PACKED_BYTES).map_or(Ok(()), |packed| self.to.write(&packed))
    }

    /// Writes everything out, to the disk where it is a file. Nothing is appended any more.
    pub(crate) fn seal(&mut self) -> Result<(), DedupError> {
        if let Some(packer) = self.packer.take() {
            let rest = packer.finish().map_err(|error| DedupError::output(self.name, error))?;
            self.to.write(&rest)?;
        }
        match &mut self.to {
            To::File(sink) => sink.seal(),
            To::Reader(handed) => handed.seal(),
        }
    }

    /// Seals it and describes it; none where it is no file that appears whole.
    pub(crate) fn staged(&mut self) -> Result<Option<Staged>, DedupError> {
        self.seal()?;
        match &mut self.to {
            To::File(sink) => sink.staged().map(Some),
            To::Reader(_) => Ok(None),
        }
    }

    /// Gives the sealed files of a run their names, when all of them are sealed; the error says which stand. Returns what
    /// killed runs had left beside them and was removed.
    pub(crate) fn commit(
        outputs: impl IntoIterator<Item = Self>,
    ) -> Result<Vec<PathBuf>, DedupError> {
        Sink::commit(outputs.into_iter().filter_map(|output| match output.to {
            To::File(sink) => Some(sink),
            To::Reader(_) => None,
        }))
    }
}

impl To<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        match self {
            Self::File(sink) => sink.write(bytes),
            Self::Reader(handed) => handed.write(bytes),
        }
    }
}

/// Whether bytes for this path go straight to somebody else: it is there, and a pipe or a device.
pub(super) fn is_passed_on(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}
