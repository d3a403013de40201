//! Signatures cut into bands: texts that share a band are candidates.
//!
//! The S-curve of the plan is what recall depends on ([`BandPlan::probability`]); without a plan of the caller's it is the
//! most selective one that finds a pair at the threshold with probability [`RECALL`].
//!
//! # Crowds
//! A bucket holds `max_bucket` texts, the oldest. A text that finds the bucket of its band full sees those and goes on to a
//! smaller bucket, whose key has one position of the signature more, and so on, [`LEVELS`] times; it is listed in the first
//! bucket that has room. Candidates seen in buckets with room come first, by their number, then those seen most often: what two
//! texts of a crowd share beyond the crowd is what tells. So a text reads a bounded number of others, in at most one
//! bucket per band and level, and is listed once per band (a prefix tree that grows where it is full: Bawa, Condie, Ganesan, "LSH
//! forest", WWW 2005).
//!
//! Measured (`npm run bench -- crowded`), share of the pairs at Jaccard 0.80 that are found, where a crowd's texts are similar to
//! each other by 0.67 / 0.74; at 0.9, and in crowds at 0.54, all are found:
//!
//! | texts of a crowd | whole bands alone | with longer keys | and the order by room (this) |
//! |---|---|---|---|
//! | 3,000 | 99.3 / 94.7 % | 99.3 / 92.0 % | 100 / 97.3 % |
//! | 30,000 | 97.4 / 88.2 % | | 98.8 / 92.8 % |

use super::{Candidate, Found, Sieve, count, shared};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use simhash_index::bands::{BandPlan, Table};
use simhash_sketch::minhash::{MinHashOptions, MinHasher, band_key};
use simhash_sketch::{MethodSketch, Sketcher};
use std::sync::atomic::AtomicBool;

/// The probability with which a pair just at the threshold is to be found: one in ten thousand is missed, and fewer above.
const RECALL: f64 = 0.9999;
/// Positions by which a key may grow where its bucket is full.
const LEVELS: usize = 8;
/// So many times fewer texts than the bucket of a whole band does a bucket of more positions hold: with 256 and 32 a text of a
/// crowd reads 12,288 others at most, in about 0.2 ms.
const REFINED: usize = 8;
/// Positions that a plan may have at most by default: the usual length of a signature, 3.5 % standard error.
const HASHES: usize = 128;

/// The rule of the buckets, for the live table and for sorted columns.
#[derive(Clone, Debug)]
pub(crate) struct Banding {
    hasher: MinHasher,
    plan: BandPlan,
    /// Texts that a bucket of a whole band holds.
    bucket: usize,
    /// Bits of keys made here that count: all, but in tests, where buckets of different bands and levels are to be one.
    pub(crate) mask: u64,
}

impl Banding {
    pub(crate) fn new(options: &DedupOptions, plan: Option<BandPlan>) -> Result<Self, DedupError> {
        let plan = match plan {
            Some(plan) => BandPlan::new(plan.bands, plan.rows)?,
            None => default_plan(options.min_similarity, HASHES)?,
        };
        let hashes = plan.hashes();
        let hasher = MinHasher::new(&MinHashOptions { hashes, ..MinHashOptions::default() })?;
        Ok(Self { hasher, plan, bucket: options.max_bucket, mask: u64::MAX })
    }

    pub(crate) fn sketcher(&self) -> Sketcher {
        let BandPlan { bands, rows } = self.plan;
        Sketcher::Signature { hasher: self.hasher.clone(), bands, rows }
    }

    pub(crate) fn bands(&self) -> usize {
        self.plan.bands
    }

    /// The key of a band with so many positions more.
    pub(crate) fn longer_key(
        &self,
        positions: &[u32],
        band: usize,
        more: usize,
        bytes: &mut Vec<u8>,
    ) -> u64 {
        let from = positions.iter().cycle().skip(band * self.plan.rows);
        band_key(band, from.take(self.plan.rows + more), bytes) & self.mask
    }

    /// Texts that a bucket of a level holds.
    pub(crate) fn holds(&self, level: usize) -> usize {
        if level == 0 { self.bucket } else { (self.bucket / REFINED).max(1) }
    }

    /// The highest level; beyond the signature's length keys would have a position twice.
    pub(crate) fn levels(&self) -> usize {
        LEVELS.min(self.plan.hashes() - self.plan.rows)
    }

    /// The list of a text of the texts it sees, each as often as it does: the number, followed by a bit that says whether the bucket had
    /// room. `cut`: one had none.
    pub(crate) fn best(&self, seen: &mut [u64], limit: usize, cut: bool) -> Found {
        seen.sort_unstable();
        let groups = seen.chunk_by(|a, b| a >> 1 == b >> 1).map(|group| Count {
            number: (group[0] >> 1) as u32,
            bands: group.len() as u32,
            with_room: group.iter().filter(|&&one| one & 1 == 1).count() as u32,
        });
        self.best_of(groups, limit, cut)
    }

    /// The same of counts.
    pub(crate) fn best_of(
        &self,
        counts: impl Iterator<Item = Count>,
        limit: usize,
        cut: bool,
    ) -> Found {
        let most = self.plan.bands as u32;
        let candidates = counts.map(|Count { number, bands, with_room }| {
            let missing = |bands: u32| most.saturating_sub(bands);
            Candidate { number, rank: missing(with_room) * (most + 1) + missing(bands) }
        });
        shared::best(candidates.collect(), limit, cut)
    }
}

/// How often a text is seen.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    pub(crate) number: u32,
    /// In how many bands.
    bands: u32,
    /// In how many of these in a bucket that had room.
    with_room: u32,
}

/// Counts, each at a place that its number leads to: in a crowd a text sees twelve thousand others, most of them many times, which are not
/// sorted so fast.
#[derive(Default)]
pub(crate) struct Counts {
    all: Vec<Count>,
    /// Places in `all`, from 1 on; a power of two of them, or none.
    slots: Vec<u32>,
}

impl Counts {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.slots.fill(0);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Count> {
        self.all.iter().copied()
    }

    /// Counts these.
    pub(crate) fn add(&mut self, numbers: &[u32], has_room: bool) {
        if (self.all.len() + numbers.len()) * 2 > self.slots.len() {
            self.grow((self.all.len() + numbers.len()) * 4);
        }
        let Self { all, slots } = self;
        for &number in numbers {
            let at = slot(slots, number, all);
            if slots[at] == 0 {
                all.push(Count { number, bands: 0, with_room: 0 });
                slots[at] = all.len() as u32;
            }
            let count = &mut all[slots[at] as usize - 1];
            count.bands += 1;
            count.with_room += u32::from(has_room);
        }
    }

    fn grow(&mut self, least: usize) {
        let Self { all, slots } = self;
        slots.clear();
        slots.resize(least.next_power_of_two(), 0);
        for (place, count) in (1..).zip(&*all) {
            let at = slot(slots, count.number, all);
            slots[at] = place;
        }
    }
}

/// Where a number is, or where it may be put.
fn slot(slots: &[u32], number: u32, all: &[Count]) -> usize {
    let last = slots.len() - 1;
    let mixed = number.wrapping_mul(0x9E37_79B9);
    let mut at = (mixed ^ mixed >> 15) as usize & last;
    loop {
        match slots[at] {
            0 => return at,
            place if all[place as usize - 1].number == number => return at,
            _ => at = (at + 1) & last,
        }
    }
}

pub(crate) struct MinHash {
    rule: Banding,
    /// The texts of each bucket, the oldest first.
    texts: Table,
    count: u32,
}

impl MinHash {
    pub(crate) fn new(rule: Banding) -> Self {
        Self { rule, texts: Table::new(), count: 0 }
    }

    /// Lists a text in the first bucket of each band that is not full.
    fn insert(&mut self, slot: &mut Slot<'_>, bytes: &mut Vec<u8>) {
        for (band, &whole) in slot.keys.iter().enumerate() {
            let mut key = whole;
            for level in 0..=self.rule.levels() {
                if level > 0 {
                    key = self.rule.longer_key(slot.positions, band, level, bytes);
                    slot.longer.push((band, key));
                }
                if self.texts.ids_len(key) < self.rule.holds(level) {
                    self.texts.insert(key, slot.number, |_| true);
                    break;
                }
            }
        }
    }

    /// The candidates of a text that is listed among those before it.
    fn find(&self, slot: &Slot<'_>, limit: usize) -> Found {
        // Numbers, each followed by a bit: the bucket had room.
        let (mut seen, mut cut) = (Vec::new(), false);
        let mut longer = slot.longer.as_slice();
        for (band, &whole) in slot.keys.iter().enumerate() {
            // Where it was full, so it is now; the text has been to every bucket that it reads.
            let own;
            (own, longer) = longer.split_at(longer.partition_point(|(other, _)| *other == band));
            let keys = std::iter::once(whole).chain(own.iter().map(|(_, key)| *key));
            for (level, key) in keys.enumerate() {
                let before = seen.len();
                let others = self.texts.ids(key).take_while(|&other| other < slot.number);
                seen.extend(others.map(|other| u64::from(other) << 1));
                if seen.len() - before < self.rule.holds(level) {
                    seen[before..].iter_mut().for_each(|other| *other |= 1);
                    break;
                }
                cut = true;
            }
        }
        self.rule.best(&mut seen, limit, cut)
    }
}

/// A text on its way into the table.
struct Slot<'a> {
    number: u32,
    positions: &'a [u32],
    /// The keys of its bands, as far as the table tells keys apart.
    keys: &'a [u64],
    /// Bands whose buckets were full, each with its keys of more positions, one position at a time.
    longer: Vec<(usize, u64)>,
    found: Found,
}

impl<'a> Slot<'a> {
    fn new(number: u32, sketch: &'a MethodSketch) -> Self {
        let (positions, keys): (&[u32], &[u64]) = match sketch {
            MethodSketch::Signature { positions, keys } => (positions, keys),
            _ => (&[], &[]),
        };
        Self { number, positions, keys, longer: Vec::new(), found: Found::default() }
    }
}

/// The plan for a threshold, within so many positions.
pub(crate) fn default_plan(
    min_similarity: Option<f64>,
    hashes: usize,
) -> Result<BandPlan, DedupError> {
    let default = DedupOptions::default().min_similarity;
    // A threshold of nearly nothing has no plan: everything would have to be compared with everything.
    let threshold = min_similarity.or(default).unwrap_or_default().max(0.1);
    Ok(BandPlan::for_recall(threshold, RECALL, hashes)?)
}

impl Sieve for MinHash {
    fn sketcher(&self) -> Sketcher {
        self.rule.sketcher()
    }

    fn take(
        &mut self,
        sketches: &[&MethodSketch],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let first = self.count;
        self.count = count(first, sketches.len())?;
        let slots = (first..).zip(sketches);
        let mut slots: Vec<_> = slots.map(|(number, &sketch)| Slot::new(number, sketch)).collect();
        let mut bytes = Vec::new();
        for place in 0..slots.len() {
            // The next one's cache lines are on their way while this one is listed.
            for &key in slots.get(place + 1).map_or(&[][..], |next| next.keys) {
                self.texts.prefetch(key);
            }
            self.insert(&mut slots[place], &mut bytes);
        }
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), slot| {
                slot.found = self.find(slot, limit);
                Ok(())
            },
        )?;
        Ok(slots.into_iter().map(|slot| slot.found).collect())
    }

    fn bytes(&self) -> usize {
        self.texts.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_as_if_they_were_sorted() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut counts = Counts::default();
        for range in [1, 40, 900, u64::from(u32::MAX) + 1] {
            counts.clear();
            let mut seen = Vec::new();
            for list in 0..90 {
                let has_room = list % 3 == 0;
                let mut numbers: Vec<u32> =
                    (0..random() % 300).map(|_| (random() % range) as u32).collect();
                numbers.extend([u32::MAX, 0]);
                counts.add(&numbers, has_room);
                seen.extend(numbers.iter().map(|&one| u64::from(one) << 1 | u64::from(has_room)));
            }
            let rule = Banding::new(&DedupOptions::default(), None).unwrap();
            for limit in [1, 7, 1_000, 100_000] {
                let found = rule.best_of(counts.all(), limit, false);
                let sorted = rule.best(&mut seen, limit, false);
                let pairs = |found: &Found| -> Vec<(u32, u32)> {
                    found.candidates.iter().map(|one| (one.number, one.rank)).collect()
                };
                assert_eq!((pairs(&found), found.cut), (pairs(&sorted), sorted.cut));
            }
        }
    }
}
