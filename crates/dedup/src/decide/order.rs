//! The sequential step: in order, add the candidates kept within the batch, and choose.

use super::compare::{Candidate, Case, Scored};
use super::{Decider, Document, Verdict};
use crate::error::DedupError;
use crate::verify::jaccard_at_least;
use simhash_sketch::hamming;
use std::sync::atomic::{AtomicBool, Ordering};

/// The verdicts of a batch.
pub(super) struct Ordered {
    pub(super) verdicts: Vec<Verdict>,
    pub(super) truncated: u64,
}

/// What was kept of the batch so far.
struct Kept<'a> {
    /// Number that the next kept document gets.
    next: u32,
    fingerprints: Vec<u64>,
    /// Beside each fingerprint: its number of keeping, and its shingles (empty where nothing of the
    /// batch is near).
    entries: Vec<(u32, &'a [u64])>,
    /// By leader: the number of keeping of its text.
    texts: Vec<Option<u32>>,
}

impl Decider {
    pub(super) fn order(
        &self,
        documents: &[Document<'_>],
        cases: &[Case],
        cancel: &AtomicBool,
    ) -> Result<Ordered, DedupError> {
        let mut kept = Kept {
            next: self.exact.len(),
            fingerprints: Vec::new(),
            entries: Vec::new(),
            texts: vec![None; documents.len()],
        };
        let mut verdicts = Vec::with_capacity(documents.len());
        let mut truncated = 0;
        for (document, own) in documents.iter().zip(cases) {
            if cancel.load(Ordering::Relaxed) {
                return Err(DedupError::Cancelled);
            }
            if document.sketch.empty {
                verdicts.push(Verdict::Kept { empty: true });
                continue;
            }
            let case = &cases[own.leader];
            if let Some(of) = case.equal.or(kept.texts[own.leader]) {
                verdicts.push(Verdict::Duplicate { of, similarity: Some(1.0), distance: 0 });
                continue;
            }
            if let Some(fingerprint) = document.sketch.fingerprint {
                let (verdict, cut) = self.choose(fingerprint, case, &kept);
                truncated += u64::from(cut);
                if let Some(verdict) = verdict {
                    verdicts.push(verdict);
                    continue;
                }
                kept.fingerprints.push(fingerprint);
                kept.entries.push((kept.next, &case.shingles));
            }
            kept.texts[own.leader] = Some(kept.next);
            kept.next = kept.next.checked_add(1).ok_or(DedupError::TooMany)?;
            verdicts.push(Verdict::Kept { empty: false });
        }
        Ok(Ordered { verdicts, truncated })
    }

    /// The original among older and newer candidates, and whether the list was cut.
    fn choose(&self, fingerprint: u64, case: &Case, kept: &Kept<'_>) -> (Option<Verdict>, bool) {
        let newer = self.newer(fingerprint, kept);
        let Some(least) = self.options.min_similarity else {
            // Older ones come first: at equal distance they win.
            let newest = newer.iter().map(|&(_, candidate)| candidate);
            let nearest = case.older.iter().copied().chain(newest).min_by_key(|c| c.distance);
            return (nearest.map(|candidate| duplicate(candidate, None)), false);
        };
        let limit = self.options.max_verifications;
        let cut = case.cut || case.older.len() + newer.len() > limit;
        // An older candidate is pushed back by newer ones that are strictly nearer.
        let rank_of_older = |scored: &Scored| {
            let distance = scored.candidate.distance;
            scored.rank + newer.partition_point(|(_, newer)| newer.distance < distance)
        };
        let mut best = case
            .best_so_far
            .iter()
            .take_while(|scored| rank_of_older(scored) < limit)
            .last()
            .copied();
        for (position, &(entry, candidate)) in newer.iter().enumerate() {
            let ahead = case.older.partition_point(|older| older.distance <= candidate.distance);
            let rank = position + ahead;
            if rank >= limit {
                break;
            }
            let least = best.map_or(least, |best| best.similarity);
            let similarity = jaccard_at_least(&case.shingles, kept.entries[entry].1, least);
            let Some(similarity) = similarity else { continue };
            let scored = Scored { candidate, rank, similarity };
            if best.is_none_or(|best| scored.beats(&best)) {
                best = Some(scored);
            }
        }
        (best.map(|best| duplicate(best.candidate, Some(best.similarity))), cut)
    }

    /// Candidates kept within the batch, nearest first, then oldest first, with their entry.
    fn newer(&self, fingerprint: u64, kept: &Kept<'_>) -> Vec<(usize, Candidate)> {
        let mut newer = Vec::new();
        let within = self.options.max_distance;
        hamming::within(&kept.fingerprints, fingerprint, within, |entry, distance| {
            newer.push((entry, Candidate { ordinal: kept.entries[entry].0, distance }));
        });
        newer.sort_unstable_by_key(|(_, candidate)| (candidate.distance, candidate.ordinal));
        newer
    }
}

fn duplicate(original: Candidate, similarity: Option<f64>) -> Verdict {
    Verdict::Duplicate { of: original.ordinal, similarity, distance: original.distance }
}
