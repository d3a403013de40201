//! The candidates of `MinHash` from a sorted column of band keys.
//!
//! ```text
//! keys of documents ─► parts by key ─► what does not stand alone ─► sorted: runs of a key ─► buckets ─► lists by text
//!                                                                  └─► full: longer keys, in rounds ─┘
//! ```

use super::buckets::Buckets;
use super::candidates::{Candidates, Gathered, Gathering, Listed, Sketches};
use super::entries::{Entries, number_of};
use super::groups::Groups;
use super::levels::{Levels, Onward, Visit};
use crate::checkpoint::{Restoring, Saving};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::{Banding, Found};
use crate::parallel;
use ahash::AHashMap;
use simhash_index::bands::Table;
use simhash_sketch::{MethodSketch, Sketcher};
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// The column, then what is made of it.
pub(super) struct Bands {
    rule: Banding,
    entries: Entries,
    documents: u32,
    buckets: Buckets,
    /// Lists that were asked for.
    listed: usize,
    bytes: usize,
    room: Room,
}

/// The positions and keys of the texts of full buckets.
struct Signatures {
    /// By text: its row.
    rows: AHashMap<u32, usize>,
    positions: Column<u32>,
    keys: Column<u64>,
}

impl Signatures {
    fn new(room: &Room) -> Result<Self, DedupError> {
        let (positions, keys) = (Column::new(room)?, Column::new(room)?);
        Ok(Self { rows: AHashMap::new(), positions, keys })
    }

    /// All texts have as many of both.
    fn put(&mut self, text: u32, positions: &[u32], keys: &[u64]) -> Result<(), DedupError> {
        self.rows.insert(text, self.rows.len());
        self.positions.extend_from_slice(positions)?;
        Ok(self.keys.extend_from_slice(keys)?)
    }

    fn get(&self, text: u32) -> Option<(&[u32], &[u64])> {
        let (row, count) = (*self.rows.get(&text)?, self.rows.len());
        let (positions, keys) = (self.positions.len() / count, self.keys.len() / count);
        let positions = &self.positions[row * positions..(row + 1) * positions];
        Some((positions, &self.keys[row * keys..(row + 1) * keys]))
    }
}

impl Bands {
    pub(super) fn new(rule: Banding, room: &Room) -> Result<Self, DedupError> {
        let (entries, buckets) = (Entries::new(room)?, Buckets::new(room)?);
        let room = room.clone();
        Ok(Self { rule, entries, documents: 0, buckets, listed: 0, bytes: 0, room })
    }

    /// The first visits of the texts of full buckets.
    fn full(&self, runs: &[(u64, Vec<u32>)], signatures: &Signatures) -> Vec<Visit> {
        let mut visits = Vec::new();
        for &(bucket, ref texts) in runs {
            for text in texts.chunk_by(|a, b| a == b).map(|same| same[0]) {
                let Some((_, keys)) = signatures.get(text) else { continue };
                let bands = keys.iter().enumerate();
                let bands =
                    bands.filter(|(_, key)| Table::bucket(**key & self.rule.mask) == bucket);
                visits.extend(bands.map(|(band, _)| Visit::first(bucket, text, band)));
            }
        }
        visits
    }

    /// The entries of texts that are in these buckets by whole bands.
    fn whole(
        &self,
        buckets: &[u64],
        groups: &Groups,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<(u64, Vec<u32>)>, DedupError> {
        let mut parts: Vec<(usize, Vec<(u64, u32)>)> =
            (0..self.entries.parts()).map(|part| (part, Vec::new())).collect();
        parallel::for_each(
            &mut parts,
            threads,
            cancel,
            || (),
            |(), (part, found)| self.entries.scan(*part, buckets, groups, &self.room, found),
        )?;
        let mut all: Vec<(u64, u32)> = parts.into_iter().flat_map(|(_, found)| found).collect();
        all.sort_unstable();
        let runs = all.chunk_by(|a, b| a.0 == b.0);
        Ok(runs.map(|run| (run[0].0, run.iter().map(|&(_, text)| text).collect())).collect())
    }

    /// Follows full buckets to the longer keys of their texts.
    fn levels(
        &self,
        mut runs: Vec<(u64, Vec<u32>)>,
        groups: &Groups,
        texts: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Levels, DedupError> {
        let (mut levels, mut signatures) = (Levels::default(), Signatures::new(&self.room)?);
        let mut visits: Vec<Visit> = Vec::new();
        while !(runs.is_empty() && visits.is_empty()) {
            parallel::check(cancel)?;
            self.sketch(&mut signatures, &runs, groups, texts, threads, cancel)?;
            visits.extend(self.full(&runs, &signatures));
            let onward = levels.add(visits, &self.rule);
            visits = self.onward(onward, &signatures, threads, cancel)?;
            let mut buckets: Vec<u64> = visits.iter().map(|visit| visit.bucket).collect();
            buckets.sort_unstable();
            buckets.dedup();
            runs = match levels.unknown(&buckets) {
                none if none.is_empty() => Vec::new(),
                buckets => self.whole(&buckets, groups, threads, cancel)?,
            };
        }
        Ok(levels)
    }

    /// Makes the signatures of the texts of full buckets once more: most corpora have few of them, so they are not kept for all. In a
    /// crowd each of its texts takes 4 bytes per position, 8 per band, and in memory 16 and 24 per visit meanwhile.
    fn sketch(
        &self,
        signatures: &mut Signatures,
        runs: &[(u64, Vec<u32>)],
        groups: &Groups,
        texts: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let mut new: Vec<u32> = runs.iter().flat_map(|(_, texts)| texts).copied().collect();
        new.sort_unstable();
        new.dedup();
        new.retain(|&text| signatures.get(text).is_none());
        for some in new.chunks(BATCH_DOCUMENTS) {
            let mut slots: Vec<(u32, MethodSketch)> =
                some.iter().map(|&text| (text, MethodSketch::None)).collect();
            parallel::for_each(&mut slots, threads, cancel, Default::default, |scratch, slot| {
                slot.1 = texts.sketch(groups.first(slot.0), scratch)?;
                Ok(())
            })?;
            for (text, sketch) in slots {
                if let MethodSketch::Signature { positions, keys } = sketch {
                    signatures.put(text, &positions, &keys)?;
                }
            }
            self.room.relieve()?;
        }
        Ok(())
    }

    fn onward(
        &self,
        onward: Vec<Onward>,
        signatures: &Signatures,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Visit>, DedupError> {
        let mut slots: Vec<(Onward, Option<Visit>)> =
            onward.into_iter().map(|onward| (onward, None)).collect();
        parallel::for_each(&mut slots, threads, cancel, Vec::new, |bytes, (onward, visit)| {
            if let Some((positions, _)) = signatures.get(onward.text) {
                let (band, more) = (usize::from(onward.band), usize::from(onward.level));
                *visit = Some(onward.visit(self.rule.longer_key(positions, band, more, bytes)));
            }
            Ok(())
        })?;
        Ok(slots.into_iter().filter_map(|(_, visit)| visit).collect())
    }
}

impl Candidates for Bands {
    fn sketcher(&self) -> Sketcher {
        self.rule.sketcher()
    }

    fn gathering(&self) -> Gathering {
        Gathering::ByPart
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        self.entries.put(&gathered.sheaf, self.documents)?;
        self.documents += gathered.documents;
        Ok(())
    }

    fn settle(
        &mut self,
        groups: &Groups,
        texts: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let room = self.room.clone();
        let together = self.entries.together(groups, &room, threads, cancel)?;
        let (holds, mut full) = (self.rule.holds(0), Vec::new());
        for (bucket, run) in together.runs() {
            room.relieve()?;
            if run.len() > holds {
                full.push((bucket, run.iter().map(|&entry| number_of(entry)).collect()));
            }
        }
        let levels = self.levels(full, groups, texts, threads, cancel)?;
        self.bytes = self.entries.bytes();
        self.entries = Entries::new(&Room::default())?;
        let longer: Vec<u64> = levels.buckets().collect();
        let mut longer = &longer[..];
        let mut buckets = Buckets::new(&room)?;
        for (number, (bucket, run)) in together.runs().enumerate() {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
            }
            room.relieve()?;
            longer = &longer[longer.partition_point(|&other| other < bucket)..];
            let several = number_of(run[0]) != number_of(run[run.len() - 1]);
            if several && longer.first() != Some(&bucket) {
                buckets.add(run.iter().map(|&entry| number_of(entry)))?;
            }
        }
        self.bytes += together.bytes();
        drop(together);
        levels.fill(&self.rule, &mut buckets)?;
        buckets.seal(groups.len(), &room)?;
        self.bytes += buckets.bytes();
        self.buckets = buckets;
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let end = self.buckets.len().min(self.listed + BATCH_DOCUMENTS);
        let mut slots: Vec<(usize, Listed)> = (self.listed..end)
            .map(|place| (place, Listed { text: 0, found: Found::default() }))
            .collect();
        self.listed = end;
        parallel::for_each(&mut slots, threads, cancel, Vec::new, |seen, (place, listed)| {
            let (text, found) = self.buckets.list(*place, &self.rule, limit, seen);
            *listed = Listed { text, found };
            Ok(self.room.relieve()?)
        })?;
        Ok(slots.into_iter().map(|(_, listed)| listed).collect())
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn can_be_kept(&self) -> bool {
        true
    }

    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.numbers(&[self.bytes as u64])?;
        self.buckets.save(to)
    }

    fn restore(&mut self, from: &mut Restoring, groups: &Groups) -> Result<(), DedupError> {
        let [bytes] = from.numbers()?;
        self.bytes = bytes as usize;
        self.buckets = Buckets::restore(from, groups.len())?;
        Ok(())
    }
}
