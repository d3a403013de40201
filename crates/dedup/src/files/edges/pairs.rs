//! Every edge, a line each.

use super::{Known, Run, Taken};
use crate::decide::{ALONE, Edge};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::write::{between, pair, pairs_head};

/// Writes pairs.
pub(super) struct Pairs {
    /// The line, used again.
    line: String,
    /// Stands between the cells of a row; `None`: lines are JSON.
    between: Option<char>,
}

impl Pairs {
    /// Begins the output.
    pub(super) fn new(run: &mut Run<'_, '_>) -> Result<Self, DedupError> {
        let between = run.output.lines().and_then(|output| between(output.name()));
        run.write(&pairs_head(between))?;
        Ok(Self { line: String::new(), between })
    }

    /// Writes the edges of a batch.
    pub(super) fn batch(
        &mut self,
        run: &mut Run<'_, '_>,
        known: &dyn Known,
        taken: &Taken<'_>,
    ) -> Result<(), DedupError> {
        let led = |document: usize, text: u32| {
            taken.place(text).filter(|&place| taken.firsts[place] == document)
        };
        let documents = || {
            let documents = taken.edges.numbers.iter().copied().enumerate();
            documents.filter(|&(_, text)| text != ALONE).map(move |(document, text)| {
                let edges = led(document, text).map(|place| &taken.edges.of[place]);
                (document, text, edges)
            })
        };
        for (_, _, edges) in documents() {
            run.edges.edges += edges.map_or(1, |edges| edges.len() as u64);
        }
        if run.output.lines().is_none() {
            return Ok(());
        }
        let (mut own, mut earlier) = (Vec::new(), Vec::new());
        let mut name = |text: u32| match taken.place(text) {
            Some(place) => own.push(taken.firsts[place]),
            None => earlier.push(text),
        };
        for (_, text, edges) in documents() {
            match edges {
                None => name(text),
                Some(edges) => edges.iter().for_each(|edge| name(edge.text.number)),
            }
        }
        let lines = documents().filter(|(_, _, edges)| edges.is_none_or(|edges| !edges.is_empty()));
        own.extend(lines.map(|(document, _, _)| document));
        let names = run.names(known, taken, own.into_iter(), earlier.into_iter())?;
        for (document, text, edges) in documents() {
            let id_of = |text: u32| match taken.place(text) {
                Some(place) => &names.own[taken.firsts[place]],
                None => &names.earlier[&text],
            };
            let (own, is_cut) = (&names.own[document], known.is_truncated(text));
            self.line.clear();
            for edge @ &Edge { text: Candidate { number, .. }, .. } in edges.into_iter().flatten() {
                let relation = known.comparer().relation_of(edge);
                pair(&mut self.line, self.between, (id_of(number), own), &relation, is_cut);
            }
            if edges.is_none() {
                let relation = known.comparer().equal_relation();
                pair(&mut self.line, self.between, (id_of(text), own), &relation, is_cut);
            }
            run.write(&self.line)?;
        }
        Ok(())
    }
}
