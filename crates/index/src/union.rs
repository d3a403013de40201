//! Union-find: what is connected with what, by one thread or by many at once.

use simhash_store::{Column, Room, RoomError};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A partition of the numbers `0..len`, which joins make coarser.
///
/// Every number points at a smaller or equal one of its component; a root points at itself. So the root is the smallest
/// number of the component, whatever the order of the joins and the threads that make them.
///
/// A join swings the larger root to the smaller by compare and swap, for it must still be a root. A look-up halves the path
/// behind it by plain stores: what is no root never becomes one again, and whatever a thread has read above it stays above it.
/// So a store that comes late makes a path longer for a while and never leads elsewhere. Source: Anderson, Woll, "Wait-free
/// parallel algorithms for the union-find problem", STOC 1991.
///
/// Memory: 4 bytes per number. Cost: amortised O(log n) per call, in practice nearly constant.
#[derive(Debug, Default)]
pub struct Union(Column<AtomicU32>);

impl Union {
    /// `len` numbers, each alone.
    pub fn new(len: u32) -> Self {
        let mut union = Self::default();
        union.grow(len);
        union
    }

    /// The same in a room.
    ///
    /// # Errors
    /// [`RoomError`].
    pub fn within(room: &Room, len: u32) -> Result<Self, RoomError> {
        Column::made(room, len as usize, |number| AtomicU32::new(number as u32)).map(Self)
    }

    /// Adds numbers up to `len`, each alone; does nothing where there are as many. Not of one in a bounded room, which does not grow.
    pub fn grow(&mut self, len: u32) {
        for number in self.0.len() as u32..len {
            if self.0.push(AtomicU32::new(number)).is_err() {
                return;
            }
        }
    }

    /// Bytes of the numbers.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The smallest number that `number` is connected with, while nothing is joined.
    pub fn root(&self, mut number: u32) -> u32 {
        loop {
            let above = self.0[number as usize].load(Relaxed);
            let next = self.0[above as usize].load(Relaxed);
            if next == above {
                return above;
            }
            self.0[number as usize].store(next, Relaxed);
            number = next;
        }
    }

    /// The root of every number, while nothing is joined.
    pub fn roots(&self) -> Vec<u32> {
        (0..self.0.len() as u32).map(|number| self.root(number)).collect()
    }

    /// Whether two numbers are connected; may be too early to see a join of another thread.
    pub fn connected(&self, a: u32, b: u32) -> bool {
        self.root(a) == self.root(b)
    }

    /// Connects two numbers; whether they were apart.
    pub fn join(&self, a: u32, b: u32) -> bool {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return false;
            }
            let (low, high) = (a.min(b), a.max(b));
            if self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Labels spread along the edges until nothing changes.
    fn plainly(len: u32, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut label: Vec<u32> = (0..len).collect();
        for _ in 0..len {
            for &(a, b) in edges {
                let least = label[a as usize].min(label[b as usize]);
                (label[a as usize], label[b as usize]) = (least, least);
            }
        }
        label
    }

    proptest! {
        #[test]
        fn the_root_is_the_smallest_of_what_is_connected_whatever_the_order_and_threads(
            edges in proptest::collection::vec((0u32..60, 0u32..60), 0..80),
            threads in 1usize..4,
        ) {
            let mut union = Union::new(20);
            union.grow(60);
            union.grow(30);
            prop_assert_eq!(union.bytes(), 240);
            std::thread::scope(|scope| {
                for part in edges.chunks(edges.len() / threads + 1) {
                    let union = &union;
                    scope.spawn(move || part.iter().for_each(|&(a, b)| {
                        union.join(a, b);
                    }));
                }
            });
            let expected = plainly(60, &edges);
            prop_assert_eq!(union.roots(), &expected[..]);
            for &(a, b) in &edges {
                prop_assert_eq!(union.root(a), expected[a as usize]);
                prop_assert!(union.connected(a, b));
            }
        }

        #[test]
        fn a_join_says_whether_the_two_were_apart(
            edges in proptest::collection::vec((0u32..20, 0u32..20), 0..40),
        ) {
            let union = Union::new(20);
            for (done, &(a, b)) in edges.iter().enumerate() {
                let before = plainly(20, &edges[..done]);
                let apart = before[a as usize] != before[b as usize];
                prop_assert_eq!(union.connected(a, b), !apart);
                prop_assert_eq!(union.join(a, b), apart);
            }
        }
    }

    #[test]
    fn many_threads_that_join_the_same_numbers_make_one_component() {
        let count = if cfg!(miri) { 200 } else { 50_000 };
        let union = Union::new(count);
        let made: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..5)
                .map(|step| {
                    let union = &union;
                    // Each thread begins elsewhere; a join that two of them try is made by one.
                    let chain = (0..count).map(move |at| (at + step * count / 4) % (count - 1));
                    scope.spawn(move || chain.filter(|&at| union.join(at + 1, at)).count())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(made as u32, count - 1);
        assert!(union.roots().iter().all(|&root| root == 0));
    }
}
