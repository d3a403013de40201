//! A part of the table: entries in the order of their tags, with gaps, so that an entry is found near the place that its
//! tag points to and a new one moves a few others.
//!
//! Linear probing kept in order (Amble and Knuth, "Ordered hash tables", 1974): a search ends at the first larger tag, hit or
//! miss, after some eight slots at a load of 0.93, one or two cache lines. At 0.93 the entries are written anew at 0.87:
//! in order, one sequential pass, some fifteen moves per insertion. Entries of dead documents are left out then. Clones share
//! the slots until one of them changes.
//!
//! ```text
//! slot, 64 bits:  tag (31)  crowded (1)  id, or number of a list (32)          all ones: empty
//! ```

use std::sync::Arc;

use crate::memory::prefetch;

/// No entry. The last slot is always empty, so that searches need no other end.
const EMPTY: u64 = u64::MAX;

/// Bits of a tag.
pub(super) const TAG_BITS: u32 = 31;

const CROWDED: u64 = 1 << 32;

/// Loads, in hundredths, above which entries are written anew and at which they then are: 8.6 to 9.2 bytes each.
const FULL: usize = 93;
const FRESH: usize = 87;

/// Words of the counts that an `Arc` keeps before what it shares.
const OWNERS: usize = 2;

/// Slots that are compared at a time.
const STEP: usize = 8;

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// A document.
    One(u32),
    /// The list of a crowded key.
    Many(u32),
}

#[derive(Debug, Default, Clone)]
pub(super) struct Segment {
    slots: Arc<[u64]>,
    /// Slots that tags point to; those behind take what is pushed over the end.
    span: u32,
    used: u32,
}

fn tag_of(slot: u64) -> u32 {
    (slot >> 33) as u32
}

fn entry_of(slot: u64) -> Entry {
    if slot & CROWDED == 0 { Entry::One(slot as u32) } else { Entry::Many(slot as u32) }
}

fn slot_of(tag: u32, entry: Entry) -> u64 {
    let rest = match entry {
        Entry::One(id) => u64::from(id),
        Entry::Many(list) => CROWDED | u64::from(list),
    };
    u64::from(tag) << 33 | rest
}

impl Segment {
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * u64::from(self.span)) >> TAG_BITS) as usize
    }

    /// The slots whose entries have this tag; where there are none, empty and at the place for one.
    pub(super) fn run(&self, tag: u32) -> std::ops::Range<usize> {
        if self.slots.is_empty() {
            return 0..0;
        }
        let mut at = self.home(tag);
        while self.slots[at] != EMPTY && tag_of(self.slots[at]) < tag {
            at += 1;
        }
        let start = at;
        while self.slots[at] != EMPTY && tag_of(self.slots[at]) == tag {
            at += 1;
        }
        start..at
    }

    /// The entry of a slot of a run.
    pub(super) fn entry(&self, at: usize) -> Entry {
        entry_of(self.slots[at])
    }

    /// Where the entries of a tag begin, for a prefetch.
    pub(super) fn place(&self, tag: u32) -> (&[u64], usize) {
        (&self.slots, self.home(tag))
    }

    /// Whether the entries must be written anew before another is put in.
    pub(super) fn is_full(&self) -> bool {
        (self.used as usize + 1) * 100 > self.span as usize * FULL
    }

    /// Asks for the count before the slots of who shares them, which a change reads too.
    pub(super) fn ask_owners(&self) {
        prefetch(&self.slots, 0_usize.wrapping_sub(OWNERS));
    }

    /// The first empty slot from one on.
    fn free_from(&self, at: usize) -> Option<usize> {
        let (steps, rest) = self.slots.get(at..)?.as_chunks::<STEP>();
        // Some fifty slots at these loads: a step is compared as a whole.
        let is_free = |slot: &u64| *slot == EMPTY;
        let with_free =
            steps.iter().position(|step| step.iter().fold(false, |any, s| any | is_free(s)));
        let (from, step) = match with_free {
            Some(number) => (number * STEP, &steps[number][..]),
            None => (steps.len() * STEP, rest),
        };
        Some(at + from + step.iter().position(is_free)?)
    }

    /// Puts an entry at the end of its run; false, and nothing, where the slots behind are all taken.
    pub(super) fn insert(&mut self, at: usize, tag: u32, entry: Entry) -> bool {
        let Some(free) = self.free_from(at) else { return false };
        if free + 1 >= self.slots.len() {
            return false;
        }
        let slots = Arc::make_mut(&mut self.slots);
        slots.copy_within(at..free, at + 1);
        slots[at] = slot_of(tag, entry);
        self.used += 1;
        true
    }

    /// Puts one entry in the place of a run.
    pub(super) fn replace(&mut self, run: std::ops::Range<usize>, tag: u32, entry: Entry) {
        Arc::make_mut(&mut self.slots)[run.start] = slot_of(tag, entry);
        for _ in run.start + 1..run.end {
            self.remove(run.start + 1);
        }
    }

    /// Takes the entry of a slot out; those behind that were pushed away from their places move up.
    fn remove(&mut self, mut at: usize) {
        self.used -= 1;
        loop {
            let next = self.slots[at + 1];
            let stays = next == EMPTY || self.home(tag_of(next)) == at + 1;
            Arc::make_mut(&mut self.slots)[at] = if stays { EMPTY } else { next };
            if stays {
                return;
            }
            at += 1;
        }
    }

    /// All entries, in order of their tags.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, Entry)> {
        self.slots.iter().filter(|&&slot| slot != EMPTY).map(|&slot| (tag_of(slot), entry_of(slot)))
    }

    /// Writes the entries anew, those that `keep` refuses left out, with room for more.
    pub(super) fn rewrite(&mut self, keep: impl Fn(Entry) -> bool) {
        let mut kept = Vec::with_capacity(self.used as usize);
        for &slot in &*std::mem::take(&mut self.slots) {
            if slot != EMPTY && keep(entry_of(slot)) {
                kept.push(slot);
            }
        }
        self.used = kept.len() as u32;
        // At least one more than there are, and at least four: the first insertions need not each write anew.
        self.span = ((kept.len() + 1) * 100 / FRESH + 1).max(4) as u32;
        let behind = |free: usize, &slot: &u64| self.home(tag_of(slot)).max(free) + 1;
        let free = kept.iter().fold(0, behind);
        // Insertions push the last entries over the end. Where that is too little the segment is written anew the sooner.
        let slack = 4 + self.span as usize / 128;
        // Made at its length: a vector would be copied.
        let count = free.max(self.span as usize) + slack;
        let mut slots: Arc<[u64]> = std::iter::repeat_n(EMPTY, count).collect();
        let (own, mut free) = (Arc::make_mut(&mut slots), 0);
        for slot in &kept {
            free = behind(free, slot);
            own[free - 1] = *slot;
        }
        self.slots = slots;
    }

    /// Gives the memory of an empty segment back.
    pub(super) fn release(&mut self) {
        if self.used == 0 {
            *self = Self::default();
        }
    }

    pub(super) fn used(&self) -> usize {
        self.used as usize
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * 8
    }
}
