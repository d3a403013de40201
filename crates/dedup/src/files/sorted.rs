//! Sketches records while it reads and notes where they are, decides when the input has ended, reads again and writes.

use super::in_order::in_order;
use super::intake::{Intake, Parsed, Reading, parse_line};
use super::records::Stretch;
use super::same_ids::OwnId;
use super::{Ended, Members, Run, Wants, only_rejects};
use crate::batch::{Columns, Gathered, Settled};
use crate::checkpoint::{Checkpoint, Given, Journal, Sketch, of_block};
use crate::decide::{BATCH_DOCUMENTS, Comparer, Relation};
use crate::error::DedupError;
use crate::keep::Key;
use crate::options::{DedupOptions, Keep};
use crate::parallel;
use crate::read::Block;
use crate::report::{Stage, Summary, Throttle};
use crate::write::{Entry, Link, Member, Output, RecordWriter, Rejects, write_sorted};
use simhash_sketch::Scratch;
use simhash_store::{Column, Room};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A block whose records are sketched: by line, or why it is no record.
struct Sketched {
    block: Block,
    lines: Vec<Sketch>,
    /// The sketches of those that are records.
    sketches: Gathered,
    /// For the log of the run.
    bytes: Vec<u8>,
    /// The ids that they give themselves, where these are asked for.
    ids: Vec<OwnId>,
}

/// The blocks of one side of the inputs after the other.
#[derive(Default)]
pub(super) struct Sides {
    held: Option<Block>,
    ended: bool,
}

impl Sides {
    /// The next block of the inputs below `inputs`.
    pub(super) fn next(
        &mut self,
        reading: &Reading<'_>,
        inputs: u32,
    ) -> Result<Option<Block>, DedupError> {
        let block = match self.held.take() {
            None if self.ended => None,
            None => reading.next_block()?,
            block => block,
        };
        self.ended |= block.is_none();
        if block.as_ref().is_some_and(|block| block.input >= inputs) {
            self.held = block;
            return Ok(None);
        }
        Ok(block)
    }
}

impl Run<'_, '_> {
    /// The documents of the first `known` inputs were there already.
    pub(super) fn sorted<'w>(
        mut self,
        options: &DedupOptions,
        comparer: Comparer,
        mut columns: Columns,
        mut writer: RecordWriter<'w>,
        known: u32,
        mut checkpoint: Option<Checkpoint>,
    ) -> Result<Ended<'w>, DedupError> {
        let Self { intake, throttle, room, .. } = &mut self;
        let journal = checkpoint.as_ref().map(|it| (&it.journal, columns.given()));
        let (mut sides, mut counts) = (Sides::default(), Summary::default());
        for (inputs, is_known) in [(known, true), (u32::MAX, false)] {
            // Of the records only those that are rejected are counted here.
            let (first, mut own) = (columns.len(), Summary::default());
            let sketching = Sketching {
                comparer: &comparer,
                columns: &mut columns,
                rejects: &mut writer.rejects,
                counts: &mut own,
                longest: options.keep == Keep::Longest,
                before: counts.read,
                threads: options.threads,
                room,
                journal,
                ids: None,
            };
            sketching.read(intake, throttle, |reading| sides.next(reading, inputs))?;
            let read = own.read + u64::from(columns.len() - first);
            if let Some(error) = intake.unusable(&Summary { read, ..own.clone() }) {
                intake.check_unchanged()?;
                return Err(only_rejects(writer.into_rejects(), error));
            }
            if is_known {
                columns.end_known();
                intake.forget_rejected();
            }
            own.add(counts);
            counts = own;
        }
        let mut resumed = 0;
        if let Some((journal, _)) = journal {
            let names = intake.records.names();
            journal
                .end(&names.last().map_or_else(String::new, |name| name.display().to_string()))?;
            resumed = journal.known();
        }
        let read = counts.read + u64::from(columns.len());
        let mut tick = |duplicates| {
            throttle.tick(&intake.progress(Stage::Dedup, read, duplicates));
        };
        let stages = checkpoint.as_mut().map(|checkpoint| &mut checkpoint.stages);
        let settled =
            columns.settle(comparer, &intake.records, &mut tick, stages, intake.cancel)?;
        let decided = &settled.summary;
        let summary = Summary {
            read: counts.read + decided.read,
            rejected: counts.rejected,
            bytes: counts.bytes,
            first_rejected: counts.first_rejected,
            resumed,
            ..decided.clone()
        };
        self.throttle.tick(&self.intake.progress(Stage::Finish, read, summary.duplicates));
        let threads = options.threads;
        let (members, given) =
            write(self.intake, self.wants, &settled, threads, &mut writer, &self.room)?;
        let (compared, growing) = (settled.compared(), settled.growing());
        Ok(Ended { writer, members: Members::Found(members), given, summary, compared, growing })
    }
}

/// Where records go that are read: into columns, or among the rejects.
pub(super) struct Sketching<'s, 'w> {
    pub(super) comparer: &'s Comparer,
    pub(super) columns: &'s mut Columns,
    pub(super) rejects: &'s mut Rejects<'w>,
    /// Of the records only those that are rejected are counted here.
    pub(super) counts: &'s mut Summary,
    /// The key of a record is the length of its text.
    pub(super) longest: bool,
    /// Records that were rejected before.
    pub(super) before: u64,
    pub(super) threads: usize,
    pub(super) room: &'s Room,
    /// Where it is kept, and what of it.
    pub(super) journal: Option<(&'s Journal, Given)>,
    /// Where the ids go that records give themselves, and the number of their side. Not beside a journal, which has none.
    pub(super) ids: Option<(&'s mut Column<OwnId>, u64)>,
}

impl Sketching<'_, '_> {
    /// Reads the blocks that `next` gives.
    pub(super) fn read<'i>(
        self,
        intake: &mut Intake<'i>,
        throttle: &mut Throttle<'_>,
        mut next: impl FnMut(&Reading<'i>) -> Result<Option<Block>, DedupError>,
    ) -> Result<(), DedupError> {
        let Self { comparer, columns, rejects, counts, longest, before, threads, room, .. } = self;
        let Self { journal, mut ids, .. } = self;
        let side = ids.as_ref().map(|&(_, side)| side);
        let cancel = intake.cancel;
        let names = journal.map_or_else(Vec::new, |_| intake.records.names());
        let name = |block: &Block| {
            let name = names.get(block.input as usize);
            name.map_or_else(String::new, |name| name.display().to_string())
        };
        let (reading, mut gathering) = intake.parts();
        let order = columns.gathering();
        let gathered = |block, mut lines: Vec<Sketch>, bytes| {
            let records = lines.iter_mut().flatten();
            let sketches = records.map(|(prepared, _)| std::mem::take(&mut prepared.sketch));
            let sketches = order.gather(sketches.collect());
            Sketched { block, lines, sketches, bytes, ids: Vec::new() }
        };
        let read = AtomicU64::new(0);
        let stopped = AtomicBool::new(false);
        in_order(
            threads,
            cancel,
            || {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let Some(block) = next(reading)? else { return Ok(None) };
                let known = journal.map(|(journal, _)| journal.next()).transpose()?;
                Ok(Some((block, known.flatten())))
            },
            |(block, known)| {
                if let Some((known, (journal, _))) = known.zip(journal) {
                    let lines = journal.recorded(&block, known, &name(&block))?;
                    return Ok(gathered(block, lines, Vec::new()));
                }
                let mut scratch = Scratch::default();
                let prepare = |text: &str, scratch: &mut Scratch| comparer.outline(text, scratch);
                let mut lines = Vec::with_capacity(block.lines.len());
                let mut ids = Vec::new();
                let checked = block.checked();
                for line in &block.lines {
                    parallel::check(cancel)?;
                    let parsed = parse_line(checked, line, &prepare, &mut scratch);
                    lines.push(parsed.map(|Parsed { text, id, key, prepared }| {
                        let own = side.zip(id.as_ref());
                        ids.extend(
                            own.map(|(side, id)| {
                                OwnId::of_side(side, id, block.input, line.number)
                            }),
                        );
                        (prepared, if longest { Key::length(&text) } else { key })
                    }));
                }
                let bytes =
                    journal.map_or_else(Vec::new, |(_, given)| of_block(&block, &lines, given));
                Ok(Sketched { ids, ..gathered(block, lines, bytes) })
            },
            |Sketched { block, lines, sketches, bytes, ids: own }| {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if let Some((journal, _)) = journal.filter(|_| !bytes.is_empty()) {
                    journal.append(&bytes)?;
                }
                counts.bytes += block.length;
                columns.begin(block.input);
                let mut accepted = Vec::with_capacity(lines.len());
                for (line, sketched) in block.lines.iter().zip(lines) {
                    match sketched {
                        Ok((prepared, key)) => {
                            accepted.push(line);
                            columns.push(&prepared, &key)?;
                        }
                        Err(reason) => {
                            gathering.count_rejected(counts, &block, line, &reason);
                            rejects.write(&block, line, &reason)?;
                        }
                    }
                }
                columns.take(sketches)?;
                if let Some((ids, _)) = &mut ids {
                    ids.extend_from_slice(&own)?;
                }
                if !gathering.seen.goes_on(&block, !accepted.is_empty()) {
                    stopped.store(true, Ordering::Relaxed);
                }
                let records = before + counts.read + u64::from(columns.len());
                read.store(records, Ordering::Relaxed);
                room.relieve()?;
                gathering.records.push(&block, &accepted)
            },
            || {
                let read = read.load(Ordering::Relaxed);
                throttle.tick(&reading.progress(Stage::Dedup, read, 0));
            },
        )
    }
}

/// A duplicate.
#[derive(Clone, Copy)]
pub(super) struct Found {
    of: u32,
    document: u32,
    relation: Relation,
}

/// What becomes of a stretch of records.
#[derive(Default)]
struct Written {
    /// Of the output.
    bytes: Vec<u8>,
    members: Vec<Found>,
    given: Vec<OwnId>,
}

/// Writes the records in input order; what the clusters file will say comes back, and the ids of the records.
fn write(
    intake: &Intake<'_>,
    wants: Wants,
    settled: &Settled,
    threads: usize,
    writer: &mut RecordWriter<'_>,
    room: &Room,
) -> Result<(Column<Found>, Column<OwnId>), DedupError> {
    let Intake { records, cancel, .. } = intake;
    let (mut members, mut given) = (Column::new(room)?, Column::new(room)?);
    let framing = writer.begin()?;
    if framing.is_none() && !wants.members {
        return Ok((members, given));
    }
    let layouts = if wants.ids() { records.layouts() } else { Vec::new() };
    let known = settled.known();
    // Of known documents the ids alone are looked at.
    let mut from = if wants.ids() { 0 } else { known };
    let next = || {
        parallel::check(cancel)?;
        let stretch = (from < settled.len()).then(|| records.stretch(from, BATCH_DOCUMENTS));
        from = stretch.as_ref().map_or(from, |stretch| stretch.range().end);
        Ok(stretch)
    };
    let make = |stretch: Stretch| {
        room.relieve()?;
        let places = stretch.range();
        let span = records.span(stretch)?;
        let new = places.start.max(known)..places.end.max(known);
        let relations = if wants.members || wants.links {
            settled.relations(new, records, cancel)?
        } else {
            Vec::new()
        };
        let (mut written, mut relations) = (Written::default(), relations.into_iter());
        for place in places {
            if let Some(layout) = layouts.get(span.input() as usize) {
                let (line, bytes) = span.record(place);
                let id = layout.record(bytes).ok().and_then(|record| record.id);
                written.given.extend(id.map(|id| OwnId::new(&id, span.input(), line)));
            }
            if place < known {
                continue;
            }
            let entry = match settled.original(place) {
                None => Entry::Kept,
                Some(of) => match relations.next() {
                    None => Entry::Duplicate(None),
                    Some(relation) => {
                        if wants.members {
                            written.members.push(Found { of, document: place, relation });
                        }
                        let of = if wants.links { Some(records.id(of)?) } else { None };
                        Entry::Duplicate(of.map(|of| Link { of, relation }))
                    }
                },
            };
            if let Some(framing) = &framing {
                framing.render(span.input(), span.record(place), &entry, &mut written.bytes)?;
            }
        }
        Ok(written)
    };
    let take = |Written { bytes, members: more, given: ids }| {
        members.extend_from_slice(&more)?;
        given.extend_from_slice(&ids)?;
        writer.append(&bytes)
    };
    in_order(threads, cancel, next, make, take, || {})?;
    let check = || parallel::check(cancel);
    members.sort_by_number(room, settled.len(), |member: &Found| member.of, check)?;
    Ok((members, given))
}

/// Writes the clusters; of records that can be found again the id is read once more.
pub(super) fn write_found(
    output: &mut Output<'_>,
    members: &[Found],
    intake: &Intake<'_>,
    room: &Room,
) -> Result<(), DedupError> {
    let records = &intake.records;
    let members = members.iter().map(|&Found { of, document, relation }| {
        room.relieve()?;
        Ok(Member { of, id: records.id(document)?, relation })
    });
    write_sorted(output, members, |number| records.id(number), intake.cancel)
}
