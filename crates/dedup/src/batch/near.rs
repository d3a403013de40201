//! Different fingerprints, the texts of each, and which of them are near each other.

use super::candidates::Growing;
use super::few::Few;
use super::join::join;
use super::nearest::Nearest;
use super::pairs::{Pair, Pairs, ascending};
use super::sort::sort;
use crate::checkpoint::{Restoring, Saving};
use crate::decide::ALONE;
use crate::error::DedupError;
use crate::method::Found;
use crate::parallel;
use simhash_store::{Column, Room};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Fingerprints of texts that one task numbers at once, about.
const REGION: usize = 1 << 14;
/// Texts between two looks at the memory.
const LOOK: usize = 1024;

/// Texts between two that count as beside each other: of copies that come one after the other.
const BESIDE: u32 = 1 << 12;
/// Of so many pairs one is looked at.
const LOOKED_AT: usize = 16;

/// Different fingerprints, by place in their order, and the pairs of them.
#[derive(Default)]
pub(super) struct Near {
    /// By text: its fingerprint, or [`ALONE`].
    of: Column<AtomicU32>,
    /// The fingerprints, ascending, as long as they are needed.
    different: Column<u64>,
    /// By fingerprint: where its texts begin; one more for the end.
    starts: Column<u32>,
    /// The texts of each, ascending.
    texts: Column<u32>,
    /// Those of fingerprints that are in no crowd.
    pairs: Pairs,
    /// A bit for each fingerprint: it is in a crowd. Empty: there is none.
    crowded: Column<u64>,
}

/// Of which fingerprints the pairs are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// Of all.
    All,
    /// Of those that have few. The others are in a crowd.
    Few,
    /// Of none: all are in a crowd.
    None,
}

/// Fingerprints of texts, all of each, that are numbered by one task.
struct Region<'a> {
    given: &'a [(u64, u32)],
    /// How many are different.
    count: usize,
    /// The number of the first.
    number: u32,
    /// Where its texts begin.
    start: u32,
    different: &'a mut [u64],
    starts: &'a mut [u32],
    texts: &'a mut [u32],
}

impl Near {
    /// Of fingerprints with their texts, ascending; texts are below `count`.
    pub(super) fn new(
        given: &[(u64, u32)],
        count: u32,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut regions = regions(given);
        parallel::for_each_large(
            &mut regions,
            threads,
            cancel,
            || (),
            |(), region| {
                let mut last = None;
                for some in region.given.chunks(LOOK) {
                    let own = some.iter().map(|one| Some(one.0));
                    region.count +=
                        own.filter(|&own| std::mem::replace(&mut last, own) != own).count();
                    room.relieve()?;
                }
                Ok(())
            },
        )?;
        let all: usize = regions.iter().map(|region| region.count).sum();
        let mut near = Self {
            of: Column::made(room, count as usize, |_| AtomicU32::new(ALONE))?,
            different: Column::made(room, all, |_| 0)?,
            starts: Column::made(room, all + 1, |_| given.len() as u32)?,
            texts: Column::made(room, given.len(), |_| 0)?,
            pairs: Pairs::default(),
            crowded: Column::default(),
        };
        let (mut different, mut starts) = (&mut near.different[..], &mut near.starts[..all]);
        let (mut texts, mut number, mut start) = (&mut near.texts[..], 0, 0);
        for region in &mut regions {
            (region.number, region.start) = (number, start);
            region.different = different.split_off_mut(..region.count).unwrap_or_default();
            region.starts = starts.split_off_mut(..region.count).unwrap_or_default();
            region.texts = texts.split_off_mut(..region.given.len()).unwrap_or_default();
            number += region.count as u32;
            start += region.given.len() as u32;
        }
        // Within a bound texts are numbered in their order, not in that of fingerprints.
        let of = room.most().is_none().then_some(&near.of);
        parallel::for_each_large(
            &mut regions,
            threads,
            cancel,
            || (),
            |(), region| region.number(of, room),
        )?;
        if room.most().is_some() {
            near.number_in_order(room, threads, cancel)?;
        }
        Ok(near)
    }

    fn number_in_order(
        &self,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let mut numbered: Column<(u32, u32)> = Column::new(room)?;
        for number in 0..self.different.len() as u32 {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
            }
            for texts in self.texts(number).chunks(1024) {
                numbered.extend(texts.iter().map(|&text| (text, number)))?;
                room.relieve()?;
            }
        }
        sort(&mut numbered, room, threads, cancel)?;
        for (place, &(text, number)) in numbered.iter().enumerate() {
            self.of[text as usize].store(number, Relaxed);
            if place % 1024 == 0 {
                room.relieve()?;
            }
        }
        Ok(())
    }

    /// Finds the pairs. Of more than `most` those of some fingerprints are held, half as many at most, and those of none where `sample`, which is
    /// asked then, says that there are too many to find.
    pub(super) fn join(
        &mut self,
        max_distance: u32,
        most: usize,
        within: (&Room, usize, &AtomicBool),
        sample: &mut dyn FnMut(&Self) -> Result<bool, DedupError>,
    ) -> Result<Held, DedupError> {
        let (room, threads, cancel) = within;
        let count = self.different.len();
        let mut few = Few::new(count, most, room)?;
        let mut are_too_many = None;
        let all = self.different.iter().copied();
        let is_whole = join(self, all, max_distance, within, |found| {
            few.take(found, room, cancel)?;
            if !few.is_all() && are_too_many.is_none() {
                are_too_many = Some(sample(self)?);
            }
            Ok(are_too_many != Some(true))
        })?;
        if !is_whole {
            self.crowded = Column::made(room, count.div_ceil(64), |_| u64::MAX)?;
            return Ok(Held::None);
        }
        let held = if few.is_all() { Held::All } else { Held::Few };
        let (pairs, crowded) = few.end(room, cancel)?;
        self.crowded = crowded;
        self.pairs = Pairs::sealed(pairs, count as u32, room, threads, cancel)?;
        Ok(held)
    }

    /// How many pairs are held.
    pub(super) fn held(&self) -> usize {
        self.pairs.len()
    }

    /// Whether a fingerprint is in a crowd: its pairs are not held.
    pub(super) fn is_crowded(&self, number: u32) -> bool {
        let bits = self.crowded.get(number as usize / 64);
        bits.is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    /// The fingerprints, ascending, until they are forgotten.
    pub(super) fn different(&self) -> &[u64] {
        &self.different
    }

    /// Nobody asks for the fingerprints any more.
    pub(super) fn forget(&mut self) {
        self.different = Column::default();
    }

    /// The first text of a fingerprint.
    pub(super) fn first(&self, number: u32) -> u32 {
        self.texts[self.starts[number as usize] as usize]
    }

    /// The number of a fingerprint.
    pub(super) fn place(&self, fingerprint: u64) -> u32 {
        self.different.partition_point(|&other| other < fingerprint) as u32
    }

    /// Whether some text of a fingerprint comes after one of another.
    pub(super) fn looks_at(&self, number: u32, other: u32) -> bool {
        self.texts(number).last() > self.texts(other).first()
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> u32 {
        self.of.len() as u32
    }

    /// The number of a text's fingerprint, or [`ALONE`].
    pub(super) fn number(&self, text: u32) -> u32 {
        self.of[text as usize].load(Relaxed)
    }

    /// The texts with a fingerprint, ascending.
    pub(super) fn texts(&self, number: u32) -> &[u32] {
        let at = |number: usize| self.starts[number] as usize;
        &self.texts[at(number as usize)..at(number as usize + 1)]
    }

    /// Whether others have the fingerprint of this text, or one near it, or a crowd may have.
    pub(super) fn has_others(&self, text: u32) -> bool {
        let own = self.number(text);
        own != ALONE
            && (self.is_crowded(own) || self.texts(own).len() > 1 || !self.pairs.of(own).is_empty())
    }

    /// The list of a text that has a fingerprint, in no crowd.
    pub(super) fn list(&self, text: u32, limit: usize, room: &Room) -> Result<Found, DedupError> {
        let own = self.number(text);
        let near = self.pairs.of(own).iter().map(|&(_, other, distance)| (other, distance));
        let mut nearest = Nearest::new(limit);
        for (other, rank) in near.chain([(own, 0)]) {
            room.relieve()?;
            self.before(other, text, rank, limit, &mut nearest);
        }
        Ok(nearest.list())
    }

    /// Appends the texts before one that have a fingerprint at this distance, as far as they can be in its list.
    pub(super) fn before(
        &self,
        number: u32,
        text: u32,
        rank: u32,
        limit: usize,
        nearest: &mut Nearest,
    ) {
        // The oldest of those with one fingerprint are its best: of a crowd of copies but for a word no more can be chosen, and one
        // more tells that the list is cut.
        let before = self.texts(number).iter().take_while(|&&other| other < text);
        let before = before.take(limit.saturating_add(1));
        before.for_each(|&number| nearest.push(number, rank));
    }

    pub(super) fn bytes(&self) -> usize {
        let numbers = self.of.bytes() + self.starts.bytes() + self.texts.bytes();
        numbers + self.different.bytes() + self.pairs.bytes() + self.crowded.bytes()
    }

    /// What the pairs take, by a part of them.
    pub(super) fn growing(&self, most: u64, room: &Room) -> Result<Growing, DedupError> {
        let each = size_of::<Pair>() as u64;
        let (mut beside, mut apart) = (0, 0);
        for &(a, b, _) in self.pairs.all().iter().step_by(LOOKED_AT) {
            room.relieve()?;
            let is_beside = self.first(a).abs_diff(self.first(b)) <= BESIDE.min(self.len() / 16);
            *(if is_beside { &mut beside } else { &mut apart }) += each * LOOKED_AT as u64;
        }
        Ok(Growing { beside, apart, most: most * each })
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.column(self.of.len(), (0..self.len()).map(|text| self.number(text)))?;
        to.column(self.starts.len(), self.starts.iter().copied())?;
        to.column(self.texts.len(), self.texts.iter().copied())?;
        self.pairs.save(to)
    }

    /// What was kept of so many texts.
    pub(super) fn restore(
        from: &mut Restoring,
        count: u32,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let (mut of, mut highest) = (Column::new(room)?, None);
        let texts = from.each(|number: u32| {
            highest = highest.max(Some(number).filter(|&number| number != ALONE));
            of.push(AtomicU32::new(number))?;
            Ok(true)
        })?;
        let starts = ascending::<u32>(from)?;
        let texts_of: Column<u32> = from.column(|&text| text < count)?;
        let numbers = starts.len().saturating_sub(1);
        let is_number = |number: u32| (number as usize) < numbers;
        let pairs = Pairs::restore(from, numbers)?;
        let ends =
            |last: Option<u32>, length: usize| last.map(|last| last as usize) == Some(length);
        let is_whole = texts == u64::from(count)
            && highest.is_none_or(is_number)
            && ends(starts.last().copied(), texts_of.len());
        let Some(pairs) = pairs.filter(|_| is_whole) else {
            return Err(from.wrong("fingerprints of another number of texts"));
        };
        let (different, crowded) = (Column::default(), Column::default());
        Ok(Self { of, different, starts, texts: texts_of, pairs, crowded })
    }
}

/// Cut between two fingerprints.
fn regions(mut given: &[(u64, u32)]) -> Vec<Region<'_>> {
    let mut regions = Vec::new();
    while let Some(last) = given.get(..REGION.min(given.len())).and_then(<[_]>::last) {
        let rest = &given[REGION.min(given.len())..];
        let same = rest.partition_point(|one| one.0 == last.0);
        let (own, behind) = given.split_at(REGION.min(given.len()) + same);
        regions.push(Region {
            given: own,
            count: 0,
            number: 0,
            start: 0,
            different: &mut [],
            starts: &mut [],
            texts: &mut [],
        });
        given = behind;
    }
    regions
}

impl Region<'_> {
    /// Numbers its fingerprints, and notes in `of` the number of each text.
    fn number(&mut self, of: Option<&Column<AtomicU32>>, room: &Room) -> Result<(), DedupError> {
        let mut place = 0;
        for (at, same) in self.given.chunk_by(|a, b| a.0 == b.0).enumerate() {
            self.different[at] = same[0].0;
            self.starts[at] = self.start + place as u32;
            for &(_, text) in same {
                self.texts[place] = text;
                if let Some(of) = of {
                    of[text as usize].store(self.number + at as u32, Relaxed);
                }
                place += 1;
                if place % LOOK == 0 {
                    room.relieve()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{Candidate, best};
    use proptest::prelude::*;

    proptest! {
        /// Many texts with one fingerprint, and limits that they pass.
        #[test]
        fn lists_are_the_best_of_all_that_are_near(
            given in proptest::collection::vec(prop_oneof![Just(0u64), Just(1), Just(3), Just(7), Just(u64::MAX)], 1..60),
            max_distance in 0u32..4,
            limit in 0usize..20,
            bounded in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let room = if bounded { Room::bounded(0, folder.path()).unwrap() } else { Room::default() };
            let mut fingerprints: Vec<(u64, u32)> = given.iter().copied().zip(0..).collect();
            fingerprints.sort_unstable();
            let cancel = AtomicBool::new(false);
            let mut near = Near::new(&fingerprints, given.len() as u32, &room, 2, &cancel).unwrap();
            let held = near.join(max_distance, usize::MAX, (&room, 1, &cancel), &mut |_| Ok(true));
            prop_assert_eq!(held.unwrap(), Held::All);
            for (text, own) in (0u32..).zip(&given) {
                let before = (0u32..text).zip(&given);
                let all = before.map(|(number, other)| Candidate { number, rank: (own ^ other).count_ones() });
                let all = all.filter(|candidate| candidate.rank <= max_distance).collect();
                let found = near.list(text, limit, &room).unwrap();
                let expected = best(all, limit, false);
                prop_assert_eq!(found.candidates, expected.candidates);
                prop_assert_eq!(found.cut, expected.cut);
            }
        }
    }

    /// More than one task numbers, and what has one fingerprint is not cut.
    #[test]
    fn fingerprints_are_numbered_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let count = 3 * REGION as u32;
        // Every fingerprint of some texts, one of a whole region of them, texts without one.
        let of = |text: u32| match text % 7 {
            0 => None,
            1..=3 => Some(u64::from(text / 70)),
            _ => Some(9),
        };
        let mut given: Vec<(u64, u32)> =
            (0..count).filter_map(|text| Some((of(text)?, text))).collect();
        given.sort_unstable();
        let mut different: Vec<u64> = given.iter().map(|&(own, _)| own).collect();
        different.dedup();
        for room in [Room::default(), Room::bounded(0, folder.path()).unwrap()] {
            let near = Near::new(&given, count, &room, 2, &AtomicBool::new(false)).unwrap();
            assert_eq!(near.different(), different);
            for text in 0..count {
                let number = near.number(text);
                let own = different.get(number as usize).copied();
                assert_eq!(own, of(text), "{text}");
                assert!(number == ALONE || near.texts(number).binary_search(&text).is_ok());
            }
            let texts: usize =
                (0..different.len() as u32).map(|number| near.texts(number).len()).sum();
            assert_eq!(texts, given.len());
        }
    }
}
