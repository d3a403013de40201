//! The file of an index of sentences: the whole as it once was, and every change since.
//!
//! ```text
//! byte 0     "SIMHSEN\n"  version u32  length u32  options, recipe …  0 …  XXH3-64 of all this     3,072 bytes
//! byte 3072  mark:  bytes that count u64  turn u64  XXH3-64  0 …                                      512 bytes
//! byte 3584  mark:  the same, written in turns                                                        512 bytes
//! byte 4096  frame: length u64  kind u64 (1 whole, 2 changes)  body …  XXH3-64 of all this
//!            frame …
//! ```
//! All numbers are little-endian; the checksums of marks and frames begin with their place, so that nothing counts
//! elsewhere. **Before the mark every byte has to be right, after it nothing has been acknowledged.** A commit appends one
//! frame, has the system write it out, moves the mark and has that written out: who truncates or changes what was
//! acknowledged gets an error with the place, and what a crash left behind the mark is taken as far as frames are whole,
//! then dropped. A mark is 24 bytes in a sector of its own, which a disk writes whole or not at all.
//!
//! Everything is answered from memory; the file is only read when it is opened. It is written anew, beside its name and
//! then renamed, when it holds four times more than is alive. Where each document has five sentences a commit writes 42
//! bytes for it (51 with a window) and 24 for the frame, the whole 62 to 78.
//!
//! Chosen by measurement over an embedded store (redb 4.2, a table sentence -> documents, one transaction per batch); see
//! `docs/sentences.md`.

mod frame;
mod header;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use self::frame::{FRAMES, Frame, MARKS, Mark};
use super::operation::Operation;
use super::state::State;
use super::{SentenceError, SentenceOptions};
use crate::image::frame::Section;

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

/// Frames of a whole and of changes.
const WHOLE: u64 = 1;
const CHANGES: u64 = 2;

/// An open file.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    file: File,
    header: Vec<u8>,
    durability: Durability,
    /// Where the next frame goes.
    end: u64,
    /// What the last mark says, and its turn.
    marked: u64,
    turn: u64,
    /// Documents of the whole and changes since.
    records: u64,
}

impl Store {
    /// Opens a file, or makes it; the state that it holds and the options it was made with.
    pub(super) fn open(
        path: &Path,
        wanted: &StoreOptions,
    ) -> Result<(Self, State, SentenceOptions), SentenceError> {
        let unreadable = |error| SentenceError::read(path, error);
        let mut file = match open_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && wanted.create => {
                let state = State::new(&wanted.options)?;
                let header = header::write(&wanted.options, &wanted.recipe)?;
                let file = write_anew(path, &header, &state)?.0;
                drop(file);
                open_file(path).map_err(unreadable)?
            }
            opened => opened.map_err(unreadable)?,
        };
        lock(&file, path)?;
        if !is_current(&file, path) {
            return Err(SentenceError::Locked { path: path.to_owned() });
        }
        let length = file.metadata().map_err(unreadable)?.len();
        let mut input = frame::Input::new(BufReader::new(&mut file), path, length);
        let header = input.header()?;
        let (options, recipe) =
            header::read(&header).map_err(|error| SentenceError::of(path, error))?;
        if recipe != wanted.recipe {
            let (saved, given) = (recipe, wanted.recipe.clone());
            return Err(SentenceError::Mismatch {
                path: path.to_owned(),
                option: "sentences",
                saved,
                given,
            });
        }
        let mark = input.mark()?;
        let (state, records, end) = replay(&mut input, path, &options, mark)?;
        let mut store = Self {
            path: path.to_owned(),
            file,
            header,
            durability: wanted.durability,
            end,
            marked: mark.end,
            turn: mark.turn,
            records,
        };
        if end != length || end != mark.end {
            let written = store.file.set_len(end).and_then(|()| store.mark());
            written.map_err(|error| SentenceError::write(path, error))?;
        }
        Ok((store, state, options))
    }

    /// Appends changes, so many of them; they are kept when this returns.
    pub(super) fn commit(&mut self, changes: &[u8], count: u64) -> Result<(), SentenceError> {
        let written = self.append(changes);
        written.map_err(|error| SentenceError::write(&self.path, error))?;
        self.records += count;
        Ok(())
    }

    fn append(&mut self, changes: &[u8]) -> io::Result<()> {
        let frame = Frame { kind: CHANGES, at: self.end }.bytes(changes);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&frame)?;
        self.end += frame.len() as u64;
        if self.durability == Durability::Commit {
            self.mark()?;
        }
        Ok(())
    }

    /// Has everything written out, and says that it counts.
    fn mark(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.turn += 1;
        let at = MARKS[(self.turn % 2) as usize];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(&Mark { end: self.end, turn: self.turn }.bytes(at))?;
        self.file.sync_data()?;
        self.marked = self.end;
        Ok(())
    }

    /// Whether the file holds so much more than is alive that writing it anew pays.
    pub(super) fn is_mostly_gone(&self, live: u64) -> bool {
        self.records > 4 * live + LEAST
    }

    /// The file could not be written anew, but is as good as it was: next time when it has grown as much again.
    pub(super) fn postpone(&mut self) {
        self.records = 0;
    }

    /// Writes the whole in place of the changes.
    pub(super) fn rewrite(&mut self, state: &State) -> Result<(), SentenceError> {
        let (file, end) = write_anew(&self.path, &self.header, state)?;
        (self.file, self.end, self.marked, self.turn) = (file, end, end, 1);
        self.records = state.map.len();
        Ok(())
    }

    /// Writes the whole to another file; to this one if it is this one.
    pub(super) fn save(&mut self, state: &State, path: &Path) -> Result<(), SentenceError> {
        let own = fs::canonicalize(&self.path).ok();
        if own.is_some() && fs::canonicalize(path).ok() == own {
            return self.rewrite(state);
        }
        refuse_if_open(path)?;
        write_anew(path, &self.header, state).map(drop)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    pub(super) fn len(&self) -> u64 {
        self.end
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.marked != self.end {
            // Frames behind the mark are read again without it; a failure here loses nothing.
            let _ = self.mark();
        }
    }
}

/// Writes a state to a file of its own.
pub(super) fn save(
    state: &State,
    options: &SentenceOptions,
    recipe: &str,
    path: &Path,
) -> Result<(), SentenceError> {
    refuse_if_open(path)?;
    write_anew(path, &header::write(options, recipe)?, state).map(drop)
}

/// Replacing a file that an index still writes to would lose what it writes.
fn refuse_if_open(path: &Path) -> Result<(), SentenceError> {
    match File::open(path) {
        Ok(file) if file.metadata().is_ok_and(|file| file.is_file()) => lock(&file, path),
        _ => Ok(()),
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn lock(file: &File, path: &Path) -> Result<(), SentenceError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(SentenceError::Locked { path: path.to_owned() }),
        // A file system without locks: nobody else's lock can be seen there either.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(SentenceError::read(path, error)),
    }
}

/// Whether the path still names this file: between opening and locking, whoever had it open may have written it anew.
fn is_current(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt;
        let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
        file.metadata().and_then(|a| Ok(same(&a, &fs::metadata(path)?))).unwrap_or(false)
    };
    #[cfg(not(unix))]
    let same = {
        // Where a file that is open cannot be replaced the question does not arise.
        let _ = (file, path);
        true
    };
    same
}

/// The state that the frames lead to, the records in them, and where they end.
fn replay(
    input: &mut frame::Input<'_>,
    path: &Path,
    options: &SentenceOptions,
    mark: Mark,
) -> Result<(State, u64, u64), SentenceError> {
    let named = |error| SentenceError::of(path, error);
    let mut first = input.frame(WHOLE)?;
    let mut state = State::read(options, &mut first).map_err(named)?;
    let mut records = state.map.len();
    while input.offset() < mark.end {
        let mut changes = input.frame(CHANGES)?;
        records += apply(&mut state, &mut changes, options).map_err(named)?;
    }
    if input.offset() != mark.end {
        let reason = format!("a frame ends here, but what counts ends at {}", mark.end);
        return Err(SentenceError::damaged(path, input.offset(), reason));
    }
    let mut end = mark.end;
    while let Ok(mut changes) = input.frame(CHANGES) {
        records += apply(&mut state, &mut changes, options).map_err(named)?;
        end = input.offset();
    }
    Ok((state, records, end))
}

/// Replays the changes of a frame; how many they are.
pub(super) fn apply(
    state: &mut State,
    changes: &mut Section,
    options: &SentenceOptions,
) -> Result<u64, crate::IndexError> {
    let mut count = 0;
    while !changes.is_empty() {
        let at = changes.offset();
        let change = Operation::read(changes, options.sentences)?;
        if !state.replay(&change)? {
            let reason = format!("the change {change:?} does not fit what came before");
            return Err(crate::IndexError::Damaged { offset: at, reason });
        }
        count += 1;
    }
    Ok(count)
}

/// A new file in place of what has this name, if anything: locked, and its end.
fn write_anew(path: &Path, header: &[u8], state: &State) -> Result<(File, u64), SentenceError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let unwritable = |error| SentenceError::write(path, error);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}-{number}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut new = OpenOptions::new();
    let mut file = new.read(true).write(true).create_new(true).open(&beside).map_err(unwritable)?;
    let result = lock(&file, path)
        .and_then(|()| write_whole(&mut file, header, state).map_err(unwritable))
        .and_then(|end| {
            fs::rename(&beside, path).and_then(|()| sync_folder(path)).map_err(unwritable)?;
            Ok(end)
        });
    match result {
        Ok(end) => Ok((file, end)),
        Err(error) => {
            // What is left of it is of no use; that it cannot be removed changes nothing about the error.
            let _ = fs::remove_file(&beside);
            Err(error)
        }
    }
}

fn write_whole(file: &mut File, header: &[u8], state: &State) -> io::Result<u64> {
    let frame = Frame { kind: WHOLE, at: FRAMES }.bytes(&state.write());
    let end = FRAMES + frame.len() as u64;
    file.write_all(header)?;
    for (turn, at) in (0..).zip(MARKS) {
        file.write_all(&Mark { end, turn }.bytes(at))?;
    }
    file.write_all(&frame)?;
    file.sync_all()?;
    Ok(end)
}

/// Has the folder remember the new name; where folders cannot be opened (Windows) the rename is all there is.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
