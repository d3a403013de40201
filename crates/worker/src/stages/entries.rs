//! Entries of buckets, without an allocation for each.

use super::Places;
use ahash::{AHashMap, AHashSet};
use std::collections::BTreeMap;

/// Texts by bucket, in order of the buckets; in each they ascend.
pub(super) type Buckets = BTreeMap<u64, Vec<u32>>;

/// A bucket, and where among all places the place of the text begins and ends.
pub(super) struct Entry {
    pub(super) bucket: u64,
    start: usize,
    end: usize,
}

#[derive(Default)]
pub(super) struct Entries {
    places: Vec<u8>,
    all: Vec<Entry>,
}

impl Entries {
    pub(super) fn push(&mut self, bucket: u64, place: &[u8]) {
        let start = self.places.len();
        self.places.extend_from_slice(place);
        self.all.push(Entry { bucket, start, end: self.places.len() });
    }

    pub(super) fn all(&self) -> &[Entry] {
        &self.all
    }

    pub(super) fn place(&self, entry: &Entry) -> &[u8] {
        &self.places[entry.start..entry.end]
    }

    /// By bucket, then by place.
    pub(super) fn sort(&mut self) {
        let place = |entry: &Entry| &self.places[entry.start..entry.end];
        self.all
            .sort_unstable_by(|a, b| a.bucket.cmp(&b.bucket).then_with(|| place(a).cmp(place(b))));
    }

    /// All places, and the buckets by their numbers. A text that is in a bucket twice stays there twice.
    pub(super) fn numbered(&self) -> (Places, Buckets) {
        // Few places of many entries: only these are compared.
        let distinct: AHashSet<&[u8]> = self.all.iter().map(|entry| self.place(entry)).collect();
        let places = Places::of(distinct.into_iter().map(<[u8]>::to_vec).collect());
        let numbers: AHashMap<&[u8], u32> = places.0.iter().map(Vec::as_slice).zip(0..).collect();
        let mut all: Vec<(u64, u32)> =
            self.all.iter().map(|entry| (entry.bucket, numbers[self.place(entry)])).collect();
        drop(numbers);
        all.sort_unstable();
        let buckets = all
            .chunk_by(|a, b| a.0 == b.0)
            .map(|run| (run[0].0, run.iter().map(|entry| entry.1).collect()))
            .collect();
        (places, buckets)
    }
}
