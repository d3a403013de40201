//! Full buckets, and the longer keys that their texts go on to: what a live index would have of them.
//!
//! A text looks into its bucket of a band; where that is full it goes on to that of a longer key, and so on, and it is put into the first
//! one with room ([`crate::method::Banding`]). So its signature and what is in the buckets tell what it sees, which nothing else holds: in
//! a crowd each text sees some two hundred buckets. In memory, whatever the bound, are what is in the buckets: some nine bytes for each
//! band of a text that is put into one, none where all levels are full, as in a crowd of one template.

use super::climb::Signatures;
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::Banding;
use crate::parallel;
use simhash_index::bands::Table;
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// What is in full buckets and those behind them.
pub(super) struct Levels {
    /// The buckets of whole bands that are looked at here, ascending: those that were full, and those that a longer key leads to, by accident.
    whole: Vec<u64>,
    /// The texts in each of these and in those of longer keys, in order.
    texts: Table,
    /// Of all texts that are in buckets of `whole`.
    signatures: Signatures,
}

impl Levels {
    /// Buckets that nothing is in yet.
    pub(super) fn new(whole: Vec<u64>, signatures: Signatures) -> Self {
        Self { whole, texts: Table::new(), signatures }
    }

    /// No text was in a full bucket.
    pub(super) fn none(room: &Room) -> Result<Self, DedupError> {
        Ok(Self::new(Vec::new(), Signatures::new(room)?))
    }

    /// Puts texts into their buckets, one after the other. The result are the buckets of longer keys that somebody came to, ascending.
    pub(super) fn fill(
        &mut self,
        rule: &Banding,
        (room, threads, cancel): (&Room, usize, &AtomicBool),
    ) -> Result<Vec<u64>, DedupError> {
        let (mut longer, rows) = (Vec::new(), self.len());
        for from in (0..rows).step_by(BATCH_DOCUMENTS) {
            let to = rows.min(from + BATCH_DOCUMENTS);
            let mut slots: Vec<(usize, Vec<u64>)> =
                (from..to).map(|row| (row, Vec::new())).collect();
            parallel::for_each(&mut slots, threads, cancel, Vec::new, |bytes, (row, keys)| {
                self.keys(*row, rule, bytes, keys);
                Ok(room.relieve()?)
            })?;
            for (row, keys) in slots {
                let text = self.text(row);
                for keys in keys.chunks(rule.levels() + 1) {
                    self.put(text, keys, rule, &mut longer);
                }
            }
        }
        longer.sort_unstable();
        longer.dedup();
        longer.retain(|bucket| !self.is_whole(*bucket));
        Ok(longer)
    }

    fn is_whole(&self, bucket: u64) -> bool {
        self.whole.binary_search(&bucket).is_ok()
    }

    /// The keys of a text in bands whose bucket is looked at here: those of all levels of one, then of the next.
    fn keys(&self, row: usize, rule: &Banding, bytes: &mut Vec<u8>, keys: &mut Vec<u64>) {
        let (_, positions) = self.signatures.get(row);
        for band in 0..rule.bands() {
            let key = rule.longer_key(positions, band, 0, bytes);
            if self.is_whole(Table::bucket(key)) {
                keys.push(key);
                let levels = 1..=rule.levels();
                keys.extend(levels.map(|more| rule.longer_key(positions, band, more, bytes)));
            }
        }
    }

    /// Puts a text into the first bucket with room of a band.
    fn put(&mut self, text: u32, keys: &[u64], rule: &Banding, longer: &mut Vec<u64>) {
        for (level, &key) in keys.iter().enumerate() {
            let count = self.texts.ids_len(key);
            if level > 0 && count == 0 {
                longer.push(Table::bucket(key));
            }
            if count < rule.holds(level) {
                self.texts.insert(key, text, |_| true);
                break;
            }
        }
    }

    /// The buckets and the signatures, for another time.
    pub(super) fn taken_apart(self) -> (Vec<u64>, Signatures) {
        (self.whole, self.signatures)
    }

    /// The buckets of whole bands, in which nobody else may look.
    pub(super) fn whole(&self) -> &[u64] {
        &self.whole
    }

    /// How many texts are in these.
    pub(super) fn len(&self) -> usize {
        self.signatures.len()
    }

    /// One of them, by its place.
    pub(super) fn text(&self, row: usize) -> u32 {
        self.signatures.get(row).0
    }

    /// Calls `each` with the texts that one of them sees in each bucket, and whether they are all that it may hold. `others` is memory.
    pub(super) fn see(
        &self,
        row: usize,
        rule: &Banding,
        others: &mut Vec<u32>,
        mut each: impl FnMut(&[u32], bool),
    ) {
        let ((text, positions), mut bytes) = (self.signatures.get(row), Vec::new());
        for band in 0..rule.bands() {
            for level in 0..=rule.levels() {
                let key = rule.longer_key(positions, band, level, &mut bytes);
                if level == 0 && !self.is_whole(Table::bucket(key)) {
                    break;
                }
                others.clear();
                self.texts.ids_below(key, text, |some| others.extend_from_slice(some));
                let is_full = others.len() >= rule.holds(level);
                if !others.is_empty() {
                    each(others, is_full);
                }
                // A text that filled the last places itself, by other bands, is put into the next bucket, but looks no further.
                if !is_full {
                    break;
                }
            }
        }
    }

    /// Bytes held, where there are any texts: what an empty table takes does not grow as documents do.
    pub(super) fn bytes(&self) -> usize {
        if self.len() == 0 {
            return 0;
        }
        self.whole.len() * size_of::<u64>() + self.texts.bytes() + self.signatures.bytes()
    }
}
