//! Files in, files out, texts never all in memory.
//!
//! ```text
//! reader thread ──► parse and sketch ──► columns ──► (end) sort, decide ──► read again ──► write       deduplication
//!      blocks      (pool, each a block)  in order          (pool)
//!
//! reader thread ──► parse and sketch ──► decide ──► writer thread      of streams, where the first of a representative's
//!      blocks          (pool)           in order        blocks         cluster is kept: the first line is out before the last is in
//!
//! reader thread ──► parse and sketch ──► columns ──► (end) sort, compare ──► write      pairs, matches (`edges`)
//! reader thread ──► parse and sketch ──► compare ──► write      the same of streams
//! reader thread ──► parse and sketch ──► write                 fingerprints, words (`lines`)
//! reader thread ──► parse and sketch ──► add, or search ──► write      a live index (`indexed`, `saved_index`)
//! reader thread ──► parse and sketch ──► check and add ──► write      a run and its index, in one commit (`index_run`)
//! ```
//!
//! The queues hold two blocks each, and of those that are sketched there are three for each task, so memory is bounded whatever is slow. The caller's thread parses,
//! decides and reports progress; nobody it waits for sleeps longer than 20 ms without looking at the cancel flag, so that
//! a cancelled run ends whatever its readers and writers do.

mod edges;
mod evaluated;
mod export;
mod fingerprints;
mod found;
mod in_order;
mod index_run;
mod indexed;
mod intake;
mod lines;
mod on_arrival;
mod positions;
mod predicted;
mod records;
mod reported;
mod run_record;
mod same_ids;
mod sampled;
mod saved_index;
mod segments;
mod sorted;
mod stated;
mod tuned;
mod unusable;
mod within;

use crate::batch::{Columns, Compared, Growing};
use crate::checkpoint::{self, Claim, Described};
use crate::cluster::Gathered;
use crate::decide::Decider;
use crate::error::DedupError;
use crate::options::{FileOptions, Keep};
use crate::read::{Fields, Form, Input};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{
    Copies, Duplicates, Member, Output, Outputs, RecordWriter, Rejects, check_distinct,
    check_marks, write_clusters,
};
pub use edges::{decontaminate_files, match_files, pairs_files};
pub use evaluated::{Scored, evaluate_files};
pub use export::ExportFormat;
pub use fingerprints::fingerprint_files;
pub use found::find_texts;
pub use index_run::{IndexRun, dedup_into_index};
use intake::Intake;
pub use predicted::{Prediction, predict_files};
use records::Records;
pub use reported::{Page, Report, report_files};
use same_ids::{OwnId, same_ids};
pub use sampled::{Sample, sample_files};
pub use saved_index::{SavedIndex, Verified};
pub use segments::segment_files;
use simhash_store::{Column, Room};
use sorted::{Found, write_found};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
pub use tuned::{Trial, Tuned, tune_files};
pub use within::LEAST_MEMORY;
use within::Within;

/// Deduplicates JSON lines from `inputs`, in order, into `outputs`.
///
/// The outputs depend on inputs and options only. Runs on the calling thread and the current rayon pool; `progress` is
/// called on the calling thread, at most 20 times a second.
///
/// # Memory
/// Files, and whatever is not decided as records come: per record 22 bytes, 40 more where texts are verified, the key of the keep rule (8
/// bytes and its length), and the method's sketch: 5.2 bytes per band, 40 for others and what they hold. When all have been read, 4 to
/// 28 bytes for each band that texts have in common, and per different text 8, 16 more where it is a duplicate; with a clusters file
/// per duplicate 32, with one or with marks 24 for each record that has an id, twice as much at the end. Where documents are compared across
/// inputs only ([`FileOptions::across_files_only`]) 4 more per record while texts are grouped, and 12 more per text of an input.
/// All of that lies in temporary files where [`FileOptions::memory`] is given: the whole process then holds as much as that says, a tenth
/// more at most. Not so what brute force holds, the sets of features of all documents, each of which may be near any other; what simhash
/// compares at a time, fingerprints of which the same few bits agree (from a distance of 11 on some hundredths of all); and what records of more than a megabyte need while they are looked at, some
/// twenty times their length: where that does not fit the run stops with [`DedupError::Bound`].
/// Streams, pipes and devices, where the first of a representative's cluster is kept, are decided as records come: per different text the
/// method's bytes and 32 to 48 more, 16 to 32 where it is a duplicate; per kept
/// record 5 more, and 8 for each duplicate among its candidates; per copy nothing; per duplicate its id with a clusters file. At the
/// bound of the memory such a run stops with [`DedupError::Bound`]; the lines that were written until then are whole.
/// Always 32 MiB of cached shingles and 256 MiB of bitmaps of long texts at most, together a sixth of the bound where there is one, and a few blocks of 1 MiB or of the longest
/// line, up to three for each thread with what was made of them. Records of gzip files and streams (of streams that are decided as they
/// come: kept ones) also take a temporary file on disk.
///
/// An input without records is no error: it has 0 documents, and so have the outputs.
///
/// # Errors
/// Any [`DedupError`]. No output file appears then, and no temporary file stays but the folder of a run that can go on
/// ([`FileOptions::resume`]). Where all records were rejected
/// ([`DedupError::NoRecords`]), the rejects appear, and nothing else. One exception, which the message of
/// [`DedupError::Output`] names: every output was complete, and one could not take its name when others had theirs.
pub fn dedup_files(
    inputs: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    run(inputs, &[], outputs, options, progress, cancel)
}

/// [`dedup_files`] of `known` and then `inputs`, of which only the documents of `inputs` are written: those of `known` were there already. A
/// document may be a duplicate of one of them, and clusters are those in which a document of `inputs` is a duplicate. An id made from
/// a line's number does not say on which side it is.
///
/// Everything is decided when all have been read, streams too. Memory: that of [`dedup_files`], of both.
///
/// # Errors
/// Those of [`dedup_files`], also where all records of one of the two sides were rejected; [`DedupError::Option`] without known files,
/// and beside a keep rule other than the first, or components: a known document could be a duplicate of a later one.
pub fn dedup_new_files(
    inputs: &[Input],
    known: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    check_any(known, "known")?;
    if Gathered::is_for(&options.dedup) {
        let expected = "beside the first of a representative's cluster";
        return Err(DedupError::Option { argument: "known", value: "given".into(), expected });
    }
    run(inputs, known, outputs, options, progress, cancel)
}

fn run(
    inputs: &[Input],
    known: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let started = Instant::now();
    let (inputs, known) =
        (&*expanded(inputs, "inputs", &options.form)?, &*Input::expanded(known, &options.form)?);
    check_across(options, known.iter().chain(inputs))?;
    let across = options.across_files_only;
    let fields = fields(options, outputs)?;
    outputs.check_names()?;
    check_distinct(known.iter().chain(inputs), outputs.targets())?;
    // A dry run refuses what the run would.
    let none = Outputs::default();
    let outputs = if options.dry_run { &none } else { outputs };
    let mut claim = claim(options, || known.iter().chain(inputs), outputs)?;
    let own = claim.as_ref().map(Claim::path);
    let stopped = options.tmp.as_ref().map_or_else(Vec::new, |tmp| checkpoint::left(tmp, own));
    let Within { room, folder, dedup } = Within::new(options, own)?;
    let (comparer, columns) = Columns::within(&dedup, &room)?;
    let mut columns = if across { columns.across() } else { columns };
    let (groups, form) = ([known, inputs], &options.form);
    let records = Records::new(&room, folder)?;
    let mut intake = Intake::with(records, &groups, &fields, form, dedup.threads, cancel)?;
    // Whoever writes into a pipe may wait for what comes out of it.
    let is_live = known.is_empty() && intake.is_live() && !Gathered::is_for(&dedup) && !across;
    let about = (intake.records.names(), intake.records.layouts());
    let writer = RecordWriter::open(outputs, about, known.len(), is_live, cancel)?;
    let mut clusters =
        outputs.clusters.as_ref().map(|target| Output::open(target, cancel)).transpose()?;
    let wants = Wants {
        members: clusters.is_some(),
        links: outputs.records.is_some() && outputs.duplicates == Duplicates::Mark,
    };

    let mut leftovers = Vec::new();
    let checkpoint = claim.as_mut().map(|claim| {
        if claim.is_found() && !options.resume {
            leftovers.push(claim.path().to_owned());
        }
        let names = (&*intake.records.names(), known.len());
        let origins = intake.records.origins();
        let described = Described::new((options, &fields), names, outputs, origins)?;
        let checkpoint = claim.start(&described, options.resume, &room, cancel)?;
        columns.go_on(checkpoint.stages.stage());
        Ok::<_, DedupError>(checkpoint)
    });
    let checkpoint = checkpoint.transpose()?;

    let throttle = Throttle::new(progress);
    let run = Run { intake: &mut intake, wants, throttle, room: room.clone() };
    let Ended { mut writer, members, given, summary, .. } = if is_live {
        let ended = run.on_arrival(Decider::new(&dedup)?, writer)?;
        if let Some(error) = intake.unusable(&ended.summary) {
            intake.check_unchanged()?;
            return Err(only_rejects(ended.writer.into_rejects(), error));
        }
        ended
    } else {
        let ended = run.sorted(&dedup, comparer, columns, writer, known.len() as u32, checkpoint);
        // Whoever goes on from there fails again.
        if matches!(ended, Err(DedupError::NoRecords { .. }))
            && let Some(claim) = claim.take()
        {
            claim.discard();
        }
        ended?
    };
    if let Some(clusters) = &mut clusters {
        match members {
            Members::Given(members) => {
                write_clusters(clusters, members, |number| intake.records.id(number), cancel)?;
            }
            Members::Found(members) => write_found(clusters, &members, &intake, &room)?,
        }
    }
    let same_ids = same_ids(given, known.len(), &intake.records, &room, cancel)?;
    writer.end()?;
    let encodings = intake.records.encodings();
    let (outputs, copies) = writer.into_outputs();
    leftovers.extend(publish(outputs.chain(clusters), copies, &intake)?);
    if let Some(claim) = claim {
        claim.discard();
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(Summary { seconds, encodings, same_ids, leftovers, stopped, ..summary })
}

/// The folder of a run that can leave checkpoints, where it is given a folder for them.
fn claim<'a, I: Iterator<Item = &'a Input>>(
    options: &FileOptions,
    inputs: impl Fn() -> I,
    outputs: &Outputs,
) -> Result<Option<Claim>, DedupError> {
    let is_possible = checkpoint::is_possible(inputs(), outputs);
    match &options.tmp {
        Some(tmp) if is_possible => Claim::new(tmp, outputs).map(Some),
        tmp if options.resume => {
            let expected = if tmp.is_none() {
                "left out where there is no folder of temporary files, in which runs leave what they have done"
            } else {
                "left out of runs that read streams, copy files or write none but streams: they start from the beginning"
            };
            Err(DedupError::Option { argument: "resume", value: "true".into(), expected })
        }
        _ => Ok(None),
    }
}

/// The name of the option.
const ACROSS: &str = "across_files_only";

/// Refuses to compare across inputs where there is one alone.
fn check_across<'i>(
    options: &FileOptions,
    mut inputs: impl Iterator<Item = &'i Input>,
) -> Result<(), DedupError> {
    match (options.across_files_only, inputs.next(), inputs.next()) {
        (true, Some(one), None) => {
            let expected = "left out of a run over one input, or beside others (a folder is one)";
            let value = format!("true and {} alone", one.name().display());
            Err(DedupError::Option { argument: ACROSS, value, expected })
        }
        _ => Ok(()),
    }
}

/// Refuses to compare across inputs where nothing asks for the inputs of documents.
fn refuse_across(options: &FileOptions) -> Result<(), DedupError> {
    if !options.across_files_only {
        return Ok(());
    }
    let expected = "left out beside an index, pairs and matches";
    Err(DedupError::Option { argument: ACROSS, value: "true".into(), expected })
}

/// At least one input, with the files of patterns in place of these.
fn expanded<'i>(
    inputs: &'i [Input],
    argument: &'static str,
    form: &Form,
) -> Result<Cow<'i, [Input]>, DedupError> {
    check_any(inputs, argument)?;
    Ok(Input::expanded(inputs, form)?)
}

fn check_any(inputs: &[Input], argument: &'static str) -> Result<(), DedupError> {
    if inputs.is_empty() {
        let expected = "at least one input";
        return Err(DedupError::Option { argument, value: "none".into(), expected });
    }
    Ok(())
}

/// The error of a run that rejected every record, after the rejects, which say why, have their name. What stands under the
/// other names is better than nothing.
fn only_rejects(rejects: Rejects<'_>, error: DedupError) -> DedupError {
    let publish = |mut rejects: Output<'_>| rejects.seal().and_then(|()| Output::commit([rejects]));
    match rejects.into_output().map(publish) {
        Some(Err(failed)) => failed,
        _ => error,
    }
}

/// Gives all outputs their names, and keeps the copies, which are taken back where that fails; what killed runs had left comes back.
fn publish<'a>(
    outputs: impl Iterator<Item = Output<'a>>,
    copies: Option<Copies<'a>>,
    intake: &Intake<'_>,
) -> Result<Vec<PathBuf>, DedupError> {
    let mut outputs: Vec<Output<'_>> = outputs.collect();
    for output in &mut outputs {
        output.seal()?;
    }
    // Last, because records were read again until now.
    intake.check_unchanged()?;
    intake.check_cancel()?;
    let mut leftovers = Output::commit(outputs)?;
    if let Some(copies) = copies {
        leftovers.extend_from_slice(copies.leftovers());
        copies.keep();
    }
    Ok(leftovers)
}

/// The fields to read.
fn fields(options: &FileOptions, outputs: &Outputs) -> Result<Fields, DedupError> {
    let fields = match &options.dedup.keep {
        Keep::Field { path, .. } => options.fields.with_key(path)?,
        Keep::Chosen => {
            let expected = "a rule: files are decided without the caller";
            return Err(DedupError::Option { argument: "keep", value: "chosen".into(), expected });
        }
        _ => options.fields.clone(),
    };
    if outputs.duplicates == Duplicates::Mark {
        check_marks(&fields)?;
    }
    Ok(fields)
}

/// What the outputs need to know of duplicates.
#[derive(Clone, Copy)]
struct Wants {
    members: bool,
    links: bool,
}

impl Wants {
    /// Whether documents are named.
    fn ids(self) -> bool {
        self.members || self.links
    }
}

/// One run between reading and the last outputs.
struct Run<'r, 'a> {
    intake: &'r mut Intake<'a>,
    wants: Wants,
    throttle: Throttle<'r>,
    room: Room,
}

/// What is left to do when every record is decided and written.
struct Ended<'a> {
    writer: RecordWriter<'a>,
    members: Members,
    /// The ids that records give themselves, in input order, where outputs name documents.
    given: Column<OwnId>,
    summary: Summary,
    /// How much was compared at a time, where all had come before.
    compared: Compared,
    /// What pairs took.
    growing: Growing,
}

/// The duplicates, for the clusters file.
enum Members {
    /// In input order, with their ids: not all of them can be found again.
    Given(Vec<Member>),
    /// By their originals.
    Found(Column<Found>),
}

impl Run<'_, '_> {
    fn report(&mut self, stage: Stage, counts: &Summary) {
        self.throttle.tick(&self.intake.progress(stage, counts.read, counts.duplicates));
    }
}
