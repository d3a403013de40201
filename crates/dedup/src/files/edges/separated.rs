//! The new documents themselves, without those that resemble old ones, or with marks.

use super::{Known, Own, Run, Taken};
use crate::decide::{ALONE, Relation};
use crate::error::DedupError;
use crate::write::{Duplicates, Entry, Link};
use simhash_store::Column;

/// Writes documents.
pub(super) struct Separated {
    /// The first of the new texts.
    first: Option<u32>,
    /// By new text of earlier batches.
    said: Column<Found>,
    marks: bool,
}

/// What is known of a new text.
#[derive(Clone, Copy, Default)]
struct Found {
    /// The old text that it resembles most.
    best: Option<(u32, Relation)>,
    matches: u32,
    truncated: bool,
}

impl Separated {
    pub(super) fn new(duplicates: Duplicates, run: &Run<'_, '_>) -> Result<Self, DedupError> {
        let marks = duplicates == Duplicates::Mark;
        Ok(Self { first: None, said: Column::new(&run.room)?, marks })
    }

    /// Writes the documents of a batch.
    pub(super) fn batch(
        &mut self,
        run: &mut Run<'_, '_>,
        known: &dyn Known,
        taken: &Taken<'_>,
    ) -> Result<(), DedupError> {
        let old = *self.first.get_or_insert(taken.edges.first);
        let verified = known.comparer().verifies();
        let own = taken.edges.of.iter().zip(taken.edges.first..).map(|(edges, text)| {
            let best = edges.iter().min_by(|a, b| a.order(b, verified));
            let best = best.map(|edge| (edge.text.number, known.comparer().relation_of(edge)));
            Found { best, matches: edges.len() as u32, truncated: known.is_truncated(text) }
        });
        let own: Vec<Found> = own.collect();
        let numbers = taken.edges.numbers.iter();
        let found: Vec<Found> = numbers
            .map(|&text| match taken.place(text) {
                _ if text == ALONE => Found::default(),
                Some(place) => own[place],
                None if text < old => {
                    let best = Some((text, known.comparer().equal_relation()));
                    Found { best, matches: 1, truncated: known.is_truncated(text) }
                }
                None => self.said[(text - old) as usize],
            })
            .collect();
        for Found { matches, truncated, .. } in &found {
            run.edges.edges += u64::from(*matches);
            run.edges.matched += u64::from(*matches > 0);
            run.edges.truncated += u64::from(*truncated);
        }
        self.write(run, known, taken, &found)?;
        Ok(self.said.extend_from_slice(&own)?)
    }

    fn write(
        &self,
        run: &mut Run<'_, '_>,
        known: &dyn Known,
        taken: &Taken<'_>,
        found: &[Found],
    ) -> Result<(), DedupError> {
        run.intake.check_cancel()?;
        let Some(framing) = run.output.framing()? else { return Ok(()) };
        let wanted = found.iter().filter(|_| self.marks).filter_map(|found| found.best);
        let texts = wanted.map(|(text, _)| text);
        let ids = run.names(known, taken, std::iter::empty(), texts)?.earlier;
        let entry = |found: &Found| match found.best {
            None => Entry::Kept,
            Some((text, relation)) => {
                Entry::Duplicate(ids.get(&text).map(|id| Link { of: id.clone(), relation }))
            }
        };
        let mut out = Vec::new();
        match &taken.own {
            Own::Lines(block, lines) => {
                for ((line, _), found) in lines.iter().zip(found) {
                    let record = (line.number, block.bytes_of(line));
                    framing.render(block.input, record, &entry(found), &mut out)?;
                }
            }
            &Own::Records(from) => {
                let records = &run.intake.records;
                let (mut at, end) = (from, from + found.len() as u32);
                while at < end {
                    let span = records.span(records.stretch(at, (end - at) as usize))?;
                    for number in span.range() {
                        let entry = entry(&found[(number - from) as usize]);
                        framing.render(span.input(), span.record(number), &entry, &mut out)?;
                    }
                    at = span.range().end;
                }
            }
        }
        run.output.write(&out)
    }
}
