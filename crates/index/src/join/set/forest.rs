//! Union-find over ranks, for many threads at once.
//!
//! A root is its component's lowest rank. A link is a compare-and-swap of a root's parent from itself to a lower root,
//! so parents only ever get lower: no cycles, and it does not matter who wins. Finding halves the path it walks
//! (Tarjan, van Leeuwen 1984; Anderson, Woll 1991 for the version without waiting).

use std::sync::atomic::{AtomicU32, Ordering};

/// The parent of each rank.
#[derive(Debug)]
pub(super) struct Forest(Vec<AtomicU32>);

// Relaxed throughout: a parent that another thread has replaced since is still an ancestor, and the tasks that link
// are joined before the components are read.
impl Forest {
    /// So many components of one rank each.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count as u32).map(AtomicU32::new).collect())
    }

    /// The root of a rank.
    #[inline]
    pub(super) fn root(&self, mut rank: u32) -> u32 {
        loop {
            let parent = self.0[rank as usize].load(Ordering::Relaxed);
            let above = self.0[parent as usize].load(Ordering::Relaxed);
            if parent == above {
                return parent;
            }
            // Losing to another thread is no harm: that one wrote an ancestor as well.
            let _ = self.0[rank as usize].compare_exchange_weak(
                parent,
                above,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            rank = above;
        }
    }

    /// Makes one component of two.
    pub(super) fn link(&self, one: u32, other: u32) {
        let (mut one, mut other) = (one, other);
        loop {
            (one, other) = (self.root(one), self.root(other));
            if one == other {
                return;
            }
            let (low, high) = (one.min(other), one.max(other));
            let cell = &self.0[high as usize];
            if cell.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn roots_are_the_lowest_of_what_is_linked(
            links in proptest::collection::vec((0u32..200, 0u32..200), 0..300),
        ) {
            let forest = Forest::new(200);
            let (head, tail) = links.split_at(links.len() / 2);
            let run = |links: &[(u32, u32)]| links.iter().for_each(|&(a, b)| forest.link(a, b));
            rayon::join(|| run(head), || run(tail));
            let mut lowest: Vec<u32> = (0..200).collect();
            for _ in 0..200 {
                for &(a, b) in &links {
                    let low = lowest[a as usize].min(lowest[b as usize]);
                    lowest[a as usize] = low;
                    lowest[b as usize] = low;
                }
            }
            let roots: Vec<u32> = (0..200).map(|rank| forest.root(rank)).collect();
            prop_assert_eq!(roots, lowest);
        }
    }
}
