//! What the methods share whose candidates have a key in common (a band, a sentence), and what those share that look
//! for all within a distance.

use super::{Candidate, Found};

/// The candidates that a text sees through its keys, once for each key, among texts before it: best are those that it
/// sees through most keys; the rank is `most` less their number. `cut` says whether a key had more than it counts for.
pub(super) fn by_keys(seen: &mut [u32], most: usize, limit: usize, cut: bool) -> Found {
    seen.sort_unstable();
    let groups = seen.chunk_by(|a, b| a == b);
    let candidates = groups
        .map(|group| Candidate { number: group[0], rank: (most - group.len()) as u32 })
        .collect();
    best(candidates, limit, cut)
}

/// The best of these by rank, then number, at most `limit`.
pub(super) fn best(mut candidates: Vec<Candidate>, limit: usize, cut: bool) -> Found {
    let order = |candidate: &Candidate| (candidate.rank, candidate.number);
    let over = candidates.len() > limit;
    if over {
        candidates.select_nth_unstable_by_key(limit, order);
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
}
