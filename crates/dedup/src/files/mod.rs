//! Files in, files out, texts never all in memory.
//!
//! ```text
//! reader thread ──► parse and sketch ──► decide ──► writer thread
//!      blocks          (pool)           in order        blocks
//! ```
//!
//! The queues hold two blocks each, so memory is bounded whatever is slow. The caller's thread parses,
//! decides and reports progress; it sleeps at most 50 ms without looking at the cancel flag.

mod records;

use crate::decide::{BATCH_DOCUMENTS, Decider, Document, Verdict};
use crate::error::DedupError;
use crate::options::FileOptions;
use crate::parallel;
use crate::read::{self, Block, Fields, Input, Line, id_json};
use crate::report::{Progress, Rejected, Stage, Summary, Tally, Throttle};
use crate::write::{
    Decided, Duplicates, Entry, Link, Member, Outputs, RecordWriter, Sink, check_distinct,
    write_clusters,
};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use records::KeptRecords;
use simhash_sketch::{Fingerprinter, Scratch, Sketch};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Blocks waiting in each queue: one being handed over, one in reserve.
const QUEUE: usize = 2;
/// Longest sleep between two looks at the cancel flag.
const POLL: Duration = Duration::from_millis(50);

/// Deduplicates JSON lines from `inputs`, in order, into `outputs`.
///
/// The first record of a group is kept; a member resembles the kept record itself. The outputs depend
/// on inputs and options only. Runs on the calling thread and the current rayon pool; `progress` is
/// called on the calling thread, at most 20 times a second.
///
/// # Memory
/// Per kept record the index's bytes per fingerprint and 52 to 60 bytes; per duplicate nothing, or its
/// id with a clusters file; 32 MiB of cached shingles at most; a few blocks of 1 MiB or of the longest
/// line. Kept records of streams and gzip files also take a temporary file on disk.
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
    check_distinct(inputs, outputs)?;
    let mut run = Run::open(inputs, outputs, options, decider, cancel)?;
    let names = run.kept.names();
    let mut writer = RecordWriter::open(outputs, names)?;
    let mut clusters = outputs.clusters.as_ref().map(Sink::open).transpose()?;

    let mut throttle = Throttle::new(progress);
    writer = std::thread::scope(|scope| {
        let (sender, receiver) = bounded::<Decided>(QUEUE);
        let writing = scope.spawn(move || {
            for decided in receiver {
                writer.write(&decided)?;
            }
            Ok::<_, DedupError>(writer)
        });
        let read = run.all(&mut throttle, |decided| sender.send(decided).is_ok());
        drop(sender);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Where the writer failed, that is why the rest stopped.
        let writer = written?;
        read.map(|()| writer)
    })?;

    throttle.tick(&run.progress(Stage::Finish));
    if let Some(sink) = &mut clusters {
        let members = std::mem::take(&mut run.members);
        write_clusters(sink, members, |ordinal| run.kept.id(ordinal), cancel)?;
    }
    let mut sinks: Vec<Sink<'_>> = writer.into_sinks().chain(clusters).collect();
    for sink in &mut sinks {
        sink.seal()?;
    }
    run.check_cancel()?;
    for sink in sinks {
        sink.commit()?;
    }
    let truncated = run.decider.truncated();
    let seconds = started.elapsed().as_secs_f64();
    Ok(Summary { truncated, seconds, ..run.tally.summary })
}

/// The state of one run between its two queues.
struct Run<'a> {
    fields: &'a Fields,
    decider: Decider,
    kept: KeptRecords<'a>,
    tally: Tally,
    /// Kept only where a clusters file is wanted.
    members: Vec<Member>,
    wants_members: bool,
    wants_links: bool,
    blocks: Receiver<Result<Option<Block>, DedupError>>,
    consumed: Vec<Arc<AtomicU64>>,
    total_bytes: Option<u64>,
    cancel: &'a AtomicBool,
}

/// A line on its way to a verdict.
struct Slot<'a> {
    line: &'a Line,
    parsed: Result<Parsed<'a>, String>,
}

struct Parsed<'a> {
    text: Cow<'a, str>,
    id: Option<&'a str>,
    sketch: Sketch,
}

impl<'a> Run<'a> {
    fn open(
        inputs: &[Input],
        outputs: &Outputs,
        options: &'a FileOptions,
        decider: Decider,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut kept = KeptRecords::new(&options.fields, inputs.len() > 1);
        let mut readers: Vec<(PathBuf, Box<dyn io::Read + Send>)> = Vec::new();
        let mut consumed = Vec::new();
        let mut total_bytes = Some(0);
        for input in inputs {
            let opened = input.open()?;
            total_bytes = total_bytes.zip(opened.bytes).map(|(sum, bytes)| sum + bytes);
            consumed.push(opened.consumed);
            readers.push((opened.name.clone(), opened.reader));
            kept.add_input(opened.name, opened.kind)?;
        }
        Ok(Self {
            fields: &options.fields,
            decider,
            kept,
            tally: Tally::default(),
            members: Vec::new(),
            wants_members: outputs.clusters.is_some(),
            wants_links: outputs.records.is_some() && outputs.duplicates == Duplicates::Mark,
            blocks: read::spawn(readers, QUEUE),
            consumed,
            total_bytes,
            cancel,
        })
    }

    /// Takes blocks until the end; `pass_on` says whether anybody still wants them.
    fn all(
        &mut self,
        throttle: &mut Throttle<'_>,
        pass_on: impl Fn(Decided) -> bool,
    ) -> Result<(), DedupError> {
        loop {
            self.check_cancel()?;
            let block = match self.blocks.recv_timeout(POLL) {
                Ok(block) => block?,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::other("the reading thread ended early");
                    return Err(DedupError::input(&PathBuf::from("inputs"), error));
                }
            };
            let Some(block) = block else { return Ok(()) };
            self.tally.summary.bytes += block.bytes.len() as u64;
            let entries = self.decide(&block)?;
            if !pass_on(Decided { block, entries }) {
                return Ok(());
            }
            throttle.tick(&self.progress(Stage::Dedup));
        }
    }

    fn decide(&mut self, block: &Block) -> Result<Vec<Entry>, DedupError> {
        let slots = self.parse(block)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(slots.len());
        let mut batch = Vec::new();
        let mut accepted =
            slots.iter().filter_map(|slot| Some((slot.line, slot.parsed.as_ref().ok()?)));
        let mut links: Vec<Entry> = Vec::with_capacity(slots.len());
        loop {
            batch.clear();
            batch.extend(accepted.by_ref().take(BATCH_DOCUMENTS));
            if batch.is_empty() {
                break;
            }
            self.decide_batch(block, &batch, &mut links)?;
        }
        let mut links = links.into_iter();
        for slot in slots {
            match slot.parsed {
                Ok(_) => entries.extend(links.next()),
                Err(reason) => {
                    self.tally.reject(|| Rejected {
                        file: self.kept.name(block.input),
                        line: slot.line.number,
                        reason: reason.clone(),
                    });
                    entries.push(Entry::Rejected(reason));
                }
            }
        }
        Ok(entries)
    }

    /// Parses and sketches every line of a block in parallel.
    fn parse<'b>(&self, block: &'b Block) -> Result<Vec<Slot<'b>>, DedupError> {
        let fingerprinter = self.decider.fingerprinter();
        let mut slots: Vec<Slot<'b>> =
            block.lines.iter().map(|line| Slot { line, parsed: Err(String::new()) }).collect();
        let threads = self.decider.threads();
        parallel::for_each(&mut slots, threads, self.cancel, Scratch::default, |scratch, slot| {
            slot.parsed = parse(self.fields, fingerprinter, block.bytes_of(slot.line), scratch);
            Ok(())
        })?;
        Ok(slots)
    }

    fn decide_batch(
        &mut self,
        block: &Block,
        batch: &[(&Line, &Parsed<'_>)],
        entries: &mut Vec<Entry>,
    ) -> Result<(), DedupError> {
        let documents: Vec<Document<'_>> = batch
            .iter()
            .map(|(_, parsed)| Document { text: &parsed.text, sketch: parsed.sketch })
            .collect();
        let verdicts = self.decider.decide(&documents, &self.kept, self.cancel)?;
        let mut keep = Vec::new();
        for (&(line, parsed), &verdict) in batch.iter().zip(&verdicts) {
            self.tally.count(&parsed.sketch, verdict);
            if verdict == (Verdict::Kept { empty: false }) {
                keep.push(line);
            }
        }
        self.kept.push(block, &keep)?;
        for (&(line, parsed), &verdict) in batch.iter().zip(&verdicts) {
            entries.push(match verdict {
                Verdict::Kept { .. } => Entry::Kept,
                Verdict::Duplicate { of, similarity, distance } => {
                    if self.wants_members {
                        let file = self.kept.id_prefix(block.input);
                        let id = id_json(parsed.id, file, line.number);
                        self.members.push(Member { of, id, similarity, distance });
                    }
                    let of = if self.wants_links { Some(self.kept.id(of)?) } else { None };
                    Entry::Duplicate(of.map(|of| Link { of, similarity, distance }))
                }
            });
        }
        Ok(())
    }

    fn progress(&self, stage: Stage) -> Progress {
        Progress {
            stage,
            documents: self.tally.summary.read,
            bytes: self.consumed.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum(),
            total_bytes: self.total_bytes,
            duplicates: self.tally.summary.duplicates,
        }
    }

    fn check_cancel(&self) -> Result<(), DedupError> {
        if self.cancel.load(Ordering::Relaxed) { Err(DedupError::Cancelled) } else { Ok(()) }
    }
}

fn parse<'a>(
    fields: &Fields,
    fingerprinter: &Fingerprinter,
    line: &'a [u8],
    scratch: &mut Scratch,
) -> Result<Parsed<'a>, String> {
    // Positions of kept records hold 32-bit lengths.
    if u32::try_from(line.len()).is_err() {
        return Err("longer than 4 GiB".into());
    }
    let record = fields.record(line)?;
    let sketch = fingerprinter.sketch(&record.text, scratch);
    Ok(Parsed { text: record.text, id: record.id, sketch })
}
