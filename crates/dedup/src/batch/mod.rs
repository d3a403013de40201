//! Documents to decisions by sorting: all documents first, then each stage over all of them.
//!
//! ```text
//! sketch          hash of the text, outline, keys, of each document             parallel, while it is read
//! exact groups    hashes sorted: texts and their first documents                parallel by part
//! bands           keys sorted, but for those that stand alone: buckets          parallel by part
//! pairs           lists of candidates by text, cut by the limits                parallel by text
//! verify          comparisons: around representatives, or for components        parallel by text
//! cluster, keep   the document that each cluster keeps
//! ```
//!
//! The decisions are those of the [`Decider`](crate::decide::Decider), which takes documents one after the other and is the oracle in
//! the tests here: the rule is a function of the documents in their order. Methods differ in what [`candidates`] says.

mod across;
mod bands;
mod buckets;
mod candidates;
mod climb;
mod connect;
mod crowd;
mod edges;
mod entries;
mod few;
mod fingerprints;
mod groups;
mod join;
mod levels;
mod lists;
mod near;
mod nearest;
mod order;
mod outside;
mod pairs;
mod pieces;
mod represent;
mod sample;
mod sentences;
mod settled;
mod sheaf;
mod sort;
pub(crate) mod spread;
#[cfg(test)]
mod tests;
pub(crate) mod varint;
mod windows;

use crate::checkpoint::{Given, Restoring, Saving, Stage as Made, Stages};
use crate::decide::{Comparer, Side, Texts};
use crate::error::DedupError;
use crate::keep::Key;
use crate::method::{Candidate, Method};
use crate::options::{Cluster, DedupOptions};
use across::{Across, Inputs};
pub(crate) use candidates::{Candidates, Gathered, Gathering, Growing};
use candidates::{Sketches, candidates};
pub(crate) use edges::Graph;
pub(crate) use groups::Groups;
use groups::Hashes;
use order::{Keys, Order};
use represent::{ByText, Representatives};
pub(crate) use represent::{Compared, TEXTS_AT_ONCE};
pub(crate) use settled::Settled;
use settled::Verified;

use simhash_sketch::{Outline, Prepared, Scratch};
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// What is known of the documents after the first stage.
///
/// Bytes per document: 17 of its text's hash, 40 of its outline where texts are verified by their features, its key where the
/// keep rule has one (8 bytes and its length as text), and its sketch: 5.2 for each band, 8.1 of a fingerprint, 8 to 9 for each
/// sentence; until the documents are settled. Then 12 per document and 8 per text, 16 per text that is a duplicate. What is made of
/// sketches takes 4 to 20 for each key that texts share; of fingerprints 20 per text, 16 while they are joined, and 12 for each pair of
/// near ones, of which there are at most 16 for each, or 8 where memory is bounded. Sketches of sets are held whole. All else lies in
/// memory, or where that is bounded in temporary files.
pub(crate) struct Columns {
    options: DedupOptions,
    candidates: Box<dyn Candidates>,
    hashes: Hashes,
    outlines: Column<Outline>,
    keys: Keys,
    count: u32,
    short: u64,
    /// Documents that were there already.
    known: u32,
    /// Where documents of one input are not compared: the inputs.
    inputs: Option<Inputs>,
    /// What was made of them in an earlier run, and need not be kept here.
    made: Made,
    room: Room,
}

impl Columns {
    /// Nothing yet, and what prepares texts for it; all in memory.
    #[cfg(test)]
    pub(crate) fn new(options: &DedupOptions) -> Result<(Comparer, Self), DedupError> {
        Self::within(options, &Room::default())
    }

    /// Nothing yet, and what prepares texts for it.
    pub(crate) fn within(
        options: &DedupOptions,
        room: &Room,
    ) -> Result<(Comparer, Self), DedupError> {
        options.check()?;
        let candidates = candidates(options, room)?;
        let comparer = Comparer::within(options, candidates.sketcher(), room)?;
        let columns = Self {
            options: options.clone(),
            candidates,
            hashes: Hashes::new(room)?,
            outlines: Column::new(room)?,
            keys: Keys::new(room)?,
            count: 0,
            short: 0,
            known: 0,
            inputs: None,
            made: Made::Begun,
            room: room.clone(),
        };
        Ok((comparer, columns))
    }

    /// How many documents there are.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// What is kept of documents beside hashes and sketches.
    pub(crate) fn given(&self) -> Given {
        let compares = self.options.min_similarity.is_some();
        let outlines = compares && self.options.method != Method::Exact;
        Given { outlines, keys: self.options.keep.has_key() }
    }

    /// Documents are compared with those of other inputs only.
    pub(crate) fn across(self) -> Self {
        let candidates = Box::new(Across::new(self.candidates));
        Self { candidates, inputs: Some(Inputs::default()), ..self }
    }

    /// The next documents are of this input.
    pub(crate) fn begin(&mut self, input: u32) {
        if let Some(inputs) = &mut self.inputs {
            inputs.begin(input, self.count);
        }
    }

    /// An earlier run has done all stages up to this one.
    pub(crate) fn go_on(&mut self, made: Made) {
        self.made = made;
    }

    /// What was pushed so far was there already: only what comes is counted. For the first of a representative's cluster.
    pub(crate) fn end_known(&mut self) {
        (self.known, self.short) = (self.len(), 0);
    }

    /// How the sketches of documents are put for [`Columns::take`].
    pub(crate) fn gathering(&self) -> Gathering {
        self.candidates.gathering()
    }

    /// Takes the sketches of the documents that were pushed since the last call.
    pub(crate) fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        if self.made < Made::Candidates { self.candidates.take(gathered) } else { Ok(()) }
    }

    /// Takes the next document, prepared by [`Comparer::outline`]; its sketch comes by [`Columns::take`].
    pub(crate) fn push(&mut self, prepared: &Prepared, key: &Key) -> Result<(), DedupError> {
        if self.len() == entries::MOST {
            return Err(DedupError::TooMany);
        }
        self.count += 1;
        self.short += u64::from(prepared.is_short);
        let Given { outlines, keys } = self.given();
        if keys {
            self.keys.push(key)?;
        }
        if self.made < Made::Groups {
            self.hashes.push((!prepared.is_empty).then_some(prepared.exact))?;
        }
        if outlines && self.made < Made::Verified {
            self.outlines.push(prepared.outline)?;
        }
        Ok(())
    }

    /// Decides. `texts` has the documents by number; `tick` gets the texts found to be duplicates so far, every now and then, on this
    /// thread. Each stage is kept in `stages` when it has ended, and one that was kept there is not done again.
    pub(crate) fn settle(
        self,
        comparer: Comparer,
        texts: &dyn Texts,
        tick: &mut dyn FnMut(u64),
        mut stages: Option<&mut Stages>,
        cancel: &AtomicBool,
    ) -> Result<Settled, DedupError> {
        let Self { options, mut candidates, hashes, outlines, keys, count, .. } = self;
        let Self { short, known, inputs, room, .. } = self;
        let keeping = keys.order(&options.keep, count, &room, cancel)?;
        let columns = hashes.bytes() + outlines.bytes() + keys.bytes();
        drop(keys);
        let mut kept = stages.as_mut().and_then(|stages| stages.take());
        let components = options.cluster == Cluster::Components;
        let input = Order::Input(count);
        let taking = if components { &input } else { &keeping };
        let threads = options.threads;
        let mut figures = Figures { columns: columns as u64, ..Figures::default() };
        let groups = if let Some((_, from)) = &mut kept {
            figures = Figures::restore(from)?;
            Groups::restore(from, count, inputs.as_ref(), &room)?
        } else {
            figures.empty = hashes.empty_from(known);
            let groups = Groups::new(&hashes, taking, inputs.as_ref(), &room, threads, cancel)?;
            if let Some(stages) = &mut stages {
                stages.save(Made::Groups, cancel, |to| {
                    figures.save(to)?;
                    groups.save(to)
                })?;
            }
            groups
        };
        drop(hashes);
        let sketches = Sketches { preparer: comparer.preparer(), texts };
        match &mut kept {
            Some((Made::Candidates, from)) => candidates.restore(from, &groups)?,
            Some((Made::Verified, _)) => {}
            _ => {
                candidates.settle(&groups, &sketches, threads, cancel)?;
                if let Some(stages) = stages.as_mut().filter(|_| candidates.can_be_kept()) {
                    stages.save(Made::Candidates, cancel, |to| {
                        figures.save(to)?;
                        groups.save(to)?;
                        candidates.save(to)
                    })?;
                }
            }
        }
        let stage = Stage {
            comparer: &comparer,
            groups: &groups,
            order: taking,
            outlines: &outlines,
            texts: ByText { groups: &groups, texts },
            known: groups.led_before(known),
            limit: options.max_verifications,
            threads,
            room: &room,
            cancel,
        };
        let verified = if let Some((Made::Verified, from)) = &mut kept {
            Verified::restore(from, components, &groups, &room)?
        } else {
            let (candidates, cut) = (&mut *candidates, &mut figures.truncated);
            let verified = if components {
                Verified::Components(connect::connect(&stage, candidates, cut, tick)?)
            } else {
                let decided = Representatives::decide(&stage, candidates, cut, tick)?;
                Verified::Representatives(Box::new(decided))
            };
            figures.columns += candidates.bytes() as u64;
            if let Some(stages) = &mut stages {
                stages.save(Made::Verified, cancel, |to| {
                    figures.save(to)?;
                    groups.save(to)?;
                    verified.save(to, groups.len())
                })?;
            }
            verified
        };
        if let Some((_, from)) = kept {
            from.end()?;
        }
        let growing = candidates.growing()?;
        drop(candidates);
        let mut settled = Settled::new(
            comparer,
            groups,
            verified,
            (&keeping, inputs.as_ref()),
            known,
            (&room, threads, cancel),
        )?;
        settled.growing = growing;
        let summary = &mut settled.summary;
        (summary.empty, summary.short) = (figures.empty, short);
        summary.truncated = figures.truncated;
        summary.index_bytes += figures.columns;
        Ok(settled)
    }
}

/// What the summary says of stages that are done.
#[derive(Clone, Copy, Default)]
struct Figures {
    /// Bytes of columns that are needed no more.
    columns: u64,
    empty: u64,
    /// Texts whose candidates a limit cut.
    truncated: u64,
}

impl Figures {
    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.numbers(&[self.columns, self.empty, self.truncated])
    }

    fn restore(from: &mut Restoring) -> Result<Self, DedupError> {
        let [columns, empty, truncated] = from.numbers()?;
        Ok(Self { columns, empty, truncated })
    }
}

/// The similarity of equal texts of several inputs: more than that of any others.
const EQUAL: f64 = f64::INFINITY;

/// What the stages after the bands work with.
struct Stage<'a> {
    comparer: &'a Comparer,
    groups: &'a Groups,
    /// The documents in the order of taking.
    order: &'a Order,
    /// By document; none where nothing is verified.
    outlines: &'a [Outline],
    texts: ByText<'a>,
    /// Texts that known documents have.
    known: u32,
    /// Most candidates of a text.
    limit: usize,
    threads: usize,
    room: &'a Room,
    cancel: &'a AtomicBool,
}

impl Stage<'_> {
    /// Whether two texts can reach the threshold, as far as can be told without reading them again.
    fn may_match(&self, a: u32, b: u32) -> bool {
        if self.groups.are_equal(a, b) {
            return true;
        }
        let outline = |text| self.outlines.get(self.groups.first(text) as usize);
        outline(a).zip(outline(b)).is_none_or(|(a, b)| self.comparer.may_match(a, b))
    }

    /// Takes those out of a text's candidates that cannot match it, and brings the memory into its bound meanwhile.
    fn retain(&self, text: u32, candidates: &mut Vec<Candidate>) -> Result<(), DedupError> {
        let mut relieved = Ok(());
        candidates.retain(|near| {
            if relieved.is_ok() {
                relieved = self.room.relieve();
            }
            self.may_match(text, near.number)
        });
        Ok(relieved?)
    }

    /// The similarity of two texts where it reaches the threshold, and `least` where that is given; 0 without verification, and [`EQUAL`].
    fn similarity(
        &self,
        (a, own): (u32, &Side),
        (b, theirs): (u32, &Side),
        least: Option<f64>,
    ) -> Option<f64> {
        if self.groups.are_equal(a, b) {
            return Some(EQUAL);
        }
        self.comparer.similarity_of_sides(own, theirs, least)
    }

    /// The same of a text that is read if it must be.
    fn similarity_to(
        &self,
        (a, own): (u32, &Side),
        b: u32,
        least: Option<f64>,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, DedupError> {
        if self.groups.are_equal(a, b) {
            return Ok(Some(EQUAL));
        }
        self.room.relieve()?;
        self.comparer.similarity_to(own, b, least, &self.texts, scratch)
    }

    fn side(&self, text: u32, scratch: &mut Scratch) -> Result<Side, DedupError> {
        self.room.relieve()?;
        self.comparer.side(text, &self.texts, scratch)
    }
}
