//! All pairs of an index's live documents, lazily: the self-join of its fingerprints, and who has them.

use std::sync::atomic::AtomicBool;

use super::Sealed;
use super::near::{Near, SelfJoin};
use crate::IndexError;
use crate::hamming::{Hamming, Index};
use crate::live::Kind;

/// Two live documents near each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The lower id.
    pub a: u64,
    /// The higher id.
    pub b: u64,
    /// Bits that differ.
    pub distance: u32,
}

/// Pairs of copies of a call.
const QUOTA: usize = 8192;

/// A join under way; [`Pairs::next_batch`] goes on with it.
///
/// Pairs are of *fingerprints*: documents that share one are represented by the first of them, and each further one
/// comes once, paired with the first at distance 0. So c copies make c - 1 pairs, never c².
#[derive(Debug)]
pub struct Pairs {
    join: SelfJoin,
    /// The id that the next addition got when the join began.
    end: u64,
    /// First holders and further ones, made when the tables are done.
    copies: Option<Vec<(u64, u64)>>,
    copied: usize,
}

impl Pairs {
    pub(crate) fn new(index: &Index, distance: u32) -> Result<Self, IndexError> {
        let Sealed { copies, end } = Sealed::new(index, distance, &AtomicBool::new(false))?;
        Ok(Self { join: SelfJoin::of(copies, distance), end, copies: None, copied: 0 })
    }

    /// Share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.copies {
            None => self.join.progress().min(0.99),
            Some(copies) if self.copied < copies.len() => 0.99,
            Some(_) => 1.0,
        }
    }

    /// The next pairs, a few at least unless none are left; None at the end. Pairs of documents deleted since the
    /// join began are left out, documents added since are not in it. Runs on the current rayon pool on at most
    /// `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; the join can then go on, no pair is lost.
    pub fn next_batch(
        &mut self,
        index: &Index,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, IndexError> {
        loop {
            let pairs = if let Some(found) = self.join.next_batch(threads, cancel)? {
                index.resolve_pairs(&found, self.end)
            } else {
                let copies = self.copies.get_or_insert_with(|| index.copies(self.end));
                let Some(left) = copies.get(self.copied..).filter(|left| !left.is_empty()) else {
                    Hamming::sound(&index.shared.options)?;
                    return Ok(None);
                };
                let some = &left[..left.len().min(QUOTA)];
                self.copied += some.len();
                let alive = some.iter().filter(|(a, b)| index.has(*a) && index.has(*b));
                alive.map(|&(a, b)| Pair { a, b, distance: 0 }).collect()
            };
            Hamming::sound(&index.shared.options)?;
            if !pairs.is_empty() {
                return Ok(Some(pairs));
            }
        }
    }
}

impl Index {
    /// Every pair of live documents within `max_distance` (default: the index's own), lazily. Begins by compacting.
    ///
    /// # Errors
    /// [`IndexError::Distance`].
    pub fn pairs(&self, max_distance: Option<u32>) -> Result<Pairs, IndexError> {
        Pairs::new(self, self.checked(max_distance)?)
    }

    /// Documents below `end` for fingerprints.
    fn resolve_pairs(&self, found: &[Near], end: u64) -> Vec<Pair> {
        self.read(|ids| {
            found
                .iter()
                .filter_map(|&(one, other, distance)| {
                    let (one, other) = (ids.first(one)?, ids.first(other)?);
                    // A fingerprint whose documents have left may have come again since.
                    (one.max(other) < end).then_some(Pair {
                        a: one.min(other),
                        b: one.max(other),
                        distance,
                    })
                })
                .collect()
        })
    }

    /// Documents below `end` that share a fingerprint or text with an earlier one, after the first that does, by that.
    fn copies(&self, end: u64) -> Vec<(u64, u64)> {
        let mut copies = Vec::new();
        self.read(|ids| {
            ids.shared(|_, holders| {
                let further = holders.iter().skip(1).filter(|&&id| id < end);
                copies.extend(further.map(|&id| (holders[0], id)));
            });
        });
        copies.sort_unstable();
        copies
    }
}
