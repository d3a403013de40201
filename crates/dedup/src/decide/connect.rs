//! Components: every match joins, in parallel, and what is connected already is not compared again.

use super::find::Case;
use super::{Decider, Document, Texts, Verdict};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;

/// A different text that is new, with its candidates.
struct Joining<'a> {
    number: u32,
    case: &'a Case,
    /// Older and newer ones by their number, in the order in which they are compared.
    candidates: Vec<Candidate>,
}

impl Decider {
    /// Verdicts of a batch; every different text is new, and its matches are joined with it.
    pub(super) fn connect(
        &mut self,
        documents: &[Document<'_>],
        cases: &[Case],
        taken: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Verdict>, DedupError> {
        let first = self.equal.len();
        let mut next = first;
        // By leader: the number of its text, and its place in the batch by that number.
        let mut numbers: Vec<Option<u32>> = vec![None; documents.len()];
        let mut leaders = Vec::new();
        let mut verdicts = Vec::with_capacity(documents.len());
        for (index, (document, own)) in documents.iter().zip(cases).enumerate() {
            if document.sketch.empty {
                verdicts.push(Verdict::New { empty: true });
                continue;
            }
            if let Some(of) = cases[own.leader].equal.or(numbers[own.leader]) {
                verdicts.push(Verdict::Duplicate { of, relation: self.equal_relation() });
                continue;
            }
            numbers[own.leader] = Some(next);
            leaders.push(index);
            next = next.checked_add(1).ok_or(DedupError::TooMany)?;
            verdicts.push(Verdict::New { empty: false });
        }
        if let Some(components) = &mut self.components {
            components.grow(next);
        }
        let limit = self.options.max_verifications;
        let mut joining = Vec::new();
        for (number, &leader) in (first..).zip(&leaders) {
            let case = &cases[leader];
            let before = case.newer.iter().filter(|found| (found.number as usize) < leader);
            let newer = before.filter_map(|found| {
                Some(Candidate { number: numbers[found.number as usize]?, rank: found.rank })
            });
            let mut candidates: Vec<Candidate> = case.older.iter().copied().chain(newer).collect();
            candidates.sort_unstable_by_key(|candidate| (candidate.rank, candidate.number));
            self.truncated += u64::from(case.cut || candidates.len() > limit);
            candidates.truncate(limit);
            if !candidates.is_empty() {
                joining.push(Joining { number, case, candidates });
            }
        }
        let case_of = |number: u32| number.checked_sub(first).map(|n| &cases[leaders[n as usize]]);
        self.join(&mut joining, case_of, taken, cancel)?;
        Ok(verdicts)
    }

    fn join<'a>(
        &self,
        joining: &mut [Joining<'a>],
        case_of: impl Fn(u32) -> Option<&'a Case> + Sync,
        taken: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(components) = &self.components else { return Ok(()) };
        let threads = self.options.threads;
        parallel::for_each(joining, threads, cancel, Scratch::default, |scratch, new| {
            for candidate in &new.candidates {
                if components.connected(new.number, candidate.number) {
                    continue;
                }
                let matches = if let Some(verifier) = &self.verifier {
                    let (own, least) = (&new.case.evidence, verifier.least);
                    let reaches = |theirs: &_| verifier.similarity(own, theirs, least).is_some();
                    let number = candidate.number;
                    if let Some(other) = case_of(number) {
                        reaches(&other.evidence)
                    } else {
                        self.evidence_of(verifier, number, taken, scratch, reaches)?
                    }
                } else {
                    true
                };
                if matches {
                    components.join(new.number, candidate.number);
                }
            }
            Ok(())
        })
    }
}
