//! The candidates of the longest sentences from a sorted column of their hashes.
//!
//! ```text
//! sentences of documents ─► parts by hash ─► what does not stand alone ─► sorted: runs of a sentence ─► who sees whom ─► lists by text
//! ```
//! An entry is a hash without the eight bits that choose its part, and the document as the difference to that of the entry before it: eight
//! bytes, seldom nine. Most sentences stand alone: a filter sees that before anything is sorted ([`Filter`]).

use super::buckets::{Buckets, Seen};
use super::candidates::{Candidates, Gathered, Listed, Sketches};
use super::entries::Filter;
use super::groups::Groups;
use super::pieces::Piece;
use super::sort::sort;
use super::varint;
use crate::checkpoint::{Restoring, Saving};
use crate::error::DedupError;
use crate::method::{self, by_keys};
use crate::options::DedupOptions;
use crate::parallel;
use simhash_sketch::{MethodSketch, Sketcher};
use simhash_store::{Column, Parts, Room};
use std::sync::atomic::AtomicBool;

/// Parts that are looked at by themselves, by the highest bits of the hash.
const PART_BITS: u32 = 8;
/// Bytes of a hash without those bits.
const HASH_BYTES: usize = 7;
/// Bytes of a part that is looked at as a whole, about; of a larger one pieces, by the next bits of the hash.
const PIECE: usize = 1 << 20;
/// Entries of a piece that are sorted in memory. There are more where many documents have one sentence: a column of them is sorted.
const SORTED: usize = 1 << 18;

/// A hash without the bits of its part, and a text that has the sentence.
type Entry = (u64, u32);

/// The sentences, then what is made of them.
pub(super) struct Sentences {
    sketcher: Sketcher,
    /// Most sentences of a text.
    most: usize,
    /// Texts that a sentence counts for.
    bucket: usize,
    parts: Parts,
    /// The document of each part's last entry.
    last: Vec<u32>,
    documents: u32,
    buckets: Buckets,
    /// Lists that were asked for.
    listed: usize,
    room: Room,
}

/// What was found in a piece.
enum Together {
    /// Entries with hashes that several have, sorted.
    Sorted(Vec<Entry>),
    /// So many that they were not gathered.
    Many,
}

impl Sentences {
    pub(super) fn new(
        options: &DedupOptions,
        count: usize,
        room: &Room,
    ) -> Result<Self, DedupError> {
        Ok(Self {
            sketcher: method::sieve(options)?.sketcher(),
            most: count,
            bucket: options.max_bucket,
            parts: Parts::new(room, 1 << PART_BITS)?,
            last: vec![0; 1 << PART_BITS],
            documents: 0,
            buckets: Buckets::new(room)?,
            listed: 0,
            room: room.clone(),
        })
    }

    /// Calls `see` with hash and document of every entry of a piece, in order.
    fn each(
        &self,
        piece: Piece,
        cancel: &AtomicBool,
        mut see: impl FnMut(u64, u32) -> Result<(), DedupError>,
    ) -> Result<(), DedupError> {
        let mut document = 0;
        self.parts.each(piece.part, |mut rest| {
            parallel::check(cancel)?;
            while let Some((hash, behind)) = rest.split_first_chunk::<HASH_BYTES>() {
                let (more, behind) = varint::read(behind);
                document += more as u32;
                let mut bytes = [0; 8];
                bytes[..HASH_BYTES].copy_from_slice(hash);
                let hash = u64::from_le_bytes(bytes);
                if piece.has(hash << PART_BITS) {
                    see(hash, document)?;
                }
                rest = behind;
            }
            Ok(self.room.relieve()?)
        })
    }

    /// Has the filter see the entries of a piece, of which there are so many.
    fn filter(
        &self,
        piece: Piece,
        filter: &mut Filter,
        cancel: &AtomicBool,
    ) -> Result<usize, DedupError> {
        let mut count = 0;
        filter.start((piece.bytes / (HASH_BYTES + 1)).min(SORTED));
        self.each(piece, cancel, |hash, _| {
            filter.see(hash as u32);
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    fn together(
        &self,
        piece: Piece,
        groups: &Groups,
        filter: &mut Filter,
        cancel: &AtomicBool,
    ) -> Result<Together, DedupError> {
        if self.filter(piece, filter, cancel)? > SORTED {
            return Ok(Together::Many);
        }
        let mut several = Vec::new();
        self.each(piece, cancel, |hash, document| {
            if filter.has_several(hash as u32) {
                let text = groups.text_led_by(document);
                several.extend(text.map(|text| (hash, text)));
            }
            Ok(())
        })?;
        several.sort_unstable();
        Ok(Together::Sorted(several))
    }

    /// The same of a piece with many entries.
    fn many(
        &self,
        piece: Piece,
        groups: &Groups,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Column<Entry>, DedupError> {
        let mut filter = Filter::default();
        self.filter(piece, &mut filter, cancel)?;
        let mut several: Column<Entry> = Column::new(&self.room)?;
        self.each(piece, cancel, |hash, document| {
            if filter.has_several(hash as u32)
                && let Some(text) = groups.text_led_by(document)
            {
                several.push((hash, text))?;
            }
            Ok(())
        })?;
        drop(filter);
        sort(&mut several, &self.room, threads, cancel)?;
        Ok(several)
    }

    /// Adds who sees whom through the sentences of these entries.
    fn see(&self, entries: &[Entry], buckets: &mut Buckets) -> Result<(), DedupError> {
        for run in entries.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            buckets.add_first(run.iter().map(|&(_, text)| text), self.bucket, &self.room)?;
        }
        Ok(())
    }
}

impl Candidates for Sentences {
    fn sketcher(&self) -> Sketcher {
        self.sketcher.clone()
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        for (document, sketch) in (self.documents..).zip(&gathered.sketches) {
            let MethodSketch::Sentences(hashes) = sketch else { continue };
            for hash in hashes {
                let part = (hash >> (u64::BITS - PART_BITS)) as usize;
                let before = std::mem::replace(&mut self.last[part], document);
                let end = self.parts.end(part, HASH_BYTES + 5)?;
                end.extend_from_slice(&hash.to_le_bytes()[..HASH_BYTES]);
                varint::write(u64::from(document - before), end);
            }
        }
        self.documents += gathered.documents;
        Ok(())
    }

    fn settle(
        &mut self,
        groups: &Groups,
        _: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let room = self.room.clone();
        let (mut buckets, mut held) = (Buckets::new(&room)?, 0);
        for wave in Piece::waves(&self.parts, PIECE, &room) {
            let mut slots: Vec<(Piece, Together)> =
                wave.into_iter().map(|piece| (piece, Together::Many)).collect();
            let new = Filter::default;
            parallel::for_each_large(&mut slots, threads, cancel, new, |filter, slot| {
                slot.1 = self.together(slot.0, groups, filter, cancel)?;
                Ok(())
            })?;
            for (piece, found) in slots {
                parallel::check(cancel)?;
                held += match found {
                    Together::Sorted(entries) => {
                        self.see(&entries, &mut buckets)?;
                        entries.len()
                    }
                    Together::Many => {
                        let entries = self.many(piece, groups, threads, cancel)?;
                        self.see(&entries, &mut buckets)?;
                        entries.len()
                    }
                };
            }
        }
        buckets.made_of(self.parts.bytes() + held * size_of::<Entry>());
        self.parts = Parts::new(&Room::default(), 0)?;
        buckets.seal(groups.len(), &room, cancel)?;
        self.buckets = buckets;
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let Self { buckets, listed, most, room, .. } = self;
        buckets.next(listed, room, threads, cancel, |place, seen: &mut Vec<u32>| {
            let mut cut = false;
            seen.clear();
            let text = buckets.seen(place, |own| {
                if let Seen::Others(others, full) = own {
                    seen.extend_from_slice(others);
                    cut |= full;
                }
            });
            Listed { text, found: by_keys(seen, *most, limit, cut) }
        })
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    fn can_be_kept(&self) -> bool {
        true
    }

    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        self.buckets.save(to)
    }

    fn restore(&mut self, from: &mut Restoring, groups: &Groups) -> Result<(), DedupError> {
        self.buckets = Buckets::restore(from, groups.len(), &self.room)?;
        Ok(())
    }
}
