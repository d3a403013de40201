//! Files in, files out, texts never all in memory.
//!
//! ```text
//! reader thread ──► parse and sketch ──► decide ──► writer thread          the first of a representative's cluster
//!      blocks          (pool)           in order        blocks
//!
//! reader thread ──► parse, note where ──► (end) decide ──► read again ──► write      anything else
//! ```
//!
//! The queues hold two blocks each, so memory is bounded whatever is slow. The caller's thread parses,
//! decides and reports progress; it sleeps at most 50 ms without looking at the cancel flag.

mod at_the_end;
mod intake;
mod on_arrival;
mod records;

use crate::cluster::Gathered;
use crate::decide::Decider;
use crate::error::DedupError;
use crate::options::{FileOptions, Keep};
use crate::read::{Fields, Input};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{
    Duplicates, MARKS, Member, Outputs, RecordWriter, Sink, check_distinct, write_clusters,
};
use intake::Intake;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Deduplicates JSON lines from `inputs`, in order, into `outputs`.
///
/// The outputs depend on inputs and options only. Runs on the calling thread and the current rayon pool; `progress` is
/// called on the calling thread, at most 20 times a second.
///
/// # Memory
/// Decided as records come: per different text the method's bytes and 32 to 48 more, 16 to 32 where it is a duplicate; per kept
/// record 24 more; per copy nothing; per duplicate its id with a clusters file. Decided at the end (components, another
/// keep rule than the first): per record 40 bytes, the key of the keep rule (24 bytes and the field's length), per
/// different text the method's bytes and 36 to 64 more.
/// Always 32 MiB of cached shingles at most, and a few blocks of 1 MiB or of the longest line. Kept records (at the end:
/// all records) of streams and gzip files also take a temporary file on disk.
///
/// # Errors
/// Any [`DedupError`]. No output file appears then, and no temporary file stays.
pub fn dedup_files(
    inputs: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let started = Instant::now();
    if inputs.is_empty() {
        let expected = "at least one input";
        return Err(DedupError::Option { argument: "inputs", value: "none".into(), expected });
    }
    let none = Outputs::default();
    let outputs = if options.dry_run { &none } else { outputs };
    let decider = Decider::new(&options.dedup)?;
    let fields = fields(options, outputs)?;
    check_distinct(inputs, outputs)?;
    let mut intake = Intake::open(inputs, &fields, decider.threads(), cancel)?;
    let writer = RecordWriter::open(outputs, intake.records.names())?;
    let mut clusters = outputs.clusters.as_ref().map(Sink::open).transpose()?;
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
    if let Some(sink) = &mut clusters {
        write_clusters(sink, members, |number| intake.records.id(number), cancel)?;
    }
    let mut sinks: Vec<Sink<'_>> = writer.into_sinks().chain(clusters).collect();
    for sink in &mut sinks {
        sink.seal()?;
    }
    intake.check_cancel()?;
    for sink in sinks {
        sink.commit()?;
    }
    Ok(Summary { seconds: started.elapsed().as_secs_f64(), ..summary })
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
        self.throttle.tick(&self.intake.progress(stage, counts));
    }
}
