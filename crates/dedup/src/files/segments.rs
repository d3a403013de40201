//! The words of each document of files.

use super::intake::Parsed;
use super::lines::write_lines;
use crate::error::DedupError;
use crate::options::SegmentOptions;
use crate::read::Input;
use crate::report::{Progress, Summary};
use crate::write::{LineOutputs, Written, words_json, words_line};
use simhash_sketch::Scratch;
use simhash_text::segment::cut_with;
use std::sync::atomic::AtomicBool;

/// Writes a line per document, in order: the words of its text, as Python jieba cuts them.
///
/// With `json` `{"id": id, "words": [w, …]}`, where the words joined are the text; else the words with a space between them, without
/// those that are white space or control characters.
///
/// Of the summary `kept` are the documents, `empty` those of no text. Runs on the calling thread and the current rayon pool; `progress`
/// is called on the calling thread, at most 20 times a second. Memory: a few blocks of 1 MiB or of the longest line.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files), under the same conditions.
pub fn segment_files(
    inputs: &[Input],
    outputs: &LineOutputs,
    options: &SegmentOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let SegmentOptions { dictionary, hmm, json, read } = options;
    let append = if *json { words_json } else { words_line };
    let prepare = |text: &str, scratch: &mut Scratch| {
        let mut words = String::with_capacity(text.len() + text.len() / 2);
        cut_with(dictionary.as_deref(), text, *hmm, scratch.segment(), |word| {
            append(&mut words, word.text);
        });
        words
    };
    let write =
        |text: &mut String, id: &str, parsed: &Parsed<'_, String>, summary: &mut Summary| {
            summary.empty += u64::from(parsed.text.is_empty());
            let words = &parsed.prepared;
            if *json {
                text.extend([r#"{"id":"#, id, r#","words":["#, words, "]}\n"]);
            } else {
                text.extend([words, "\n"]);
            }
        };
    let written = if *json { Written::JsonLines } else { Written::Lines(None) };
    write_lines(inputs, (outputs, written), read, prepare, write, progress, cancel)
}
