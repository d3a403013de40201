//! The candidates of `SimHash` by one join of all fingerprints with themselves.

use super::candidates::{Candidates, Gathered, Growing, Listed, Sketches};
use super::crowd::{Asked, Crowd};
use super::groups::Groups;
use super::near::Near;
use super::pairs::Pair;
use super::sample::Sample;
use super::sort::sort;
use crate::checkpoint::{Restoring, Saving};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::Found;
use crate::parallel;
use simhash_sketch::Sketcher;
use simhash_store::{Column, Room};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// Pairs of different fingerprints for each of them, or of [`LEAST`] where they are fewer, up to which they are held: 96 bytes, which with all
/// that lies on the disk beside them within a bound are fewer than 200 for each document. Where there are more, fingerprints that have many
/// are in a crowd, whose lists are made as they are asked for ([`Crowd`]).
const CROWDED: usize = if cfg!(test) { 1 } else { 8 };
/// Fingerprints for which there is room for pairs, however few there are.
const LEAST: usize = if cfg!(test) { 1 } else { 1_000 };
/// Others near a fingerprint, on the average, up to which all pairs are found where they are not all held: each takes about a
/// microsecond, and what is in a crowd takes longer unless all of it is.
const FOUND: f64 = if cfg!(test) { 24.0 } else { 256.0 };
/// Texts of a crowd whose lists are made by one task at once.
const TOGETHER: usize = 8;
/// Texts that one task goes through at once.
const RUN: usize = 1 << 10;
/// Texts that all tasks go through before what they found is put away.
const WAVE: usize = 1 << 16;

/// Fingerprints by document, then what is near whom.
pub(super) struct Fingerprints {
    max_distance: u32,
    /// By document; 0 where it has none.
    given: Column<u64>,
    /// A bit for each document: it has one.
    has: Column<u64>,
    near: Near,
    /// Texts that were gone through.
    passed: u32,
    /// Those of them that have candidates perhaps, and whose lists were not asked for.
    waiting: VecDeque<u32>,
    crowd: Option<Crowd>,
    bytes: usize,
    room: Room,
}

impl Fingerprints {
    pub(super) fn new(max_distance: u32, room: &Room) -> Result<Self, DedupError> {
        Ok(Self {
            max_distance,
            given: Column::new(room)?,
            has: Column::new(room)?,
            near: Near::default(),
            passed: 0,
            waiting: VecDeque::new(),
            crowd: None,
            bytes: 0,
            room: room.clone(),
        })
    }

    fn fingerprint(&self, document: u32) -> Option<u64> {
        let has = self.has[document as usize / 64] >> (document % 64) & 1 == 1;
        has.then(|| self.given[document as usize])
    }

    /// Fingerprints with their texts, ascending.
    fn sorted(
        &self,
        groups: &Groups,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Column<(u64, u32)>, DedupError> {
        let mut sorted: Column<(u64, u32)> = Column::new(&self.room)?;
        for from in (0..groups.len()).step_by(WAVE) {
            let mut runs = runs(from..groups.len().min(from + WAVE as u32));
            parallel::for_each_large(
                &mut runs,
                threads,
                cancel,
                || (),
                |(), (texts, found)| {
                    for text in texts {
                        self.room.relieve()?;
                        let own = self.fingerprint(groups.first(text));
                        found.extend(own.map(|own| (own, text)));
                    }
                    Ok(())
                },
            )?;
            for (_, found) in runs {
                sorted.extend_from_slice(&found)?;
            }
        }
        sort(&mut sorted, &self.room, threads, cancel)?;
        Ok(sorted)
    }

    /// Goes through the next texts, until enough wait whose lists are asked for.
    fn pass(&mut self, threads: usize, cancel: &AtomicBool) -> Result<(), DedupError> {
        let Self { near, room, .. } = &*self;
        let (count, mut passed, mut all) = (near.len(), self.passed, Vec::new());
        while self.waiting.len() + all.len() < BATCH_DOCUMENTS && passed < count {
            let end = count.min(passed.saturating_add(WAVE as u32));
            let mut runs = runs(passed..end);
            parallel::for_each_large(
                &mut runs,
                threads,
                cancel,
                || (),
                |(), (texts, found)| {
                    for text in texts {
                        room.relieve()?;
                        found.extend(near.has_others(text).then_some(text));
                    }
                    Ok(())
                },
            )?;
            all.extend(runs.into_iter().flat_map(|(_, found)| found));
            passed = end;
        }
        self.waiting.extend(all);
        self.passed = passed;
        Ok(())
    }

    /// The lists of texts, of which `asking` are in a crowd; both ascend.
    fn lists(
        &self,
        texts: &[u32],
        asking: &[u32],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let mut of_crowd = match &self.crowd {
            Some(crowd) => self.of_crowd(crowd, asking, limit, threads, cancel)?,
            None => Vec::new(),
        }
        .into_iter()
        .peekable();
        let listed = |&text: &u32| {
            let of_crowd = of_crowd.next_if(|listed| listed.text == text);
            (of_crowd.is_some(), of_crowd.unwrap_or(Listed { text, found: Found::default() }))
        };
        let mut lists: Vec<(bool, Listed)> = texts.iter().map(listed).collect();
        parallel::for_each(
            &mut lists,
            threads,
            cancel,
            || (),
            |(), (is_made, listed)| {
                if !*is_made {
                    listed.found = self.near.list(listed.text, limit, &self.room)?;
                }
                Ok(())
            },
        )?;
        Ok(lists.into_iter().map(|(_, listed)| listed).collect())
    }

    /// The lists of texts of a crowd.
    fn of_crowd(
        &self,
        crowd: &Crowd,
        texts: &[u32],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let mut slots: Vec<(&[u32], Vec<Found>)> =
            texts.chunks(TOGETHER).map(|texts| (texts, Vec::new())).collect();
        let asked = Asked { near: &self.near, limit, room: &self.room, cancel };
        let reach = || self.max_distance;
        parallel::for_each(&mut slots, threads, cancel, reach, |reach, (texts, found)| {
            *found = crowd.lists(texts, asked, reach)?;
            Ok(())
        })?;
        let found = texts.iter().zip(slots.into_iter().flat_map(|(_, found)| found));
        Ok(found.map(|(&text, found)| Listed { text, found }).collect())
    }
}

/// Texts in runs, with room for what is found of each.
fn runs<T>(texts: Range<u32>) -> Vec<(Range<u32>, Vec<T>)> {
    let end = texts.end;
    let runs = texts.step_by(RUN).map(|from| (from..end.min(from + RUN as u32), Vec::new()));
    runs.collect()
}

impl Candidates for Fingerprints {
    fn sketcher(&self) -> Sketcher {
        Sketcher::Fingerprint
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        for sketch in &gathered.sketches {
            let (fingerprint, document) = (sketch.fingerprint(), self.given.len());
            if document % 64 == 0 {
                self.has.push(0)?;
            }
            self.has[document / 64] |= u64::from(fingerprint.is_some()) << (document % 64);
            self.given.push(fingerprint.unwrap_or(0))?;
        }
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
        let sorted = self.sorted(groups, threads, cancel)?;
        let given = self.given.bytes() + self.has.bytes();
        (self.given, self.has) = (Column::new(&room)?, Column::new(&room)?);
        let mut near = Near::new(&sorted, groups.len(), &room, threads, cancel)?;
        drop(sorted);
        let most = CROWDED * near.different().len().max(LEAST);
        let (within, mut sample) = ((&room, threads, cancel), None);
        let held = near.join(self.max_distance, most, within, &mut |near| {
            let taken = Sample::new(near.different(), self.max_distance, within)?;
            Ok(sample.insert(taken).others() > FOUND)
        })?;
        // It is asked where pairs are too many, and then some are in a crowd.
        self.crowd = if let Some(sample) = sample {
            let left = (most - near.held()).max(1);
            Some(Crowd::new(&near, self.max_distance, (held, left), &sample, within)?)
        } else {
            near.forget();
            None
        };
        let crowd = self.crowd.as_ref().map_or(0, Crowd::bytes);
        self.bytes = near.bytes() + given + crowd;
        self.near = near;
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let mut lists = Vec::new();
        while lists.is_empty() {
            self.pass(threads, cancel)?;
            let count = self.waiting.len().min(BATCH_DOCUMENTS);
            let mut texts: Vec<u32> = self.waiting.drain(..count).collect();
            if texts.is_empty() {
                break;
            }
            let in_crowd = |&text: &u32| self.near.is_crowded(self.near.number(text));
            let mut asking: Vec<u32> = texts.iter().copied().filter(in_crowd).collect();
            if let Some(crowd) = self.crowd.as_mut().filter(|_| !asking.is_empty()) {
                let within = (&self.room, threads, cancel);
                let ready = crowd.reach(&asking, &self.near, limit, within)?;
                if let Some(&behind) = asking.get(ready) {
                    let ready = texts.partition_point(|&text| text < behind);
                    texts.drain(ready..).rev().for_each(|text| self.waiting.push_front(text));
                }
                asking.truncate(ready);
            }
            lists = self.lists(&texts, &asking, limit, threads, cancel)?;
            lists.retain(|listed| !listed.found.candidates.is_empty());
        }
        Ok(lists)
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn growing(&self) -> Result<Growing, DedupError> {
        let most = CROWDED as u64;
        if self.crowd.is_none() {
            return self.near.growing(most, &self.room);
        }
        // As many as there may be at once.
        let bytes = most * size_of::<Pair>() as u64;
        Ok(Growing { beside: bytes * u64::from(self.near.len()), apart: 0, most: bytes })
    }

    /// Not in a crowd, whose lists are made as they are asked for.
    fn can_be_kept(&self) -> bool {
        self.crowd.is_none()
    }

    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.numbers(&[self.bytes as u64])?;
        self.near.save(to)
    }

    fn restore(&mut self, from: &mut Restoring, groups: &Groups) -> Result<(), DedupError> {
        let [bytes] = from.numbers()?;
        self.bytes = bytes as usize;
        self.near = Near::restore(from, groups.len(), &self.room)?;
        Ok(())
    }
}
