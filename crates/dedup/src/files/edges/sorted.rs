//! Edges of files: all documents are read, and the lists of all texts are found by sorting.

use super::super::sorted::{Sides, Sketching};
use super::{Known, Own, Run, Taken};
use crate::batch::{Columns, Graph};
use crate::decide::{BATCH_DOCUMENTS, Comparer};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::report::{Stage, Summary};
use simhash_store::Room;

/// The batch core.
pub(super) struct Sorted {
    comparer: Comparer,
    columns: Columns,
    room: Room,
}

impl Known for Graph {
    fn comparer(&self) -> &Comparer {
        self.comparer()
    }

    fn is_truncated(&self, text: u32) -> bool {
        self.is_truncated(text)
    }

    fn record(&self, text: u32) -> u32 {
        self.groups().first(text)
    }
}

impl Sorted {
    pub(super) fn new(options: &DedupOptions, room: &Room) -> Result<Self, DedupError> {
        let (comparer, columns) = Columns::within(options, room)?;
        Ok(Self { comparer, columns, room: room.clone() })
    }

    /// Calls `each` with all documents, batch by batch.
    pub(super) fn pairs(
        mut self,
        run: &mut Run<'_, '_>,
        each: impl FnMut(&mut Run<'_, '_>, &dyn Known, Taken<'_>) -> Result<(), DedupError>,
    ) -> Result<u64, DedupError> {
        self.read(run, &mut Sides::default(), u32::MAX)?;
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        let graph = self.walk(run, None, each)?;
        run.edges.truncated = graph.truncated;
        Ok(graph.bytes())
    }

    /// Calls `each` with the documents behind those of the first `inputs`, batch by batch.
    pub(super) fn matches(
        mut self,
        inputs: u32,
        run: &mut Run<'_, '_>,
        each: impl FnMut(&mut Run<'_, '_>, &dyn Known, Taken<'_>) -> Result<(), DedupError>,
    ) -> Result<u64, DedupError> {
        let mut sides = Sides::default();
        self.read(run, &mut sides, inputs)?;
        let (old, documents) = (run.turn()?, self.columns.len());
        self.read(run, &mut sides, u32::MAX)?;
        run.check_used()?;
        run.edges.documents = run.counts.kept;
        run.counts.add(old);
        run.before = 0;
        let graph = self.walk(run, Some(documents), each)?;
        Ok(graph.bytes())
    }

    /// Reads the inputs below `inputs`.
    fn read(
        &mut self,
        run: &mut Run<'_, '_>,
        sides: &mut Sides,
        inputs: u32,
    ) -> Result<(), DedupError> {
        let Run { intake, threads, rejects, before, counts, throttle, given, old, .. } = run;
        let documents = self.columns.len();
        let sketching = Sketching {
            comparer: &self.comparer,
            columns: &mut self.columns,
            rejects,
            counts,
            longest: false,
            before: *before - u64::from(documents),
            threads: *threads,
            room: &self.room,
            journal: None,
            ids: given.as_mut().map(|given| (given, u64::from(inputs > *old))),
        };
        sketching.read(intake, throttle, |reading| sides.next(reading, inputs))?;
        let Summary { read, kept, .. } = &mut run.counts;
        *kept = u64::from(self.columns.len() - documents);
        *read += *kept;
        Ok(())
    }

    /// Finds the edges, of documents behind the first `old` ones, and calls `each` with one batch after the other.
    fn walk(
        self,
        run: &mut Run<'_, '_>,
        old: Option<u32>,
        mut each: impl FnMut(&mut Run<'_, '_>, &dyn Known, Taken<'_>) -> Result<(), DedupError>,
    ) -> Result<Graph, DedupError> {
        let count = self.columns.len();
        let cancel = run.intake.cancel;
        let mut graph = self.columns.graph(self.comparer, old, &run.intake.records, cancel)?;
        (run.counts.empty, run.counts.short) = (graph.empty, graph.short);
        let mut from = old.unwrap_or_default();
        while from < count {
            let to = count.min(from + BATCH_DOCUMENTS as u32);
            let edges = graph.edges(from..to, &run.intake.records, cancel)?;
            run.edges.candidates += edges.candidates;
            each(run, &graph, Taken::new(Own::Records(from), edges))?;
            run.report(Stage::Dedup);
            from = to;
        }
        Ok(graph)
    }
}
