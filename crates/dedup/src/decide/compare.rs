//! The parallel steps: candidates among the documents kept before the batch, and their similarities.

use super::{Decider, Document, KeptTexts};
use crate::error::DedupError;
use crate::parallel;
use crate::verify::jaccard_at_least;
use ahash::AHashMap;
use simhash_index::{Item, SearchOptions};
use simhash_sketch::{Scratch, hamming};
use std::sync::atomic::AtomicBool;

/// What the parallel steps know of one document of a batch.
#[derive(Default)]
pub(super) struct Case {
    index: usize,
    /// The first document of the batch with the equal text, which may be this one. Only that one's
    /// other fields are filled.
    pub(super) leader: usize,
    /// An older kept document with the equal text.
    pub(super) equal: Option<u32>,
    /// Older kept documents within `max_distance`, nearest first, then oldest first.
    pub(super) older: Vec<Candidate>,
    /// Whether `max_verifications` cut `older`.
    pub(super) cut: bool,
    /// Whether another text of the batch is within `max_distance`.
    neighbours: bool,
    /// Sorted distinct feature hashes, where there is anything to compare them with.
    pub(super) shingles: Vec<u64>,
    /// The older matches that are better than all nearer ones, by rank. Whatever rank the list is
    /// cut at, the best of the rest is the last entry before the cut.
    pub(super) best_so_far: Vec<Scored>,
}

/// A kept document that may be near.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) ordinal: u32,
    pub(super) distance: u32,
}

/// A candidate of sufficient similarity, with its position in the list of candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) rank: usize,
    pub(super) similarity: f64,
}

impl Scored {
    /// The order among matches: more similar, then older.
    pub(super) fn beats(&self, other: &Self) -> bool {
        self.similarity > other.similarity
            || (self.similarity.to_bits() == other.similarity.to_bits()
                && self.candidate.ordinal < other.candidate.ordinal)
    }
}

impl Decider {
    /// Groups equal texts and searches the index for each different one.
    pub(super) fn find(
        &self,
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<Vec<Case>, DedupError> {
        let mut first: AHashMap<u128, usize> = AHashMap::with_capacity(documents.len());
        let mut cases: Vec<Case> = Vec::with_capacity(documents.len());
        let (mut asking, mut fingerprints) = (Vec::new(), Vec::new());
        for (index, document) in documents.iter().enumerate() {
            let Sketched { exact, fingerprint } = match &document.sketch {
                sketch if sketch.empty => Sketched::default(),
                sketch => Sketched { exact: Some(sketch.exact), fingerprint: sketch.fingerprint },
            };
            let leader = exact.map_or(index, |exact| *first.entry(exact).or_insert(index));
            let mut case = Case { index, leader, ..Case::default() };
            if leader == index {
                case.equal = exact.and_then(|exact| self.exact.get(exact));
                if let (None, Some(fingerprint)) = (case.equal, fingerprint) {
                    asking.push(index);
                    fingerprints.push(fingerprint);
                }
            }
            cases.push(case);
        }
        self.search(&mut cases, &asking, &fingerprints, cancel)?;
        self.mark_neighbours(&mut cases, &asking, &fingerprints, cancel)?;
        Ok(cases)
    }

    fn search(
        &self,
        cases: &mut [Case],
        asking: &[usize],
        fingerprints: &[u64],
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        // Without verification only the nearest counts.
        let limit = if self.verifies() { self.options.max_verifications } else { 1 };
        let options = SearchOptions { max_distance: None, limit: Some(limit) };
        let items: Vec<Item> = fingerprints.iter().map(|&value| Item::Fingerprint(value)).collect();
        let answers = self.index.search_many(&items, options, self.options.threads, cancel)?;
        for (&index, answer) in asking.iter().zip(answers) {
            cases[index].cut = answer.truncated;
            cases[index].older = answer
                .matches
                .iter()
                .map(|found| Candidate {
                    ordinal: self.fingerprinted[found.id as usize],
                    distance: found.distance,
                })
                .collect();
        }
        Ok(())
    }

    /// Notes which texts have a near one in their own batch: those will need their shingles.
    fn mark_neighbours(
        &self,
        cases: &mut [Case],
        asking: &[usize],
        fingerprints: &[u64],
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if !self.verifies() {
            return Ok(());
        }
        let mut marks: Vec<(u64, bool)> =
            fingerprints.iter().map(|&value| (value, false)).collect();
        parallel::for_each(
            &mut marks,
            self.options.threads,
            cancel,
            || (),
            |(), mark| {
                let mut hits = 0; // itself is one
                hamming::within(fingerprints, mark.0, self.options.max_distance, |_, _| hits += 1);
                mark.1 = hits > 1;
                Ok(())
            },
        )?;
        for (&index, mark) in asking.iter().zip(marks) {
            cases[index].neighbours = mark.1;
        }
        Ok(())
    }

    /// Computes the shingles that will be needed, and the similarity of older candidates.
    pub(super) fn compare(
        &self,
        cases: &mut [Case],
        documents: &[Document<'_>],
        kept: &dyn KeptTexts,
        least: f64,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let threads = self.options.threads;
        parallel::for_each(cases, threads, cancel, Scratch::default, |scratch, case| {
            if case.older.is_empty() && !case.neighbours {
                return Ok(());
            }
            let text = documents[case.index].text;
            self.fingerprinter.shingles(text, scratch, &mut case.shingles);
            let mut best: Option<Scored> = None;
            for (rank, &candidate) in case.older.iter().enumerate() {
                // Nothing below the best so far can replace it.
                let least = best.map_or(least, |best| best.similarity);
                let similarity =
                    self.kept_shingles(candidate.ordinal, kept, scratch, |theirs| {
                        jaccard_at_least(&case.shingles, theirs, least)
                    })?;
                let Some(similarity) = similarity else { continue };
                let scored = Scored { candidate, rank, similarity };
                if best.is_none_or(|best| scored.beats(&best)) {
                    best = Some(scored);
                    case.best_so_far.push(scored);
                }
            }
            Ok(())
        })
    }
}

/// A sketch without the empty text's hash, so that two empty texts are not equal.
#[derive(Default)]
struct Sketched {
    exact: Option<u128>,
    fingerprint: Option<u64>,
}
