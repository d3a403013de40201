//! Notes where records are while it reads, decides when the input has ended, reads again and writes.

use super::intake::{Intake, Parsed};
use super::{Ended, Run, Wants};
use crate::cluster::{Gathered, Settled};
use crate::decide::{BATCH_DOCUMENTS, Decider, Document};
use crate::error::DedupError;
use crate::keep::Key;
use crate::options::{DedupOptions, Keep};
use crate::read::Block;
use crate::report::{Stage, Summary};
use crate::write::{Entry, Link, Member, RecordWriter};
use simhash_sketch::Scratch;

impl Run<'_, '_> {
    pub(super) fn at_the_end<'w>(
        mut self,
        options: &DedupOptions,
        decider: Decider,
        mut writer: RecordWriter<'w>,
    ) -> Result<Ended<'w>, DedupError> {
        let mut gathered = Gathered::new(options, decider);
        let longest = options.keep == Keep::Longest;
        // Of the records only those that are rejected are counted here.
        let mut counts = Summary::default();
        while let Some(block) = self.intake.next_block()? {
            counts.bytes += block.length;
            take(self.intake, &mut gathered, longest, &block, &mut writer, &mut counts)?;
            let read = counts.read + u64::from(self.intake.records.len());
            self.report(Stage::Dedup, &Summary { read, ..counts.clone() });
        }
        let Intake { records, cancel, .. } = &*self.intake;
        gathered.settle(records, |place| records.length(place), cancel)?;
        let settled = gathered.into_settled(&[]);
        let decided = &settled.summary;
        let summary = Summary {
            read: counts.read + decided.read,
            rejected: counts.rejected,
            bytes: counts.bytes,
            first_rejected: counts.first_rejected,
            ..decided.clone()
        };
        self.report(Stage::Finish, &summary);
        let members = write(self.intake, self.wants, &settled, &mut writer)?;
        Ok(Ended { writer, members, summary })
    }
}

/// Takes the records of a block and writes its rejects.
fn take(
    intake: &mut Intake<'_>,
    gathered: &mut Gathered,
    longest: bool,
    block: &Block,
    writer: &mut RecordWriter<'_>,
    counts: &mut Summary,
) -> Result<(), DedupError> {
    let preparer = gathered.decides_on_arrival().then(|| gathered.decider());
    let prepare = |text: &str, scratch: &mut Scratch| {
        preparer.map(|decider| decider.prepare(text, scratch)).unwrap_or_default()
    };
    let accepted = intake.accept(block, prepare, counts, &mut writer.rejects)?;
    let lines: Vec<_> = accepted.iter().map(|&(line, _)| line).collect();
    intake.records.push(block, &lines)?;
    let mut accepted = accepted.into_iter().map(|(_, parsed)| parsed);
    loop {
        let (mut texts, mut prepared, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for Parsed { text, key, prepared: own, .. } in accepted.by_ref().take(BATCH_DOCUMENTS) {
            keys.push(if longest { Key::length(&text) } else { key });
            texts.push(text);
            prepared.push(own);
        }
        if texts.is_empty() {
            return Ok(());
        }
        let documents = texts.iter().zip(prepared);
        let mut documents: Vec<Document<'_>> =
            documents.map(|(text, prepared)| Document { text, prepared }).collect();
        gathered.take(&mut documents, keys.into_iter(), &intake.records, intake.cancel)?;
    }
}

/// Writes the records in input order; what the clusters file will say comes back.
fn write(
    intake: &Intake<'_>,
    wants: Wants,
    settled: &Settled,
    writer: &mut RecordWriter<'_>,
) -> Result<Vec<Member>, DedupError> {
    let Intake { records, cancel, .. } = intake;
    let mut members = Vec::new();
    if !writer.wants_records() && !wants.members {
        return Ok(members);
    }
    let mut from = 0;
    while from < settled.len() {
        intake.check_cancel()?;
        let span = records.span(from, BATCH_DOCUMENTS)?;
        let places = from..from + span.len();
        let relations = if wants.members || wants.links {
            settled.relations(places.clone(), records, cancel)?
        } else {
            Vec::new()
        };
        let mut relations = relations.into_iter();
        for place in places {
            let entry = match settled.original(place) {
                None => Entry::Kept,
                Some(of) => match relations.next() {
                    None => Entry::Duplicate(None),
                    Some(relation) => {
                        if wants.members {
                            members.push(Member { of, id: records.id(place)?, relation });
                        }
                        let of = if wants.links { Some(records.id(of)?) } else { None };
                        Entry::Duplicate(of.map(|of| Link { of, relation }))
                    }
                },
            };
            writer.record(span.bytes_of(place), &entry)?;
        }
        from += span.len();
    }
    Ok(members)
}
