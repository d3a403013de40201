//! Checkpoints: what a run over files has done so far, so that another process goes on from there after a kill, a signal or a full disk.
//!
//! ```text
//! TMP/simhash-run-HHHHHHHHHHHHHHHH     a folder of the run's own, by its outputs; a `Directory` as that of an index
//!   MANIFEST, LOCK                     which checkpoint counts; who works here
//!   log-0000000001                     what the sketch stage made, block by block (journal.rs)
//!   checkpoint-0000000001 …            head, RUNS (described.rs), STAG, columns of the stage that ended last (columns.rs), END!
//! ```
//! A checkpoint is on the disk before the manifest names it, and replaces the one before it. The sketch stage is kept block by block, the
//! others when they end; whoever goes on reads the inputs again, and sketches what the log does not have.

mod columns;
mod described;
mod journal;

pub(crate) use columns::{Plain, Restoring, Saving};
pub(crate) use described::Described;
use described::number_of;
pub(crate) use journal::{Journal, Sketch, of_block};

use crate::error::DedupError;
use crate::read::Input;
use crate::write::{Outputs, Target};
use simhash_store::directory::{Directory, Manifest};
use simhash_store::log::{Log, Reader};
use simhash_store::{
    Access, Draft, Fields, FileError, Input as Frames, Kind, Output, PublishError, Room,
};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What the names of folders of runs begin with; 16 hexadecimal digits follow.
const FOLDER: &str = "simhash-run-";
const KIND: Kind = Kind { name: "run", made: "run", advice: "name the folder of a run" };
const RUN: [u8; 4] = *b"RUNS";
const STAGE: [u8; 4] = *b"STAG";
/// The number of the log.
const LOG: u64 = 1;
/// How often a folder is tried that somebody has: who only looks whether a run is going on has its lock for a moment.
const TRIES: u32 = 5;

/// A stage that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// None but those that the log tells of.
    #[default]
    Begun,
    Groups,
    Candidates,
    Verified,
}

/// What the log keeps of documents beside hash and sketch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) outlines: bool,
    pub(crate) keys: bool,
}

/// That the checkpoint cannot be used or written.
fn damaged(error: FileError, path: &Path) -> DedupError {
    match error.in_file(path) {
        FileError::Cancelled => DedupError::Cancelled,
        error => DedupError::Checkpoint(error),
    }
}

fn unpublished(error: PublishError) -> DedupError {
    DedupError::Checkpoint(error.into())
}

/// The folder of a run.
pub(crate) struct Claim {
    directory: Arc<Directory>,
    found: Option<Manifest>,
    /// It goes when this is dropped.
    is_new: bool,
}

/// A run in its folder.
pub(crate) struct Checkpoint {
    pub(crate) journal: Journal,
    pub(crate) stages: Stages,
}

/// What the stages after the first have done.
pub(crate) struct Stages {
    directory: Arc<Directory>,
    manifest: Manifest,
    described: Vec<u8>,
    saved: Option<(Stage, Restoring)>,
    room: Room,
}

/// Whether a run can leave checkpoints: it reads files, which can be read again, and writes files, which appear whole.
pub(crate) fn is_possible<'a>(
    mut inputs: impl Iterator<Item = &'a Input>,
    outputs: &Outputs,
) -> bool {
    let is_file = |path: &Path| fs::metadata(path).is_ok_and(|it| it.is_file() || it.is_dir());
    let mut targets = [&outputs.records, &outputs.clusters].into_iter().flatten().peekable();
    // Copies appear one after the other, under their names.
    targets.peek().is_some()
        && outputs.copy.is_none()
        && targets.chain(&outputs.rejects).all(Target::is_file)
        && inputs.all(|input| match input {
            // One that is missing is an error soon.
            Input::File(path) => is_file(path) || !path.exists(),
            Input::Stream(_) => false,
        })
}

/// Folders below `tmp` that runs have left which did not end; that of `own` is none.
pub(crate) fn left(tmp: &Path, own: Option<&Path>) -> Vec<PathBuf> {
    let entries = fs::read_dir(tmp).into_iter().flatten().flatten();
    let mut left: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let digits = name.to_str().and_then(|name| name.strip_prefix(FOLDER));
            digits.is_some_and(|digits| {
                digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            })
        })
        .map(|entry| entry.path())
        .filter(|path| Some(path.as_path()) != own && Directory::is_left(path))
        .collect();
    left.sort();
    left
}

impl Claim {
    /// The folder below `tmp` of a run with these outputs.
    pub(crate) fn new(tmp: &Path, outputs: &Outputs) -> Result<Self, DedupError> {
        let path = tmp.join(format!("{FOLDER}{:016x}", number_of(outputs)));
        check_own(&path)?;
        let mut tries = 0;
        let claimed = loop {
            match Directory::claim(&path, true) {
                Err(FileError::Locked { .. }) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                claimed => break claimed,
            }
        };
        let (directory, found) = claimed.map_err(|error| damaged(error, &path))?;
        Ok(Self { directory: Arc::new(directory), is_new: found.is_none(), found })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The folder of an earlier run that did not end is here.
    pub(crate) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Goes on where the earlier run stopped, or begins anew.
    pub(crate) fn start(
        &mut self,
        described: &Described,
        resume: bool,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<Checkpoint, DedupError> {
        let failed = |error| damaged(error, self.directory.path());
        let (directory, room) = (Arc::clone(&self.directory), room.clone());
        if let Some(manifest) = self.found.clone().filter(|_| resume) {
            let (reader, mut mark) = Reader::open(&directory.log(LOG), true).map_err(failed)?;
            manifest.check(&mut mark, LOG).map_err(|error| damaged(error, reader.path()))?;
            let saved = restore(&directory, &manifest, described, &room)?;
            let described = described.bytes();
            let stages = Stages { directory, manifest, described, saved: Some(saved), room };
            return Ok(Checkpoint { journal: Journal::read(reader), stages });
        }
        self.is_new = true;
        let manifest = directory.begin().map_err(failed)?;
        let log = Log::create(&directory.log(LOG), &manifest.mark(LOG)).map_err(failed)?;
        let (described, saved) = (described.bytes(), None);
        let mut stages = Stages { directory, manifest, described, saved, room };
        stages.manifest.checkpoint = 0;
        stages.save(Stage::Begun, cancel, |_| Ok(()))?;
        self.is_new = false;
        Ok(Checkpoint { journal: Journal::begun(log), stages })
    }

    /// Nothing of the run is worth keeping, or nothing is needed any more. What cannot be removed the next run names.
    pub(crate) fn discard(mut self) {
        self.is_new = true;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_new {
            let _ = self.directory.discard();
        }
        self.directory.release();
    }
}

/// What is there under the name of a folder of runs is a folder, and for its owner alone: a link could lead to what is no run's.
fn check_own(path: &Path) -> Result<(), DedupError> {
    let Ok(about) = fs::symlink_metadata(path) else { return Ok(()) };
    #[cfg(unix)]
    let is_private = {
        let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions());
        mode % 0o100 == 0
    };
    #[cfg(not(unix))]
    let is_private = true;
    if about.is_dir() && is_private {
        return Ok(());
    }
    let reason = "it is no folder that its owner alone can use: remove it, or name another folder";
    Err(damaged(FileError::unwritable(std::io::Error::other(reason)), path))
}

/// The checkpoint that counts.
fn restore(
    directory: &Directory,
    manifest: &Manifest,
    described: &Described,
    room: &Room,
) -> Result<(Stage, Restoring), DedupError> {
    let path = directory.checkpoint(manifest.checkpoint);
    let failed = |error| damaged(error, &path);
    let unreadable = |error| damaged(FileError::unreadable(error), &path);
    let file = File::open(&path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut input = Frames::new(BufReader::with_capacity(1 << 20, file), Some(length));
    let mut mark = input.head(KIND, None).map_err(failed)?;
    manifest.check(&mut mark, manifest.checkpoint).map_err(failed)?;
    described.check(input.frame(RUN).map_err(failed)?, &path)?;
    let mut said = input.frame(STAGE).map_err(failed)?;
    let stage = match said.number().map_err(failed)? {
        0 => Stage::Begun,
        1 => Stage::Groups,
        2 => Stage::Candidates,
        3 => Stage::Verified,
        other => return Err(failed(said.damaged(format!("stage {other}")))),
    };
    said.end().map_err(failed)?;
    Ok((stage, Restoring { input, path, room: room.clone() }))
}

impl Stages {
    /// The stage that ended last.
    pub(crate) fn stage(&self) -> Stage {
        self.saved.as_ref().map_or(Stage::Begun, |(stage, _)| *stage)
    }

    /// What it left, once.
    pub(crate) fn take(&mut self) -> Option<(Stage, Restoring)> {
        self.saved.take().filter(|(stage, _)| *stage > Stage::Begun)
    }

    /// Keeps what a stage has made, in place of what was kept before.
    pub(crate) fn save(
        &mut self,
        stage: Stage,
        cancel: &AtomicBool,
        write: impl FnOnce(&mut Saving<'_>) -> Result<(), DedupError>,
    ) -> Result<(), DedupError> {
        let next = Manifest { checkpoint: self.manifest.checkpoint + 1, ..self.manifest.clone() };
        let path = self.directory.checkpoint(next.checkpoint);
        let failed = |error: DedupError| match error {
            DedupError::Index(simhash_index::IndexError::File(error)) => damaged(error, &path),
            other => other,
        };
        let mut draft = Draft::new(&path, Access::Private).map_err(unpublished)?;
        let mut file = BufWriter::with_capacity(1 << 20, draft.file());
        let out = Output::begin(&mut file, KIND, "", &next.mark(next.checkpoint));
        let written = || {
            let mut saving = Saving { out: out?, room: &self.room, cancel };
            saving.out.frame(RUN, &self.described)?;
            let mut fields = Fields::default();
            fields.number(stage as u64);
            saving.out.frame(STAGE, &fields.0)?;
            write(&mut saving)?;
            Ok(saving.out.end()?)
        };
        written().map_err(failed)?;
        let flushed = file.flush().map_err(FileError::unwritable);
        flushed.map_err(|error| damaged(error, &path))?;
        drop(file);
        draft.publish().map_err(unpublished)?;
        let in_folder = |error| damaged(error, self.directory.path());
        self.directory.publish(&next).map_err(in_folder)?;
        let swept = self.directory.sweep(&next).map_err(FileError::unwritable);
        swept.map_err(in_folder)?;
        self.manifest = next;
        Ok(())
    }
}
