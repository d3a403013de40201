//! From full buckets to the longer keys of their texts, round by round.
//!
//! It asks for two things alone, sketches and the entries of other buckets ([`Crowded`]), so that it is the same over columns of one
//! machine and over those that an engine has spread.

use super::levels::{Levels, Onward, Visit};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::Banding;
use crate::parallel;
use ahash::AHashMap;
use simhash_index::bands::Table;
use simhash_sketch::MethodSketch;
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// The documents around full buckets.
pub(super) trait Crowded {
    /// Makes the sketches of these texts.
    fn sketches(&self, texts: &mut [(u32, MethodSketch)]) -> Result<(), DedupError>;

    /// The texts that are in these buckets by whole bands, by bucket, each ascending.
    fn whole(&self, buckets: &[u64]) -> Result<Vec<(u64, Vec<u32>)>, DedupError>;
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

/// Follows full buckets, by their texts, to the longer keys of these.
pub(super) fn climb(
    below: &dyn Crowded,
    mut runs: Vec<(u64, Vec<u32>)>,
    rule: &Banding,
    room: &Room,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Levels, DedupError> {
    let (mut levels, mut signatures) = (Levels::default(), Signatures::new(room)?);
    let mut visits: Vec<Visit> = Vec::new();
    while !(runs.is_empty() && visits.is_empty()) {
        parallel::check(cancel)?;
        sketch(below, &mut signatures, &runs, room)?;
        visits.extend(full(&runs, &signatures, rule, room)?);
        let more = levels.add(visits, rule, threads, cancel)?;
        visits = onward(more, &signatures, rule, (room, threads, cancel))?;
        let mut buckets: Vec<u64> = visits.iter().map(|visit| visit.bucket).collect();
        buckets.sort_unstable();
        buckets.dedup();
        runs = match levels.unknown(&buckets) {
            none if none.is_empty() => Vec::new(),
            buckets => below.whole(&buckets)?,
        };
    }
    Ok(levels)
}

/// The first visits of the texts of full buckets.
fn full(
    runs: &[(u64, Vec<u32>)],
    signatures: &Signatures,
    rule: &Banding,
    room: &Room,
) -> Result<Vec<Visit>, DedupError> {
    let mut visits = Vec::new();
    for &(bucket, ref texts) in runs {
        for text in texts.chunk_by(|a, b| a == b).map(|same| same[0]) {
            room.relieve()?;
            let Some((_, keys)) = signatures.get(text) else { continue };
            let bands = keys.iter().enumerate();
            let bands = bands.filter(|(_, key)| Table::bucket(**key & rule.mask) == bucket);
            visits.extend(bands.map(|(band, _)| Visit::first(bucket, text, band)));
        }
    }
    Ok(visits)
}

/// Makes the signatures of the texts of full buckets once more: most corpora have few of them, so they are not kept for all. In a
/// crowd each of its texts takes 4 bytes per position, 8 per band, and in memory 16 and 24 per visit meanwhile.
fn sketch(
    below: &dyn Crowded,
    signatures: &mut Signatures,
    runs: &[(u64, Vec<u32>)],
    room: &Room,
) -> Result<(), DedupError> {
    let mut new: Vec<u32> = runs.iter().flat_map(|(_, texts)| texts).copied().collect();
    new.sort_unstable();
    new.dedup();
    new.retain(|&text| signatures.get(text).is_none());
    for some in new.chunks(BATCH_DOCUMENTS) {
        let mut slots: Vec<(u32, MethodSketch)> =
            some.iter().map(|&text| (text, MethodSketch::None)).collect();
        below.sketches(&mut slots)?;
        for (text, sketch) in slots {
            if let MethodSketch::Signature { positions, keys } = sketch {
                signatures.put(text, &positions, &keys)?;
            }
        }
        room.relieve()?;
    }
    Ok(())
}

fn onward(
    onward: Vec<Onward>,
    signatures: &Signatures,
    rule: &Banding,
    (room, threads, cancel): (&Room, usize, &AtomicBool),
) -> Result<Vec<Visit>, DedupError> {
    let mut slots: Vec<(Onward, Option<Visit>)> =
        onward.into_iter().map(|onward| (onward, None)).collect();
    parallel::for_each(&mut slots, threads, cancel, Vec::new, |bytes, (onward, visit)| {
        room.relieve()?;
        if let Some((positions, _)) = signatures.get(onward.text) {
            let (band, more) = (usize::from(onward.band), usize::from(onward.level));
            *visit = Some(onward.visit(rule.longer_key(positions, band, more, bytes)));
        }
        Ok(())
    })?;
    Ok(slots.into_iter().filter_map(|(_, visit)| visit).collect())
}
