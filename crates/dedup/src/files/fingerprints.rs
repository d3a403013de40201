//! What a method knows each document of files by.

use super::intake::{Intake, Parsed};
use super::{check_any, only_rejects, publish};
use crate::decide::Decider;
use crate::error::DedupError;
use crate::method::Method;
use crate::options::{DedupOptions, FingerprintOptions};
use crate::read::{Block, Id, Input, Line, id_json};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{LineOutputs, Output, Rejects, check_distinct, sketch_json, sketch_line};
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Writes a line per document, in order: its id and what the method knows it by. Nothing is compared.
///
/// With `json` `{"id": id, "fingerprint": s}`, the latter absent where the text has too little of what the method looks at; else id, `s`
/// (or `-`) and the first 40 characters of the text, separated by tabs. `s` is in hexadecimal: 16 digits of the 64-bit fingerprint by
/// [`Method::SimHash`], 8 for each position of the signature by [`Method::MinHash`], 16 for each hash of a sentence by
/// [`Method::Sentences`] and of a feature by [`Method::BruteForce`], 32 of the hash of the normalised text by [`Method::Exact`].
///
/// Of the summary `kept` are the documents. Runs on the calling thread and the current rayon pool; `progress` is called on the calling
/// thread, at most 20 times a second. Memory: a few blocks of 1 MiB or of the longest line.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files), under the same conditions.
pub fn fingerprint_files(
    inputs: &[Input],
    outputs: &LineOutputs,
    options: &FingerprintOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let started = Instant::now();
    check_any(inputs, "inputs")?;
    // Without verification nothing but the sketch is made.
    let dedup = DedupOptions {
        fingerprinter: options.fingerprinter.clone(),
        method: options.method,
        min_similarity: None,
        threads: options.threads,
        ..DedupOptions::default()
    };
    let maker = Decider::new(&dedup)?;
    check_distinct(inputs.iter(), outputs.targets())?;
    let (fields, threads) = (&options.fields, options.threads);
    let mut intake = Intake::open(&[inputs], fields, options.format, threads, cancel)?;
    let mut rejects = Rejects::open(outputs.rejects.as_ref(), intake.records.names(), cancel)?;
    let lines = outputs.lines.as_ref();
    let mut output = lines.map(|target| Output::open(target, cancel)).transpose()?;
    let mut throttle = Throttle::new(progress);
    let mut summary = Summary::default();
    let mut text = String::new();
    while let Some(block) = intake.next_block()? {
        summary.bytes += block.length;
        let prepare = |text: &str, scratch: &mut Scratch| maker.prepare(text, scratch);
        let accepted = intake.accept(&block, prepare, &mut summary, &mut rejects)?;
        text.clear();
        for (line, parsed) in accepted {
            summary.read += 1;
            summary.kept += 1;
            summary.empty += u64::from(parsed.prepared.is_empty);
            summary.short += u64::from(parsed.prepared.is_short);
            write(&mut text, &intake, &block, line, &parsed, options);
        }
        if let Some(output) = &mut output {
            output.write(text.as_bytes())?;
        }
        throttle.tick(&intake.progress(Stage::Dedup, summary.read, 0));
    }
    if let Some(error) = intake.unusable(&summary) {
        intake.check_unchanged()?;
        return Err(only_rejects(rejects, error));
    }
    throttle.tick(&intake.progress(Stage::Finish, summary.read, 0));
    let leftovers = publish(output.into_iter().chain(rejects.into_output()), &intake)?;
    Ok(Summary { seconds: started.elapsed().as_secs_f64(), leftovers, ..summary })
}

fn write(
    text: &mut String,
    intake: &Intake<'_>,
    block: &Block,
    line: &Line,
    parsed: &Parsed<'_>,
    options: &FingerprintOptions,
) {
    let id: Id = id_json(parsed.id, intake.records.id_prefix(block.input), line.number);
    let exact = options.method == Method::Exact && !parsed.prepared.is_empty;
    let exact = exact.then_some(parsed.prepared.exact);
    if options.json {
        sketch_json(text, &id, &parsed.prepared.sketch, exact);
    } else {
        sketch_line(text, &id, &parsed.prepared.sketch, exact, &parsed.text);
    }
}
