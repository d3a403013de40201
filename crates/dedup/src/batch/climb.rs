//! From full buckets to the longer keys of their texts.
//!
//! It asks for two things alone, sketches and the entries of other buckets ([`Crowded`]), so that it is the same over columns of one
//! machine and over those that an engine has spread.

use super::levels::Levels;
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::Banding;
use crate::parallel;
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

/// The positions of texts, which ascend. They are made once more for the texts of full buckets, 4 bytes for each position: most corpora
/// have few of them, so they are not kept for all.
pub(super) struct Signatures {
    texts: Column<u32>,
    positions: Column<u32>,
}

impl Signatures {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        Ok(Self { texts: Column::new(room)?, positions: Column::new(room)? })
    }

    /// Those of these texts, ascending, which have what there is already.
    fn of(
        below: &dyn Crowded,
        texts: &[u32],
        known: &Self,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let (mut all, mut row) = (Self::new(room)?, 0);
        for some in texts.chunks(BATCH_DOCUMENTS) {
            parallel::check(cancel)?;
            let is_new = |text: &u32| known.texts.binary_search(text).is_err();
            let mut slots: Vec<(u32, MethodSketch)> = some
                .iter()
                .copied()
                .filter(is_new)
                .map(|text| (text, MethodSketch::None))
                .collect();
            below.sketches(&mut slots)?;
            let mut made = slots.into_iter().peekable();
            for &text in some {
                if let Some((_, sketch)) = made.next_if(|slot| slot.0 == text) {
                    if let MethodSketch::Signature { positions, .. } = sketch {
                        all.put(text, &positions)?;
                    }
                    continue;
                }
                row += known.texts[row..].partition_point(|&other| other < text);
                all.put(text, known.get(row).1)?;
            }
            room.relieve()?;
        }
        Ok(all)
    }

    /// All texts have as many positions.
    fn put(&mut self, text: u32, positions: &[u32]) -> Result<(), DedupError> {
        self.texts.push(text)?;
        Ok(self.positions.extend_from_slice(positions)?)
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// A text, and its positions.
    pub(super) fn get(&self, row: usize) -> (u32, &[u32]) {
        let count = self.positions.len() / self.texts.len();
        (self.texts[row], &self.positions[row * count..(row + 1) * count])
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.bytes() + self.positions.bytes()
    }
}

/// Follows full buckets, ascending, by their texts, ascending too, to the longer keys of these.
pub(super) fn climb(
    below: &dyn Crowded,
    (mut buckets, mut texts): (Vec<u64>, Vec<u32>),
    rule: &Banding,
    room: &Room,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Levels, DedupError> {
    let mut signatures = Signatures::new(room)?;
    loop {
        signatures = Signatures::of(below, &texts, &signatures, room, cancel)?;
        let mut levels = Levels::new(buckets, signatures);
        let longer = levels.fill(rule, (room, threads, cancel))?;
        let runs = if longer.is_empty() { Vec::new() } else { below.whole(&longer)? };
        if runs.is_empty() {
            return Ok(levels);
        }
        // A longer key is by accident that of a whole band: its texts were there before, or come in between.
        (buckets, signatures) = levels.taken_apart();
        buckets.extend(runs.iter().map(|run| run.0));
        buckets.sort_unstable();
        texts.extend(runs.into_iter().flat_map(|(_, texts)| texts));
        texts.sort_unstable();
        texts.dedup();
    }
}
