//! What a run says about itself: progress while it works, a summary at the end.

use crate::decide::Outcome;
use serde::Serialize;
use simhash_sketch::Prepared;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The figures of a run. Always `read = kept + duplicates + rejected`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Records read, rejected ones included; blank lines are no records.
    pub read: u64,
    /// Documents that are alone or kept of their cluster.
    pub kept: u64,
    /// Documents for which another is kept.
    pub duplicates: u64,
    /// Records that could not be used; see [`Rejected`].
    pub rejected: u64,
    /// Documents that were there already ([`dedup_new_files`](crate::dedup_new_files)); no other figure but `rejected`, `read` and `bytes` counts
    /// anything of theirs: of these, their rejected records and their lines.
    pub known: u64,
    /// Groups of two or more: kept documents with at least one duplicate.
    pub clusters: u64,
    /// Different texts whose candidates a limit cut (`max_verifications`, `max_bucket`): an original of theirs may have been
    /// missed. [`Decision::truncated`](crate::Decision::truncated) names their documents.
    pub truncated: u64,
    /// Kept documents without any text after normalisation. They match nothing.
    pub empty: u64,
    /// Documents too short for the method, compared by their exact normalised text only.
    pub short: u64,
    /// Wall time.
    pub seconds: f64,
    /// Bytes of text ([`Deduper`](crate::Deduper)) or of input lines, decompressed
    /// ([`dedup_files`](crate::dedup_files)).
    pub bytes: u64,
    /// Bytes held for the documents taken in, texts aside. Decided as they come: at the end, by the method's index and the map of equal
    /// texts, of [`Method::SimHash`](crate::Method::SimHash) with its tables sealed. Decided by [`dedup_files`](crate::dedup_files) when
    /// all have come: all columns together, though not all of them are held at the same time; the places of records are not among them.
    pub index_bytes: u64,
    /// The inputs that are not in UTF-8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub encodings: Vec<ReadAs>,
    /// The first rejected records, at most [`Summary::REPORTED`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_rejected: Vec<Rejected>,
    /// Documents that have the id of an earlier one, where the outputs name documents: of runs with clusters or marks.
    #[serde(skip_serializing_if = "SameIds::is_none")]
    pub same_ids: SameIds,
    /// Unfinished files that runs had left which were killed while they wrote to the same outputs, and their checkpoint where this run did not
    /// go on from it; they were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<PathBuf>,
    /// Records that an earlier run had sketched, from whose checkpoint this one went on.
    #[serde(skip_serializing_if = "is_none")]
    pub resumed: u64,
    /// Folders of other runs in [`FileOptions::tmp`](crate::FileOptions::tmp) that did not end: they can go on, or be deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<PathBuf>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Summary {
    /// How many rejected records a summary names: enough to see what is wrong with a file, few
    /// enough to print. The rejects file has all of them.
    pub const REPORTED: usize = 10;

    /// Adds what was read before.
    pub(crate) fn add(&mut self, before: Self) {
        self.read += before.read;
        self.rejected += before.rejected;
        self.empty += before.empty;
        self.short += before.short;
        self.bytes += before.bytes;
        let later = std::mem::replace(&mut self.first_rejected, before.first_rejected);
        self.first_rejected.extend(later);
        self.first_rejected.truncate(Self::REPORTED);
    }

    /// Counts a record that was not decided.
    pub(crate) fn reject(&mut self, rejected: impl FnOnce() -> Rejected) {
        self.read += 1;
        self.rejected += 1;
        if self.first_rejected.len() < Self::REPORTED {
            self.first_rejected.push(rejected());
        }
    }
}

/// Documents whose ids earlier ones have too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SameIds {
    /// How many.
    pub documents: u64,
    /// The first of them in the input, at most [`Summary::REPORTED`].
    pub first: Vec<SameId>,
}

impl SameIds {
    fn is_none(&self) -> bool {
        self.documents == 0
    }
}

/// A document that has the id of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SameId {
    /// Its input.
    pub file: String,
    /// Its line, or its place in an array, from 1.
    pub line: u64,
    /// The input of the first document with this id.
    pub first_file: String,
    /// Its line.
    pub first_line: u64,
}

/// An input that is not in UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadAs {
    /// The input as it was named.
    pub file: String,
    /// How its characters were read: named by the caller, or found.
    pub encoding: String,
    /// Of a folder: how many of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
}

/// The figures of [`pairs_files`](crate::pairs_files) and [`match_files`](crate::match_files). Always
/// `read = documents + against + rejected`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeSummary {
    /// Records read, rejected ones included; blank lines are no records.
    pub read: u64,
    /// Documents; of `match_files` the new ones.
    pub documents: u64,
    /// Of `match_files`: the documents they were matched with.
    pub against: u64,
    /// Records that could not be used; see [`Rejected`].
    pub rejected: u64,
    /// Pairs, or matches of all new documents together.
    pub edges: u64,
    /// Pairs of different texts that were compared.
    pub candidates: u64,
    /// Of `match_files`: documents with a match.
    pub matched: u64,
    /// Of `pairs_files` different texts, of `match_files` new documents, whose candidates or matches a limit cut: an edge of theirs
    /// may be missing.
    pub truncated: u64,
    /// Documents without any text after normalisation. They match nothing.
    pub empty: u64,
    /// Documents too short for the method, compared by their exact normalised text only.
    pub short: u64,
    /// Wall time.
    pub seconds: f64,
    /// Bytes of input lines, decompressed.
    pub bytes: u64,
    /// Bytes held at the end for the documents taken in, as [`Summary::index_bytes`].
    pub index_bytes: u64,
    /// The inputs that are not in UTF-8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub encodings: Vec<ReadAs>,
    /// The first rejected records, at most [`Summary::REPORTED`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_rejected: Vec<Rejected>,
    /// Documents that have the id of an earlier one of their side: what names ids does not say which. None where none are named.
    #[serde(skip_serializing_if = "SameIds::is_none")]
    pub same_ids: SameIds,
    /// Unfinished files that killed runs had left beside the same outputs; they were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<PathBuf>,
}

/// Counts outcomes into a [`Summary`].
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) summary: Summary,
    /// By number of keeping.
    has_duplicates: Vec<bool>,
}

impl Tally {
    /// Counts from 0 again; documents keep their numbers of keeping.
    pub(crate) fn restart(&mut self) {
        self.summary = Summary::default();
        self.has_duplicates.fill(false);
    }

    /// Counts a document that was decided.
    pub(crate) fn count(&mut self, prepared: &Prepared, outcome: Outcome) {
        let summary = &mut self.summary;
        summary.read += 1;
        summary.short += u64::from(prepared.is_short);
        match outcome {
            Outcome::New { empty } => {
                summary.kept += 1;
                summary.empty += u64::from(empty);
                if !empty {
                    self.has_duplicates.push(false);
                }
            }
            Outcome::Duplicate { of, .. } => {
                summary.duplicates += 1;
                let known = std::mem::replace(&mut self.has_duplicates[of as usize], true);
                summary.clusters += u64::from(!known);
            }
        }
    }
}

/// A record that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The input as it was named.
    pub file: String,
    /// From 1, blank lines counted.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Reading, deciding and writing, all at once.
    Dedup,
    /// Writing what is left, flushing, and moving the outputs into place.
    Finish,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Records decided or rejected so far.
    pub documents: u64,
    /// Bytes read so far (compressed ones for gzip), comparable with `total_bytes`.
    pub bytes: u64,
    /// Size of all inputs; `None` where a stream is among them.
    pub total_bytes: Option<u64>,
    /// Duplicates found so far; where edges are looked for, pairs or matches.
    pub duplicates: u64,
}

/// Calls back at most every 50 ms: a progress bar at 20 pictures a second looks continuous.
pub(crate) struct Throttle<'a> {
    report: &'a dyn Fn(&Progress),
    last: Option<Instant>,
}

impl<'a> Throttle<'a> {
    const INTERVAL: Duration = Duration::from_millis(50);

    pub(crate) fn new(report: &'a dyn Fn(&Progress)) -> Self {
        Self { report, last: None }
    }

    /// Reports, unless the last report is too recent. A new stage is always reported.
    pub(crate) fn tick(&mut self, progress: &Progress) {
        let due = self.last.is_none_or(|last| last.elapsed() >= Self::INTERVAL);
        if due || progress.stage == Stage::Finish {
            self.last = Some(Instant::now());
            (self.report)(progress);
        }
    }
}
