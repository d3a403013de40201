//! Decides and writes while it reads.

use super::intake::{Intake, Parsed, QUEUE};
use super::same_ids::OwnId;
use super::{Ended, Members, Run, Wants};
use crate::batch::{Compared, Growing};
use crate::decide::{BATCH_DOCUMENTS, Decider, Document, Outcome};
use crate::error::DedupError;
use crate::read::{Block, Line, id_json};
use crate::report::{Stage, Summary, Tally};
use crate::write::{Decided, Entry, Link, Member, RecordWriter};
use crossbeam_channel::bounded;
use simhash_store::Column;

/// What grows along the run.
struct Stream {
    decider: Decider,
    tally: Tally,
    /// Kept only where a clusters file is wanted.
    members: Vec<Member>,
    /// The same.
    given: Column<OwnId>,
    wants: Wants,
}

impl Run<'_, '_> {
    pub(super) fn on_arrival(
        mut self,
        decider: Decider,
        mut writer: RecordWriter<'_>,
    ) -> Result<Ended<'_>, DedupError> {
        let wants = self.wants;
        let (tally, members, given) = (Tally::default(), Vec::new(), Column::default());
        let mut stream = Stream { decider, tally, members, given, wants };
        let writer = std::thread::scope(|scope| {
            let (sender, receiver) = bounded::<Decided>(QUEUE);
            let writing = scope.spawn(move || {
                for decided in receiver {
                    writer.write(&decided)?;
                }
                Ok::<_, DedupError>(writer)
            });
            let read = self.all(&mut stream, |decided| sender.send(decided).is_ok());
            drop(sender);
            let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // Where the writer failed, that is why the rest stopped.
            let writer = written?;
            read.map(|()| writer)
        })?;
        self.report(Stage::Finish, &stream.tally.summary);
        let (truncated, index_bytes) = (stream.decider.truncated(), stream.decider.bytes());
        let summary = Summary { truncated, index_bytes, ..stream.tally.summary };
        let (members, given) = (Members::Given(stream.members), stream.given);
        let (compared, growing) = (Compared::default(), Growing::default());
        Ok(Ended { writer, members, given, summary, compared, growing })
    }

    /// Takes blocks until the end; `pass_on` says whether anybody still wants them.
    fn all(
        &mut self,
        stream: &mut Stream,
        pass_on: impl Fn(Decided) -> bool,
    ) -> Result<(), DedupError> {
        while let Some(block) = self.intake.next_block()? {
            stream.tally.summary.bytes += block.length;
            let entries = stream.decide(self.intake, &block)?;
            if !pass_on(Decided { block, entries }) {
                break;
            }
            self.report(Stage::Dedup, &stream.tally.summary);
            self.room.relieve().map_err(DedupError::streamed)?;
        }
        Ok(())
    }
}

impl Stream {
    fn decide(&mut self, intake: &mut Intake<'_>, block: &Block) -> Result<Vec<Entry>, DedupError> {
        let slots =
            intake.parse(block, |text, scratch| self.decider.comparer().prepare(text, scratch))?;
        let mut accepted = Vec::new();
        let mut outcomes: Vec<Option<String>> = Vec::with_capacity(slots.len());
        for slot in slots {
            match slot.parsed {
                Ok(parsed) => {
                    accepted.push((slot.line, parsed));
                    outcomes.push(None);
                }
                Err(reason) => {
                    let summary = &mut self.tally.summary;
                    intake.count_rejected(summary, block, slot.line, &reason);
                    outcomes.push(Some(reason));
                }
            }
        }
        intake.look(block, !accepted.is_empty());
        let mut decided = Vec::with_capacity(accepted.len());
        let mut accepted = accepted.into_iter();
        while accepted.len() > 0 {
            let batch = accepted.by_ref().take(BATCH_DOCUMENTS);
            self.decide_batch(intake, block, batch, &mut decided)?;
        }
        let mut decided = decided.into_iter();
        let entries = outcomes.into_iter().filter_map(|rejected| match rejected {
            Some(reason) => Some(Entry::Rejected(reason)),
            None => decided.next(),
        });
        Ok(entries.collect())
    }

    fn decide_batch<'b>(
        &mut self,
        intake: &mut Intake<'_>,
        block: &Block,
        batch: impl Iterator<Item = (&'b Line, Parsed<'b>)>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), DedupError> {
        let (mut lines, mut texts, mut prepared) = (Vec::new(), Vec::new(), Vec::new());
        for (line, Parsed { text, id, prepared: own, .. }) in batch {
            if self.wants.ids()
                && let Some(id) = &id
            {
                self.given.push(OwnId::new(id, block.input, line.number))?;
            }
            lines.push((line, id));
            texts.push(text);
            prepared.push(own);
        }
        let documents = texts.iter().zip(prepared);
        let mut documents: Vec<Document<'_>> =
            documents.map(|(text, prepared)| Document { text, prepared }).collect();
        let verdicts = self.decider.represent(&mut documents, &intake.records, intake.cancel)?;
        let mut keep = Vec::new();
        for ((document, &(line, _)), verdict) in documents.iter().zip(&lines).zip(&verdicts) {
            self.tally.count(&document.prepared, verdict.outcome);
            if verdict.outcome == (Outcome::New { empty: false }) {
                keep.push(line);
            }
        }
        let records = &mut intake.records;
        records.push(block, &keep)?;
        for ((line, id), verdict) in lines.into_iter().zip(verdicts) {
            entries.push(match verdict.outcome {
                Outcome::New { .. } => Entry::Kept,
                Outcome::Duplicate { of, relation } => {
                    if self.wants.members {
                        let id = id_json(id, records.id_prefix(block.input), line.number);
                        self.members.push(Member { of, id, relation });
                    }
                    let of = if self.wants.links { Some(records.id(of)?) } else { None };
                    Entry::Duplicate(of.map(|of| Link { of, relation }))
                }
            });
        }
        Ok(())
    }
}
