//! Documents of files into a live index, and what of it is near those of files.
//!
//! An index names documents by keys. Those of files are their ids ([`key_of_id`]), so answers have the ids that the records had.

use super::intake::{Intake, Parsed};
use super::same_ids::{OwnId, same_ids};
use super::{expanded, only_rejects};
use crate::decide::Relation;
use crate::error::DedupError;
use crate::live::{Document, LiveIndex, LiveMethod, Near, Room, Search};
use crate::options::ReadOptions;
use crate::read::{Block, Id, Input, Line, id_json, id_of_key, key_of_id};
use crate::report::{EdgeSummary, Progress, Stage, Summary, Throttle};
use crate::write::{Entry, Link, Output, Rejects, Target, Wanted, check_distinct, matches};
use simhash_sketch::Scratch;
use simhash_store::Column;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What is left to do when every document is in an index, in memory.
pub(super) struct Filled<'a> {
    pub(super) summary: Summary,
    /// Sealed.
    pub(super) rejects: Option<Output<'a>>,
}

/// What is read into an index, open, and where what is no record goes.
pub(super) struct Filling<'a> {
    intake: Intake<'a>,
    rejects: Option<&'a Target>,
    started: Instant,
}

/// Opens `inputs`. The output is not opened yet: beside it may lie what a run that was killed is about to name, see [`fill`].
pub(super) fn open<'a>(
    inputs: &[Input],
    rejects: Option<&'a Target>,
    options: &'a ReadOptions,
    cancel: &'a AtomicBool,
) -> Result<Filling<'a>, DedupError> {
    let started = Instant::now();
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    check_distinct(inputs.iter(), rejects.into_iter())?;
    let ReadOptions { fields, form, threads } = options;
    let intake = Intake::open(&[inputs], fields, form, *threads, cancel)?;
    Ok(Filling { intake, rejects, started })
}

/// Adds every document to an index, in order, copies too; their ids are its keys. Of the summary `kept` are the documents
/// that were added. After an error the index holds a part of them. Memory: that of the index, and a few blocks of 1 MiB or of the
/// longest line. A run that was killed over this index was settled before: an output removes what such ones left beside its name.
pub(super) fn fill<'a>(
    filling: Filling<'a>,
    live: &LiveIndex,
    progress: &dyn Fn(&Progress),
) -> Result<Filled<'a>, DedupError> {
    let Filling { mut intake, rejects, started } = filling;
    let cancel = intake.cancel;
    let mut rejects = Rejects::open(rejects, intake.records.names(), cancel)?;
    let mut throttle = Throttle::new(progress);
    let mut summary = Summary::default();
    while let Some(block) = intake.next_block()? {
        summary.bytes += block.length;
        let batch = Batch::of(&mut intake, &block, live, &mut summary, &mut rejects, None)?;
        let keys: Vec<_> = batch.ids.iter().map(|id| Some(key_of_id(id).into_owned())).collect();
        live.add_many(&batch.documents, &keys, &[], cancel)?;
        throttle.tick(&intake.progress(Stage::Dedup, summary.read, 0));
    }
    if let Some(error) = intake.unusable(&summary) {
        intake.check_unchanged()?;
        return Err(only_rejects(rejects, error));
    }
    throttle.tick(&intake.progress(Stage::Finish, summary.read, 0));
    let mut rejects = rejects.into_output();
    rejects.as_mut().map_or(Ok(()), Output::seal)?;
    intake.check_unchanged()?;
    intake.check_cancel()?;
    let (seconds, index_bytes) = (started.elapsed().as_secs_f64(), live.bytes() as u64);
    Ok(Filled { summary: Summary { seconds, index_bytes, ..summary }, rejects })
}

/// Refuses an index that cannot name documents.
pub(super) fn check_keys(live: &LiveIndex) -> Result<(), DedupError> {
    if live.options().stored.keys {
        return Ok(());
    }
    let (value, expected) = ("false".into(), "true: documents of files are named by their ids");
    Err(DedupError::Option { argument: "keys", value, expected })
}

/// The id of the record that a document of an index had: its key; without one its number.
pub(super) fn id_of(live: &LiveIndex, id: u64) -> Id {
    named(live.key_of(id), id)
}

/// The same, of a document that had this key.
pub(super) fn named(key: Option<String>, id: u64) -> Id {
    key.map_or_else(|| id.to_string().into(), |key| id_of_key(&key))
}

/// Writes a JSON line for each document of `inputs`, in order, with the documents of an index that are near it, as
/// [`match_files`](crate::match_files) writes them: by what [`LiveIndex::search_many`] finds, so each copy that the index holds is a match of
/// its own. The index is not changed.
///
/// A match has its similarity and its distance where they are known, and `"verified": false` where an index that compares texts could not
/// compare these. A document without a key has its number in the index for an id.
///
/// Of the summary `against` are the documents of the index, and `read = documents + rejected`. Runs on the calling thread and the
/// current rayon pool; `progress` is called on the calling thread, at most 20 times a second.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files) and of [`LiveIndex::search_many`].
pub(super) fn search_files(
    inputs: &[Input],
    wanted: Wanted<'_>,
    live: &LiveIndex,
    search: &Search,
    options: &ReadOptions,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<EdgeSummary, DedupError> {
    let started = Instant::now();
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    check(search, live)?;
    check_distinct(inputs.iter(), wanted.targets())?;
    let ReadOptions { fields, form, threads } = options;
    wanted.check_fields(fields)?;
    let mut intake = Intake::open(&[inputs], fields, form, *threads, cancel)?;
    let about = (intake.records.names(), intake.records.layouts());
    let (mut output, mut rejects) = wanted.open(about, 0, true, cancel)?;
    let marks = wanted.marks();
    let mut throttle = Throttle::new(progress);
    let (mut counts, mut edges) = (Summary::default(), EdgeSummary::default());
    let mut given = wanted.names().then(Column::default);
    while let Some(block) = intake.next_block()? {
        counts.bytes += block.length;
        let own = given.as_mut();
        let batch = Batch::of(&mut intake, &block, live, &mut counts, &mut rejects, own)?;
        let found = live.search_many(&batch.documents, search, *threads, cancel)?;
        let framing = output.framing()?;
        let mut out = Vec::new();
        for ((id, line), answer) in batch.ids.iter().zip(&batch.lines).zip(found) {
            edges.edges += answer.matches.len() as u64;
            edges.matched += u64::from(!answer.matches.is_empty());
            edges.truncated += u64::from(answer.truncated);
            if wanted.is_lines() {
                out.extend(line_of(id, &answer.matches, answer.truncated, live).bytes());
            } else if let Some(framing) = &framing {
                let entry = entry(answer.matches.first(), marks, live);
                framing.render(
                    block.input,
                    (line.number, block.bytes_of(line)),
                    &entry,
                    &mut out,
                )?;
            }
        }
        output.write(&out)?;
        throttle.tick(&intake.progress(Stage::Dedup, counts.read, edges.edges));
    }
    if let Some(error) = intake.unusable(&counts) {
        intake.check_unchanged()?;
        return Err(only_rejects(rejects, error));
    }
    throttle.tick(&intake.progress(Stage::Finish, counts.read, edges.edges));
    let room = simhash_store::Room::default();
    let same_ids = same_ids(given.unwrap_or_default(), 0, &intake.records, &room, cancel)?;
    let (outputs, copies) = output.end()?;
    let outputs = outputs.into_iter().chain(rejects.into_output());
    let leftovers = super::publish(outputs, copies, &intake)?;
    let Summary { read, kept: documents, rejected, bytes, first_rejected, .. } = counts;
    let (against, index_bytes) = (live.len(), live.bytes() as u64);
    let encodings = intake.records.encodings();
    let seconds = started.elapsed().as_secs_f64();
    let read = EdgeSummary { read, documents, rejected, bytes, first_rejected, ..edges };
    Ok(EdgeSummary { against, seconds, index_bytes, encodings, same_ids, leftovers, ..read })
}

/// Refuses what an index of this method cannot do.
fn check(search: &Search, live: &LiveIndex) -> Result<(), DedupError> {
    let refuse = |argument, value, expected| Err(DedupError::Option { argument, value, expected });
    let options = live.options();
    match (search.max_distance, search.min_similarity) {
        (Some(most), _) if !matches!(options.method, LiveMethod::SimHash { .. }) => refuse(
            "max_distance",
            most.to_string(),
            "left out: only an index of method simhash has it",
        ),
        (_, Some(least)) if options.verify.is_none() => {
            let expected = "left out: the index was made without verification";
            refuse("min_similarity", least.to_string(), expected)
        }
        _ if search.limit == Some(0) => {
            let (value, expected) = ("0".into(), "at least 1");
            Err(DedupError::OutOfRange { argument: "limit", value, expected })
        }
        _ => Ok(()),
    }
}

/// The documents of a block.
struct Batch<'b> {
    documents: Vec<Document>,
    ids: Vec<Id>,
    lines: Vec<&'b Line>,
}

impl<'b> Batch<'b> {
    fn of(
        intake: &mut Intake<'_>,
        block: &'b Block,
        live: &LiveIndex,
        counts: &mut Summary,
        rejects: &mut Rejects<'_>,
        given: Option<&mut Column<OwnId>>,
    ) -> Result<Self, DedupError> {
        let room = Room::default();
        let prepare = |text: &str, scratch: &mut Scratch| live.document_in(text, &room, scratch);
        let accepted: Vec<(&Line, Parsed<'_, Document>)> =
            intake.accept(block, prepare, counts, rejects)?;
        counts.read += accepted.len() as u64;
        counts.kept += accepted.len() as u64;
        if let Some(given) = given {
            OwnId::add(given, 0, block, &accepted)?;
        }
        let prefix = intake.records.id_prefix(block.input);
        let each = accepted.into_iter().map(|(line, parsed)| {
            (parsed.prepared, (id_json(parsed.id, prefix, line.number), line))
        });
        let (documents, (ids, lines)) = each.unzip();
        Ok(Self { documents, ids, lines })
    }
}

/// The line of a document.
fn line_of(id: &str, found: &[Near], truncated: bool, live: &LiveIndex) -> String {
    let ids: Vec<Id> = found.iter().map(|near| id_of(live, near.id)).collect();
    let named = ids.iter().zip(found).map(|(id, near)| {
        (&**id, relation(near, live), near.verified || live.options().verify.is_none())
    });
    format!(r#"{{"id":{id}{}"#, matches(named, truncated))
}

/// What becomes of a document that has this best match.
fn entry(best: Option<&Near>, marks: bool, live: &LiveIndex) -> Entry {
    let link = |near: &Near| Link { of: id_of(live, near.id), relation: relation(near, live) };
    best.map_or(Entry::Kept, |near| Entry::Duplicate(marks.then(|| link(near))))
}

fn relation(near: &Near, live: &LiveIndex) -> Relation {
    let has_distance = matches!(live.options().method, LiveMethod::SimHash { .. });
    Relation { similarity: near.similarity, distance: has_distance.then_some(near.measure) }
}
