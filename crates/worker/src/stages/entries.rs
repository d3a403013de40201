//! Entries of buckets, without an allocation for each.

use super::places::{Numbers, Places};

/// Buckets of texts, by the numbers of their places.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) places: Numbers,
    all: Vec<(u64, u32)>,
}

impl Entries {
    pub(super) fn push(&mut self, bucket: u64, place: &[u8]) {
        self.all.push((bucket, self.places.of(place)));
    }

    /// By bucket. The numbers are those in which the places came.
    pub(super) fn by_bucket(&mut self) -> &[(u64, u32)] {
        self.all.sort_unstable();
        &self.all
    }

    /// All places, and the entries by their numbers: by bucket, in which texts ascend. A text that is in a bucket twice stays there twice.
    pub(super) fn sorted(self) -> (Places, Vec<(u64, u32)>) {
        let (places, sorted) = self.places.sorted();
        let mut all = self.all;
        for entry in &mut all {
            entry.1 = sorted[entry.1 as usize];
        }
        all.sort_unstable();
        (places, all)
    }
}

/// The buckets of entries that are sorted, with the texts of each.
pub(super) fn buckets(sorted: &[(u64, u32)]) -> impl Iterator<Item = (u64, Vec<u32>)> {
    let runs = sorted.chunk_by(|a, b| a.0 == b.0);
    runs.map(|run| (run[0].0, run.iter().map(|entry| entry.1).collect()))
}

/// Which buckets of a part have come more than once, or share a slot with another. Slots are in the order of buckets: of a cell, in which
/// buckets ascend, they are gone through from one end to the other.
pub(super) struct Filter {
    once: Vec<u64>,
    again: Vec<u64>,
    parts: u64,
    shift: u32,
}

impl Filter {
    /// Slots for each entry: one key in sixteen that stands alone is taken for one that does not.
    const SLOTS: usize = 16;

    /// For so many entries, about, of one of so many parts.
    pub(super) fn new(entries: usize, parts: u32) -> Self {
        let slots = (entries * Self::SLOTS).next_power_of_two().max(64);
        let bits = vec![0; slots / 64];
        let shift = 64 - slots.trailing_zeros();
        Self { once: bits.clone(), again: bits, parts: u64::from(parts), shift }
    }

    /// What is left of the product that says the part ([`part_of`](super::part_of)) says where in the part.
    fn slot(&self, bucket: u64) -> (usize, u64) {
        let slot = bucket.wrapping_mul(self.parts) >> self.shift;
        ((slot / 64) as usize, 1 << (slot % 64))
    }

    pub(super) fn see(&mut self, bucket: u64) {
        let (word, bit) = self.slot(bucket);
        self.again[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    pub(super) fn has_several(&self, bucket: u64) -> bool {
        let (word, bit) = self.slot(bucket);
        self.again[word] & bit != 0
    }
}
