//! Groups of documents that only ever grow together: union-find with names.
//!
//! A group is named by the lowest id that ever began it or came into it by a merge. Slots are counted by what refers to
//! them (sketches, and slots merged into them), and freed when nothing does, so that memory follows what is alive
//! although groups are never split.
//!
//! [`Union`](crate::Union) cannot do this: its root is the smallest number, and here numbers are used again.
//!
//! Union by rank bounds every chain by the logarithm of the number of slots; additions shorten the chains they walk.
//! Source: Tarjan and van Leeuwen, "Worst-case analysis of set union algorithms", 1984 (rank, path halving).

use ahash::AHashSet;

use crate::memory::Chunked;

/// From here on a parent is none: the slot is a root, and the rest is its rank. Ranks stay below 32.
const ROOT: u32 = u32::MAX - 64;

/// A group, or what is left of one that was merged into another.
#[derive(Debug, Clone, Copy)]
struct Slot {
    name: u64,
    parent: u32,
    refs: u32,
}

/// Names of groups at one moment.
#[derive(Debug)]
pub(super) struct Names(Chunked<Slot>);

impl Names {
    pub(super) fn name(&self, slot: u32) -> u64 {
        name(&self.0, slot)
    }
}

#[derive(Debug, Default)]
pub(super) struct Groups {
    slots: Chunked<Slot>,
    free: Vec<u32>,
    roots: usize,
    /// Names of living groups whose document of that id has left.
    orphaned: AHashSet<u64>,
}

impl Groups {
    /// A new group of this name, referred to once.
    pub(super) fn begin(&mut self, name: u64) -> u32 {
        self.roots += 1;
        let slot = Slot { name, parent: ROOT, refs: 1 };
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    /// Room for so many groups more, as slots are numbered below [`ROOT`].
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.slots.len() - self.free.len() + more < ROOT as usize
    }

    fn parent(&self, slot: u32) -> Option<u32> {
        parent(&self.slots, slot)
    }

    pub(super) fn name(&self, slot: u32) -> u64 {
        name(&self.slots, slot)
    }

    /// The names as they are now, shared until they change.
    pub(super) fn names(&self) -> Names {
        Names(self.slots.clone())
    }

    /// One more refers to this slot's root, which is returned.
    pub(super) fn join(&mut self, slot: u32) -> u32 {
        let root = self.shorten(slot);
        self.slots[root as usize].refs += 1;
        root
    }

    /// The root of a slot; the slots on the way come to refer to one further up.
    fn shorten(&mut self, mut slot: u32) -> u32 {
        while let Some(parent) = self.parent(slot) {
            let Some(above) = self.parent(parent) else { return parent };
            self.slots[slot as usize].parent = above;
            self.slots[above as usize].refs += 1;
            self.release(parent);
            slot = above;
        }
        slot
    }

    /// One fewer refers to this slot.
    pub(super) fn release(&mut self, slot: u32) {
        let mut left = Some(slot);
        while let Some(slot) = left {
            let at = slot as usize;
            self.slots[at].refs -= 1;
            if self.slots[at].refs > 0 {
                return;
            }
            left = self.parent(slot);
            if left.is_none() {
                self.roots -= 1;
                self.orphaned.remove(&self.slots[at].name);
            }
            self.free.push(slot);
        }
    }

    /// Makes the groups of two slots one, which keeps the lower name.
    pub(super) fn merge(&mut self, a: u32, b: u32) {
        let (a, b) = (self.shorten(a), self.shorten(b));
        if a == b {
            return;
        }
        let rank = |slot: u32| self.slots[slot as usize].parent - ROOT;
        let (upper, lower) = if rank(a) >= rank(b) { (a, b) } else { (b, a) };
        if rank(upper) == rank(lower) {
            self.slots[upper as usize].parent += 1;
        }
        let (kept, lost) = {
            let names = [self.slots[a as usize].name, self.slots[b as usize].name];
            (names[0].min(names[1]), names[0].max(names[1]))
        };
        self.orphaned.remove(&lost);
        self.slots[upper as usize].name = kept;
        self.slots[upper as usize].refs += 1;
        self.slots[lower as usize].parent = upper;
        self.roots -= 1;
    }

    /// The document `id` of this slot's group leaves, the group may live on.
    pub(super) fn leave(&mut self, slot: u32, id: u64) {
        if self.name(slot) == id {
            self.orphaned.insert(id);
        }
    }

    /// A living group has this name, and its document of that id has left.
    pub(super) fn orphan(&mut self, name: u64) {
        self.orphaned.insert(name);
    }

    /// Whether a living group has this name though its document of that id has left.
    pub(super) fn is_orphaned(&self, name: u64) -> bool {
        self.orphaned.contains(&name)
    }

    /// Living groups.
    pub(super) fn len(&self) -> usize {
        self.roots
    }

    /// Gives the memory back behind the last slot that is in use.
    pub(super) fn compact(&mut self) {
        self.free.sort_unstable();
        while self.free.last().is_some_and(|&free| free as usize + 1 == self.slots.len()) {
            self.free.pop();
            self.slots.pop();
        }
        self.slots.shrink();
        self.free.shrink_to_fit();
        self.orphaned.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.free.capacity() * 4 + self.orphaned.capacity() * 9
    }
}

fn parent(slots: &Chunked<Slot>, slot: u32) -> Option<u32> {
    let parent = slots[slot as usize].parent;
    (parent < ROOT).then_some(parent)
}

fn root(slots: &Chunked<Slot>, mut slot: u32) -> u32 {
    while let Some(parent) = parent(slots, slot) {
        slot = parent;
    }
    slot
}

fn name(slots: &Chunked<Slot>, slot: u32) -> u64 {
    slots[root(slots, slot) as usize].name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_groups_keep_the_lowest_name_and_free_their_slots() {
        let mut groups = Groups::default();
        let slots: Vec<u32> = (0..100).map(|name| groups.begin(name)).collect();
        for pair in slots.windows(2).rev() {
            groups.merge(pair[0], pair[1]);
        }
        assert!(slots.iter().all(|&slot| groups.name(slot) == 0));
        assert_eq!(groups.len(), 1);
        let root = groups.join(slots[50]);
        for slot in slots {
            groups.release(slot);
        }
        assert_eq!((groups.len(), groups.name(root)), (1, 0));
        groups.release(root);
        assert_eq!(groups.len(), 0);
        assert_eq!(groups.free.len(), groups.slots.len());
    }
}
