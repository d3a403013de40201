//! What a run found, as one page: figures of all documents, and some groups with their texts.
//!
//! ```text
//! clusters or matches ──► groups: sizes, similarities, which of them are shown
//! inputs, once more   ──► documents by input, length and day; texts of what is shown ──► before + JSON + behind
//! ```
//! Figures are exact, groups with texts a bounded choice ([`examples`]). Nothing is compared again.

mod day;
mod examples;
mod groups;
mod tallies;

use super::intake::Intake;
use super::{expanded, publish};
use crate::error::DedupError;
use crate::options::{ReadOptions, ReportOptions};
use crate::read::{Input, id_json, name_of_id};
use crate::report::{Progress, Rejected, Stage, Summary, Throttle};
use crate::write::{Output, Rejects, Target, check_distinct};
use day::day_of;
use examples::{Choice, Document, Example, inputs_of};
use groups::Groups;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tallies::{Bar, Dates, Found, Inputs, Share, Tallies};

/// Where a page goes, and what stands around its figures.
pub struct Page {
    /// The file; it appears whole or not at all.
    pub target: Target,
    /// What the page begins with.
    pub before: String,
    /// What it ends with. Between the two is JSON, in which neither `<` nor U+2028 nor U+2029 occurs.
    pub behind: String,
}

/// What a report tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Documents of the inputs.
    pub documents: u64,
    /// Of these, those that the groups name as duplicates; of matches those that have one.
    pub duplicates: u64,
    /// Clusters of two or more, or new documents with matches.
    pub groups: u64,
    /// Groups that are shown with their texts.
    pub shown: u64,
    /// Duplicates that the file names and no input has: it may be of other inputs.
    pub unknown: u64,
    /// Lines and records that could not be used, of all files together.
    pub rejected: u64,
    /// The first of them, at most [`Summary::REPORTED`].
    pub first_rejected: Vec<Rejected>,
    /// Unfinished pages that killed runs had left; they were removed.
    pub leftovers: Vec<PathBuf>,
}

/// The figures as the page reads them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    are_matches: bool,
    all: Share,
    /// Of the other side: known documents, or those to look among.
    others: u64,
    rejected: u64,
    unknown: u64,
    found: Found,
    inputs: Inputs,
    lengths: Vec<Bar<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dates: Option<Dates>,
    /// Of the inputs that `examples` are from, by number: most of a hundred thousand are not in the page.
    names: BTreeMap<u32, String>,
    examples: Vec<Example>,
}

/// Writes a page about what `result` says of the documents of `inputs`: a file of clusters as [`dedup_files`](crate::dedup_files) writes it, or of
/// matches as [`match_files`](crate::match_files) does. `others` are known documents, or those that were looked among; they are shown, and not
/// counted. Where inputs have an id twice, as many of these documents count as duplicates as the file names, the first.
///
/// Memory: per document that `result` names its id and about 60 bytes; texts of what may be shown, 20,000 characters each at most and 24 MiB in all.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files); [`DedupError::NoRecords`] also where no line of `result` names a group;
/// [`DedupError::Option`] for a stream, which cannot be read twice.
pub fn report_files(
    result: &Input,
    inputs: &[Input],
    others: &[Input],
    page: &Page,
    options: &ReportOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Report, DedupError> {
    let read = &options.read;
    let inputs = &*expanded(inputs, "inputs", &read.form)?;
    let others = &*Input::expanded(others, &read.form)?;
    if inputs.iter().chain(others).any(|input| matches!(input, Input::Stream(_))) {
        return Err(not_twice());
    }
    let all = others.iter().chain(inputs).chain(std::iter::once(result));
    check_distinct(all, std::iter::once(&page.target))?;
    let fields = match &options.date {
        Some(path) => read.fields.with_key(path)?,
        None => read.fields.clone(),
    };
    let mut counts = Summary::default();
    let groups = groups_of(result, read, &mut counts, cancel)?;
    let mut choice = Choice::new(&groups, options.texts);
    let mut named = groups.times();
    let mut output = Output::open(&page.target, cancel)?;
    let sides = [others, inputs];
    let mut intake = Intake::open(&sides, &fields, &read.form, read.threads, cancel)?;
    // A pipe, under the name of a file.
    if intake.is_live() {
        return Err(not_twice());
    }
    let mut rejects = Rejects::open(None, intake.records.names(), cancel)?;
    let mut throttle = Throttle::new(progress);
    let mut own = Summary::default();
    let (mut tallies, mut of_others) = (Tallies::default(), 0);
    while let Some(block) = intake.next_block()? {
        own.bytes += block.length;
        let length = |text: &str, _: &mut _| text.chars().count() as u32;
        let accepted = intake.accept(&block, length, &mut own, &mut rejects)?;
        let input = block.input as usize;
        let is_other = input < others.len();
        for (line, parsed) in accepted {
            own.read += 1;
            let prefix = intake.records.id_prefix(block.input);
            let id = id_json(parsed.id.as_deref(), prefix, line.number);
            let name = name_of_id(&id);
            let number = groups.known(&name, is_other);
            if let Some(number) = number.filter(|&number| choice.wants(number)) {
                let (input, line, length) = (block.input, line.number, parsed.prepared);
                let text = choice.text(&parsed.text);
                let id = name.clone().into_owned();
                choice.take(number, Document { id, input, line, length, text });
            }
            if is_other {
                of_others += 1;
                continue;
            }
            let times = number.map(|number| &mut named[number as usize]);
            let is_duplicate = times.is_some_and(|times| {
                let is_named = *times > 0;
                *times = times.saturating_sub(1);
                is_named
            });
            let day = day_of(&parsed.key);
            tallies.count(input - others.len(), parsed.prepared, day, is_duplicate);
        }
        throttle.tick(&intake.progress(Stage::Dedup, own.read, tallies.all.duplicates));
    }
    if let Some(error) = intake.unusable(&own) {
        return Err(error);
    }
    own.add(counts);
    let names: Vec<String> =
        intake.records.names().iter().map(|name| name.display().to_string()).collect();
    let unknown = named.iter().map(|&times| u64::from(times)).sum();
    let found = Found::of(&groups);
    let examples = choice.into_examples(&groups);
    let figures = Figures {
        are_matches: groups.are_matches,
        all: tallies.all,
        others: of_others,
        rejected: own.rejected,
        unknown,
        found,
        inputs: tallies.inputs(&names[others.len()..]),
        lengths: tallies.lengths(),
        dates: options.date.as_ref().map(|_| tallies.dates()),
        names: inputs_of(&examples).map(|at| (at, names[at as usize].clone())).collect(),
        examples,
    };
    output.write(page.before.as_bytes())?;
    output.write(json(&figures).as_bytes())?;
    output.write(page.behind.as_bytes())?;
    throttle.tick(&intake.progress(Stage::Finish, own.read, tallies.all.duplicates));
    let leftovers = publish(std::iter::once(output), None, &intake)?;
    Ok(Report {
        documents: tallies.all.documents,
        duplicates: tallies.all.duplicates,
        groups: groups.len() as u64,
        shown: figures.examples.len() as u64,
        unknown,
        rejected: own.rejected,
        first_rejected: own.first_rejected,
        leftovers,
    })
}

/// The groups of a file that names some.
fn groups_of(
    result: &Input,
    read: &ReadOptions,
    counts: &mut Summary,
    cancel: &AtomicBool,
) -> Result<Groups, DedupError> {
    let groups = Groups::read(result, read, counts, cancel)?;
    match counts.first_rejected.first() {
        Some(first) if counts.rejected == counts.read => {
            let hint = "it names no cluster and no matches".to_owned();
            let (rejected, first) = (counts.rejected, first.clone());
            Err(DedupError::NoRecords { rejected, first, hint, text_in: None })
        }
        _ => Ok(groups),
    }
}

fn not_twice() -> DedupError {
    let (value, expected) = ("a stream".into(), "files, which can be read twice");
    DedupError::Option { argument: "inputs", value, expected }
}

/// JSON that can stand in a script of a page: nothing in it ends the script or begins a comment, and no old parser takes it for lines.
fn json(figures: &Figures) -> String {
    // Figures, and strings: nothing that cannot be written.
    let text = serde_json::to_string(figures).unwrap_or_default();
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
