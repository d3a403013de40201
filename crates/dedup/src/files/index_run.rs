//! A run whose documents are checked against an index and against one another; those that are kept enter the index, in one commit with
//! the outputs.
//!
//! ```text
//! inputs ─► the run's name: their content, and where text and id are
//!            ├─ the index has its record ─► the same decisions ─► outputs
//!            └─ it is new ─► check and add, in memory ─► outputs, staged ─► COMMIT: outputs, changes and record, or nothing
//! ```
//! The name of the run stands for the inputs alone, because every option that decides is one of the index, or is refused.

use super::indexed::{check_keys, named};
use super::intake::{Intake, QUEUE};
use super::run_record::{Decision, Recorded, Recording};
use super::saved_index::SavedIndex;
use super::{expanded, fields, only_rejects, refuse_across};
use crate::decide::Relation;
use crate::error::DedupError;
use crate::live::{Document, LiveIndex, LiveMethod, LiveOptions, Near, Room};
use crate::options::{Cluster, DedupOptions, FileOptions, Keep};
use crate::read::{Block, Id, Input, Line, id_json, key_of_id};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{
    Decided, Duplicates, Entry, Link, Member, Output, Outputs, RecordWriter, check_distinct,
    write_clusters,
};
use ahash::AHashMap;
use crossbeam_channel::bounded;
use simhash_index::durable::{Record, check_runs};
use simhash_index::{IndexError, OnDuplicate};
use simhash_sketch::Scratch;
use simhash_store::FileError;
use simhash_store::directory::{Directory, RECORD};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// What [`dedup_into_index`] did.
#[derive(Debug)]
pub struct IndexRun {
    /// The figures, as those of [`dedup_files`](crate::dedup_files); a cluster may be one of an earlier run.
    pub summary: Summary,
    /// The run's name: 32 hexadecimal digits.
    pub name: String,
    /// The same run was made before: its answers were given again, and nothing was added.
    pub repeated: bool,
    /// The index.
    pub live: LiveIndex,
}

/// Deduplicates the documents of `inputs` as [`dedup_files`](crate::dedup_files) does, against an index and one another: a document is
/// a duplicate of the most similar one that was kept before, in an earlier run or this one. Those that are kept enter the index in the
/// folder `path`, with their ids as keys; it is made where there is none.
///
/// The run is one commit: when this returns the outputs have their names and the index has the documents. A process that is killed on
/// the way leaves all of it or nothing: who opens the folder for writing next finishes the run, or undoes it
/// ([`LiveIndex::settled`]). The same inputs once more are answered as the first time, and add nothing.
///
/// Memory: that of the index, for a time twice the texts of the documents that are added, and with clusters the ids of all duplicates.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files) and [`LiveIndex::open_directory`]. [`DedupError::Option`] for what an index cannot do:
/// components, keep rules other than the first, brute force, inputs and outputs that are streams. [`DedupError::Differs`] for
/// an option that is not that of the index.
pub fn dedup_into_index(
    path: &Path,
    inputs: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<IndexRun, DedupError> {
    let started = Instant::now();
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    let none = Outputs::default();
    let outputs = if options.dry_run { &none } else { outputs };
    let made = check(&options.dedup, outputs)?;
    refuse_across(options)?;
    let fields = fields(options, outputs)?;
    outputs.check_names()?;
    check_distinct(inputs.iter(), outputs.targets())?;
    let words = options.dedup.fingerprinter.extract.clone();
    SavedIndex { path: path.to_owned(), words }.check_outside(outputs.targets())?;
    let threads = options.dedup.threads;
    let mut intake = Intake::open(&[inputs], &fields, &options.form, threads, cancel)?;
    let name = name_of(&intake, options)?;

    let was_there = path.is_dir();
    let Opened { mut live, is_new } = Opened::open(path, &made, options, cancel)?;
    let done = run(&mut live, &name, &mut intake, outputs, options, progress);
    if done.is_err() && is_new {
        live.discard(!was_there);
    }
    let (summary, repeated) = live.with_settled(done)?;
    live.let_go();
    let summary = Summary { seconds: started.elapsed().as_secs_f64(), ..summary };
    Ok(IndexRun { summary, name, repeated, live })
}

/// Refuses what an index cannot do; the options of an index for this run.
fn check(run: &DedupOptions, outputs: &Outputs) -> Result<LiveOptions, DedupError> {
    let refuse = |argument, value: &str, expected| {
        Err(DedupError::Option { argument, value: value.to_owned(), expected })
    };
    if run.keep != Keep::First {
        return refuse("keep", "another one", "first: what an index holds was kept before");
    }
    if run.cluster != Cluster::Representative {
        return refuse("cluster", "components", "representative: an index holds what was kept");
    }
    if run.max_bucket != DedupOptions::default().max_bucket {
        let expected = "left out: an index has limits of its own";
        return refuse("max_bucket", &run.max_bucket.to_string(), expected);
    }
    let named = [
        ("output", &outputs.records),
        ("clusters", &outputs.clusters),
        ("rejects", &outputs.rejects),
    ];
    for (argument, target) in named {
        if target.as_ref().is_some_and(|target| !target.is_file()) {
            let expected =
                "a file: a run into an index counts when its outputs stand under their names";
            return refuse(argument, "a stream", expected);
        }
    }
    LiveOptions::of_run(run)
}

/// Of how records are read: a release that rejects other records, or cuts them otherwise, has another.
const READER: u8 = 2;

/// The name of a run: a hash of what it reads.
fn name_of(intake: &Intake<'_>, options: &FileOptions) -> Result<String, DedupError> {
    let mut hash = Xxh3::new();
    hash.update(&[READER]);
    let form = format!("{:?}", options.form);
    for path in options.fields.text_paths().chain([options.fields.id_path(), form]) {
        hash.update(&(path.len() as u64).to_le_bytes());
        hash.update(path.as_bytes());
    }
    let mut see = |bytes: &[u8]| hash.update(bytes);
    if !intake.records.contents(intake.cancel, &mut see)? {
        let expected = "files: a run into an index is known by what it reads, before it reads it";
        let (argument, value) = ("inputs", "a stream".to_owned());
        return Err(DedupError::Option { argument, value, expected });
    }
    Ok(format!("{:032x}", hash.digest128()))
}

/// An index, open for a run.
struct Opened {
    live: LiveIndex,
    /// It was made for this run.
    is_new: bool,
}

impl Opened {
    fn open(
        path: &Path,
        made: &LiveOptions,
        options: &FileOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let is_new = !Directory::is_there(path).map_err(IndexError::from)?;
        if is_new {
            let live = LiveIndex::new(made)?;
            if options.dry_run {
                Directory::check_free(path).map_err(IndexError::from)?;
                return Ok(Self { live, is_new: false });
            }
            live.snapshot().write_directory(path, cancel)?;
        }
        if options.dry_run {
            refuse_pending(path)?;
        }
        let words = &options.dedup.fingerprinter.extract;
        let accepts = |live: &LiveIndex| {
            live.agree(&options.dedup, "index")?;
            check_keys(live)?;
            live.check_run("index")
        };
        let made = LiveOptions::of_saved(path, words, cancel)?;
        let live = LiveIndex::open_run(path, &made, accepts, cancel)?;
        Ok(Self { live, is_new })
    }
}

/// Refuses an index that waits for a run to be finished or undone: a dry run changes nothing.
fn refuse_pending(path: &Path) -> Result<(), DedupError> {
    let (directory, manifest) = Directory::look(path).map_err(IndexError::from)?;
    if check_runs(&directory, &manifest)?.is_none() {
        return Ok(());
    }
    let what = "a run was killed while it was about to count; a command that writes to the index finishes or undoes it, a dry run cannot";
    let what = std::io::Error::other(what);
    Err(IndexError::from(FileError::unreadable(what).in_file(path)).into())
}

/// The figures, and whether the run was made before.
fn run(
    live: &mut LiveIndex,
    name: &str,
    intake: &mut Intake<'_>,
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
) -> Result<(Summary, bool), DedupError> {
    let cancel = intake.cancel;
    let file = format!("{RECORD}{name}");
    let recorded = live.record(&file)?;
    let recorded = recorded.map(|said| Recorded::read(said, &live.record_path(&file)));
    let recorded = recorded.transpose()?;
    let repeated = recorded.is_some();
    let known = (intake.records.names(), intake.records.layouts());
    let mut writer = RecordWriter::open(outputs, known, 0, true, cancel)?;
    let mut clusters =
        outputs.clusters.as_ref().map(|target| Output::open(target, cancel)).transpose()?;
    let answers = match recorded {
        Some(recorded) => Answers::Given(recorded),
        None => Answers::New(Recording::default()),
    };
    let mut stream = Stream {
        live,
        answers,
        summary: Summary::default(),
        members: Vec::new(),
        wants_members: clusters.is_some(),
        wants_links: outputs.records.is_some() && outputs.duplicates == Duplicates::Mark,
        threads: options.dedup.threads,
    };
    let mut throttle = Throttle::new(progress);
    writer = std::thread::scope(|scope| {
        let (sender, receiver) = bounded::<Decided>(QUEUE);
        let writing = scope.spawn(move || {
            for decided in receiver {
                writer.write(&decided)?;
            }
            Ok::<_, DedupError>(writer)
        });
        let read = stream.all(intake, &mut throttle, |decided| sender.send(decided).is_ok());
        drop(sender);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Where the writer failed, that is why the rest stopped.
        let writer = written?;
        read.map(|()| writer)
    })?;
    let Stream { answers, mut summary, members, .. } = stream;
    summary.index_bytes = live.bytes() as u64;
    if let Some(error) = intake.unusable(&summary) {
        intake.check_unchanged()?;
        return Err(only_rejects(writer.into_rejects(), error));
    }
    let finish = intake.progress(Stage::Finish, summary.read, summary.duplicates);
    progress(&finish);
    if let Some(clusters) = &mut clusters {
        write_members(clusters, members, answers.originals(), cancel)?;
    }
    writer.end()?;
    summary.encodings = intake.records.encodings();
    // A run into an index copies nothing.
    let (outputs, _) = writer.into_outputs();
    let mut outputs: Vec<Output<'_>> = outputs.chain(clusters).collect();
    for output in &mut outputs {
        output.seal()?;
    }
    intake.check_unchanged()?;
    intake.check_cancel()?;
    if options.dry_run {
        return Ok((summary, repeated));
    }
    match answers {
        Answers::Given(_) => summary.leftovers = Output::commit(outputs)?,
        Answers::New(recording) => {
            let content = recording.content(live.next_id());
            let staged = outputs.iter_mut().filter_map(|output| output.staged().transpose());
            let staged = staged.collect::<Result<Vec<_>, _>>()?;
            let leftovers = &mut summary.leftovers;
            let publish = || {
                *leftovers = Output::commit(outputs)?;
                Ok(())
            };
            let told = || progress(&finish);
            told();
            live.commit(staged, Some(Record { name: file, content }), publish, &told, cancel)?;
        }
    }
    Ok((summary, repeated))
}

/// Where decisions come from.
enum Answers {
    /// The index.
    New(Recording),
    /// The record of the same run.
    Given(Recorded),
}

impl Answers {
    fn originals(&self) -> &AHashMap<u64, Id> {
        match self {
            Self::New(recording) => &recording.originals,
            Self::Given(recorded) => &recorded.originals,
        }
    }
}

/// What grows along the run.
struct Stream<'a> {
    live: &'a LiveIndex,
    answers: Answers,
    summary: Summary,
    /// Duplicates by the number of their original; kept only where a clusters file is wanted.
    members: Vec<(u64, Id, Relation)>,
    wants_members: bool,
    wants_links: bool,
    threads: usize,
}

impl Stream<'_> {
    /// Takes blocks until the end; `pass_on` says whether anybody still wants them.
    fn all(
        &mut self,
        intake: &mut Intake<'_>,
        throttle: &mut Throttle<'_>,
        pass_on: impl Fn(Decided) -> bool,
    ) -> Result<(), DedupError> {
        while let Some(block) = intake.next_block()? {
            self.summary.bytes += block.length;
            let entries = self.decide(intake, &block)?;
            if !pass_on(Decided { block, entries }) {
                break;
            }
            let Summary { read, duplicates, .. } = self.summary;
            throttle.tick(&intake.progress(Stage::Dedup, read, duplicates));
        }
        let summary = &mut self.summary;
        let counted = match &self.answers {
            Answers::New(recording) => recording.counted,
            Answers::Given(recorded) => recorded.end()?,
        };
        (summary.truncated, summary.empty, summary.short) =
            (counted.truncated, counted.empty, counted.short);
        summary.clusters = self.answers.originals().len() as u64;
        Ok(())
    }

    fn decide(&mut self, intake: &mut Intake<'_>, block: &Block) -> Result<Vec<Entry>, DedupError> {
        let (live, room, is_new) =
            (self.live, Room::default(), matches!(self.answers, Answers::New(_)));
        let prepare = |text: &str, scratch: &mut Scratch| {
            is_new.then(|| live.document_in(text, &room, scratch))
        };
        let slots = intake.parse(block, prepare)?;
        let (mut rejected, mut ids, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        for slot in slots {
            match slot.parsed {
                Ok(parsed) => {
                    let prefix = intake.records.id_prefix(block.input);
                    ids.push(id_json(parsed.id, prefix, slot.line.number));
                    documents.extend(parsed.prepared);
                    rejected.push(None);
                }
                Err(reason) => {
                    self.reject(intake, block, slot.line, &reason);
                    rejected.push(Some(reason));
                }
            }
        }
        intake.look(block, !ids.is_empty());
        let mut decisions = self.answer(&ids, &documents, intake.cancel)?.into_iter().zip(ids);
        let mut entries = Vec::with_capacity(rejected.len());
        for rejected in rejected {
            entries.push(match rejected {
                Some(reason) => Entry::Rejected(reason),
                None => match decisions.next() {
                    Some((decision, id)) => self.entry(decision, id),
                    None => continue,
                },
            });
        }
        Ok(entries)
    }

    fn reject(&mut self, intake: &mut Intake<'_>, block: &Block, line: &Line, reason: &str) {
        intake.count_rejected(&mut self.summary, block, line, reason);
    }

    /// The decisions about the documents of a block, in order.
    fn answer(
        &mut self,
        ids: &[Id],
        documents: &[Document],
        cancel: &AtomicBool,
    ) -> Result<Vec<Decision>, DedupError> {
        let live = self.live;
        let recording = match &mut self.answers {
            Answers::Given(recorded) => return ids.iter().map(|_| recorded.next()).collect(),
            Answers::New(recording) => recording,
        };
        let keys: Vec<_> = ids.iter().map(|id| Some(key_of_id(id).into_owned())).collect();
        let skip = OnDuplicate::Skip;
        let run = (self.threads, cancel);
        let all = live.check_and_add_many_to(None, documents, &keys, &[], skip, run)?;
        // As they were at each check: with a window an original may have left before the block ends.
        let mut originals = all.keys.unwrap_or_default().into_iter();
        let has_distance = matches!(live.options().method, LiveMethod::SimHash { .. });
        let mut decisions = Vec::with_capacity(documents.len());
        for (checked, document) in all.checked.into_iter().zip(documents) {
            let (is_short, is_empty) = document.shape();
            let counted = &mut recording.counted;
            counted.truncated += u64::from(checked.truncated);
            counted.short += u64::from(is_short);
            counted.empty += u64::from(is_empty);
            let decision = checked.duplicate_of.map(|Near { id, similarity, measure, .. }| {
                (id, Relation { similarity, distance: has_distance.then_some(measure) })
            });
            let original = originals.next().flatten();
            recording.push(&decision, |of| named(original, of));
            decisions.push(decision);
        }
        Ok(decisions)
    }

    fn entry(&mut self, decision: Decision, id: Id) -> Entry {
        self.summary.read += 1;
        let Some((of, relation)) = decision else {
            self.summary.kept += 1;
            return Entry::Kept;
        };
        self.summary.duplicates += 1;
        if self.wants_members {
            self.members.push((of, id, relation));
        }
        let original = self.answers.originals().get(&of).filter(|_| self.wants_links);
        Entry::Duplicate(original.map(|original| Link { of: original.clone(), relation }))
    }
}

/// Writes the clusters, by the number of their original.
fn write_members(
    output: &mut Output<'_>,
    members: Vec<(u64, Id, Relation)>,
    originals: &AHashMap<u64, Id>,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    let mut numbers: Vec<u64> = originals.keys().copied().collect();
    numbers.sort_unstable();
    let place = |of| numbers.binary_search(&of).unwrap_or_default() as u32;
    let members =
        members.into_iter().map(|(of, id, relation)| Member { of: place(of), id, relation });
    let named = |place: u32| Ok(originals[&numbers[place as usize]].clone());
    write_clusters(output, members.collect(), named, cancel)
}
