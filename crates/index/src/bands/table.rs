//! Band key -> ids, in about nine bytes each, growing a piece at a time.
//!
//! One table for all bands: the first twelve bits of a key choose one of 4096 segments, the next 31 are kept as its tag; so
//! a query meets a document by collision with probability `n * b² / 2^43`, of n documents with b bands: 3 in 100,000 for a
//! million in 16. Where signatures are kept they tell; where texts are compared afterwards, the comparison does. A segment is written anew by itself, so no insertion moves more than a 4096th of the table. A
//! key with more ids than fit a cache line has a list, so that many equal signatures cost neither long runs nor time.

use std::ops::Range;
use std::sync::Arc;

use super::segment::{Entry, Segment, TAG_BITS};
use crate::memory::prefetch;

/// Bits of a key that choose a segment.
const SEGMENT_BITS: u32 = 12;

/// Segments of a table.
pub(super) const SEGMENTS: usize = 1 << SEGMENT_BITS;

/// Ids of one key that stand in the segment itself: a cache line of entries. A list costs 24 bytes and an allocation.
const RUN: usize = 8;

/// A table of keys and ids; see the [module](super). Clones share segments and lists until one of them changes.
#[derive(Debug, Clone)]
pub struct Table {
    segments: Box<[Segment]>,
    lists: Vec<Arc<Vec<u32>>>,
    free: Vec<u32>,
    totals: Totals,
}

/// What segments and lists come to, so that nobody has to walk them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    /// Entries of segments, and ids in lists.
    entries: usize,
    listed: usize,
    /// Bytes of both.
    bytes: usize,
}

fn place(key: u64) -> (usize, u32) {
    let tag = (key >> (64 - SEGMENT_BITS - TAG_BITS)) as u32 & ((1 << TAG_BITS) - 1);
    ((key >> (64 - SEGMENT_BITS)) as usize, tag)
}

impl Table {
    /// An empty table.
    #[expect(clippy::new_without_default, reason = "96 KB are not a default")]
    pub fn new() -> Self {
        let segments = std::iter::repeat_with(Segment::default).take(SEGMENTS).collect();
        Self { segments, lists: Vec::new(), free: Vec::new(), totals: Totals::default() }
    }

    /// A key as far as this table tells keys apart: its highest bits, the others cleared.
    pub fn bucket(key: u64) -> u64 {
        key >> (64 - SEGMENT_BITS - TAG_BITS) << (64 - SEGMENT_BITS - TAG_BITS)
    }

    /// Asks for what a look at this key reads.
    pub fn prefetch(&self, key: u64) {
        let (segment, tag) = place(key);
        let (slots, at) = self.segments[segment].place(tag);
        prefetch(slots, at);
        prefetch(slots, at + 8);
    }

    /// Asks for what an insertion reads beside what a look at the key has read.
    pub(super) fn ask_owners(&self, key: u64) {
        self.segments[place(key).0].ask_owners();
    }

    /// The ids of a key, in the order they came, dead ones among them.
    pub fn ids(&self, key: u64) -> impl Iterator<Item = u32> {
        let (segment, tag) = place(key);
        let segment = &self.segments[segment];
        segment.run(tag).flat_map(move |at| self.listed(segment.entry(at)))
    }

    /// Calls `each` with the ids of a key that are below this one, some at a time; they came in ascending order.
    pub fn ids_below(&self, key: u64, id: u32, mut each: impl FnMut(&[u32])) {
        let (segment, tag) = place(key);
        let segment = &self.segments[segment];
        for at in segment.run(tag) {
            match segment.entry(at) {
                Entry::One(own) if own < id => each(&[own]),
                Entry::One(_) => {}
                Entry::Many(list) => {
                    let ids = &self.lists[list as usize];
                    each(&ids[..ids.partition_point(|&own| own < id)]);
                }
            }
        }
    }

    /// How many ids a key has, dead ones among them.
    pub fn ids_len(&self, key: u64) -> usize {
        let (segment, tag) = place(key);
        let run = self.segments[segment].run(tag);
        match run.clone().next().map(|at| self.segments[segment].entry(at)) {
            Some(Entry::Many(list)) => self.lists[list as usize].len(),
            _ => run.len(),
        }
    }

    fn listed(&self, entry: Entry) -> impl Iterator<Item = u32> {
        let (one, many) = match entry {
            Entry::One(id) => (Some(id), &[][..]),
            Entry::Many(list) => (None, self.lists[list as usize].as_slice()),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Adds an id, larger than those that its key has. Entries of ids that are not alive may be dropped.
    pub fn insert(&mut self, key: u64, id: u32, is_alive: impl Fn(u32) -> bool) {
        let (segment, tag) = place(key);
        self.put(segment, tag, id, is_alive);
    }

    /// [`Table::insert`] by segment and tag.
    pub(super) fn put(
        &mut self,
        segment: usize,
        tag: u32,
        id: u32,
        is_alive: impl Fn(u32) -> bool,
    ) {
        let (entries, bytes) = self.of_segment(segment);
        self.enter(segment, tag, id, is_alive);
        let (entries_now, bytes_now) = self.of_segment(segment);
        self.totals.entries = self.totals.entries + entries_now - entries;
        self.totals.bytes = self.totals.bytes + bytes_now - bytes;
    }

    fn of_segment(&self, segment: usize) -> (usize, usize) {
        (self.segments[segment].used(), self.segments[segment].bytes())
    }

    fn enter(&mut self, segment: usize, tag: u32, id: u32, is_alive: impl Fn(u32) -> bool) {
        let segment = &mut self.segments[segment];
        let keep = |entry| match entry {
            Entry::One(id) => is_alive(id),
            Entry::Many(_) => true,
        };
        if segment.is_full() {
            segment.rewrite(keep);
        }
        loop {
            let run = segment.run(tag);
            if let (false, Entry::Many(list)) = (run.is_empty(), first(segment, &run)) {
                // Before it is copied for being shared: a copy has no spare capacity.
                let before = self.lists[list as usize].capacity();
                let list = Arc::make_mut(&mut self.lists[list as usize]);
                list.push(id);
                self.totals.listed += 1;
                self.totals.bytes = self.totals.bytes + list.capacity() * 4 - before * 4;
                return;
            }
            if run.len() >= RUN {
                let ids = run.clone().filter_map(|at| match segment.entry(at) {
                    Entry::One(id) => is_alive(id).then_some(id),
                    Entry::Many(_) => None,
                });
                let ids: Vec<u32> = ids.chain([id]).collect();
                let list = self.free.pop().unwrap_or_else(|| {
                    self.lists.push(Arc::default());
                    self.lists.len() as u32 - 1
                });
                self.totals.listed += ids.len();
                self.totals.bytes += ids.capacity() * 4;
                self.lists[list as usize] = Arc::new(ids);
                segment.replace(run, tag, Entry::Many(list));
                return;
            }
            if segment.insert(run.end, tag, Entry::One(id)) {
                return;
            }
            segment.rewrite(keep);
        }
    }

    /// Drops every entry of an id that is not alive from some segments.
    pub(super) fn sweep(&mut self, segments: Range<usize>, is_alive: impl Fn(u32) -> bool) {
        for number in segments {
            let (entries, bytes) = self.of_segment(number);
            let mut is_changed = false;
            let each: Vec<Entry> =
                self.segments[number].entries().map(|(_, entry)| entry).collect();
            for entry in each {
                is_changed |= match entry {
                    Entry::One(id) => !is_alive(id),
                    Entry::Many(list) => self.sweep_list(list, &is_alive),
                };
            }
            if !is_changed {
                continue;
            }
            let lists = &self.lists;
            self.segments[number].rewrite(|entry| match entry {
                Entry::One(id) => is_alive(id),
                Entry::Many(list) => !lists[list as usize].is_empty(),
            });
            self.segments[number].release();
            let (entries_now, bytes_now) = self.of_segment(number);
            self.totals.entries = self.totals.entries + entries_now - entries;
            self.totals.bytes = self.totals.bytes + bytes_now - bytes;
        }
        if self.free.len() == self.lists.len() {
            self.free = Vec::new();
            self.lists = Vec::new();
        }
    }

    /// Drops ids that are not alive from a list; true: none is left.
    fn sweep_list(&mut self, number: u32, is_alive: &impl Fn(u32) -> bool) -> bool {
        let list = &mut self.lists[number as usize];
        if list.iter().all(|&id| is_alive(id)) {
            return false;
        }
        // Before it is copied for being shared: a copy has no spare capacity.
        let before = (list.len(), list.capacity());
        let ids = Arc::make_mut(list);
        ids.retain(|&id| is_alive(id));
        ids.shrink_to(ids.len() * 2);
        let is_empty = ids.is_empty();
        if is_empty {
            *list = Arc::default();
            self.free.push(number);
        }
        self.totals.listed = self.totals.listed + list.len() - before.0;
        self.totals.bytes = self.totals.bytes + list.capacity() * 4 - before.1 * 4;
        is_empty
    }

    /// [`Totals`] as a walk over everything finds them.
    #[cfg(test)]
    fn walked(&self) -> Totals {
        crate::ids::holders::walking::count(SEGMENTS + self.lists.len());
        let listed = self.lists.iter().map(|list| list.len()).sum();
        let of_lists = self.lists.iter().map(|list| list.capacity() * 4).sum::<usize>();
        let entries = self.segments.iter().map(Segment::used).sum();
        let bytes = self.segments.iter().map(Segment::bytes).sum::<usize>() + of_lists;
        Totals { entries, listed, bytes }
    }

    /// Whether the totals are what a walk finds.
    #[cfg(test)]
    pub(super) fn is_as_walked(&self) -> bool {
        self.totals == self.walked()
    }

    /// Tag and id of every entry of a segment, in the order that [`Table::put`] makes the same segment of.
    pub(super) fn entries(&self, segment: usize) -> impl Iterator<Item = (u32, u32)> {
        let entries = self.segments[segment].entries();
        entries.flat_map(|(tag, entry)| self.listed(entry).map(move |id| (tag, id)))
    }

    /// Entries, and how many keys have lists.
    pub(super) fn count(&self) -> (u64, u64) {
        let lists = self.lists.len() - self.free.len();
        ((self.totals.entries - lists + self.totals.listed) as u64, lists as u64)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        SEGMENTS * size_of::<Segment>()
            + self.totals.bytes
            + self.lists.capacity() * size_of::<Arc<Vec<u32>>>()
            + (self.lists.len() - self.free.len()) * size_of::<Vec<u32>>()
            + self.free.capacity() * 4
    }
}

fn first(segment: &Segment, run: &std::ops::Range<usize>) -> Entry {
    segment.entry(run.start)
}

#[cfg(test)]
mod tests {
    use super::Table;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Keys that collide in segments and tags, and few enough to be crowded.
    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            (0..40_u64).prop_map(|low| low << 21),
            (0..40_u64).prop_map(|low| 0xabc << 52 | 0x7fff_ffe0 << 21 | low << 21),
            (0..3_u64).prop_map(|few| few << 52),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_table_agrees_with_a_map_of_lists(
            steps in prop::collection::vec((key(), 0..100_u32), 1..1500),
        ) {
            let mut table = Table::new();
            let mut model: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            let mut dead = vec![false; steps.len()];
            for (id, &(key, kill)) in (0_u32..).zip(&steps) {
                table.insert(key, id, |id| !dead[id as usize]);
                model.entry(key >> 21).or_default().push(id);
                dead[(id as usize * 7919 + 13) % (id as usize + 1)] |= kill < 20;
                if kill == 99 {
                    table.sweep(0..super::SEGMENTS, |id| !dead[id as usize]);
                }
                if kill % 10 == 0 {
                    prop_assert_eq!(table.totals, table.walked());
                }
            }
            for (key, ids) in &model {
                let alive = |id: &u32| !dead[*id as usize];
                let found: Vec<u32> = table.ids(key << 21).filter(alive).collect();
                let expected: Vec<u32> = ids.iter().copied().filter(alive).collect();
                prop_assert_eq!(found, expected);
            }
            table.sweep(0..super::SEGMENTS, |id| !dead[id as usize]);
            prop_assert_eq!(table.totals, table.walked());
            let alive = dead.iter().filter(|&&dead| !dead).count() as u64;
            prop_assert_eq!(table.count().0, alive);
            // Writing a table down and making it anew changes nothing.
            let mut copy = Table::new();
            for segment in 0..super::SEGMENTS {
                for (tag, id) in table.entries(segment).collect::<Vec<_>>() {
                    copy.put(segment, tag, id, |_| true);
                }
                prop_assert!(copy.entries(segment).eq(table.entries(segment)));
            }
            table.sweep(0..super::SEGMENTS, |_| false);
            prop_assert_eq!(table.count(), (0, 0));
            prop_assert_eq!(table.totals, table.walked());
        }
    }
}
