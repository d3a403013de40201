//! The file of an index of sentences: the whole as it once was, and every change since.
//!
//! ```text
//! byte 0     head, filled up with zeros                                3,072 bytes
//! byte 3072  mark:  bytes that count u64  turn u64  XXH3-64  0 …         512 bytes
//! byte 3584  mark:  the same, written in turns                           512 bytes
//! byte 4096  frame WHOL, then frames CHNG
//! ```
//! Head and frames are those of `simhash_store`. The checksums of marks and frames begin with their place, so that nothing
//! counts elsewhere. **Before the mark every byte has to be right. After it an incomplete last frame is a torn tail, and all else
//! that is wrong is damage** (see `replay`). A commit appends one frame, has the system write it out, moves the mark and
//! has that written out: nothing behind the mark has been acknowledged then. With [`Durability::System`] the mark moves
//! when the file is opened, closed or written anew, so what is behind it has been: it survives `kill -9`, and who changes
//! it gets an error with the place. A mark is 24 bytes in a sector of its own, which a disk writes whole or not at all.
//!
//! Everything is answered from memory; the file is only read when it is opened. It is written anew, beside its name and
//! then renamed, when it holds four times more than is alive. Where each document has five sentences a commit writes 42
//! bytes for it (51 with a window) and 24 for the frame, the whole 62 to 78.
//!
//! Chosen by measurement over an embedded store (redb 4.2, a table sentence -> documents, one transaction per batch); see
//! `docs/sentences.md`.

mod header;
mod log;
mod mark;
mod replay;

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use simhash_store::{Access, Created, Draft, FileError, Input, Output, frame, lock};

use self::log::Log;
use self::mark::{FRAMES, MARKS, Mark};
use self::replay::{WHOLE, replay};
use super::{SentenceMap, SentenceOptions, State};
use crate::{IndexError, live};

pub(super) use self::header::{read_options, written_options};
pub(super) use self::replay::apply;

/// When a change counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// When the disk has it: it survives `kill -9` and a power cut. Two flushes per call.
    #[default]
    Commit,
    /// When the system has it: it survives `kill -9`; of a power cut it survives as much as the system had written out.
    System,
}

/// How a file is opened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Options of a file that is made anew; one that exists keeps its own.
    pub options: SentenceOptions,
    /// What makes sentences of texts, in words; a file made with other words is refused. At most 2,048 bytes.
    pub recipe: String,
    /// When a change counts as kept. Default [`Durability::Commit`].
    pub durability: Durability,
    /// Whether a file that does not exist is made. Default true.
    pub create: bool,
}

impl StoreOptions {
    /// These options for a new file, the defaults for the rest.
    pub fn new(options: SentenceOptions, recipe: impl Into<String>) -> Self {
        let durability = Durability::default();
        Self { options, recipe: recipe.into(), durability, create: true }
    }
}

/// Records beyond which the file may be rewritten: some 3 MB, not worth doing for less.
const LEAST: u64 = 65_536;

/// How often a name that appears and disappears is tried.
const TRIES: u32 = 64;

/// An open file, locked as long as it is.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    header: Vec<u8>,
    options: SentenceOptions,
    log: Log<File>,
    /// Documents of the whole and changes since.
    records: u64,
    /// Bytes of a torn tail that was cut off when the file was opened.
    torn: u64,
}

impl Store {
    /// Opens a file, or makes it; the state that it holds and the options it was made with.
    pub(super) fn open(
        path: &Path,
        wanted: &StoreOptions,
    ) -> Result<(Self, State, SentenceOptions), IndexError> {
        let unnamed = |error: IndexError| error.in_file(path);
        let unreadable = |error| unnamed(FileError::unreadable(error).into());
        let unwritable = |error| unnamed(FileError::unwritable(error).into());
        let mut file = open_file(path, wanted)?;
        let length = file.metadata().map_err(unreadable)?.len();
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let mut input = Input::new(BufReader::new(&mut file), Some(length));
        let mut read = || {
            let options = header::read(&mut input, &wanted.recipe)?;
            let mark = Mark::latest(&mut input)?;
            Ok((options, mark, replay(&mut input, length, &options, mark)?))
        };
        let (options, mark, read) = read().map_err(unnamed)?;
        let torn = length - read.end;
        if torn > 0 {
            file.set_len(read.end).map_err(unwritable)?;
        }
        let mut log = Log::new(file, wanted.durability, read.end, mark);
        log.checkpoint().map_err(unwritable)?;
        let header = header::write(&options, &wanted.recipe)?;
        let store =
            Self { path: path.to_owned(), header, options, log, records: read.records, torn };
        Ok((store, read.state, options))
    }

    /// Bytes of a torn tail that was cut off when the file was opened.
    pub(super) fn torn(&self) -> u64 {
        self.torn
    }
}

impl live::File<SentenceMap> for Store {
    fn commit(&mut self, changes: &[u8], count: u64) -> Result<(), IndexError> {
        let written = self.log.append(changes);
        written.map_err(|error| unwritable(&self.path, error))?;
        self.records += count;
        Ok(())
    }

    fn read_again(&mut self) -> Result<State, IndexError> {
        let end = self.log.end();
        let file = &mut self.log.medium;
        let mut input = Input::new(BufReader::new(file), Some(end));
        let mut read = || {
            input.go_to(FRAMES)?;
            replay(&mut input, end, &self.options, Mark { end, turn: 0 })
        };
        Ok(read().map_err(|error: IndexError| error.in_file(&self.path))?.state)
    }

    fn is_mostly_gone(&self, live: u64) -> bool {
        self.records > 4 * live + LEAST
    }

    fn postpone(&mut self) {
        self.records = 0;
    }

    fn rewrite(&mut self, state: &State) -> Result<(), IndexError> {
        let path = &self.path;
        let (mut draft, end) = write_whole(path, &self.header, &state.write())?;
        draft.seal().map_err(FileError::from)?;
        let file = draft.file().try_clone().map_err(|error| unwritable(path, error))?;
        if !lock::is_current(&self.log.medium, path) {
            return Err(FileError::Moved { path: path.clone() }.into());
        }
        let published = draft.publish();
        // Where only its folder could not be flushed the new file has the name all the same: what comes belongs into it.
        if lock::is_current(&file, path) {
            self.log = Log::new(file, self.log.durability(), end, Mark { end, turn: 1 });
            self.records = state.live();
        }
        Ok(published.map(drop).map_err(FileError::from)?)
    }

    fn is_at(&self, path: &Path) -> bool {
        let own = fs::canonicalize(&self.path).ok();
        own.is_some() && fs::canonicalize(path).ok() == own
    }

    fn header(&self) -> &[u8] {
        &self.header
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> u64 {
        self.log.end()
    }

    #[cfg(test)]
    fn refuse_writes(&mut self, read_only: File) {
        self.log.medium = read_only;
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Frames behind the mark are read again without it; a failure here loses nothing.
        let _ = self.log.checkpoint();
    }
}

/// The header of a file with these options.
pub(super) fn header_of(options: &SentenceOptions, recipe: &str) -> Result<Vec<u8>, IndexError> {
    header::write(options, recipe)
}

/// Writes a state to a file of its own; what an index still writes to is not replaced.
pub(super) fn save(path: &Path, header: &[u8], whole: &[u8]) -> Result<(), IndexError> {
    let mut draft = Draft::new(path, Access::Usual).map_err(FileError::from)?;
    // Asked before anything is written, and again at the end.
    drop(claim(path)?);
    write_parts(&mut draft, header, whole)?;
    for _ in 0..TRIES {
        if let Some(old) = claim(path)? {
            // Locked until the new one is there: who opens the old one meanwhile is refused. Where locks keep files from
            // being renamed the system itself refuses to replace what is open.
            let _old = cfg!(unix).then_some(old);
            return Ok(draft.publish().map(drop).map_err(FileError::from)?);
        }
        match draft.create().map_err(FileError::from)? {
            Created::New(_) => return Ok(()),
            Created::Exists(again) => draft = again,
        }
    }
    Err(FileError::Locked { path: path.to_owned(), by: String::new() }.into())
}

/// The file that has this name, locked; `None`: there is none.
fn claim(path: &Path) -> Result<Option<File>, IndexError> {
    match lock::claim(path) {
        Ok(Some(file)) => Ok(Some(file)),
        Ok(None) => Err(FileError::Locked { path: path.to_owned(), by: String::new() }.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(path, error)),
    }
}

/// A file that is there, or a new one: of two who make it at once exactly one does. Locked.
fn open_file(path: &Path, wanted: &StoreOptions) -> Result<File, IndexError> {
    for _ in 0..TRIES {
        match lock::open(path) {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => break,
            Err(error) if error.kind() == ErrorKind::NotFound && wanted.create => {}
            Err(error) => return Err(FileError::unreadable(error).in_file(path).into()),
        }
        let whole = State::new(&wanted.options)?.write();
        let header = header::write(&wanted.options, &wanted.recipe)?;
        let (draft, _) = write_whole(path, &header, &whole)?;
        if let Created::New(file) = draft.create().map_err(FileError::from)? {
            return Ok(file);
        }
    }
    Err(FileError::Locked { path: path.to_owned(), by: String::new() }.into())
}

/// A file of a whole, on its way to this name; where its frames end.
fn write_whole(path: &Path, header: &[u8], whole: &[u8]) -> Result<(Draft, u64), IndexError> {
    let mut draft = Draft::new(path, Access::Usual).map_err(FileError::from)?;
    let end = write_parts(&mut draft, header, whole)?;
    Ok((draft, end))
}

fn write_parts(draft: &mut Draft, header: &[u8], whole: &[u8]) -> Result<u64, IndexError> {
    let end = FRAMES + frame::AROUND + whole.len() as u64;
    let marks = (0..).zip(MARKS).map(|(turn, at)| Mark { end, turn }.bytes(at));
    let head = [header, marks.collect::<Vec<_>>().concat().as_slice()].concat();
    let target = draft.target().to_owned();
    let file = draft.file();
    let written = file.write_all(&head).map_err(FileError::unwritable);
    let written = written.and_then(|()| Output::new(file, FRAMES).frame(WHOLE, whole));
    written.map_err(|error| error.in_file(&target))?;
    Ok(end)
}

fn unwritable(path: &Path, error: io::Error) -> IndexError {
    FileError::unwritable(error).in_file(path).into()
}

#[cfg(test)]
mod tests;
