//! Files in, files out, texts never all in memory.
//!
//! ```text
//! reader thread ──► parse and sketch ──► decide ──► writer thread          the first of a representative's cluster
//!      blocks          (pool)           in order        blocks
//!
//! reader thread ──► parse, note where ──► (end) decide ──► read again ──► write      anything else
//!
//! reader thread ──► parse and sketch ──► compare ──► write      pairs, matches (`edges`)
//! reader thread ──► parse and sketch ──► write                 fingerprints
//! reader thread ──► parse and sketch ──► add, or search ──► write      a live index (`indexed`)
//! ```
//!
//! The queues hold two blocks each, so memory is bounded whatever is slow. The caller's thread parses,
//! decides and reports progress; nobody it waits for sleeps longer than 20 ms without looking at the cancel flag, so that
//! a cancelled run ends whatever its readers and writers do.

mod at_the_end;
mod edges;
mod evaluated;
mod fingerprints;
mod found;
mod index_file;
mod indexed;
mod intake;
mod on_arrival;
mod records;
mod sampled;
mod stated;
mod unusable;

use crate::cluster::Gathered;
use crate::decide::Decider;
use crate::error::DedupError;
use crate::options::{FileOptions, Keep};
use crate::read::{Fields, Format, Input};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{
    Duplicates, MARKS, Member, Output, Outputs, RecordWriter, Rejects, check_distinct,
    write_clusters,
};
pub use edges::{match_files, pairs_files};
pub use evaluated::{Scored, evaluate_files};
pub use fingerprints::fingerprint_files;
pub use found::find_texts;
pub use index_file::IndexFile;
pub use indexed::{add_files, search_files};
use intake::Intake;
pub use sampled::{Sample, sample_files};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Deduplicates JSON lines from `inputs`, in order, into `outputs`.
///
/// The outputs depend on inputs and options only. Runs on the calling thread and the current rayon pool; `progress` is
/// called on the calling thread, at most 20 times a second.
///
/// # Memory
/// Decided as records come: per different text the method's bytes and 32 to 48 more, 16 to 32 where it is a duplicate; per kept
/// record 24 more, and 8 for each duplicate among its candidates; per copy nothing; per duplicate its id with a clusters file. Decided at the end (components, another
/// keep rule than the first): per record 40 bytes, the key of the keep rule (24 bytes and the field's length), per
/// different text the method's bytes and 36 to 64 more.
/// Always 32 MiB of cached shingles at most, and a few blocks of 1 MiB or of the longest line. Kept records (at the end:
/// all records) of streams and gzip files also take a temporary file on disk.
///
/// An input without records is no error: it has 0 documents, and so have the outputs.
///
/// # Errors
/// Any [`DedupError`]. No output file appears then, and no temporary file stays. Where all records were rejected
/// ([`DedupError::NoRecords`]), the rejects appear, and nothing else. One exception, which the message of
/// [`DedupError::Output`] names: every output was complete, and one could not take its name when others had theirs.
pub fn dedup_files(
    inputs: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let started = Instant::now();
    check_any(inputs, "inputs")?;
    let none = Outputs::default();
    let outputs = if options.dry_run { &none } else { outputs };
    let decider = Decider::new(&options.dedup)?;
    let fields = fields(options, outputs)?;
    check_distinct(inputs.iter(), outputs.targets())?;
    let mut intake =
        Intake::open(&[inputs], &fields, Some(Format::JsonLines), decider.threads(), cancel)?;
    let writer = RecordWriter::open(outputs, intake.records.names(), cancel)?;
    let mut clusters =
        outputs.clusters.as_ref().map(|target| Output::open(target, cancel)).transpose()?;
    let wants = Wants {
        members: clusters.is_some(),
        links: outputs.records.is_some() && outputs.duplicates == Duplicates::Mark,
    };

    let throttle = Throttle::new(progress);
    let run = Run { intake: &mut intake, wants, throttle };
    let Ended { writer, members, summary } = if Gathered::is_for(&options.dedup) {
        run.at_the_end(&options.dedup, decider, writer)?
    } else {
        run.on_arrival(decider, writer)?
    };
    if let Some(error) = intake.unusable(&summary) {
        intake.check_unchanged()?;
        return Err(only_rejects(writer.into_rejects(), error));
    }
    if let Some(clusters) = &mut clusters {
        write_clusters(clusters, members, |number| intake.records.id(number), cancel)?;
    }
    let leftovers = publish(writer.into_outputs().chain(clusters), &intake)?;
    Ok(Summary { seconds: started.elapsed().as_secs_f64(), leftovers, ..summary })
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

/// Gives all outputs their names; what killed runs had left comes back.
fn publish<'a>(
    outputs: impl Iterator<Item = Output<'a>>,
    intake: &Intake<'_>,
) -> Result<Vec<PathBuf>, DedupError> {
    let mut outputs: Vec<Output<'_>> = outputs.collect();
    for output in &mut outputs {
        output.seal()?;
    }
    // Last, because records were read again until now.
    intake.check_unchanged()?;
    intake.check_cancel()?;
    Output::commit(outputs)
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
        for (argument, key) in fields.top() {
            if MARKS.contains(&key) {
                let expected = "no field that marks are written to";
                return Err(DedupError::Option { argument, value: key.to_owned(), expected });
            }
        }
    }
    Ok(fields)
}

/// What the outputs need to know of duplicates.
#[derive(Clone, Copy)]
struct Wants {
    members: bool,
    links: bool,
}

/// One run between reading and the last outputs.
struct Run<'r, 'a> {
    intake: &'r mut Intake<'a>,
    wants: Wants,
    throttle: Throttle<'r>,
}

/// What is left to do when every record is decided and written.
struct Ended<'a> {
    writer: RecordWriter<'a>,
    members: Vec<Member>,
    summary: Summary,
}

impl Run<'_, '_> {
    fn report(&mut self, stage: Stage, counts: &Summary) {
        self.throttle.tick(&self.intake.progress(stage, counts.read, counts.duplicates));
    }
}
