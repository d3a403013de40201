//! The texts of some documents of files.

use super::expanded;
use super::intake::Intake;
use crate::error::DedupError;
use crate::options::ReadOptions;
use crate::read::{Input, id_json, name_of_id};
use crate::report::Summary;
use crate::write::Rejects;
use std::sync::atomic::AtomicBool;

/// The text of the first document with each of these ids, and what was read to find them: files are read until all are found. A number
/// and a string of its digits are the same id. Of the summary `kept` are the documents.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files).
pub fn find_texts(
    inputs: &[Input],
    ids: &[&str],
    options: &ReadOptions,
    cancel: &AtomicBool,
) -> Result<(Vec<Option<String>>, Summary), DedupError> {
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    let ReadOptions { fields, form, threads } = options;
    let mut intake = Intake::open(&[inputs], fields, form, *threads, cancel)?;
    let mut rejects = Rejects::open(None, intake.records.names(), cancel)?;
    let mut summary = Summary::default();
    let mut found: Vec<Option<String>> = vec![None; ids.len()];
    while found.contains(&None)
        && let Some(block) = intake.next_block()?
    {
        summary.bytes += block.length;
        let accepted = intake.accept(&block, |_, _| (), &mut summary, &mut rejects)?;
        for (line, parsed) in accepted {
            summary.read += 1;
            summary.kept += 1;
            let prefix = intake.records.id_prefix(block.input);
            let id = id_json(parsed.id, prefix, line.number);
            let name = name_of_id(&id);
            for (wanted, found) in ids.iter().zip(&mut found) {
                if found.is_none() && *wanted == name {
                    *found = Some(parsed.text.clone().into_owned());
                }
            }
        }
    }
    if let Some(error) = intake.unusable(&summary) {
        return Err(error);
    }
    intake.check_unchanged()?;
    Ok((found, summary))
}
