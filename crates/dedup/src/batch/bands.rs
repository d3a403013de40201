//! The candidates of `MinHash` from a sorted column of band keys.
//!
//! ```text
//! keys of documents ─► parts by key ─► what does not stand alone ─► sorted: runs of a key ─► buckets ─► lists by text
//!                                                                  └─► full: longer keys, by text ────┘
//! ```

use super::buckets::{Buckets, Seen};
use super::candidates::{Candidates, Gathered, Gathering, Listed, Sketches};
use super::climb::{Crowded, climb};
use super::entries::{Entries, number_of};
use super::groups::Groups;
use super::levels::Levels;
use crate::checkpoint::{Restoring, Saving};
use crate::error::DedupError;
use crate::method::{Banding, Counts};
use crate::parallel;
use simhash_sketch::{MethodSketch, Sketcher};
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// The column, then what is made of it.
pub(super) struct Bands {
    rule: Banding,
    entries: Entries,
    documents: u32,
    buckets: Buckets,
    levels: Levels,
    /// Lists that were asked for.
    listed: usize,
    room: Room,
}

impl Bands {
    pub(super) fn new(rule: Banding, room: &Room) -> Result<Self, DedupError> {
        let (entries, buckets) = (Entries::new(room)?, Buckets::new(room)?);
        let (levels, room) = (Levels::none(room)?, room.clone());
        Ok(Self { rule, entries, documents: 0, buckets, levels, listed: 0, room })
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
        parallel::sort(&mut all, threads, cancel)?;
        let runs = all.chunk_by(|a, b| a.0 == b.0);
        Ok(runs.map(|run| (run[0].0, run.iter().map(|&(_, text)| text).collect())).collect())
    }
}

/// What is filled anew for each list.
#[derive(Default)]
struct Memory {
    /// Texts that are seen, each followed by a bit: the bucket had room.
    seen: Vec<u64>,
    counts: Counts,
    others: Vec<u32>,
}

/// The documents of a run, for [`climb`].
struct Below<'a> {
    bands: &'a Bands,
    groups: &'a Groups,
    texts: &'a Sketches<'a>,
    threads: usize,
    cancel: &'a AtomicBool,
}

impl Crowded for Below<'_> {
    fn sketches(&self, texts: &mut [(u32, MethodSketch)]) -> Result<(), DedupError> {
        parallel::for_each(texts, self.threads, self.cancel, Default::default, |scratch, slot| {
            self.bands.room.relieve()?;
            slot.1 = self.texts.sketch(self.groups.first(slot.0), scratch)?;
            Ok(())
        })
    }

    fn whole(&self, buckets: &[u64]) -> Result<Vec<(u64, Vec<u32>)>, DedupError> {
        self.bands.whole(buckets, self.groups, self.threads, self.cancel)
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
        // By text: whether it is in a full bucket.
        let mut crowded = vec![0u64; groups.len().div_ceil(64) as usize];
        for (number, (bucket, run)) in together.runs().enumerate() {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
            }
            room.relieve()?;
            if run.len() > holds {
                full.push(bucket);
                for text in run.iter().map(|&entry| number_of(entry)) {
                    crowded[text as usize / 64] |= 1 << (text % 64);
                }
            }
        }
        let is_crowded = |&text: &u32| crowded[text as usize / 64] >> (text % 64) & 1 == 1;
        let own: Vec<u32> = (0..groups.len()).filter(is_crowded).collect();
        let below = Below { bands: self, groups, texts, threads, cancel };
        let levels = climb(&below, (full, own), &self.rule, &room, threads, cancel)?;
        let taken = self.entries.bytes();
        self.entries = Entries::new(&Room::default())?;
        let mut whole = levels.whole();
        let mut buckets = Buckets::new(&room)?;
        for (number, (bucket, run)) in together.runs().enumerate() {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
            }
            room.relieve()?;
            whole = &whole[whole.partition_point(|&other| other < bucket)..];
            let several = number_of(run[0]) != number_of(run[run.len() - 1]);
            if several && whole.first() != Some(&bucket) {
                buckets.add(run.iter().map(|&entry| number_of(entry)))?;
            }
        }
        buckets.made_of(taken + together.bytes());
        drop(together);
        for row in 0..levels.len() {
            if row % 1024 == 0 {
                parallel::check(cancel)?;
            }
            room.relieve()?;
            buckets.add_crowded(levels.text(row), row)?;
        }
        buckets.seal(groups.len(), &room, cancel)?;
        (self.buckets, self.levels) = (buckets, levels);
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let Self { buckets, levels, listed, rule, room, .. } = self;
        buckets.next(listed, room, threads, cancel, |place, memory: &mut Memory| {
            let Memory { seen, counts, others } = memory;
            let (mut cut, mut crowded) = (false, None);
            seen.clear();
            let text = buckets.seen(place, |own| match own {
                Seen::Others(others, full) => {
                    let own = others.iter().map(|&one| u64::from(one) << 1 | u64::from(!full));
                    seen.extend(own);
                    cut |= full;
                }
                Seen::Crowded(row) => crowded = Some(row),
            });
            let Some(row) = crowded else {
                return Listed { text, found: rule.best(seen, limit, cut) };
            };
            counts.clear();
            for &one in &*seen {
                counts.add(&[(one >> 1) as u32], one & 1 == 1);
            }
            levels.see(row, rule, others, |others, full| {
                counts.add(others, !full);
                cut |= full;
            });
            Listed { text, found: rule.best_of(counts.all(), limit, cut) }
        })
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes() + self.levels.bytes()
    }

    /// What is in full buckets takes as much disk as sketches do, and not long to find again.
    fn can_be_kept(&self) -> bool {
        self.levels.len() == 0
    }

    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        self.buckets.save(to)
    }

    fn restore(&mut self, from: &mut Restoring, groups: &Groups) -> Result<(), DedupError> {
        self.buckets = Buckets::restore(from, groups.len(), &self.room)?;
        Ok(())
    }
}
