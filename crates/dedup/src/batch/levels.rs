//! Buckets that were full, and the longer keys that texts go on to from there.
//!
//! A **visit** is a text at a bucket, by a band, at a level. Visits of one bucket come in the order of texts, then bands, then levels;
//! each is put in while there is room and goes on to a longer key where there is none. There is one bucket for a key whatever the band
//! and the level, so a longer key may, by accident, lead to a bucket that others use at another level: their visits are then looked at
//! together. More visits to a bucket never leave more room, so what had to go on once has to for good, and rounds that only add
//! visits end at what the live table has.

use super::buckets::{Buckets, Sight};
use crate::error::DedupError;
use crate::method::Banding;
use crate::parallel;
use ahash::AHashMap;
use simhash_index::bands::Table;
use std::sync::atomic::AtomicBool;

/// A text at a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit {
    pub(super) bucket: u64,
    pub(super) text: u32,
    pub(super) band: u16,
    pub(super) level: u8,
    /// It has gone on.
    moved: bool,
}

impl Visit {
    pub(super) fn first(bucket: u64, text: u32, band: usize) -> Self {
        Self { bucket, text, band: band as u16, level: 0, moved: false }
    }
}

/// All visits of buckets that somebody went on from, or came to by a longer key.
#[derive(Default)]
pub(super) struct Levels {
    /// Ascending; each bucket complete.
    visits: Vec<Visit>,
}

/// A visit that is to go on: by a longer key of its text.
pub(super) struct Onward {
    pub(super) text: u32,
    pub(super) band: u16,
    /// Of the next bucket.
    pub(super) level: u8,
}

impl Onward {
    /// The visit to the next bucket.
    pub(super) fn visit(&self, key: u64) -> Visit {
        let Self { text, band, level } = *self;
        Visit { bucket: Table::bucket(key), text, band, level, moved: false }
    }
}

impl Levels {
    /// The buckets among these, ascending and distinct, that are not looked at yet.
    pub(super) fn unknown(&self, buckets: &[u64]) -> Vec<u64> {
        let is_known = |bucket: u64| {
            let place = self.visits.partition_point(|visit| visit.bucket < bucket);
            self.visits.get(place).is_some_and(|visit| visit.bucket == bucket)
        };
        buckets.iter().copied().filter(|&bucket| !is_known(bucket)).collect()
    }

    /// Adds visits and looks at their buckets anew: those that have to go on now.
    pub(super) fn add(
        &mut self,
        mut fresh: Vec<Visit>,
        rule: &Banding,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Onward>, DedupError> {
        parallel::sort(&mut fresh, threads, cancel)?;
        let mut touched: Vec<u64> = fresh.iter().map(|visit| visit.bucket).collect();
        touched.dedup();
        self.visits.append(&mut fresh);
        // Two sorted runs: a merge.
        self.visits.sort();
        let (mut onward, highest) = (Vec::new(), rule.levels());
        let mut at = 0;
        for (number, bucket) in touched.into_iter().enumerate() {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
            }
            at += self.visits[at..].partition_point(|visit| visit.bucket < bucket);
            let len = self.visits[at..].partition_point(|visit| visit.bucket == bucket);
            let visits = &mut self.visits[at..at + len];
            at += len;
            let mut inside: Vec<u32> = Vec::new();
            for visit in visits {
                let level = usize::from(visit.level);
                if inside.len() < rule.holds(level) {
                    inside.push(visit.text);
                } else if !visit.moved && level < highest {
                    visit.moved = true;
                    let (text, band, level) = (visit.text, visit.band, visit.level + 1);
                    onward.push(Onward { text, band, level });
                }
            }
        }
        Ok(onward)
    }

    /// The buckets.
    pub(super) fn buckets(&self) -> impl Iterator<Item = u64> {
        self.visits.chunk_by(|a, b| a.bucket == b.bucket).map(|visits| visits[0].bucket)
    }

    /// What is in each bucket, and who sees it.
    pub(super) fn fill(
        &self,
        rule: &Banding,
        buckets: &mut Buckets,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        // A text that filled the last places of a bucket itself, by other bands, is put into the next one, but looks no further.
        let mut ends: AHashMap<(u32, u16), u8> = AHashMap::new();
        self.look(rule, cancel, |visit, _, others, _| {
            if visit.moved && others < rule.holds(usize::from(visit.level)) {
                let end = ends.entry((visit.text, visit.band)).or_insert(visit.level);
                *end = visit.level.min(*end);
            }
            Ok(())
        })?;
        let before = buckets.members();
        self.look(rule, cancel, |visit, start, others, is_put| {
            let looks = ends.get(&(visit.text, visit.band)).is_none_or(|&end| visit.level <= end);
            if looks && others > 0 {
                let full = others >= rule.holds(usize::from(visit.level));
                buckets.see(Sight::new(visit.text, before + start, others, full))?;
            }
            if is_put { buckets.put(visit.text) } else { Ok(()) }
        })
    }

    /// Calls `each` with every visit, where its bucket's texts begin among all of them, how many of them are others, and
    /// whether it is put in.
    fn look(
        &self,
        rule: &Banding,
        cancel: &AtomicBool,
        mut each: impl FnMut(&Visit, usize, usize, bool) -> Result<(), DedupError>,
    ) -> Result<(), DedupError> {
        let (mut start, mut inside) = (0, Vec::new());
        for visits in self.visits.chunk_by(|a, b| a.bucket == b.bucket) {
            parallel::check(cancel)?;
            inside.clear();
            for visit in visits {
                let others = inside.partition_point(|&other| other < visit.text);
                let is_put = inside.len() < rule.holds(usize::from(visit.level));
                each(visit, start, others, is_put)?;
                if is_put {
                    inside.push(visit.text);
                }
            }
            start += inside.len();
        }
        Ok(())
    }
}
