//! What the methods share whose candidates have a key in common (a sentence), and what all share: the limit.

use super::{Candidate, Found};

/// The candidates that a text sees through its keys, once for each key, among texts before it: best are those that it
/// sees through most keys; the rank is `most` less their number. `cut` says whether a key had more than it counts for.
pub(crate) fn by_keys(seen: &mut [u32], most: usize, limit: usize, cut: bool) -> Found {
    seen.sort_unstable();
    let groups = seen.chunk_by(|a, b| a == b);
    let candidates = groups
        .map(|group| Candidate { number: group[0], rank: most.saturating_sub(group.len()) as u32 })
        .collect();
    best(candidates, limit, cut)
}

/// At most `limit` of these: the oldest for a quarter of the places, and of the others the best by rank, then number. The
/// oldest of a crowd are those that the rest are duplicates of; the nearest may all be duplicates themselves.
pub(crate) fn best(mut candidates: Vec<Candidate>, limit: usize, cut: bool) -> Found {
    // One number for both is compared faster.
    let order = |candidate: &Candidate| {
        u64::from(candidate.rank) << u32::BITS | u64::from(candidate.number)
    };
    let over = candidates.len() > limit;
    if over {
        let oldest = limit / 4;
        if oldest > 0 {
            candidates.select_nth_unstable_by_key(oldest - 1, |candidate| candidate.number);
        }
        candidates[oldest..].select_nth_unstable_by_key(limit - oldest, order);
        candidates.truncate(limit);
    }
    candidates.sort_unstable_by_key(order);
    Found { candidates, cut: cut | over }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_most_keys_then_the_oldest() {
        let found = by_keys(&mut [5, 1, 5, 2, 9, 2], 4, 10, false);
        let pairs = |found: &Found| -> Vec<(u32, u32)> {
            found.candidates.iter().map(|one| (one.number, one.rank)).collect()
        };
        assert_eq!(pairs(&found), [(2, 2), (5, 2), (1, 3), (9, 3)]);
        assert!(!found.cut);
        let found = by_keys(&mut [5, 1, 5, 2, 9, 2], 4, 3, false);
        assert_eq!(pairs(&found), [(2, 2), (5, 2), (1, 3)]);
        assert!(found.cut);
        assert!(by_keys(&mut [], 4, 3, true).cut);
    }

    #[test]
    fn a_quarter_is_for_the_oldest() {
        // The older, the worse.
        let all: Vec<Candidate> =
            (0..20).rev().map(|number| Candidate { number, rank: 20 - number }).collect();
        for limit in 1..20 {
            let found = best(all.clone(), limit, false);
            let numbers: Vec<u32> = found.candidates.iter().map(|one| one.number).collect();
            let old = limit as u32 / 4;
            let expected = (20 + old - limit as u32..20).rev().chain((0..old).rev());
            assert!(found.cut && numbers.iter().copied().eq(expected), "{limit}: {numbers:?}");
        }
        assert!(!best(all, 20, false).cut);
    }
}
