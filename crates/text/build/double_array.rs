//! Places a trie in a double array (Aoe, "An efficient digital search algorithm by using a double-array structure", 1989):
//! the child of a node by code `c` is in slot `base + c`, if that slot's check is `c`.
//!
//! A check by code instead of by parent is sound because no two nodes share a base: a slot `s` with check `c` can only be
//! the child of the node whose base is `s − c`. It leaves room for everything known of a word in the same 64 bits.

/// After this many free slots without a fit, what lies before is too crowded for families of this size and not tried again.
/// It trades size against time: 1000 gives 1.03 M slots for 0.51 M nodes in under 2 s without optimisation; never giving up
/// gives 0.78 M in minutes.
const PATIENCE: usize = 1000;

/// The base of every node, given the codes of its children, ascending. Node 0 is the root: it has base 1 and no slot. A leaf has
/// base 0, which no family has, so that a leaf's children are never found.
pub(crate) fn build(children: &[Vec<u32>]) -> Vec<u32> {
    let mut slots = Slots::default();
    let mut bases = vec![0; children.len()];
    // Families with many children first: they are hard to place; those with one child fill the holes.
    let mut parents: Vec<usize> =
        (1..children.len()).filter(|&node| !children[node].is_empty()).collect();
    parents.sort_by_key(|&node| std::cmp::Reverse(children[node].len()));
    let mut size = 0;
    for parent in std::iter::once(0).chain(parents) {
        let family = &children[parent];
        let class = family.len().ilog2();
        if std::mem::replace(&mut size, class) != class {
            // What was too crowded for a larger family may do for a smaller one.
            slots.first = 0;
        }
        let base = if parent == 0 { 1 } else { slots.fit(family) };
        assert!(base < 1 << 21);
        slots.take(base, family);
        bases[parent] = base;
    }
    bases
}

/// Which slots and bases are taken.
#[derive(Default)]
struct Slots {
    /// For each slot up to the last one taken: itself if free, otherwise a later slot on the way to the next free one.
    next: Vec<u32>,
    base_taken: Vec<bool>,
    /// No slot before this is tried again.
    first: usize,
}

impl Slots {
    /// The least base, at the earliest free slots still tried, at which all `codes` (ascending) find a free slot.
    fn fit(&mut self, codes: &[u32]) -> u32 {
        let least = codes[0] as usize;
        let mut slot = self.free_from(self.first.max(least + 1));
        for tried in 1.. {
            let base = slot - least;
            let free = !self.base_taken.get(base).copied().unwrap_or(false)
                && codes[1..].iter().all(|&code| self.is_free(base + code as usize));
            if free {
                return base as u32;
            }
            if tried % PATIENCE == 0 {
                self.first = slot;
            }
            slot = self.free_from(slot + 1);
        }
        unreachable!("slots beyond the end are free")
    }

    fn take(&mut self, base: u32, codes: &[u32]) {
        let base = base as usize;
        for &code in codes {
            let slot = base + code as usize;
            let known = self.next.len();
            self.next.extend((known..=slot).map(|slot| slot as u32));
            self.next[slot] = slot as u32 + 1;
        }
        if self.base_taken.len() <= base {
            self.base_taken.resize(base + 1, false);
        }
        self.base_taken[base] = true;
    }

    /// The first free slot at or after `slot`; halves the path for the next search.
    fn free_from(&mut self, mut slot: usize) -> usize {
        while !self.is_free(slot) {
            let next = self.next[slot] as usize;
            let after = self.next.get(next).copied().unwrap_or(next as u32);
            self.next[slot] = after;
            slot = next;
        }
        slot
    }

    fn is_free(&self, slot: usize) -> bool {
        self.next.get(slot).is_none_or(|&next| next as usize == slot)
    }
}
