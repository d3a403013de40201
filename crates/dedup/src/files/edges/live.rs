//! Edges of documents one batch after the other: of the texts that later ones may be compared with the first record is found again, for
//! its text and its id, so records have the numbers of texts.

use super::super::intake::{Intake, Parsed};
use super::super::same_ids::OwnId;
use super::{Known, Own, Run, Taken};
use crate::decide::{BATCH_DOCUMENTS, Comparer, Decider, Document};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::read::{Block, Line};
use crate::report::Stage;
use simhash_sketch::Scratch;

/// The live engine.
pub(super) struct Live(Decider);

/// Documents that are taken in together.
struct Batch<'b> {
    block: &'b Block,
    documents: Vec<(&'b Line, Parsed<'b>)>,
}

impl Known for Live {
    fn comparer(&self) -> &Comparer {
        self.0.comparer()
    }

    fn is_truncated(&self, text: u32) -> bool {
        self.0.is_truncated(text)
    }

    fn record(&self, text: u32) -> u32 {
        text
    }
}

impl Live {
    pub(super) fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        Decider::new(options).map(Self)
    }

    /// Calls `each` with every batch.
    pub(super) fn pairs(
        mut self,
        run: &mut Run<'_, '_>,
        mut each: impl FnMut(&mut Run<'_, '_>, &dyn Known, Taken<'_>) -> Result<(), DedupError>,
    ) -> Result<u64, DedupError> {
        while let Some(block) = run.intake.next_block()? {
            self.block(run, &block, |live, run, batch| {
                let taken = live.take(run, batch, u32::MAX)?;
                remember(run, &taken)?;
                each(run, live, taken)
            })?;
        }
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        run.edges.truncated = self.0.truncated();
        Ok(self.0.bytes())
    }

    /// Takes the first `inputs` in and calls `each` with every batch of the others.
    pub(super) fn matches(
        mut self,
        inputs: u32,
        run: &mut Run<'_, '_>,
        mut each: impl FnMut(&mut Run<'_, '_>, &dyn Known, Taken<'_>) -> Result<(), DedupError>,
    ) -> Result<u64, DedupError> {
        let mut block = run.intake.next_block()?;
        while let Some(old) = block.take_if(|block| block.input < inputs) {
            self.block(run, &old, |live, run, batch| {
                let taken = live.take(run, batch, 0)?;
                remember(run, &taken)
            })?;
            block = run.intake.next_block()?;
        }
        let (old, below) = (run.turn()?, run.intake.records.len());
        while let Some(new) = block {
            self.block(run, &new, |live, run, batch| {
                let taken = live.take(run, batch, below)?;
                each(run, live, taken)
            })?;
            block = run.intake.next_block()?;
        }
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        run.counts.add(old);
        run.before = 0;
        Ok(self.0.bytes())
    }

    /// Takes the documents of a block, batch by batch.
    fn block(
        &mut self,
        run: &mut Run<'_, '_>,
        block: &Block,
        mut each: impl FnMut(&mut Self, &mut Run<'_, '_>, Batch<'_>) -> Result<(), DedupError>,
    ) -> Result<(), DedupError> {
        run.counts.bytes += block.length;
        let Run { intake, counts, rejects, given, old, .. } = run;
        let prepare = |text: &str, scratch: &mut Scratch| self.0.comparer().prepare(text, scratch);
        let accepted = intake.accept(block, prepare, counts, rejects)?;
        let side = u64::from(block.input >= *old);
        if let Some(given) = given {
            OwnId::add(given, side, block, &accepted)?;
        }
        let mut accepted = accepted.into_iter();
        while accepted.len() > 0 {
            let documents: Vec<_> = accepted.by_ref().take(BATCH_DOCUMENTS).collect();
            each(self, run, Batch { block, documents })?;
        }
        run.report(Stage::Dedup);
        run.room.relieve().map_err(DedupError::streamed)
    }

    /// Takes a batch in, and compares with the texts below this number.
    fn take<'b>(
        &mut self,
        run: &mut Run<'_, '_>,
        batch: Batch<'b>,
        below: u32,
    ) -> Result<Taken<'b>, DedupError> {
        let Batch { block, documents } = batch;
        let (mut lines, mut texts, mut prepared) = (Vec::new(), Vec::new(), Vec::new());
        for (line, Parsed { text, id, prepared: own, .. }) in documents {
            lines.push((line, id));
            texts.push(text);
            prepared.push(own);
        }
        let documents = texts.iter().zip(prepared);
        let mut documents: Vec<Document<'_>> =
            documents.map(|(text, prepared)| Document { text, prepared }).collect();
        let Intake { records, cancel, .. } = &*run.intake;
        let edges = self.0.edges(&mut documents, below, records, cancel)?;
        for document in &documents {
            run.counts.read += 1;
            run.counts.kept += 1;
            run.counts.empty += u64::from(document.prepared.is_empty);
            run.counts.short += u64::from(document.prepared.is_short);
        }
        run.edges.candidates += edges.candidates;
        Ok(Taken::new(Own::Lines(block, lines), edges))
    }
}

/// Notes where the new texts of a batch are found again.
fn remember(run: &mut Run<'_, '_>, taken: &Taken<'_>) -> Result<(), DedupError> {
    let Own::Lines(block, lines) = &taken.own else { return Ok(()) };
    let lines: Vec<&Line> = taken.firsts.iter().map(|&place| lines[place].0).collect();
    run.intake.records.push(block, &lines)
}
