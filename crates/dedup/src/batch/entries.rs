//! The column of band keys: which document has which key, in parts by the highest bits of the key.
//!
//! An entry is the 32 bits of its key below those that choose the part, and the document as the difference to that of the entry before
//! it: five bytes, seldom six. A part is gone over twice: a filter of two bits for each slot sees what stands alone in it, and only the
//! rest is sorted, by key and document as plain numbers.

use super::Groups;
use super::pieces::Piece;
use super::sheaf::{self, Sheaf};
use super::varint;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::bands::Table;
use simhash_store::{Column, Parts, Room};
use std::sync::atomic::AtomicBool;

/// Bits of a key that choose a part: so many parts of a million documents have some 12,000 entries each, whose filter is in the
/// first cache.
const PART_BITS: u32 = 11;
/// How many parts there are.
pub(super) const PARTS: usize = 1 << PART_BITS;
/// Bits of a document.
const DOCUMENT_BITS: u32 = 31;
/// Bits of a key that count: those of [`Table::bucket`].
const KEY_BITS: u32 = PART_BITS + u32::BITS;
/// Most bytes of an entry in its part.
const ENTRY_BYTES: usize = size_of::<u32>() + 5;
/// Slots of the filter for each entry: of the entries that stand alone one in seventeen passes by chance.
const SLOTS: usize = 16;
/// Bytes of a part that is looked at as a whole, about: of a larger one pieces, by the next bits of the key. Filter and survivors of a
/// piece are some megabytes at most.
const PIECE: usize = 1 << 20;

/// Most documents.
pub(super) const MOST: u32 = 1 << DOCUMENT_BITS;

/// All entries, in the order in which they came.
pub(super) struct Entries {
    parts: Parts,
    /// The document of each part's last entry.
    last: Vec<u32>,
}

/// An entry of a text: the key as far as its part tells, and the text.
pub(super) type Entry = u64;

/// The document of an entry, or its text.
pub(super) fn number_of(entry: Entry) -> u32 {
    entry as u32 & (MOST - 1)
}

/// The key of an entry without the part's bits.
pub(super) fn low_of(entry: Entry) -> u64 {
    entry >> DOCUMENT_BITS
}

fn entry(low: u32, number: u32) -> Entry {
    u64::from(low) << DOCUMENT_BITS | u64::from(number)
}

/// A key as a part and the rest.
pub(super) fn split(key: u64) -> (usize, u32) {
    ((key >> (64 - PART_BITS)) as usize, (key >> (64 - KEY_BITS)) as u32)
}

/// The bucket that an entry of a part is in.
pub(super) fn bucket_of(part: usize, low: u64) -> u64 {
    let key = (part as u64) << (64 - PART_BITS) | low << (64 - KEY_BITS);
    debug_assert_eq!(key, Table::bucket(key));
    key
}

impl Entries {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        Ok(Self { parts: Parts::new(room, PARTS)?, last: vec![0; PARTS] })
    }

    /// Adds the entries of the next documents; `from` is the first of them.
    pub(super) fn put(&mut self, sheaf: &Sheaf, from: u32) -> Result<(), DedupError> {
        for (piece, others) in sheaf.pieces() {
            let before = std::mem::replace(&mut self.last[piece.part], from + piece.last);
            let end = self.parts.end(piece.part, ENTRY_BYTES + others.len())?;
            sheaf::write(piece.low, from + piece.first - before, end);
            end.extend_from_slice(others);
        }
        Ok(())
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Bytes of the entries.
    pub(super) fn bytes(&self) -> usize {
        self.parts.bytes()
    }

    /// Calls `see` with key and document of every entry of a part, in order.
    fn each(
        &self,
        part: usize,
        room: &Room,
        mut see: impl FnMut(u32, u32),
    ) -> Result<(), DedupError> {
        let mut document = 0;
        self.parts.each(part, |mut rest| {
            while let Some((low, behind)) = rest.split_first_chunk() {
                let (more, behind) = varint::read(behind);
                document += more as u32;
                see(u32::from_le_bytes(*low), document);
                rest = behind;
            }
            Ok(room.relieve()?)
        })
    }

    /// Calls `found` with the bucket and the text of every entry whose bucket is one of these, ascending.
    pub(super) fn scan(
        &self,
        part: usize,
        buckets: &[u64],
        groups: &Groups,
        room: &Room,
        found: &mut Vec<(u64, u32)>,
    ) -> Result<(), DedupError> {
        let from = bucket_of(part, 0);
        let own = &buckets[buckets.partition_point(|&bucket| bucket < from)..];
        let own = &own[..own.partition_point(|&bucket| split(bucket).0 == part)];
        if own.is_empty() {
            return Ok(());
        }
        let slots = (own.len() * SLOTS).next_power_of_two().max(64);
        let mut wanted = vec![0u64; slots / 64];
        for &bucket in own {
            let slot = split(bucket).1 as usize & (slots - 1);
            wanted[slot / 64] |= 1 << (slot % 64);
        }
        let mut relieved = Ok(());
        self.each(part, room, |low, document| {
            let slot = low as usize & (slots - 1);
            let bucket = bucket_of(part, u64::from(low));
            if wanted[slot / 64] >> (slot % 64) & 1 == 1 && own.binary_search(&bucket).is_ok() {
                if relieved.is_ok() {
                    relieved = room.relieve();
                }
                let text = groups.text_led_by(document);
                found.extend(text.map(|text| (bucket, text)));
            }
        })?;
        Ok(relieved?)
    }

    /// The entries of texts whose keys others have too, ascending by part and key.
    pub(super) fn together(
        &self,
        groups: &Groups,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Together, DedupError> {
        let mut together = Together { entries: Column::new(room)?, ends: Vec::new() };
        for wave in Piece::waves(&self.parts, PIECE, room) {
            parallel::check(cancel)?;
            let mut slots: Vec<(Piece, Vec<Entry>)> =
                wave.into_iter().map(|piece| (piece, Vec::new())).collect();
            let new = Filter::default;
            parallel::for_each_large(&mut slots, threads, cancel, new, |filter, slot| {
                parallel::check(cancel)?;
                slot.1 = self.together_in(&slot.0, groups, room, filter)?;
                Ok(())
            })?;
            for (piece, entries) in slots {
                together.entries.extend_from_slice(&entries)?;
                together.ends.resize(piece.part + 1, together.entries.len());
                together.ends[piece.part] = together.entries.len();
            }
            room.relieve()?;
        }
        Ok(together)
    }

    fn together_in(
        &self,
        piece: &Piece,
        groups: &Groups,
        room: &Room,
        filter: &mut Filter,
    ) -> Result<Vec<Entry>, DedupError> {
        let part = piece.part;
        filter.start(piece.bytes / (size_of::<u32>() + 1));
        let is_own = |low: u32| piece.has(u64::from(low) << u32::BITS);
        self.each(part, room, |low, _| {
            if is_own(low) {
                filter.see(low);
            }
        })?;
        let mut several = Vec::new();
        self.each(part, room, |low, document| {
            if is_own(low) && filter.has_several(low) {
                several.push(entry(low, document));
            }
        })?;
        several.sort_unstable();
        let mut texts = Vec::new();
        for run in several.chunk_by(|&a, &b| low_of(a) == low_of(b)).filter(|run| run.len() > 1) {
            room.relieve()?;
            let from = texts.len();
            texts.extend(run.iter().filter_map(|&one| {
                let text = groups.text_led_by(number_of(one))?;
                Some(entry(low_of(one) as u32, text))
            }));
            // Sorted already, but for texts that are not taken in input order.
            texts[from..].sort_unstable();
        }
        Ok(texts)
    }
}

/// Entries of texts that do not stand alone, by part.
pub(super) struct Together {
    entries: Column<Entry>,
    ends: Vec<usize>,
}

impl Together {
    /// The buckets in order, with the entries of each.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u64, &[Entry])> {
        let mut start = 0;
        self.ends.iter().enumerate().flat_map(move |(part, &end)| {
            let entries = &self.entries[start..end];
            start = end;
            let runs = entries.chunk_by(|&a, &b| low_of(a) == low_of(b));
            runs.map(move |run| (bucket_of(part, low_of(run[0])), run))
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.bytes()
    }
}

/// Which keys have come more than once, or share a slot with another: one bit for the first time and one for the others.
#[derive(Default)]
pub(super) struct Filter {
    slots: usize,
    once: Vec<u64>,
    again: Vec<u64>,
}

impl Filter {
    /// Begins with so many entries.
    pub(super) fn start(&mut self, entries: usize) {
        self.slots = (entries * SLOTS).next_power_of_two().max(64);
        for bits in [&mut self.once, &mut self.again] {
            bits.clear();
            bits.resize(self.slots / 64, 0);
        }
    }

    pub(super) fn see(&mut self, low: u32) {
        let slot = low as usize & (self.slots - 1);
        let bit = 1 << (slot % 64);
        let once = &mut self.once[slot / 64];
        self.again[slot / 64] |= *once & bit;
        *once |= bit;
    }

    pub(super) fn has_several(&self, low: u32) -> bool {
        let slot = low as usize & (self.slots - 1);
        self.again[slot / 64] >> (slot % 64) & 1 == 1
    }
}
