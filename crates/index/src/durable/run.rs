//! A run: changes of an index that count together with files outside of its directory, all of them or none.
//!
//! ```text
//! outputs lie beside their names,   COMMIT: the changes, and which       outputs get    changes   run-…: what the
//! on the disk                   ──► file gets which name; on the disk ──► their names ─► log   ──► run was         ──► COMMIT goes
//! ```
//! The changes are kept aside until then, and reach the log as one frame: who reads the directory sees all of them or none. Whoever
//! opens the directory for writing after a crash finds COMMIT and finishes the run: forward where every output stands or can get
//! its name, else back. Before COMMIT has its name nothing has happened.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::directory::{Directory, Manifest};
use simhash_store::{
    Access, Fields, FileError, Input, Kind, Output, Section, Staged, folder, saved,
};

use super::DurableOptions;
use super::keeper::Kept;
use super::open::{Logs, start_with, trim};
use super::records::{Bounds, RECORD, Record, forget, read_record, records};
use crate::IndexError;
use crate::live::{self, Keeping, Later, Live, Whole};

const COMMIT: &str = "COMMIT";
const KIND: Kind = Kind { name: "run", made: "run", advice: "restore it from a backup" };
const PLAN: [u8; 4] = *b"PLAN";
const CHANGES: [u8; 4] = *b"CHNG";

/// What became of a run whose process was killed while it was about to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Whether it counts now; if not, nothing of it does.
    pub counts: bool,
    /// Its outputs.
    pub outputs: Vec<PathBuf>,
}

/// An index whose changes are kept aside until [`Run::commit`].
#[derive(Debug)]
pub struct Run {
    directory: Directory,
    manifest: Manifest,
    logs: Logs,
    /// The id that the first addition gets.
    first: u64,
}

/// What COMMIT says.
struct Commit {
    /// The log that gets the changes, and its bytes before.
    log: (u64, u64),
    outputs: Vec<Staged>,
    record: Option<Record>,
    changes: Vec<u8>,
}

impl Run {
    /// Changes of an index that was read are kept aside from now on.
    ///
    /// # Errors
    /// [`IndexError::File`].
    pub fn begin<K: Whole>(
        live: &Live<K>,
        directory: Directory,
        manifest: &Manifest,
        logs: Logs,
    ) -> Result<Self, IndexError> {
        let manifest = trim(&directory, manifest, &logs)?;
        // What the run goes on from is on the disk before anything rests on it.
        logs.sync()?;
        live.shared.turns.turn().keeping = Keeping::Elsewhere(Vec::new());
        Ok(Self { directory, manifest, logs, first: live.next_id() })
    }

    /// The id that its first addition has.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// What a run of this name left.
    ///
    /// # Errors
    /// [`IndexError::File`] with file and place.
    pub fn record(&self, name: &str) -> Result<Option<Section>, IndexError> {
        read_record(&self.directory, &self.manifest, name)
    }

    /// Has the changes count: when this returns the disk has them, the outputs have their names, which `publish` gives them, and
    /// the record is there. `told` is called between every two steps.
    ///
    /// # Errors
    /// Those of `publish`, and [`IndexError::File`]: nothing of the run counts, unless COMMIT is still there: then the next opening
    /// says what came of it.
    pub fn commit<K: Whole, E: From<IndexError>>(
        &mut self,
        live: &Live<K>,
        outputs: Vec<Staged>,
        record: Option<Record>,
        publish: impl FnOnce() -> Result<(), E>,
        told: &dyn Fn(),
    ) -> Result<(), E> {
        let changes = taken(live)?;
        let (number, log) = self.logs.current(&self.manifest)?;
        log.reserve(changes.len() as u64).map_err(IndexError::from)?;
        let commit = Commit { log: (number, log.end()), outputs, record, changes };
        let alone = commit.outputs.is_empty() && commit.record.is_none();
        if !alone {
            commit.write(&self.directory, &self.manifest)?;
            told();
        }
        if let Err(error) = publish() {
            if !alone {
                remove(&self.directory.file(COMMIT))?;
            }
            return Err(error);
        }
        told();
        self.logs.append(&commit.changes, live.next_id() - self.first)?;
        told();
        if !alone {
            commit.finish(&self.directory, &self.manifest)?;
            told();
        }
        self.first = live.next_id();
        Ok(())
    }

    /// Removes the index, which was made for this run, and with `folder` its folder; but one in which another run has counted
    /// meanwhile stays.
    pub fn discard(self, folder: bool) {
        let is_used =
            self.first > 0 || records(&self.directory).is_ok_and(|names| !names.is_empty());
        // From then on the rest are leavings.
        if !is_used && self.directory.begin().is_ok() {
            self.directory.abandon(folder);
        }
    }

    /// Whether COMMIT is there: the next opening finishes the run, or undoes it.
    pub fn is_pending(&self) -> bool {
        self.directory.file(COMMIT).exists()
    }

    /// Changes go to the directory as they are made from now on.
    ///
    /// # Errors
    /// [`IndexError::File`].
    pub fn end<K: Whole>(
        self,
        live: &Live<K>,
        recipe: &str,
        beside: impl Fn() -> Later + Send + Sync + 'static,
        options: DurableOptions,
    ) -> Result<Kept, IndexError> {
        let Self { directory, manifest, logs, .. } = self;
        start_with(live, directory, manifest, logs.read, recipe, Arc::new(beside), options)
    }
}

/// Finishes a run whose process was killed, of an index whose logs have been read; none: there was none.
///
/// # Errors
/// [`IndexError::File`] with file and place.
pub fn settle<K: Whole>(
    live: &Live<K>,
    directory: &Directory,
    manifest: &Manifest,
    logs: &mut Logs,
    kept: &mut dyn FnMut(live::Kept<'_>) -> Result<(), FileError>,
) -> Result<Option<Settled>, IndexError> {
    let path = directory.file(COMMIT);
    let Some(commit) = Commit::read(directory, manifest)? else { return Ok(None) };
    logs.sync()?;
    let (number, log) = logs.current(manifest)?;
    let now = (number, log.end());
    if now < commit.log {
        let (log, end) = commit.log;
        let reason = format!("the run goes on from byte {end} of log {log}, but it ends before");
        return Err(FileError::damaged(0, reason).in_file(&path).into());
    }
    let can = |output: &Staged| output.stands() || output.waits() && output.is_as_it_was();
    let counts = now > commit.log || commit.outputs.iter().all(can);
    if now == commit.log && counts {
        for output in &commit.outputs {
            output.publish()?;
        }
        let mut changes = Section::new(commit.changes.clone(), 0);
        let made = live.rewriter().replay(&mut changes, kept);
        let made = made.map_err(|error| error.in_file(&path))?;
        logs.append(&commit.changes, made)?;
    }
    let outputs = commit.outputs.iter().map(|output| output.target().to_owned()).collect();
    if counts {
        commit.finish(directory, manifest)?;
    } else {
        for output in &commit.outputs {
            output.discard()?;
        }
        remove(&path)?;
    }
    Ok(Some(Settled { counts, outputs }))
}

/// What an index has kept aside.
fn taken<K: Whole>(live: &Live<K>) -> Result<Vec<u8>, IndexError> {
    let mut turn = live.shared.turns.turn();
    turn.keep()?;
    match &mut turn.keeping {
        Keeping::Elsewhere(changes) => Ok(std::mem::take(changes)),
        _ => Ok(Vec::new()),
    }
}

impl Commit {
    fn write(&self, directory: &Directory, manifest: &Manifest) -> Result<(), IndexError> {
        let mut plan = Fields::default();
        plan.number(self.log.0);
        plan.number(self.log.1);
        plan.number(self.outputs.len() as u64);
        for output in &self.outputs {
            output.write(&mut plan)?;
        }
        plan.text(self.record.as_ref().map_or("", |record| &record.name));
        let record = self.record.as_ref().map_or(&[][..], |record| &record.content);
        let parts = [(PLAN, &plan.0[..]), (RECORD, record), (CHANGES, &self.changes)];
        write(&directory.file(COMMIT), manifest, &parts)
    }

    fn read(directory: &Directory, manifest: &Manifest) -> Result<Option<Self>, IndexError> {
        read(&directory.file(COMMIT), manifest, |input| {
            let mut plan = input.frame(PLAN)?;
            let log = (plan.number()?, plan.number()?);
            let mut outputs = Vec::new();
            for _ in 0..plan.number()? {
                outputs.push(Staged::read(&mut plan)?);
            }
            let name = plan.text()?.to_owned();
            plan.end()?;
            let content = input.frame(RECORD)?.left().to_vec();
            let record = (!name.is_empty()).then_some(Record { name, content });
            Ok(Self { log, outputs, record, changes: input.frame(CHANGES)?.left().to_vec() })
        })
    }

    /// Leaves the record, and nothing of itself; records of older runs may go.
    fn finish(&self, directory: &Directory, manifest: &Manifest) -> Result<(), IndexError> {
        if let Some(Record { name, content }) = &self.record {
            write(&directory.file(name), manifest, &[(RECORD, content)])?;
        }
        remove(&directory.file(COMMIT))?;
        // What cannot be removed now is removed by the next run.
        let _ = forget(directory, manifest, Bounds::of(directory, manifest));
        Ok(())
    }
}

/// Checks the files of runs: of those that are done and of one that was about to count, whose outputs come back.
///
/// # Errors
/// [`IndexError::File`] with file and place.
pub fn check_runs(
    directory: &Directory,
    manifest: &Manifest,
) -> Result<Option<Vec<PathBuf>>, IndexError> {
    for name in records(directory)? {
        read_record(directory, manifest, &name)?;
    }
    let commit = Commit::read(directory, manifest)?;
    let targets = |commit: Commit| commit.outputs.into_iter().map(|output| output.target().into());
    Ok(commit.map(|commit| targets(commit).collect()))
}

pub(super) fn write(
    path: &Path,
    manifest: &Manifest,
    parts: &[([u8; 4], &[u8])],
) -> Result<(), IndexError> {
    let never = AtomicBool::new(false);
    let written = saved::save(path, Access::Private, &never, |out| {
        let mut out = Output::begin(out, KIND, "", &manifest.mark(0))?;
        for (name, body) in parts {
            out.frame(*name, body)?;
        }
        out.end()
    });
    Ok(written.map_err(|error: FileError| error.in_file(path))?)
}

pub(super) fn read<T>(
    path: &Path,
    manifest: &Manifest,
    parts: impl FnOnce(&mut Input<&mut dyn io::Read>) -> Result<T, FileError>,
) -> Result<Option<T>, IndexError> {
    let never = AtomicBool::new(false);
    let found = saved::open(path, &never, |input, length| -> Result<T, FileError> {
        let mut input = Input::new(input, length);
        manifest.check(&mut input.head(KIND, None)?, 0)?;
        let found = parts(&mut input)?;
        input.end()?;
        Ok(found)
    });
    match found {
        Ok(found) => Ok(Some(found)),
        Err(FileError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.in_file(path).into()),
    }
}

fn remove(path: &Path) -> Result<(), IndexError> {
    // What comes after must not be read beside it, should the machine lose power.
    let removed = folder::remove(path).and_then(|()| folder::sync(folder::of(path)));
    removed.map_err(|error| FileError::unwritable(error).in_file(path).into())
}
