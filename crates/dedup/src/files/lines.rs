//! A line for each document, in order: what runs share that compare nothing.

use super::intake::{Intake, Parsed};
use super::{expanded, only_rejects, publish};
use crate::error::DedupError;
use crate::options::ReadOptions;
use crate::read::{Id, Input, id_json};
use crate::report::{Progress, Stage, Summary, Throttle};
use crate::write::{LineOutputs, Output, Rejects, Written, check_distinct};
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Writes what `write` appends for each document. `prepare` runs in parallel, `write` in the order of the documents; of the summary
/// `kept` are the documents, and `write` counts the rest.
pub(super) fn write_lines<P: Send>(
    inputs: &[Input],
    (outputs, written): (&LineOutputs, Written),
    options: &ReadOptions,
    prepare: impl Fn(&str, &mut Scratch) -> P + Sync,
    mut write: impl FnMut(&mut String, &str, &Parsed<'_, P>, &mut Summary),
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let started = Instant::now();
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    outputs.check_names(written)?;
    check_distinct(inputs.iter(), outputs.targets())?;
    let ReadOptions { fields, form, threads } = options;
    let mut intake = Intake::open(&[inputs], fields, form, *threads, cancel)?;
    let mut rejects = Rejects::open(outputs.rejects.as_ref(), intake.records.names(), cancel)?;
    let lines = outputs.lines.as_ref();
    let mut output = lines.map(|target| Output::open(target, cancel)).transpose()?;
    let mut throttle = Throttle::new(progress);
    let mut summary = Summary::default();
    let mut text = String::new();
    while let Some(block) = intake.next_block()? {
        summary.bytes += block.length;
        let accepted = intake.accept(&block, &prepare, &mut summary, &mut rejects)?;
        text.clear();
        for (line, parsed) in accepted {
            summary.read += 1;
            summary.kept += 1;
            let prefix = intake.records.id_prefix(block.input);
            let id: Id = id_json(parsed.id.as_ref(), prefix, line.number);
            write(&mut text, &id, &parsed, &mut summary);
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
    let leftovers = publish(output.into_iter().chain(rejects.into_output()), None, &intake)?;
    let (seconds, encodings) = (started.elapsed().as_secs_f64(), intake.records.encodings());
    Ok(Summary { seconds, encodings, leftovers, ..summary })
}
