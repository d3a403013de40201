//! Counting distinct features, only as far as a threshold.
//!
//! Text is varied: nearly always the first few features past the threshold decide, so this costs nearly nothing. A text
//! that repeats itself costs a look at up to `min` hashes per feature, never more.

use std::collections::BTreeSet;

/// Thresholds up to this are counted in an array, without allocation; a linear search of it beats a set.
const LINEAR: usize = 32;

/// Whether the features seen so far hold at least `min` distinct ones.
#[derive(Debug)]
pub(crate) struct DistinctAtLeast {
    min: usize,
    found: usize,
    few: [u64; LINEAR],
    many: BTreeSet<u64>,
}

impl DistinctAtLeast {
    pub(crate) fn new(min: usize) -> Self {
        Self { min, found: 0, few: [0; LINEAR], many: BTreeSet::new() }
    }

    pub(crate) fn see(&mut self, hashes: impl IntoIterator<Item = u64>) {
        for hash in hashes {
            if self.reached() {
                return;
            }
            let new = if self.min <= LINEAR {
                !self.few[..self.found].contains(&hash)
            } else {
                self.many.insert(hash)
            };
            if new {
                if let Some(free) = self.few.get_mut(self.found) {
                    *free = hash;
                }
                self.found += 1;
            }
        }
    }

    pub(crate) fn reached(&self) -> bool {
        self.found >= self.min
    }
}

#[cfg(test)]
mod tests {
    use super::DistinctAtLeast;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_threshold_is_that_of_the_set(
            hashes in prop::collection::vec(0..60_u64, 0..120),
            cut in 0..120_usize,
            min in 0..60_usize,
        ) {
            let mut distinct = DistinctAtLeast::new(min);
            let (head, tail) = hashes.split_at(cut.min(hashes.len()));
            distinct.see(head.iter().copied());
            distinct.see(tail.iter().copied());
            let set: BTreeSet<u64> = hashes.into_iter().collect();
            prop_assert_eq!(distinct.reached(), set.len() >= min);
        }
    }
}
