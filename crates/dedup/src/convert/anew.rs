//! An old file written anew, as this release would have saved it, with the way back from its bytes to those of the old one.

use std::io::Read;

use simhash_index::IndexError;
use simhash_store::{Fields, FileError, Kind, Output};

use crate::error::DedupError;
use crate::live::{LiveIndex, LiveOptions, Made};

/// Frames of this release, each made of a section of an old file.
pub(super) struct Anew {
    bytes: Vec<u8>,
    /// Where frames begin, and the sections that they were made of.
    places: Vec<(u64, u64)>,
}

impl Anew {
    /// Begins with the head. `options` are those of the kind, from this place of the old file.
    pub(super) fn begin(
        kind: Kind,
        recipe: &str,
        (options, from): (&Fields, u64),
    ) -> Result<Self, FileError> {
        let mut bytes = Vec::new();
        Output::begin(&mut bytes, kind, recipe, options)?;
        Ok(Self { bytes, places: vec![(0, from)] })
    }

    /// Writes frames that are made of what begins at `from` in the old file.
    pub(super) fn frames(
        &mut self,
        from: u64,
        write: impl FnOnce(&mut Output<'_>) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let at = self.bytes.len() as u64;
        self.places.push((at, from));
        write(&mut Output::new(&mut self.bytes, at))
    }

    /// Writes a frame of what begins at `from` in the old file.
    pub(super) fn frame(
        &mut self,
        name: [u8; 4],
        (body, from): (&[u8], u64),
    ) -> Result<(), FileError> {
        self.frames(from, |out| out.frame(name, body))
    }

    /// Ends with what is kept beside the index, and opens all of it. `documents` are keys and texts as they are written, so many.
    pub(super) fn open(
        mut self,
        made: &Made,
        (documents, count, from): (&[u8], u64, u64),
        options: &LiveOptions,
    ) -> Result<LiveIndex, DedupError> {
        let mut kept = made.write();
        kept.number(count);
        kept.0.extend(documents);
        // No signatures of long texts.
        kept.number(0);
        let ended = self.frame(*b"KEPT", (&kept.0, from)).and_then(|()| {
            let at = self.bytes.len() as u64;
            Output::new(&mut self.bytes, at).end()
        });
        ended?;
        let input: &mut dyn Read = &mut self.bytes.as_slice();
        LiveIndex::open(input, options).map_err(|error| match error {
            DedupError::Index(IndexError::File(FileError::Damaged { offset, reason, .. })) => {
                FileError::damaged(self.old(offset), reason).into()
            }
            other => other,
        })
    }

    /// The place of the old file that a byte came from: where its section begins.
    fn old(&self, offset: u64) -> u64 {
        let next = self.places.partition_point(|&(at, _)| at <= offset);
        self.places[next.saturating_sub(1)].1
    }
}
