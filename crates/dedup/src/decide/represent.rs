//! Clusters around a kept document: the older candidates compared in parallel, then one choice after the other.

use super::find::{Case, Scored};
use super::{Decider, Document, Relation, Texts, Verdict};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_sketch::Scratch;
use std::sync::atomic::{AtomicBool, Ordering};

impl Decider {
    /// Computes the similarity of the older candidates.
    pub(super) fn compare(
        &self,
        cases: &mut [Case],
        taken: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let Some(verifier) = &self.verifier else { return Ok(()) };
        let threads = self.options.threads;
        parallel::for_each(cases, threads, cancel, Scratch::default, |scratch, case| {
            let mut best: Option<Scored> = None;
            for (place, &candidate) in case.older.iter().enumerate() {
                // Nothing below the best so far can replace it.
                let least = best.map_or(verifier.least, |best| best.similarity);
                let number = candidate.number;
                let similarity = self.evidence_of(verifier, number, taken, scratch, |theirs| {
                    verifier.similarity(&case.evidence, theirs, least)
                })?;
                let Some(similarity) = similarity else { continue };
                let scored = Scored { candidate, place, similarity };
                if best.is_none_or(|best| scored.beats(&best)) {
                    best = Some(scored);
                    case.best_so_far.push(scored);
                }
            }
            Ok(())
        })
    }

    /// In order: adds the candidates kept within the batch, and chooses.
    pub(super) fn choose_in_order(
        &mut self,
        documents: &[Document<'_>],
        cases: &[Case],
        cancel: &AtomicBool,
    ) -> Result<Vec<Verdict>, DedupError> {
        let mut next = self.equal.len();
        // By leader: the number of its text, once it is kept.
        let mut kept: Vec<Option<u32>> = vec![None; documents.len()];
        let mut verdicts = Vec::with_capacity(documents.len());
        for (document, own) in documents.iter().zip(cases) {
            if cancel.load(Ordering::Relaxed) {
                return Err(DedupError::Cancelled);
            }
            if document.sketch.empty {
                verdicts.push(Verdict::New { empty: true });
                continue;
            }
            let case = &cases[own.leader];
            if let Some(of) = case.equal.or(kept[own.leader]) {
                verdicts.push(Verdict::Duplicate { of, relation: self.equal_relation() });
                continue;
            }
            let (duplicate, cut) = self.choose(case, cases, &kept);
            self.truncated += u64::from(cut);
            if let Some(verdict) = duplicate {
                verdicts.push(verdict);
                continue;
            }
            kept[own.leader] = Some(next);
            next = next.checked_add(1).ok_or(DedupError::TooMany)?;
            verdicts.push(Verdict::New { empty: false });
        }
        Ok(verdicts)
    }

    /// The original among older and newer candidates, and whether the list was cut.
    fn choose(&self, case: &Case, cases: &[Case], kept: &[Option<u32>]) -> (Option<Verdict>, bool) {
        // Those of the batch that were kept, with the place of their case. A copy of a duplicate may be kept later than
        // that one's place says.
        let mut newer: Vec<(usize, Candidate)> = case
            .newer
            .iter()
            .filter_map(|found| {
                let number = kept[found.number as usize]?;
                Some((found.number as usize, Candidate { number, ..*found }))
            })
            .collect();
        newer.sort_unstable_by_key(|(_, candidate)| (candidate.rank, candidate.number));
        let Some(verifier) = &self.verifier else {
            // Older ones come first: of equal rank they win.
            let newest = newer.iter().map(|&(_, candidate)| candidate);
            let nearest = case.older.iter().copied().chain(newest).min_by_key(|c| c.rank);
            return (nearest.map(|candidate| self.duplicate(candidate, None)), false);
        };
        let limit = self.options.max_verifications;
        let cut = case.cut || case.older.len() + newer.len() > limit;
        // An older candidate is pushed back by newer ones of strictly smaller rank.
        let place_of_older = |scored: &Scored| {
            let rank = scored.candidate.rank;
            scored.place + newer.partition_point(|(_, newer)| newer.rank < rank)
        };
        let mut best = case
            .best_so_far
            .iter()
            .take_while(|scored| place_of_older(scored) < limit)
            .last()
            .copied();
        for (position, &(other, candidate)) in newer.iter().enumerate() {
            let ahead = case.older.partition_point(|older| older.rank <= candidate.rank);
            let place = position + ahead;
            if place >= limit {
                break;
            }
            let least = best.map_or(verifier.least, |best| best.similarity);
            let similarity = verifier.similarity(&case.evidence, &cases[other].evidence, least);
            let Some(similarity) = similarity else { continue };
            let scored = Scored { candidate, place, similarity };
            if best.is_none_or(|best| scored.beats(&best)) {
                best = Some(scored);
            }
        }
        (best.map(|best| self.duplicate(best.candidate, Some(best.similarity))), cut)
    }

    fn duplicate(&self, original: Candidate, similarity: Option<f64>) -> Verdict {
        let distance = self.sieve.has_distance().then_some(original.rank);
        Verdict::Duplicate { of: original.number, relation: Relation { similarity, distance } }
    }
}
