//! What a method knows each document of files by.

use super::intake::Parsed;
use super::lines::write_lines;
use crate::decide::Decider;
use crate::error::DedupError;
use crate::method::Method;
use crate::options::{DedupOptions, FingerprintOptions, ReadOptions};
use crate::read::Input;
use crate::report::{Progress, Summary};
use crate::write::{LineOutputs, Written, sketch_json, sketch_line};
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;

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
    // Without verification nothing but the sketch is made.
    let dedup = DedupOptions {
        fingerprinter: options.fingerprinter.clone(),
        method: options.method,
        min_similarity: None,
        threads: options.threads,
        ..DedupOptions::default()
    };
    let maker = Decider::new(&dedup)?;
    let (fields, form) = (options.fields.clone(), options.form.clone());
    let read = ReadOptions { fields, form, threads: options.threads };
    let prepare = |text: &str, scratch: &mut Scratch| maker.comparer().prepare(text, scratch);
    let write = |text: &mut String, id: &str, parsed: &Parsed<'_>, summary: &mut Summary| {
        let prepared = &parsed.prepared;
        summary.empty += u64::from(prepared.is_empty);
        summary.short += u64::from(prepared.is_short);
        let exact = options.method == Method::Exact && !prepared.is_empty;
        let exact = exact.then_some(prepared.exact);
        if options.json {
            sketch_json(text, id, &prepared.sketch, exact);
        } else {
            sketch_line(text, id, &prepared.sketch, exact, &parsed.text);
        }
    };
    let written = if options.json { Written::JsonLines } else { Written::Lines(Some('\t')) };
    write_lines(inputs, (outputs, written), &read, prepare, write, progress, cancel)
}
