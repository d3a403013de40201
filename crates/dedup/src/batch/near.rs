//! Different fingerprints, the texts of each, and which of them are near each other.

use super::candidates::Growing;
use super::nearest::Nearest;
use super::sort::sort;
use crate::checkpoint::{Plain, Restoring, Saving};
use crate::decide::ALONE;
use crate::error::DedupError;
use crate::method::Found;
use crate::parallel;
use simhash_index::{PartedJoin, SelfJoin};
use simhash_store::{Column, FileError, Room, Section};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Fingerprints of texts that one task numbers at once, about.
const REGION: usize = 1 << 14;
/// Texts between two looks at the memory.
const LOOK: usize = 1024;

/// Texts between two that count as beside each other: of copies that come one after the other.
const BESIDE: u32 = 1 << 12;
/// Of so many pairs one is looked at.
const LOOKED_AT: usize = 16;

/// Two fingerprints and their distance.
type Joined = simhash_index::Near;

/// Two fingerprints, by their numbers, and their distance.
pub(super) type Pair = (u32, u32, u32);

impl Plain for Pair {
    const BYTES: usize = 12;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
        self.1.put(bytes);
        self.2.put(bytes);
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        Ok((from.half()?, from.half()?, from.half()?))
    }
}

/// Pairs by the first of the two.
#[derive(Default)]
pub(super) struct Pairs {
    all: Column<Pair>,
    /// By number: where its pairs begin; one more for the end.
    starts: Column<u64>,
}

impl Pairs {
    /// Of numbers below `count`.
    pub(super) fn sealed(
        mut all: Column<Pair>,
        count: u32,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        sort(&mut all, room, threads, cancel)?;
        let mut starts = Column::new(room)?;
        starts.reserve(count as usize + 1)?;
        let mut end = 0;
        for number in 0..=count {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
            end += all[end..].iter().take_while(|pair| pair.0 < number).count();
            starts.push(end as u64)?;
        }
        Ok(Self { all, starts })
    }

    /// The pairs of a number.
    pub(super) fn of(&self, number: u32) -> &[Pair] {
        let at = |number: usize| self.starts[number] as usize;
        &self.all[at(number as usize)..at(number as usize + 1)]
    }

    pub(super) fn bytes(&self) -> usize {
        self.all.bytes() + self.starts.bytes()
    }
}

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
    pairs: Pairs,
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

    /// Finds the pairs; false where there are more than `most`.
    pub(super) fn join(
        &mut self,
        max_distance: u32,
        most: usize,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<bool, DedupError> {
        let (within, mut pairs) = ((room, threads, cancel), Column::new(room)?);
        let all = self.different.iter().copied();
        let is_joined = join(self, all, max_distance, within, |found| {
            pairs.extend_from_slice(found)?;
            Ok(pairs.len() <= most)
        })?;
        if is_joined {
            let count = self.different.len() as u32;
            self.pairs = Pairs::sealed(pairs, count, room, threads, cancel)?;
        }
        Ok(is_joined)
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
    fn place(&self, fingerprint: u64) -> u32 {
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

    /// Whether others have the fingerprint of this text, or one near it.
    pub(super) fn has_others(&self, text: u32) -> bool {
        let own = self.number(text);
        own != ALONE && (self.texts(own).len() > 1 || !self.pairs.of(own).is_empty())
    }

    /// The list of a text that has a fingerprint.
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
        numbers + self.different.bytes() + self.pairs.bytes()
    }

    /// What the pairs take, by a part of them.
    pub(super) fn growing(&self, most: u64, room: &Room) -> Result<Growing, DedupError> {
        let each = size_of::<Pair>() as u64;
        let (mut beside, mut apart) = (0, 0);
        for &(a, b, _) in self.pairs.all.iter().step_by(LOOKED_AT) {
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
        to.column(self.pairs.all.len(), self.pairs.all.iter().copied())?;
        to.column(self.pairs.starts.len(), self.pairs.starts.iter().copied())
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
        let all: Column<Pair> =
            from.column(|pair: &Pair| is_number(pair.0) && is_number(pair.1))?;
        let pair_starts = ascending::<u64>(from)?;
        let ends = |last: Option<u64>, length: usize| last == Some(length as u64);
        let is_whole = texts == u64::from(count)
            && highest.is_none_or(is_number)
            && ends(starts.last().copied().map(u64::from), texts_of.len())
            && ends(pair_starts.last().copied(), all.len())
            && pair_starts.len() == starts.len();
        if !is_whole {
            return Err(from.wrong("fingerprints of another number of texts"));
        }
        let pairs = Pairs { all, starts: pair_starts };
        Ok(Self { of, different: Column::default(), starts, texts: texts_of, pairs })
    }
}

/// Numbers that do not fall, from 0 on.
fn ascending<T: Plain + Ord + Default>(from: &mut Restoring) -> Result<Column<T>, DedupError> {
    let mut last = None;
    from.column(|&number: &T| {
        let before = last.replace(number);
        before.map_or(number == T::default(), |before| before <= number)
    })
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

/// Calls `take` with the pairs of these fingerprints within a distance, some at a time, until it has enough; whether these were all. A pair
/// is there for those of the two of which some text comes after one of the other.
pub(super) fn join(
    near: &Near,
    fingerprints: impl ExactSizeIterator<Item = u64>,
    max_distance: u32,
    (room, threads, cancel): (&Room, usize, &AtomicBool),
    mut take: impl FnMut(&[Pair]) -> Result<bool, DedupError>,
) -> Result<bool, DedupError> {
    let mut join = if room.most().is_some() {
        let parted = PartedJoin::new::<DedupError>(fingerprints, max_distance, room)?;
        Join::Parted(Box::new(parted))
    } else {
        Join::Whole(Box::new(SelfJoin::new(fingerprints.collect(), max_distance)?))
    };
    while let Some(found) = join.next_batch(threads, cancel)? {
        let mut slots: Vec<(&[Joined], Vec<Pair>)> =
            found.chunks(NUMBERED).map(|found| (found, Vec::new())).collect();
        parallel::for_each_large(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (found, pairs)| {
                for &(a, b, distance) in *found {
                    room.relieve()?;
                    let (a, b) = (near.place(a), near.place(b));
                    let both = [(a, b), (b, a)].into_iter().filter(|&(a, b)| near.looks_at(a, b));
                    pairs.extend(both.map(|(a, b)| (a, b, distance)));
                }
                Ok(())
            },
        )?;
        for (_, pairs) in slots {
            if !take(&pairs)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Pairs whose fingerprints one task numbers at once.
const NUMBERED: usize = 256;

/// A join of all at once, or within a bound of a part at a time.
enum Join {
    Whole(Box<SelfJoin>),
    Parted(Box<PartedJoin>),
}

impl Join {
    fn next_batch(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Joined>>, DedupError> {
        match self {
            Self::Whole(join) => Ok(join.next_batch(threads, cancel)?),
            Self::Parted(join) => join.next_batch(threads, cancel),
        }
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
            let joined = near.join(max_distance, usize::MAX, &room, 1, &cancel).unwrap();
            prop_assert!(joined);
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
