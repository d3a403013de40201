//! The first step: groups of equal texts, the candidates of each different one, and what comparing them needs.

use super::{Decider, Document};
use crate::error::DedupError;
use crate::method::{Candidate, Found};
use crate::options::Cluster;
use crate::parallel;
use crate::verify::Evidence;
use ahash::AHashMap;
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;

/// What the parallel steps know of one document of a batch.
#[derive(Default)]
pub(super) struct Case {
    index: usize,
    /// The first document of the batch with the equal text, which may be this one. Only that one's
    /// other fields are filled.
    pub(super) leader: usize,
    /// A document taken in before with the equal text.
    pub(super) equal: Option<u32>,
    /// Candidates taken in before, by rank, then age.
    pub(super) older: Vec<Candidate>,
    /// Whether `max_verifications` cut `older`.
    pub(super) cut: bool,
    /// Candidates in the batch, by their place in it; by rank, then age. Those before it, and those after it where a
    /// copy of it follows: a representative that came between the two is a candidate of the copy.
    pub(super) newer: Vec<Candidate>,
    /// Whether it is a candidate of a later one.
    is_wanted: bool,
    /// Whether a copy of it follows in the batch.
    is_followed: bool,
    /// What verification compares, where there is anything to compare it with.
    pub(super) evidence: Evidence,
    /// The older matches that are better than all before them, by place. Wherever the list is
    /// cut, the best of the rest is the last entry before the cut.
    pub(super) best_so_far: Vec<Scored>,
}

/// A candidate of sufficient similarity, with its place in the list of candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) place: usize,
    pub(super) similarity: f64,
}

impl Scored {
    /// The order among matches: more similar, then older.
    pub(super) fn beats(&self, other: &Self) -> bool {
        self.similarity > other.similarity
            || (self.similarity.to_bits() == other.similarity.to_bits()
                && self.candidate.number < other.candidate.number)
    }
}

impl Case {
    fn has_candidates(&self) -> bool {
        !self.older.is_empty() || !self.newer.is_empty()
    }
}

impl Decider {
    /// Groups equal texts and asks the method about each different one.
    pub(super) fn find(
        &self,
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<Vec<Case>, DedupError> {
        let mut first: AHashMap<u128, usize> = AHashMap::with_capacity(documents.len());
        let mut cases: Vec<Case> = Vec::with_capacity(documents.len());
        let (mut asking, mut rows) = (Vec::new(), Vec::new());
        for (index, Document { sketch, .. }) in documents.iter().enumerate() {
            // Two empty texts are not equal.
            let exact = (!sketch.empty).then_some(sketch.exact);
            let leader = exact.map_or(index, |exact| *first.entry(exact).or_insert(index));
            let mut case = Case { index, leader, ..Case::default() };
            if leader == index {
                case.equal = exact.and_then(|exact| self.equal.get(exact));
                if case.equal.is_none() && !sketch.row.is_empty() {
                    asking.push(index);
                    rows.push(sketch.row.as_slice());
                }
            }
            cases.push(case);
            cases[leader].is_followed |= leader != index;
        }
        let found = self.sieve.search(&rows, self.limit(), self.options.threads, cancel)?;
        let among = self.sieve.among(&rows, self.options.threads, cancel)?;
        for ((&index, found), newer) in asking.iter().zip(found).zip(among) {
            let Found { mut candidates, cut } = found;
            for candidate in &mut candidates {
                candidate.number = self.sketched[candidate.number as usize];
            }
            cases[index].older = candidates;
            cases[index].cut = cut;
            for Candidate { number, rank } in newer {
                let earlier = asking[number as usize];
                cases[index].newer.push(Candidate { number: earlier as u32, rank });
                cases[earlier].is_wanted = true;
                if cases[earlier].is_followed {
                    cases[earlier].newer.push(Candidate { number: index as u32, rank });
                }
            }
        }
        for case in cases.iter_mut().filter(|case| case.is_followed) {
            case.newer.sort_unstable_by_key(|found| (found.rank, found.number));
        }
        Ok(cases)
    }

    /// Most candidates that one document can need.
    fn limit(&self) -> usize {
        // The first is the original, unless the others are compared or joined.
        let first_wins = !self.verifies() && self.options.cluster == Cluster::Representative;
        if first_wins { 1 } else { self.options.max_verifications }
    }

    /// Gathers the evidence that comparing will need.
    pub(super) fn gather(
        &self,
        cases: &mut [Case],
        documents: &[Document<'_>],
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(verifier) = &self.verifier else { return Ok(()) };
        let threads = self.options.threads;
        parallel::for_each(cases, threads, cancel, Scratch::default, |scratch, case| {
            if case.has_candidates() || case.is_wanted {
                case.evidence = verifier.evidence(documents[case.index].text, scratch);
            }
            Ok(())
        })
    }
}
