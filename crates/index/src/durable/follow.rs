//! Who only reads a directory, and follows what its writer appends.

use std::sync::Arc;

use parking_lot::RwLock;
use simhash_store::FileError;
use simhash_store::directory::{Directory, Manifest};
use simhash_store::log::Reader;

use super::open::{apply, follows};
use crate::IndexError;
use crate::live::{self, Keeping, Live, Whole};

/// A place in the logs of a directory that another process writes.
#[derive(Debug)]
pub struct Follower {
    directory: Directory,
    manifest: Manifest,
    number: u64,
    reader: Reader,
    /// Whether the frame that says what was before the log has been read.
    begun: bool,
    frames: Frames,
}

/// Held for writing while the changes of one frame are made: who holds it for reading sees frames whole or not at all.
pub type Frames = Arc<RwLock<()>>;

impl Follower {
    /// Makes the changes since the checkpoint again, in an index that [`read`](super::read) has read; from now on it refuses
    /// changes of its own. None: the writer has removed a log meanwhile; read again, from the newer checkpoint.
    ///
    /// # Errors
    /// [`IndexError::File`] with file and place.
    pub fn follow<K: Whole>(
        live: &Live<K>,
        directory: Directory,
        manifest: Manifest,
        kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
    ) -> Result<Option<Self>, IndexError> {
        let number = manifest.logs[0];
        let Some(reader) = open(&directory, &manifest, number)? else { return Ok(None) };
        live.shared.turns.turn().keeping = Keeping::Following(directory.path().to_owned());
        let frames = Frames::default();
        let mut follower = Self { directory, manifest, number, reader, begun: false, frames };
        Ok(if follower.refresh(live, kept)? { Some(follower) } else { None })
    }

    /// What is held while the changes of a frame are made.
    pub fn frames(&self) -> Frames {
        Arc::clone(&self.frames)
    }

    /// Makes the changes that the writer has appended since. False: it has gone on to a later checkpoint and removed what was
    /// between; open the directory again.
    ///
    /// # Errors
    /// [`IndexError::File`] with file and place.
    pub fn refresh<K: Whole>(
        &mut self,
        live: &Live<K>,
        kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
    ) -> Result<bool, IndexError> {
        loop {
            self.read_on(live, kept)?;
            // Read after the log: once it names a later one, this log has come to its end.
            let Some(manifest) = self.directory.manifest()? else { return Ok(false) };
            if manifest.identity != self.manifest.identity {
                return Ok(false);
            }
            let mut later = manifest.logs.iter().filter(|&&number| number > self.number);
            let Some(&next) = later.next() else {
                // Only the writer knows whether it will go on here.
                return Ok(manifest.logs.contains(&self.number));
            };
            if next != self.number + 1 && !manifest.logs.contains(&self.number) {
                return Ok(false);
            }
            let mut begun = None;
            for number in std::iter::once(next).chain(later.copied()) {
                let Some(mut looked) = open(&self.directory, &manifest, number)? else {
                    return Ok(false);
                };
                // One that was made for a checkpoint and never turned to, before another was made, is never turned to.
                if looked.next_changes()?.is_some() {
                    begun = Some(number);
                    break;
                }
            }
            // The writer may have turned to it a moment ago.
            self.read_on(live, kept)?;
            // Not yet.
            let Some(next) = begun else { return Ok(true) };
            let Some(mut reader) = open(&self.directory, &manifest, next)? else {
                return Ok(false);
            };
            if !follows(&mut reader, self.reader.torn() > 0, self.reader.offset())? {
                // A power cut has taken the end of the log before it: what counts ends there, until the next writer says so.
                return Ok(self.directory.manifest()?.as_ref() == Some(&manifest));
            }
            (self.reader, self.number, self.begun, self.manifest) = (reader, next, true, manifest);
        }
    }

    fn read_on<K: Whole>(
        &mut self,
        live: &Live<K>,
        kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
    ) -> Result<(), IndexError> {
        self.reader.refresh()?;
        let first = !self.begun;
        apply(live, &mut self.reader, first, kept, Some(&self.frames))?;
        self.begun = self.begun || self.reader.offset() > simhash_store::log::FRAMES;
        Ok(())
    }
}

/// A log of a directory; none: it has been removed.
fn open(
    directory: &Directory,
    manifest: &Manifest,
    number: u64,
) -> Result<Option<Reader>, IndexError> {
    let path = directory.log(number);
    match Reader::open(&path, false) {
        Ok((reader, mut said)) => {
            manifest.check(&mut said, number).map_err(|error| error.in_file(&path))?;
            Ok(Some(reader))
        }
        Err(FileError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
