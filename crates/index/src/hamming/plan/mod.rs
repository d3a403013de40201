//! Which bits each table keeps, and why no neighbour is missed.
//!
//! Cut the 64 bits into blocks. A table keeps some blocks as its *prefix*: fingerprints equal on those bits lie
//! together. A family of tables finds every pair within distance k exactly when no k blocks touch every table's
//! prefix: k flipped bits dirty at most k blocks, so some table's prefix is clean and both fingerprints share a bucket
//! there; and if k blocks did touch every table, one flip in each would hide a neighbour. The condition does not speak
//! of widths: they change the cost, never the answer. Families that satisfy it are covering designs; `catalog.txt` has
//! the best known ones, `cover` walks the proof, and every plan is walked before it is used.
//!
//! Sources: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007) for tables of rotated
//! blocks; the catalog's designs are listed with their names in its lines.

mod auto;
mod catalog;
mod cover;
mod estimate;
mod schedule;

pub use auto::{SKEW, TABLES};
pub use catalog::names;
pub use estimate::Estimate;
pub(crate) use schedule::{Lookup, Schedule};

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::IndexError;

/// The largest distance that any search answers.
pub const MAX_DISTANCE: u32 = 16;

/// How the caller chooses the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PlanChoice {
    /// By distance and expected size.
    #[default]
    Auto,
    /// k + 1 equal blocks, one kept per table: the rotated tables of the literature.
    Classic,
    /// A plan of the catalog by name, such as `k3-t6`.
    Named(String),
}

/// A run of neighbouring bits of the prefix: where it lies in the fingerprint and where in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) shift: u32,
    pub(crate) mask: u64,
    pub(crate) left: u32,
}

/// The bits that one table keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    blocks: Vec<u8>,
    mask: u64,
    bits: u32,
    pieces: Vec<Piece>,
}

impl Prefix {
    fn new(starts: &[u32], widths: &[u32], blocks: &[u8]) -> Self {
        let mut blocks = blocks.to_vec();
        blocks.sort_unstable();
        // Neighbouring blocks make one piece; the lowest piece is the most significant part of the key.
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &block in &blocks {
            let (start, width) = (starts[block as usize], widths[block as usize]);
            match runs.last_mut() {
                Some((first, length)) if *first + *length == start => *length += width,
                _ => runs.push((start, width)),
            }
        }
        let bits = runs.iter().map(|run| run.1).sum();
        let mut left = bits;
        let mut mask = 0;
        let pieces = runs
            .iter()
            .map(|&(start, width)| {
                left -= width;
                let piece = Piece { shift: start, mask: low_bits(width), left };
                mask |= piece.mask << start;
                piece
            })
            .collect();
        Self { blocks, mask, bits, pieces }
    }

    /// The blocks kept, ascending.
    pub fn blocks(&self) -> &[u8] {
        &self.blocks
    }

    /// The kept bits, in the spread fingerprint.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// How many bits are kept.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The kept bits gathered at the low end.
    #[inline]
    pub(crate) fn key(&self, spread: u64) -> u64 {
        self.pieces
            .iter()
            .fold(0, |key, piece| key | (((spread >> piece.shift) & piece.mask) << piece.left))
    }
}

fn starts(widths: &[u32]) -> Vec<u32> {
    widths
        .iter()
        .scan(0, |next, width| {
            *next += width;
            Some(*next - width)
        })
        .collect()
}

fn low_bits(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

/// Blocks and the tables over them: exact for every distance up to `radius`.
#[derive(Debug, Clone)]
pub struct Plan {
    name: String,
    radius: u32,
    widths: Vec<u32>,
    prefixes: Vec<Prefix>,
    /// Made when first asked for, by distance.
    schedules: Arc<[OnceLock<Option<Schedule>>; MAX_DISTANCE as usize + 1]>,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.radius == other.radius && self.prefixes == other.prefixes
    }
}

impl Plan {
    /// Checks and builds a plan: `widths` are the blocks' bits, lowest block first, 64 together; each table lists the
    /// blocks that it keeps. Walks the covering proof: at most some 100 ms for the largest plans of the catalog.
    ///
    /// # Errors
    /// [`IndexError::InvalidPlan`] when the blocks are not 64 bits, a table names a missing block or keeps none, or
    /// `radius` flipped bits could touch every table.
    pub fn new(
        name: &str,
        radius: u32,
        widths: &[u32],
        tables: &[Vec<u8>],
    ) -> Result<Self, IndexError> {
        let invalid =
            |reason: String| Err(IndexError::InvalidPlan { name: name.to_owned(), reason });
        if widths.contains(&0) || widths.iter().sum::<u32>() != 64 {
            return invalid(format!("block widths {widths:?} do not make 64 bits"));
        }
        if radius > MAX_DISTANCE {
            return invalid(format!("radius {radius} is above {MAX_DISTANCE}"));
        }
        if tables.len() > 64 {
            return invalid(format!("{} tables are more than 64", tables.len()));
        }
        for (number, table) in tables.iter().enumerate() {
            let mut seen = table.clone();
            seen.sort_unstable();
            seen.dedup();
            let known = table.iter().all(|&block| usize::from(block) < widths.len());
            if table.is_empty() || seen.len() != table.len() || !known {
                return invalid(format!("table {number} keeps the blocks {table:?}"));
            }
        }
        if let Some(blocks) = cover::hole(tables, widths.len(), radius) {
            return invalid(format!(
                "it is not exact for distance {radius}: every table keeps one of the blocks {blocks:?}"
            ));
        }
        Ok(Self::proven(name, radius, widths, tables))
    }

    /// A plan that [`Plan::new`] accepts: of those that this crate ships the tests prove it, once and for all.
    fn proven(name: &str, radius: u32, widths: &[u32], tables: &[Vec<u8>]) -> Self {
        let starts = starts(widths);
        let prefixes = tables.iter().map(|table| Prefix::new(&starts, widths, table)).collect();
        let schedules = Arc::new([const { OnceLock::new() }; MAX_DISTANCE as usize + 1]);
        Self { name: name.to_owned(), radius, widths: widths.to_vec(), prefixes, schedules }
    }

    /// The plan of this name in the catalog, such as `k3-t6`, or `k3-classic`. Made once in a process, with the
    /// schedules that its searches have asked for.
    ///
    /// # Errors
    /// [`IndexError::UnknownPlan`].
    pub fn named(name: &str) -> Result<Self, IndexError> {
        static MADE: Mutex<BTreeMap<String, Plan>> = Mutex::new(BTreeMap::new());
        if let Some(plan) = MADE.lock().get(name) {
            return Ok(plan.clone());
        }
        let plan = Self::make(name)?;
        Ok(MADE.lock().entry(name.to_owned()).or_insert(plan).clone())
    }

    fn make(name: &str) -> Result<Self, IndexError> {
        let classic = name
            .strip_prefix('k')
            .and_then(|rest| rest.strip_suffix("-classic"))
            .and_then(|radius| radius.parse::<u32>().ok());
        if let Some(radius) = classic.filter(|&radius| radius <= MAX_DISTANCE) {
            let count = radius + 1;
            let widths: Vec<u32> =
                (0..count).map(|b| 64 * (b + 1) / count - 64 * b / count).collect();
            let tables: Vec<Vec<u8>> = (0..count).map(|block| vec![block as u8]).collect();
            return Ok(Self::proven(&format!("k{radius}-classic"), radius, &widths, &tables));
        }
        let Some((radius, widths, tables)) = catalog::find(name) else {
            return Err(IndexError::UnknownPlan { name: name.to_owned() });
        };
        Ok(Self::proven(name, radius, &widths, &tables))
    }

    /// [`Plan::named`] where that is this very plan, else [`Plan::new`]: what a saved index was made with.
    pub(crate) fn known_or_new(
        name: &str,
        radius: u32,
        widths: &[u32],
        tables: &[Vec<u8>],
    ) -> Result<Self, IndexError> {
        let is_it = |plan: &Self| {
            let kept = plan.prefixes.iter().map(Prefix::blocks);
            plan.radius == radius
                && plan.widths == widths
                && kept.eq(tables.iter().map(Vec::as_slice))
        };
        match Self::named(name).ok().filter(is_it) {
            Some(plan) => Ok(plan),
            None => Self::new(name, radius, widths, tables),
        }
    }

    /// `radius + 1` blocks of nearly equal width, each table keeps one.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`].
    pub fn classic(radius: u32) -> Result<Self, IndexError> {
        if radius > MAX_DISTANCE {
            return Err(IndexError::Distance { given: radius, max: MAX_DISTANCE });
        }
        Self::named(&format!("k{radius}-classic"))
    }

    /// The plan for a search distance and an expected number of fingerprints: for distances to 3 the measured ones, for
    /// the others the fewest tables whose work is within a third of the least.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`].
    pub fn auto(distance: u32, expected: Option<u64>) -> Result<Self, IndexError> {
        let too_far = IndexError::Distance { given: distance, max: MAX_DISTANCE };
        Self::named(auto::choose(distance, expected).ok_or(too_far)?)
    }

    /// A plan whose tables alone cover `distance`, for joins: there every bucket is read anyway, so longer prefixes
    /// matter more than few tables.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`].
    pub(crate) fn covering(distance: u32) -> Result<Self, IndexError> {
        match distance {
            0..=5 => Self::auto(distance, None),
            6 => Self::named("k6-t21"),
            7 => Self::named("k7-t28"),
            8 => Self::named("k8-t32"),
            9 => Self::named("k9-t28"),
            10 => Self::named("k10-t24"),
            _ => Self::classic(distance),
        }
    }

    /// Resolves the caller's choice.
    ///
    /// # Errors
    /// Those of [`Plan::named`] and [`Plan::auto`].
    pub fn choose(
        choice: &PlanChoice,
        distance: u32,
        expected: Option<u64>,
    ) -> Result<Self, IndexError> {
        match choice {
            PlanChoice::Auto => Self::auto(distance, expected),
            PlanChoice::Classic => Self::classic(distance),
            PlanChoice::Named(name) => Self::named(name),
        }
    }

    /// Its name: `k`, radius, `-t`, number of tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The distance up to which one look-up per table finds everything.
    pub fn radius(&self) -> u32 {
        self.radius
    }

    /// Bits of each block, lowest block first.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// First bit of each block.
    fn starts(&self) -> Vec<u32> {
        starts(&self.widths)
    }

    /// The look-ups that answer `distance` exactly, if there are any; else every fingerprint must be read.
    pub(crate) fn schedule(&self, distance: u32) -> Option<&Schedule> {
        let slot = self.schedules.get(distance as usize)?;
        slot.get_or_init(|| Schedule::new(self, distance)).as_ref()
    }

    /// One prefix per table.
    pub fn prefixes(&self) -> &[Prefix] {
        &self.prefixes
    }
}

#[cfg(test)]
mod tests;
