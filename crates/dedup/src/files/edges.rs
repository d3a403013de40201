//! Edges between the documents of files: all of them, or those of new documents with old ones.
//!
//! Both take the same lists of the same documents in the same order, the old ones first. Of the texts that later ones may be
//! compared with, the first record is found again, for its text and its id: records have the numbers of texts. Edges go out
//! after each batch.

mod matched;
mod pairs;

use super::intake::{Intake, Parsed};
use super::{check_any, only_rejects, publish};
use crate::decide::{ALONE, BATCH_DOCUMENTS, Decider, Document, Edges};
use crate::error::DedupError;
use crate::options::{Cluster, DedupOptions, FileOptions, MatchOptions};
use crate::parallel;
use crate::read::{Block, Fields, Format, Id, Input, Line, id_json};
use crate::report::{EdgeSummary, Progress, Stage, Summary, Throttle};
use crate::write::{LineOutputs, Output, Rejects, check_distinct};
use ahash::AHashMap;
use matched::Matched;
use pairs::Pairs;
use simhash_sketch::Scratch;
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
/// Per different text the method's bytes, 28 to 44 more and 24 for its record; of edges those of one batch of 2,048 documents, 16
/// bytes each, and the ids of their earlier documents. Always 32 MiB of cached shingles at most, and a few blocks of 1 MiB or of the
/// longest line. First records of texts of streams and gzip files also take a temporary file on disk.
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
    check_any(inputs, "inputs")?;
    run(&[inputs], outputs, options, progress, cancel, |run| {
        let mut pairs = Pairs::default();
        while let Some(block) = run.intake.next_block()? {
            run.block(&block, |run, batch| pairs.batch(run, batch))?;
        }
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        run.edges.truncated = run.decider.truncated();
        Ok(())
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
/// Of the texts of `against` as [`pairs_files`] has it. Of the different texts of `news` the method's bytes and 44 to 60 more, and
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
    check_any(news, "inputs")?;
    check_any(against, "against")?;
    if options.limit == Some(0) {
        let (value, expected) = ("0".into(), "at least 1");
        return Err(DedupError::OutOfRange { argument: "limit", value, expected });
    }
    run(&[against, news], outputs, &options.files, progress, cancel, |run| {
        let mut block = run.intake.next_block()?;
        while let Some(old) = block.take_if(|block| (block.input as usize) < against.len()) {
            run.block(&old, |run, batch| {
                let taken = run.take(batch, 0)?;
                run.remember(&taken)
            })?;
            block = run.intake.next_block()?;
        }
        run.check_used()?;
        let old = std::mem::take(&mut run.counts);
        run.before = old.read;
        run.edges.against = old.kept;
        run.intake.forget_rejected();
        let mut matched = Matched::new(run.intake.records.len(), options.limit);
        while let Some(new) = block {
            run.block(&new, |run, batch| matched.batch(run, batch))?;
            block = run.intake.next_block()?;
        }
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        run.counts.add(old);
        Ok(())
    })
}

/// A run from opening its files to publishing them; `work` is what lies between.
fn run<'a>(
    groups: &[&'a [Input]],
    outputs: &'a LineOutputs,
    options: &'a FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &'a AtomicBool,
    work: impl FnOnce(&mut Run<'_, '_>) -> Result<(), DedupError>,
) -> Result<EdgeSummary, DedupError> {
    let started = Instant::now();
    let none = LineOutputs::default();
    let outputs = if options.dry_run { &none } else { outputs };
    // Nothing is clustered here.
    let comparison = DedupOptions { cluster: Cluster::Representative, ..options.dedup.clone() };
    let decider = Decider::new(&comparison)?;
    let fields: &Fields = &options.fields;
    check_distinct(groups.iter().copied().flatten(), outputs.targets())?;
    let mut intake =
        Intake::open(groups, fields, Some(Format::JsonLines), decider.threads(), cancel)?;
    let rejects = Rejects::open(outputs.rejects.as_ref(), intake.records.names(), cancel)?;
    let output = outputs.lines.as_ref().map(|target| Output::open(target, cancel)).transpose()?;
    let (counts, edges) = (Summary::default(), EdgeSummary::default());
    let throttle = Throttle::new(progress);
    let (intake, before) = (&mut intake, 0);
    let mut run = Run { intake, decider, output, rejects, before, counts, edges, throttle };
    match work(&mut run) {
        Err(error @ DedupError::NoRecords { .. }) => return Err(only_rejects(run.rejects, error)),
        done => done?,
    }
    run.report(Stage::Finish);
    let Run { intake, decider, output, rejects, counts, edges, .. } = run;
    let leftovers = publish(output.into_iter().chain(rejects.into_output()), intake)?;
    let Summary { read, rejected, empty, short, bytes, first_rejected, .. } = counts;
    let (seconds, index_bytes) = (started.elapsed().as_secs_f64(), decider.bytes());
    let read_in = EdgeSummary { read, rejected, empty, short, bytes, first_rejected, ..edges };
    Ok(EdgeSummary { seconds, index_bytes, leftovers, ..read_in })
}

/// One run between opening and publishing.
struct Run<'r, 'a> {
    intake: &'r mut Intake<'a>,
    decider: Decider,
    output: Option<Output<'a>>,
    rejects: Rejects<'a>,
    /// Records read before those that are counted.
    before: u64,
    /// What was read; `kept` are the records that are documents.
    counts: Summary,
    /// What was found.
    edges: EdgeSummary,
    throttle: Throttle<'r>,
}

/// Documents that are taken in together.
struct Batch<'b> {
    block: &'b Block,
    documents: Vec<(&'b Line, Parsed<'b>)>,
}

/// A batch with its edges.
struct Taken<'b> {
    block: &'b Block,
    /// By document.
    lines: Vec<(&'b Line, Option<&'b str>)>,
    edges: Edges,
    /// By new text: its first document.
    firsts: Vec<usize>,
}

impl Taken<'_> {
    /// The place of a text among the new ones.
    fn place(&self, text: u32) -> Option<usize> {
        text.checked_sub(self.edges.first).map(|place| place as usize)
    }
}

impl Run<'_, '_> {
    /// Takes the documents of a block, batch by batch.
    fn block(
        &mut self,
        block: &Block,
        mut each: impl FnMut(&mut Self, Batch<'_>) -> Result<(), DedupError>,
    ) -> Result<(), DedupError> {
        self.counts.bytes += block.length;
        let Self { intake, decider, counts, rejects, .. } = self;
        let prepare = |text: &str, scratch: &mut Scratch| decider.prepare(text, scratch);
        let mut accepted = intake.accept(block, prepare, counts, rejects)?.into_iter();
        while accepted.len() > 0 {
            let documents: Vec<_> = accepted.by_ref().take(BATCH_DOCUMENTS).collect();
            each(self, Batch { block, documents })?;
        }
        self.report(Stage::Dedup);
        Ok(())
    }

    /// Takes a batch in, and compares with the texts below this number.
    fn take<'b>(&mut self, batch: Batch<'b>, below: u32) -> Result<Taken<'b>, DedupError> {
        let Batch { block, documents } = batch;
        let (mut lines, mut texts, mut prepared) = (Vec::new(), Vec::new(), Vec::new());
        for (line, Parsed { text, id, prepared: own, .. }) in documents {
            lines.push((line, id));
            texts.push(text);
            prepared.push(own);
        }
        let documents = texts.iter().zip(prepared);
        let mut documents: Vec<Document<'_>> =
            documents.map(|(text, prepared)| Document { text, prepared }).collect();
        let Intake { records, cancel, .. } = &*self.intake;
        let edges = self.decider.edges(&mut documents, below, records, cancel)?;
        for document in &documents {
            self.counts.read += 1;
            self.counts.kept += 1;
            self.counts.empty += u64::from(document.prepared.is_empty);
            self.counts.short += u64::from(document.prepared.is_short);
        }
        self.edges.candidates += edges.candidates;
        let mut firsts = Vec::with_capacity(edges.of.len());
        for (document, &text) in edges.numbers.iter().enumerate() {
            if text != ALONE && text == edges.first + firsts.len() as u32 {
                firsts.push(document);
            }
        }
        Ok(Taken { block, lines, edges, firsts })
    }

    /// Notes where the new texts of a batch are found again.
    fn remember(&mut self, taken: &Taken<'_>) -> Result<(), DedupError> {
        let lines: Vec<&Line> = taken.firsts.iter().map(|&place| taken.lines[place].0).collect();
        self.intake.records.push(taken.block, &lines)
    }

    /// The id of a document of the batch.
    fn own_id(&self, taken: &Taken<'_>, document: usize) -> Id {
        let (line, id) = taken.lines[document];
        id_json(id, self.intake.records.id_prefix(taken.block.input), line.number)
    }

    /// The ids of texts that can be found again.
    fn ids(&self, mut texts: Vec<u32>) -> Result<AHashMap<u32, Id>, DedupError> {
        texts.sort_unstable();
        texts.dedup();
        let Intake { records, cancel, .. } = &*self.intake;
        let mut found: Vec<(u32, Id)> =
            texts.into_iter().map(|text| (text, Id::default())).collect();
        let threads = self.decider.threads();
        parallel::for_each(
            &mut found,
            threads,
            cancel,
            || (),
            |(), slot| {
                slot.1 = records.id(slot.0)?;
                Ok(())
            },
        )?;
        Ok(found.into_iter().collect())
    }

    fn write(&mut self, line: &str) -> Result<(), DedupError> {
        self.intake.check_cancel()?;
        self.output.as_mut().map_or(Ok(()), |output| output.write(line.as_bytes()))
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
