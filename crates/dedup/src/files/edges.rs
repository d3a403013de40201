//! Edges between the documents of files: all of them, or those of new documents with old ones.
//!
//! Both take the same lists of the same documents in the same order, the old ones first. Files are read to their end, and the edges of
//! all are found together (`sorted`); where a stream is among the inputs, edges go out after each batch (`live`).

mod live;
mod matched;
mod pairs;
mod separated;
mod sorted;

use super::intake::Intake;
use super::records::Records;
use super::same_ids::{OwnId, same_ids};
use super::within::Within;
use super::{expanded, only_rejects, publish, refuse_across};
use crate::decide::{ALONE, Comparer, Edges};
use crate::error::DedupError;
use crate::options::{Cluster, DedupOptions, FileOptions, Keep, MatchOptions};
use crate::parallel;
use crate::read::{Block, Fields, Id, Input, Line, id_json};
use crate::report::{EdgeSummary, Progress, Stage, Summary, Throttle};
use crate::write::{Answers, LineOutputs, Outputs, Rejects, Wanted, Written, check_distinct};
use ahash::AHashMap;
use live::Live;
use matched::Matched;
use pairs::Pairs;
use separated::Separated;
use simhash_store::{Column, Room};
use sorted::Sorted;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Writes every edge between the documents of `inputs`: a JSON line per pair of documents with different texts of which one is
/// in the list of candidates of the other and whose similarity reaches the threshold (without verification: every such pair).
///
/// `{"a": id, "b": id, "similarity": s, "distance": d}`, `a` before `b` in the input, similarity and distance where they are
/// known, and `"truncated": true` where a limit cut the candidates of `b`. Of documents with equal texts the first stands for
/// all; each later one comes once, as `b` of a pair with the first at similarity 1. Pairs are in the order of `b`, then of `a`.
///
/// Documents are taken in input order; the `cluster` and `keep` of the options have no say. What the pairs connect is what
/// [`dedup_files`](crate::dedup_files) finds for [`Cluster::Components`], and its rule for [`Cluster::Representative`] applied to
/// them gives the clusters for [`Keep::First`](crate::Keep::First).
///
/// The output depends on inputs and options only. Runs on the calling thread and the current rayon pool; `progress` is called on
/// the calling thread, at most 20 times a second.
///
/// # Memory
/// Of files what [`dedup_files`](crate::dedup_files) holds until it has verified. Where a stream is among the inputs edges are found and
/// written as documents come: per different text the method's bytes, 28 to 44 more and 24 for its record. Of edges those of some thousands
/// of texts, 24 bytes each, and the ids of their earlier documents. Always 32 MiB of cached shingles and 256 MiB of bitmaps of long texts at most, and a few blocks of 1 MiB
/// or of the longest line. Records of gzip files and first records of texts of streams also take a temporary file on disk. Per record that
/// has an id 24 bytes, twice as much at the end, to tell which ids come again.
///
/// Where [`FileOptions::memory`] is given, all of that lies in temporary files as far as [`dedup_files`](crate::dedup_files) has it, but for the
/// edges of some thousands of texts and the ids that their lines name. Such a run has no checkpoint: it begins anew.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files), under the same conditions.
pub fn pairs_files(
    inputs: &[Input],
    outputs: &LineOutputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<EdgeSummary, DedupError> {
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    let wanted = Wanted::Lines(outputs, Written::Rows);
    run(&[inputs], wanted, options, progress, cancel, |run, engine| {
        let mut pairs = Pairs::new(run)?;
        let each = |run: &mut Run<'_, '_>, known: &dyn Known, taken: Taken<'_>| {
            pairs.batch(run, known, &taken)
        };
        match engine {
            Engine::Sorted(sorted) => sorted.pairs(run, each),
            Engine::Live(live) => live.pairs(run, each),
        }
    })
}

/// Writes a JSON line for each document of `news`, in order, with the documents of `against` that it resembles: the edges that
/// [`pairs_files`] gives of `against` and then `news`, as far as they lie between the two.
///
/// `{"id": id, "matches": [{"id": id, "similarity": s, "distance": d}, …]}`, the most similar first, of equally similar ones
/// (without verification: of equal rank) the first in `against`; `"truncated": true` where a limit cut the candidates of the
/// document, or `limit` its matches. Of documents of `against` with equal texts the first stands for all. A new document whose text
/// is in `against` already has that one match; one whose text was new before has the matches of the first that had it. An empty
/// text has none. New documents are not compared with each other.
///
/// # Memory
/// As [`pairs_files`] has it, of both sides; of a stream of new documents no records, but what tells their ids apart. Of the different texts of `news` 16 bytes more, and
/// what their lines say in a temporary file.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files), under the same conditions; also where all records of one of the two sides were
/// rejected.
pub fn match_files(
    news: &[Input],
    against: &[Input],
    outputs: &LineOutputs,
    options: &MatchOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<EdgeSummary, DedupError> {
    let form = &options.files.form;
    let (news, against) =
        (&*expanded(news, "inputs", form)?, &*expanded(against, "against", form)?);
    if options.limit == Some(0) {
        let (value, expected) = ("0".into(), "at least 1");
        return Err(DedupError::OutOfRange { argument: "limit", value, expected });
    }
    let wanted = Wanted::Lines(outputs, Written::JsonLines);
    run(&[against, news], wanted, &options.files, progress, cancel, |run, engine| {
        let mut matched = Matched::new(options.limit, run)?;
        let each = |run: &mut Run<'_, '_>, known: &dyn Known, taken: Taken<'_>| {
            matched.batch(run, known, taken)
        };
        let old = against.len() as u32;
        match engine {
            Engine::Sorted(sorted) => sorted.matches(old, run, each),
            Engine::Live(live) => live.matches(old, run, each),
        }
    })
}

/// Writes the documents of `news`, in order, without those that resemble one of `against`, or all of them with marks: those that
/// [`match_files`] gives a match. New documents are not compared with each other, and those of `against` are never written.
///
/// [`Duplicates::Mark`](crate::Duplicates::Mark) names the best match: the most similar, of equally similar ones (without verification: of
/// equal rank) the first in `against`. Of the summary `documents - matched` documents resemble none. The format of the outputs is that of
/// `news`, as [`dedup_files`](crate::dedup_files) has it; there are no clusters.
///
/// # Memory
/// As [`match_files`] has it, 40 bytes for each different text of `news` instead of 16, and no temporary file.
///
/// # Errors
/// Those of [`match_files`]; [`DedupError::Option`] beside a clusters file.
pub fn decontaminate_files(
    news: &[Input],
    against: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<EdgeSummary, DedupError> {
    let (news, against) = (
        &*expanded(news, "inputs", &options.form)?,
        &*expanded(against, "against", &options.form)?,
    );
    run(&[against, news], Wanted::records(outputs)?, options, progress, cancel, |run, engine| {
        let mut separated = Separated::new(outputs.duplicates, run)?;
        let each = |run: &mut Run<'_, '_>, known: &dyn Known, taken: Taken<'_>| {
            separated.batch(run, known, &taken)
        };
        let old = against.len() as u32;
        match engine {
            Engine::Sorted(sorted) => sorted.matches(old, run, each),
            Engine::Live(live) => live.matches(old, run, each),
        }
    })
}

/// A run from opening its files to publishing them; `work` is what lies between, and gives the bytes that were held.
fn run<'a>(
    groups: &[&'a [Input]],
    wanted: Wanted<'a>,
    options: &'a FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &'a AtomicBool,
    work: impl FnOnce(&mut Run<'_, '_>, Engine) -> Result<u64, DedupError>,
) -> Result<EdgeSummary, DedupError> {
    let started = Instant::now();
    refuse_across(options)?;
    // Nothing is clustered here, and nothing is left out.
    let (cluster, keep) = (Cluster::Representative, Keep::First);
    let Within { room, folder, dedup } = Within::new(options, None)?;
    let comparison = DedupOptions { cluster, keep, ..dedup };
    let sorted = Sorted::new(&comparison, &room)?;
    let threads = comparison.threads;
    let fields: &Fields = &options.fields;
    wanted.check_names()?;
    wanted.check_fields(fields)?;
    check_distinct(groups.iter().copied().flatten(), wanted.targets())?;
    let named = wanted.names();
    // A dry run refuses what the run would.
    let none = LineOutputs::default();
    let wanted = if options.dry_run { Wanted::Lines(&none, Written::Rows) } else { wanted };
    let records = Records::new(&room, folder.clone())?;
    let mut intake = Intake::with(records, groups, fields, &options.form, threads, cancel)?;
    let engine = if intake.is_live() {
        Engine::Live(Box::new(Live::new(&comparison)?))
    } else {
        Engine::Sorted(Box::new(sorted))
    };
    let about = (intake.records.names(), intake.records.layouts());
    let known = groups.split_last().map_or(0, |(_, before)| before.iter().map(|it| it.len()).sum());
    let (output, rejects) = wanted.open(about, known, intake.is_live(), cancel)?;
    let (counts, edges) = (Summary::default(), EdgeSummary::default());
    let throttle = Throttle::new(progress);
    let (intake, before) = (&mut intake, 0);
    let given = named.then(|| Column::new(&room)).transpose()?;
    let old = known as u32;
    let mut run = Run {
        intake,
        threads,
        output,
        rejects,
        before,
        counts,
        edges,
        throttle,
        given,
        old,
        room: room.clone(),
        folder,
    };
    let index_bytes = match work(&mut run, engine) {
        Err(error @ DedupError::NoRecords { .. }) => return Err(only_rejects(run.rejects, error)),
        done => done?,
    };
    run.report(Stage::Finish);
    let Run { intake, output, rejects, counts, edges, given, .. } = run;
    let given = given.unwrap_or_default();
    let same_ids = same_ids(given, 0, &intake.records, &room, cancel)?;
    let (outputs, copies) = output.end()?;
    let outputs = outputs.into_iter().chain(rejects.into_output());
    let leftovers = publish(outputs, copies, intake)?;
    let Summary { read, rejected, empty, short, bytes, first_rejected, .. } = counts;
    let seconds = started.elapsed().as_secs_f64();
    let read_in = EdgeSummary { read, rejected, empty, short, bytes, first_rejected, ..edges };
    let encodings = intake.records.encodings();
    Ok(EdgeSummary { seconds, index_bytes, encodings, same_ids, leftovers, ..read_in })
}

/// What finds the edges.
enum Engine {
    /// All documents are there.
    Sorted(Box<Sorted>),
    /// They come one batch after the other.
    Live(Box<Live>),
}

/// What an engine knows of the texts taken in.
trait Known {
    fn comparer(&self) -> &Comparer;

    /// Whether a limit cut the candidates of a text.
    fn is_truncated(&self, text: u32) -> bool;

    /// The record of a text's first document.
    fn record(&self, text: u32) -> u32;
}

/// One run between opening and publishing.
struct Run<'r, 'a> {
    intake: &'r mut Intake<'a>,
    threads: usize,
    output: Answers<'a>,
    rejects: Rejects<'a>,
    /// Records read before those that are counted.
    before: u64,
    /// What was read; `kept` are the records that are documents.
    counts: Summary,
    /// What was found.
    edges: EdgeSummary,
    throttle: Throttle<'r>,
    /// The ids that records give themselves, where documents are named.
    given: Option<Column<OwnId>>,
    /// Inputs below this one are the old side.
    old: u32,
    room: Room,
    /// Of temporary files.
    folder: PathBuf,
}

/// Documents that follow each other, with their edges.
struct Taken<'b> {
    own: Own<'b>,
    edges: Edges,
    /// By new text: its first document.
    firsts: Vec<usize>,
}

/// Where the ids of documents are.
enum Own<'b> {
    /// In the lines of a block that is at hand.
    Lines(&'b Block, Vec<(&'b Line, Option<Cow<'b, str>>)>),
    /// In the records from this one on.
    Records(u32),
}

impl<'b> Taken<'b> {
    fn new(own: Own<'b>, edges: Edges) -> Self {
        let mut firsts = Vec::with_capacity(edges.of.len());
        for (document, &text) in edges.numbers.iter().enumerate() {
            if text != ALONE && text == edges.first + firsts.len() as u32 {
                firsts.push(document);
            }
        }
        Self { own, edges, firsts }
    }

    /// The place of a text among the new ones.
    fn place(&self, text: u32) -> Option<usize> {
        text.checked_sub(self.edges.first).map(|place| place as usize)
    }
}

/// The ids of documents and texts that lines name.
struct Names {
    /// By document of the batch; those that were not asked for are empty.
    own: Vec<Id>,
    /// Of texts before the batch.
    earlier: AHashMap<u32, Id>,
}

impl Run<'_, '_> {
    /// The ids of these documents of the batch and of these texts from before it.
    fn names(
        &self,
        known: &dyn Known,
        taken: &Taken<'_>,
        documents: impl Iterator<Item = usize>,
        texts: impl Iterator<Item = u32>,
    ) -> Result<Names, DedupError> {
        let mut names =
            Names { own: vec![Id::default(); taken.edges.numbers.len()], earlier: AHashMap::new() };
        let (mut documents, mut texts): (Vec<usize>, Vec<u32>) =
            (documents.collect(), texts.collect());
        documents.sort_unstable();
        documents.dedup();
        texts.sort_unstable();
        texts.dedup();
        match &taken.own {
            Own::Lines(block, lines) => {
                let prefix = self.intake.records.id_prefix(block.input);
                for document in documents {
                    let (line, id) = &lines[document];
                    names.own[document] = id_json(id.as_ref(), prefix, line.number);
                }
            }
            &Own::Records(from) => {
                let records = documents.iter().map(|&document| from + document as u32);
                let ids = self.ids(records)?;
                documents.into_iter().zip(ids).for_each(|(document, id)| names.own[document] = id);
            }
        }
        let ids = self.ids(texts.iter().map(|&text| known.record(text)))?;
        names.earlier.extend(texts.into_iter().zip(ids));
        Ok(names)
    }

    /// The ids of records.
    fn ids(&self, records: impl Iterator<Item = u32>) -> Result<Vec<Id>, DedupError> {
        let mut found: Vec<(u32, Id)> = records.map(|record| (record, Id::default())).collect();
        let Intake { records, cancel, .. } = &*self.intake;
        parallel::for_each(
            &mut found,
            self.threads,
            cancel,
            || (),
            |(), slot| {
                slot.1 = records.id(slot.0)?;
                Ok(())
            },
        )?;
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    fn write(&mut self, line: &str) -> Result<(), DedupError> {
        self.intake.check_cancel()?;
        self.output.write(line.as_bytes())
    }

    /// The records of the old side have been read; what is counted from here on are those of the other one.
    fn turn(&mut self) -> Result<Summary, DedupError> {
        self.check_used()?;
        let old = std::mem::take(&mut self.counts);
        self.before = old.read;
        self.edges.against = old.kept;
        self.intake.forget_rejected();
        Ok(old)
    }

    /// An error where all that was read was rejected.
    fn check_used(&self) -> Result<(), DedupError> {
        let Some(error) = self.intake.unusable(&self.counts) else { return Ok(()) };
        self.intake.check_unchanged()?;
        Err(error)
    }

    fn report(&mut self, stage: Stage) {
        let documents = self.before + self.counts.read;
        self.throttle.tick(&self.intake.progress(stage, documents, self.edges.edges));
    }
}
