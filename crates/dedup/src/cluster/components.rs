//! What is connected with what: union-find, shared by threads.
//!
//! Every number points at a smaller or equal one of its component; a root points at itself, so the root is the smallest
//! number of the component, whatever the order of the joins. Joining swings the larger root to the smaller by compare and
//! swap; looking up halves the path behind it. Both are safe for many threads: a pointer only ever moves towards the root
//! of the same component. 4 bytes per number.
//!
//! Source: Anderson, Woll, "Wait-free parallel algorithms for the union-find problem", STOC 1991.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[derive(Default)]
pub(crate) struct Components(Vec<AtomicU32>);

impl Components {
    /// Adds numbers up to `len`, each alone.
    pub(crate) fn grow(&mut self, len: u32) {
        self.0.extend((self.0.len() as u32..len).map(AtomicU32::new));
    }

    /// Bytes of the numbers.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * size_of::<AtomicU32>()
    }

    /// The smallest number of the component, while nothing is joined.
    pub(crate) fn root(&self, mut number: u32) -> u32 {
        loop {
            let above = self.0[number as usize].load(Relaxed);
            let next = self.0[above as usize].load(Relaxed);
            if next == above {
                return above;
            }
            // Another thread may have done as much or more already.
            let _ = self.0[number as usize].compare_exchange_weak(above, next, Relaxed, Relaxed);
            number = next;
        }
    }

    /// Whether two numbers are connected; may be too late to see a join of another thread.
    pub(crate) fn connected(&self, a: u32, b: u32) -> bool {
        self.root(a) == self.root(b)
    }

    pub(crate) fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            if self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
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
        fn the_root_is_the_smallest_of_what_is_connected_whatever_the_order_and_threads(
            edges in proptest::collection::vec((0u32..60, 0u32..60), 0..80),
            threads in 1usize..4,
        ) {
            let mut components = Components::default();
            components.grow(60);
            std::thread::scope(|scope| {
                for part in edges.chunks(edges.len() / threads + 1) {
                    let components = &components;
                    scope.spawn(move || part.iter().for_each(|&(a, b)| components.join(a, b)));
                }
            });
            // Labels spread until nothing changes.
            let mut label: Vec<u32> = (0..60).collect();
            for _ in 0..60 {
                for &(a, b) in &edges {
                    let least = label[a as usize].min(label[b as usize]);
                    (label[a as usize], label[b as usize]) = (least, least);
                }
            }
            for number in 0..60 {
                prop_assert_eq!(components.root(number), label[number as usize]);
            }
        }
    }
}
