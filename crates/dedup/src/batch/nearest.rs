//! The candidates of a text as they are found, without those that cannot be in its list.

use crate::method::{Candidate, Found, best};

/// Candidates that are held before any is dropped.
const LEAST: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// Candidates of a text in any order, each once.
///
/// Of those of one rank a list has the oldest, whatever the limit; so of each rank as many as the limit are enough, and one more, which
/// tells that the list is cut. Memory: 16 bytes for each of them, however many there were.
pub(super) struct Nearest {
    all: Vec<Candidate>,
    limit: usize,
    /// How many are held when some are dropped next.
    full: usize,
}

impl Nearest {
    pub(super) fn new(limit: usize) -> Self {
        Self { all: Vec::new(), limit, full: LEAST }
    }

    pub(super) fn push(&mut self, number: u32, rank: u32) {
        if self.all.len() >= self.full {
            self.drop_some();
        }
        self.all.push(Candidate { number, rank });
    }

    fn drop_some(&mut self) {
        self.all.sort_unstable_by_key(|near| (near.rank, near.number));
        let (mut rank, mut held, most) = (u32::MAX, 0, self.limit.saturating_add(1));
        self.all.retain(|near| {
            if near.rank != rank {
                (rank, held) = (near.rank, 0);
            }
            held += 1;
            held <= most
        });
        self.full = (self.all.len() * 2).max(LEAST);
    }

    /// The least rank up to which there are more than the limit.
    pub(super) fn reach(&self) -> Option<u32> {
        let mut counts = [0usize; 65];
        for near in &self.all {
            counts[near.rank.min(64) as usize] += 1;
        }
        let mut sum = 0;
        counts.iter().zip(0..).find_map(|(count, rank)| {
            sum += count;
            (sum > self.limit).then_some(rank)
        })
    }

    /// The list.
    pub(super) fn list(self) -> Found {
        best(self.all, self.limit, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_list_is_that_of_all_candidates(
            ranks in proptest::collection::vec(0u32..5, 0..200),
            limit in prop_oneof![0usize..12, Just(usize::MAX)],
            shuffled in any::<u64>(),
        ) {
            let all: Vec<Candidate> =
                ranks.iter().zip(0..).map(|(&rank, number)| Candidate { number, rank }).collect();
            let mut order: Vec<&Candidate> = all.iter().collect();
            order.sort_by_key(|near| u64::from(near.number + 1).wrapping_mul(shuffled | 1) >> 7);
            let mut nearest = Nearest::new(limit);
            for near in order {
                nearest.push(near.number, near.rank);
                let most = (2 * 5 * limit.saturating_add(1).min(200)).max(LEAST);
                prop_assert!(nearest.all.len() <= most, "{} are held", nearest.all.len());
            }
            let (found, expected) = (nearest.list(), best(all, limit, false));
            prop_assert_eq!(found.candidates, expected.candidates);
            prop_assert_eq!(found.cut, expected.cut);
        }
    }
}
