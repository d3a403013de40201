//! Entries of buckets, without an allocation for each.

use super::places::{Arena, Numbers, Places, prefix};
use crate::{Context, Failure};
use simhash_sketch::Folded;
use std::cmp::Ordering;

/// Buckets of texts, by the numbers of their places.
#[derive(Default)]
pub(super) struct Entries {
    places: Numbers,
    all: Vec<(u64, u32)>,
}

impl Entries {
    pub(super) fn push(&mut self, bucket: u64, place: &[u8]) {
        self.all.push((bucket, self.places.of(place)));
    }

    /// [`Numbers::outlines`] of the texts that are in a bucket.
    pub(super) fn outlines(
        &self,
        cells: Vec<Vec<u8>>,
        context: &Context,
    ) -> Result<Vec<Option<Folded>>, Failure> {
        self.places.outlines(cells, self.all.len(), context)
    }

    /// All places; the entries by their numbers, by bucket, in which texts ascend; and by number as it came the one that the place has now.
    /// A text that is in a bucket twice stays there twice.
    pub(super) fn sorted(self) -> (Places, Vec<(u64, u32)>, Vec<u32>) {
        let (places, sorted) = self.places.sorted();
        let mut all = self.all;
        for entry in &mut all {
            entry.1 = sorted[entry.1 as usize];
        }
        all.sort_unstable();
        (places, all, sorted)
    }
}

/// An entry: where it sorts by its text, its bucket, and the number of its place, or [`WHOLE`].
struct Placed {
    prefix: u64,
    bucket: u64,
    number: u32,
}

/// The prefix is all of the place, as of most: it has eight bytes.
const WHOLE: u32 = u32::MAX;

/// Entries with their places as they come: to number each text once takes longer than to sort them.
#[derive(Default)]
pub(super) struct PlacedEntries {
    places: Arena,
    all: Vec<Placed>,
}

impl PlacedEntries {
    pub(super) fn push(&mut self, bucket: u64, place: &[u8]) {
        let is_whole = place.len() == size_of::<u64>();
        let number = if is_whole { WHOLE } else { self.places.push(place) };
        self.all.push(Placed { prefix: prefix(place), bucket, number });
    }

    /// The place of an entry, in `own` where it is whole.
    fn place<'a>(&'a self, entry: &Placed, own: &'a mut [u8; 8]) -> &'a [u8] {
        if entry.number != WHOLE {
            return self.places.get(entry.number);
        }
        *own = entry.prefix.to_be_bytes();
        own
    }

    fn by_place(&self, a: &Placed, b: &Placed) -> Ordering {
        a.prefix.cmp(&b.prefix).then_with(|| {
            if a.number == WHOLE && b.number == WHOLE {
                return Ordering::Equal;
            }
            let [mut first, mut other] = [[0; 8]; 2];
            self.place(a, &mut first).cmp(self.place(b, &mut other))
        })
    }

    fn sort(&mut self, order: impl Fn(&Self, &Placed, &Placed) -> Ordering) {
        let mut all = std::mem::take(&mut self.all);
        all.sort_unstable_by(|a, b| order(self, a, b));
        self.all = all;
    }

    /// Moves the entries of buckets that several texts have to others, and drops the rest.
    pub(super) fn drain_shared(&mut self, to: &mut Self) {
        self.sort(|own, a, b| a.bucket.cmp(&b.bucket).then_with(|| own.by_place(a, b)));
        let mut place = [0; 8];
        for run in self.all.chunk_by(|a, b| a.bucket == b.bucket) {
            if self.by_place(&run[0], &run[run.len() - 1]).is_ne() {
                for one in run {
                    to.push(one.bucket, self.place(one, &mut place));
                }
            }
        }
        self.all.clear();
        self.places.clear();
    }

    /// Calls `each` with each place and its buckets, ascending.
    pub(super) fn each_text<E>(
        mut self,
        mut each: impl FnMut(&[u8], &mut dyn Iterator<Item = u64>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.sort(|own, a, b| own.by_place(a, b).then(a.bucket.cmp(&b.bucket)));
        let mut place = [0; 8];
        for run in self.all.chunk_by(|a, b| self.by_place(a, b).is_eq()) {
            each(self.place(&run[0], &mut place), &mut run.iter().map(|one| one.bucket))?;
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Placed>() + self.places.bytes()
    }
}

/// The buckets of entries that are sorted, with the texts of each.
pub(super) fn buckets(sorted: &[(u64, u32)]) -> impl Iterator<Item = (u64, Vec<u32>)> {
    let runs = sorted.chunk_by(|a, b| a.0 == b.0);
    runs.map(|run| (run[0].0, run.iter().map(|entry| entry.1).collect()))
}

/// Which buckets of a region of a part have come more than once, or share a slot with another. Slots are in the order of buckets, and a
/// region has so few that they stay in a core's cache: cells, in which buckets ascend, are gone through side by side.
pub(super) struct Filter {
    /// Of 64 slots each: those that were seen, and those that were seen again.
    words: Vec<[u64; 2]>,
    parts: u64,
    shift: u32,
    /// Bits of a slot within its region.
    bits: u32,
    regions: u64,
}

impl Filter {
    /// Slots for each entry: one key in sixteen that stands alone is taken for one that does not.
    const SLOTS: usize = 16;
    /// Slots of a region: 512 KiB, half of the second cache of most cores.
    const REGION: usize = if cfg!(test) { 1 << 7 } else { 1 << 21 };

    /// For so many entries, about, of one of so many parts.
    pub(super) fn new(entries: usize, parts: u32) -> Self {
        let slots = (entries * Self::SLOTS).next_power_of_two().max(64);
        let own = slots.min(Self::REGION);
        let shift = 64 - slots.trailing_zeros();
        let (words, bits) = (vec![[0; 2]; own / 64], own.trailing_zeros());
        Self { words, parts: u64::from(parts), shift, bits, regions: (slots / own) as u64 }
    }

    /// How many regions there are.
    pub(super) fn regions(&self) -> u64 {
        self.regions
    }

    /// What is left of the product that says the part ([`part_of`](super::part_of)) says where in the part.
    fn slot(&self, bucket: u64) -> u64 {
        bucket.wrapping_mul(self.parts) >> self.shift
    }

    /// The region of a bucket; of the buckets of a part it ascends with them.
    pub(super) fn region(&self, bucket: u64) -> u64 {
        self.slot(bucket) >> self.bits
    }

    /// Forgets what was seen, before another region.
    pub(super) fn clear(&mut self) {
        self.words.fill([0; 2]);
    }

    fn place(&self, bucket: u64) -> (usize, u64) {
        let slot = self.slot(bucket);
        ((slot / 64) as usize & (self.words.len() - 1), 1 << (slot % 64))
    }

    pub(super) fn see(&mut self, bucket: u64) {
        let (word, bit) = self.place(bucket);
        let [once, again] = &mut self.words[word];
        *again |= *once & bit;
        *once |= bit;
    }

    pub(super) fn has_several(&self, bucket: u64) -> bool {
        let (word, bit) = self.place(bucket);
        self.words[word][1] & bit != 0
    }
}
