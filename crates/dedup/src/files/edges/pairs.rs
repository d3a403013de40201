//! Every edge, a line each.

use super::{Batch, Run, Taken};
use crate::decide::{ALONE, Edge};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::read::Id;
use crate::write::pair;

/// Writes pairs.
#[derive(Default)]
pub(super) struct Pairs {
    /// The line, used again.
    line: String,
}

impl Pairs {
    /// Takes a batch in and writes its edges.
    pub(super) fn batch(
        &mut self,
        run: &mut Run<'_, '_>,
        batch: Batch<'_>,
    ) -> Result<(), DedupError> {
        let taken = run.take(batch, u32::MAX)?;
        run.remember(&taken)?;
        let writes = run.output.is_some();
        let earlier = if writes { run.ids(wanted(&taken))? } else { ahash::AHashMap::new() };
        let own: Vec<Id> = if writes {
            (0..taken.lines.len()).map(|document| run.own_id(&taken, document)).collect()
        } else {
            Vec::new()
        };
        for (document, &text) in taken.edges.numbers.iter().enumerate() {
            if text == ALONE {
                continue;
            }
            let place = taken.place(text).filter(|&place| taken.firsts[place] == document);
            let edges = place.map_or(&[][..], |place| &taken.edges.of[place]);
            run.edges.edges += if place.is_some() { edges.len() as u64 } else { 1 };
            if !writes {
                continue;
            }
            let id_of = |text: u32| match taken.place(text) {
                Some(place) => &own[taken.firsts[place]],
                None => &earlier[&text],
            };
            let is_cut = run.decider.is_truncated(text);
            self.line.clear();
            for edge in edges {
                let relation = run.decider.relation_of(edge);
                pair(&mut self.line, id_of(edge.text.number), &own[document], &relation, is_cut);
            }
            if place.is_none() {
                let relation = run.decider.equal_relation();
                pair(&mut self.line, id_of(text), &own[document], &relation, is_cut);
            }
            run.write(&self.line)?;
        }
        Ok(())
    }
}

/// Texts before the batch whose ids its pairs name.
fn wanted(taken: &Taken<'_>) -> Vec<u32> {
    let edges = taken.edges.of.iter().flatten();
    let near = edges.map(|&Edge { text: Candidate { number, .. }, .. }| number);
    let equal = taken.edges.numbers.iter().copied().filter(|&text| text != ALONE);
    near.chain(equal).filter(|&text| text < taken.edges.first).collect()
}
