//! Edges: the texts of all lists are compared, and each pair that matches is handed on, in the order of the documents.

use super::candidates::{Candidates, Listed, Sketches};
use super::order::Order;
use super::represent::ByText;
use super::{Columns, Groups, Stage};
use crate::decide::{Comparer, Edge, Edges, Texts};
use crate::error::DedupError;
use crate::parallel;
use simhash_sketch::{Outline, Scratch};
use simhash_store::{Column, Room};
use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// The graph that decisions rest on, of documents taken in input order: the neighbours of each text are known, and are compared as its
/// documents are asked for.
///
/// Memory beside the columns of the first stage, which end with it but for the outlines: 4 bytes per document, 4 and two bits per text,
/// what the method's candidates hold, and of lists with their edges those of some thousands of texts.
pub(crate) struct Graph {
    comparer: Comparer,
    candidates: Box<dyn Candidates>,
    groups: Groups,
    outlines: Column<Outline>,
    taking: Order,
    room: Room,
    limit: usize,
    threads: usize,
    /// Texts below this one are another side, from which no edges are asked for.
    from: u32,
    /// Texts from this one on are not asked for as neighbours.
    below: u32,
    /// Texts whose first documents were asked for.
    passed: u32,
    /// Texts whose lists were asked for and whose documents were not.
    ready: VecDeque<Near>,
    ended: bool,
    /// A bit for each text: a limit cut its candidates.
    cut: Column<u64>,
    /// How many were cut.
    pub(crate) truncated: u64,
    /// Documents without text, and documents too short for the method.
    pub(crate) empty: u64,
    pub(crate) short: u64,
    bytes: usize,
}

/// A text and what it resembles.
struct Near {
    text: u32,
    /// Candidates that were compared.
    compared: u64,
    edges: Vec<Edge>,
}

impl Columns {
    /// Finds the neighbours of all texts. `texts` has the documents by number; where the first `old` of them are another side, only edges
    /// of the others with them are asked for.
    pub(crate) fn graph(
        self,
        comparer: Comparer,
        old: Option<u32>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Graph, DedupError> {
        let Self { options, mut candidates, hashes, outlines, short, room, .. } = self;
        let threads = options.threads;
        let taking = Order::Input(hashes.len());
        let groups = Groups::new(&hashes, &taking, None, &room, threads, cancel)?;
        let columns = hashes.bytes() + outlines.bytes();
        let empty = hashes.empty_from(0);
        drop(hashes);
        let sketches = Sketches { preparer: comparer.preparer(), texts };
        candidates.settle(&groups, &sketches, threads, cancel)?;
        let cut = Column::made(&room, (groups.len() as usize).div_ceil(64), |_| 0u64)?;
        let old_texts = old.map(|old| groups.led_before(old));
        let from = old_texts.unwrap_or_default();
        Ok(Graph {
            bytes: columns + candidates.bytes() + groups.bytes() + cut.bytes(),
            comparer,
            candidates,
            groups,
            outlines,
            limit: options.max_verifications,
            threads,
            from,
            below: old_texts.unwrap_or(u32::MAX),
            passed: from,
            ready: VecDeque::new(),
            ended: false,
            cut,
            truncated: 0,
            empty,
            short,
            taking,
            room,
        })
    }
}

impl Graph {
    pub(crate) fn comparer(&self) -> &Comparer {
        &self.comparer
    }

    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Whether a limit cut the candidates of a text whose documents were asked for.
    pub(crate) fn is_truncated(&self, text: u32) -> bool {
        self.cut[text as usize / 64] >> (text % 64) & 1 == 1
    }

    /// Bytes held at most for the documents and texts.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// The edges of the next documents: behind those of the last call, or of the other side. `texts` has all documents by number.
    pub(crate) fn edges(
        &mut self,
        documents: Range<u32>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Edges, DedupError> {
        let firsts = documents.clone().filter(|&one| self.groups.text_led_by(one).is_some());
        let first = self.passed;
        self.passed += firsts.count() as u32;
        while !self.ended && self.ready.back().is_none_or(|near| near.text + 1 < self.passed) {
            self.compare(texts, cancel)?;
        }
        let mut edges = Edges {
            numbers: documents.map(|document| self.groups.text(document)).collect(),
            first,
            of: vec![Vec::new(); (self.passed - first) as usize],
            candidates: 0,
        };
        while self.ready.front().is_some_and(|near| near.text < self.passed) {
            let Some(near) = self.ready.pop_front() else { break };
            edges.candidates += near.compared;
            edges.of[(near.text - first) as usize] = near.edges;
        }
        Ok(edges)
    }

    /// Compares the texts of the next lists.
    fn compare(&mut self, texts: &dyn Texts, cancel: &AtomicBool) -> Result<(), DedupError> {
        let Self { comparer, candidates, groups, outlines, taking, room, limit, threads, .. } =
            self;
        let (limit, threads, from, below) = (*limit, *threads, self.from, self.below);
        let lists = candidates.next(limit, threads, cancel)?;
        self.ended = lists.is_empty();
        for Listed { text, found } in &lists {
            if found.cut {
                self.cut[*text as usize / 64] |= 1 << (text % 64);
                self.truncated += 1;
            }
        }
        let stage = Stage {
            comparer,
            groups,
            order: taking,
            outlines,
            texts: ByText { groups, texts },
            known: 0,
            limit,
            threads,
            room,
            cancel,
        };
        let new = lists.into_iter().filter(|listed| listed.text >= from);
        let mut slots: Vec<(Listed, Near)> = new
            .map(|listed| {
                let near = Near { text: listed.text, compared: 0, edges: Vec::new() };
                (listed, near)
            })
            .collect();
        parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
            let (Listed { text, found }, near) = slot;
            let mut list = mem::take(&mut found.candidates);
            list.retain(|other| other.number < below);
            near.compared = list.len() as u64;
            stage.retain(*text, &mut list)?;
            list.sort_unstable_by_key(|other| other.number);
            if list.is_empty() {
                return Ok(());
            }
            let own = stage.side(*text, scratch)?;
            for other in list {
                let similarity = stage.similarity_to((*text, &own), other.number, None, scratch)?;
                near.edges.extend(similarity.map(|similarity| Edge { text: other, similarity }));
            }
            Ok(())
        })?;
        self.ready.extend(slots.into_iter().map(|(_, near)| near));
        Ok(())
    }
}
