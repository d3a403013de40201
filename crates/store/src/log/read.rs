//! From a log to its changes; what is a torn tail and what is damage.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::mark::{FRAMES, HEAD, Mark};
use super::{CHANGES, KIND, Log};
use crate::{FileError, Frame, Input, Section, lock, tail};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// How often the marks of a log are read that somebody else may be writing, and the pause before each time but the first. A writer is done with a
/// mark within a microsecond; it may be stopped between two bytes of it for as long as the system gives it no core.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// The changes of a log, in order. Who only reads may read on when the writer has appended more ([`Reader::refresh`]).
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    input: Input<BufReader<File>>,
    mark: Mark,
    length: u64,
    /// Where the next frame begins.
    at: u64,
    torn: u64,
}

/// A log that is read to its end and goes on.
#[derive(Debug)]
pub struct Opened {
    /// The log.
    pub log: Log,
    /// Bytes of a torn tail that was cut off.
    pub torn: u64,
}

impl Reader {
    /// Opens a log; its reader, and the options in its head. `write`: to go on with it ([`Reader::into_log`]).
    ///
    /// # Errors
    /// [`FileError::Read`], [`FileError::Damaged`], [`FileError::Format`], [`FileError::Mismatch`].
    pub fn open(path: &Path, write: bool) -> Result<(Self, Section), FileError> {
        let unnamed = |error: FileError| error.in_file(path);
        let unreadable = |error| unnamed(FileError::unreadable(error));
        let mut options = File::options();
        let file = lock::at_once(options.read(true).write(write)).open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(unreadable(ErrorKind::InvalidInput.into()));
        }
        let length = about.len();
        let mut input = Input::new(BufReader::with_capacity(PIECE, file), Some(length));
        let options = input.head(KIND, None).map_err(unnamed)?;
        if input.offset() != HEAD as u64 {
            let reason = format!("a head of {} bytes in place of {HEAD}", input.offset());
            return Err(unnamed(FileError::damaged(0, reason)));
        }
        // Who goes on with it has the lock: nobody is writing.
        let tries = if write || length < FRAMES { 1 } else { TRIES };
        let mark = latest(&mut input, tries).map_err(unnamed)?;
        let path = path.to_owned();
        let mut reader = Self { path, input, mark, length, at: FRAMES, torn: 0 };
        reader.see_length()?;
        Ok((reader, options))
    }

    /// How long the file is by now. The mark is read before: what it counts is in the file then.
    fn see_length(&mut self) -> Result<(), FileError> {
        let about = self.input.source().get_ref().metadata();
        self.length =
            about.map_err(|error| FileError::unreadable(error).in_file(&self.path))?.len();
        self.check_length()?;
        self.input.set_length(self.length);
        self.input.go_to(self.at).map_err(|error| error.in_file(&self.path))
    }

    fn check_length(&self) -> Result<(), FileError> {
        if self.mark.end <= self.length {
            return Ok(());
        }
        let reason = format!("the file ends here, but what counts ends at {}", self.mark.end);
        Err(FileError::damaged(self.length, reason).in_file(&self.path))
    }

    /// The changes of the next frame; none: there is no whole one.
    ///
    /// # Errors
    /// [`FileError::Damaged`] with the place, [`FileError::Read`].
    pub fn next_changes(&mut self) -> Result<Option<Section>, FileError> {
        self.read_next().map_err(|error| error.in_file(&self.path))
    }

    fn read_next(&mut self) -> Result<Option<Section>, FileError> {
        if self.at < self.mark.end {
            let changes = self.input.frame(CHANGES)?;
            self.at = self.input.offset();
            if self.at > self.mark.end {
                let reason =
                    format!("a frame ends here, but what counts ends at {}", self.mark.end);
                return Err(FileError::damaged(self.at, reason));
            }
            return Ok(Some(changes));
        }
        if self.at >= self.length || self.torn > 0 {
            return Ok(None);
        }
        match self.input.frame(CHANGES) {
            Ok(changes) => {
                self.at = self.input.offset();
                Ok(Some(changes))
            }
            Err(FileError::Damaged { .. }) => {
                self.input.go_to(self.at)?;
                let rest = self.input.bytes(self.length - self.at)?;
                match tail::damage(&rest, Frame { name: CHANGES, at: self.at }) {
                    None => {
                        self.torn = rest.len() as u64;
                        Ok(None)
                    }
                    Some(reason) => Err(FileError::damaged(self.at, reason)),
                }
            }
            // Whatever the disk could not read may be sound.
            Err(error) => Err(error),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Where the last whole frame that was read ends.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Bytes of an incomplete last frame, once everything is read.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// Whether something of this log was on the disk for certain.
    pub fn is_marked(&self) -> bool {
        self.mark.end > FRAMES
    }

    /// Sees what was appended since.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn refresh(&mut self) -> Result<(), FileError> {
        self.mark = latest(&mut self.input, TRIES).map_err(|error| error.in_file(&self.path))?;
        self.torn = 0;
        self.see_length()
    }

    /// Goes on appending behind what was read to the end; a torn tail is cut off.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn into_log(self) -> Result<Opened, FileError> {
        let file = self.input.into_source().into_inner();
        let cut = if self.length > self.at { file.set_len(self.at) } else { Ok(()) };
        cut.map_err(|error| FileError::unwritable(error).in_file(&self.path))?;
        Ok(Opened { log: Log::of(&self.path, file, self.mark, self.at), torn: self.torn })
    }
}

/// The mark that counts. One whose checksum is wrong may be under way, and is read again: what stays wrong is damage.
fn latest(input: &mut Input<impl Read + Seek>, tries: u32) -> Result<Mark, FileError> {
    for left in (0..tries).rev() {
        input.go_to(HEAD as u64)?;
        match Mark::latest(input) {
            Err(FileError::Damaged { .. }) if left > 0 => thread::sleep(PAUSE),
            read => return read,
        }
    }
    Err(FileError::damaged(HEAD as u64, "no mark"))
}
