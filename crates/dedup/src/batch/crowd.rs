//! The candidates of `SimHash` in crowds: where so many fingerprints are near each other that pairs of them cannot be held.
//!
//! A **region** is a crowd around a center: all within the distance of it. Fingerprints of no region are looked up in an index
//! ([`Outside`]). Those of
//! regions are compared one after the other, a few to the nanosecond, and a limit ends most of it early: of the nearest no more are
//! gathered than the least distance has that has enough, and of the oldest no more than count; of one distance no more are held than can
//! be in a list ([`Nearest`]). Regions that are too far from a text to
//! hold anything near it are passed over by their centers. So a text of a crowd of n costs n / 2 comparisons of 8 bytes each, in
//! order, and one of no crowd what it costs in an index.

use super::near::{Held, Near};
use super::nearest::Nearest;
use super::outside::Outside;
use super::sample::Sample;
use super::sort::sort;
use crate::error::DedupError;
use crate::method::Found;
use crate::parallel;
use simhash_sketch::hamming;
use simhash_store::{Column, Room};
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// Others near a center that make a region: so many come from an index about as fast. What is in no region is looked up.
const CROWD: usize = 1_000;
/// Fingerprints whose oldest are looked for at once.
const BLOCK: usize = if cfg!(test) { 16 } else { 1_024 };
/// Fingerprints that are compared with one text between two looks at the memory.
const SCANNED: usize = if cfg!(test) { 32 } else { 1 << 14 };
/// Fingerprints that one task goes through at once.
const RUN: usize = if cfg!(test) { 8 } else { 1 << 12 };
/// Fingerprints that all tasks go through before what they found is put away.
const WAVE: usize = if cfg!(test) { 64 } else { 1 << 18 };

/// What is near whom, found when it is asked for.
///
/// Bytes: 12 for each text of a region, 28 while they are sorted. Of the other fingerprints an index in memory; within a bound 12 for each
/// pair that they are in, of at most as many pairs as are joined without a crowd, and 16 for each of them where there are more
/// ([`Outside`]).
pub(super) struct Crowd {
    max_distance: u32,
    centers: Vec<u64>,
    regions: Vec<Region>,
    /// The texts of regions, one region after the other, ascending in each.
    texts: Column<u32>,
    /// Their fingerprints.
    fingerprints: Column<u64>,
    outside: Outside,
}

/// A crowd.
struct Region {
    /// The largest distance from the center.
    radius: u32,
    /// Its texts.
    places: Range<usize>,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) near: &'a Near,
    /// Most candidates of a text.
    pub(super) limit: usize,
    pub(super) room: &'a Room,
    pub(super) cancel: &'a AtomicBool,
}

impl Crowd {
    /// For the fingerprints that `near` says are in a crowd, which holds the pairs of `held`. Within a bound no more than `most` pairs are there at once, or as many as one
    /// fingerprint has.
    pub(super) fn new(
        near: &Near,
        max_distance: u32,
        (held, most): (Held, usize),
        sample: &Sample,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        Self::with(near, max_distance, CROWD, (held, most), sample, within)
    }

    fn with(
        near: &Near,
        max_distance: u32,
        crowd: usize,
        (held, most): (Held, usize),
        sample: &Sample,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        let (room, threads, cancel) = within;
        let different = near.different();
        let mut centers: Vec<u64> = Vec::new();
        for (center, others) in sample.each() {
            if others >= crowd && first_within(&centers, center, max_distance).is_none() {
                centers.push(center);
            }
        }
        let mut outside = Column::new(room)?;
        // Region, text and fingerprint of the texts of regions.
        let mut inside: Column<(u32, u32, u64)> = Column::new(room)?;
        for from in (0..different.len()).step_by(WAVE) {
            let wave = &different[from..different.len().min(from + WAVE)];
            let mut runs: Vec<(&[u64], Vec<Option<u32>>)> =
                wave.chunks(RUN).map(|run| (run, Vec::new())).collect();
            parallel::for_each_large(
                &mut runs,
                threads,
                cancel,
                || (),
                |(), (run, found)| {
                    let region = |&own: &u64| first_within(&centers, own, max_distance);
                    found.extend(run.iter().map(|own| region(own).map(|region| region as u32)));
                    Ok(room.relieve()?)
                },
            )?;
            let found = runs.into_iter().flat_map(|(_, found)| found);
            for ((number, &own), region) in (from as u32..).zip(wave).zip(found) {
                match region {
                    None => outside.push(number)?,
                    Some(region) => {
                        for texts in near.texts(number).chunks(RUN) {
                            inside.extend(texts.iter().map(|&text| (region, text, own)))?;
                            room.relieve()?;
                        }
                    }
                }
                room.relieve()?;
            }
        }
        sort(&mut inside, room, threads, cancel)?;
        let (mut regions, mut start) = (Vec::with_capacity(centers.len()), 0);
        for (number, &center) in (0u32..).zip(&centers) {
            let end = inside.partition_point(|one| one.0 <= number);
            let mut radius = 0;
            for some in inside[start..end].chunks(SCANNED) {
                let distances = some.iter().map(|one| hamming::distance(one.2, center));
                radius = distances.fold(radius, u32::max);
                room.relieve()?;
            }
            regions.push(Region { radius, places: start..end });
            start = end;
            parallel::check(cancel)?;
        }
        let (mut texts, mut fingerprints) = (Column::new(room)?, Column::new(room)?);
        for (place, &(_, text, own)) in inside.iter().enumerate() {
            texts.push(text)?;
            fingerprints.push(own)?;
            if place % 1024 == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
        drop(inside);
        let outside = Outside::new(near, outside, max_distance, (held, most), within)?;
        Ok(Self { max_distance, centers, regions, texts, fingerprints, outside })
    }

    /// Makes ready what the first of these texts are asked for, which ascend and follow those of the last call; how many, one at least.
    pub(super) fn reach(
        &mut self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<usize, DedupError> {
        self.outside.reach(texts, near, limit, within)
    }

    /// The lists of texts that have fingerprints of a crowd. `reach` is the distance within which the last text had enough candidates; it changes
    /// what a list costs and nothing else.
    pub(super) fn lists(
        &self,
        texts: &[u32],
        asked: Asked<'_>,
        reach: &mut u32,
    ) -> Result<Vec<Found>, DedupError> {
        let Asked { near, limit, room, cancel } = asked;
        let nearest = self.outside.nearest(texts, near, limit, room, cancel)?;
        let lists = texts.iter().zip(nearest).map(|(&text, nearest)| {
            parallel::check(cancel)?;
            self.list(text, nearest, asked, reach)
        });
        lists.collect()
    }

    /// Bytes held, of an index of the others when its tables are sealed: whether there is one or the memory is bounded.
    pub(super) fn bytes(&self) -> usize {
        self.outside.bytes() + self.texts.bytes() + self.fingerprints.bytes()
    }

    /// The list of a text, of which `nearest` has the candidates of no region.
    fn list(
        &self,
        text: u32,
        mut nearest: Nearest,
        Asked { near, limit, room, .. }: Asked<'_>,
        reach: &mut u32,
    ) -> Result<Found, DedupError> {
        let own = near.different()[near.number(text) as usize];
        let most = self.max_distance;
        let regions =
            self.regions.iter().zip(&self.centers).filter(|(region, center)| {
                hamming::distance(own, **center) <= most + region.radius
            });
        let before: Vec<(&[u64], &[u32])> = regions
            .map(|(Region { places, .. }, _)| {
                let (fingerprints, texts) =
                    (&self.fingerprints[places.clone()], &self.texts[places.clone()]);
                let place = texts.partition_point(|&other| other < text);
                (&fingerprints[..place], &texts[..place])
            })
            .collect();
        *reach = most.min(*reach);
        // The nearer ones are there already.
        let mut least = 0;
        loop {
            for (fingerprints, texts) in &before {
                let blocks = fingerprints.chunks(SCANNED).zip(texts.chunks(SCANNED));
                for (block, texts) in blocks {
                    room.relieve()?;
                    hamming::within(block, own, *reach, |place, rank| {
                        if rank >= least {
                            nearest.push(texts[place], rank);
                        }
                    });
                }
            }
            if *reach == most || nearest.reach().is_some_and(|enough| enough <= *reach) {
                break;
            }
            *reach += 1;
            least = *reach;
        }
        let oldest = limit / 4;
        if *reach < most && oldest > 0 {
            for (fingerprints, texts) in &before {
                let mut seen = 0;
                for (block, texts) in fingerprints.chunks(BLOCK).zip(texts.chunks(BLOCK)) {
                    room.relieve()?;
                    hamming::within(block, own, most, |place, rank| {
                        seen += 1;
                        if rank > *reach {
                            nearest.push(texts[place], rank);
                        }
                    });
                    if seen >= oldest {
                        break;
                    }
                }
            }
        }
        *reach = nearest.reach().map_or(most, |enough| enough.min(*reach));
        Ok(nearest.list())
    }
}

/// The first of these within a distance.
fn first_within(centers: &[u64], fingerprint: u64, most: u32) -> Option<usize> {
    centers.iter().position(|&center| hamming::distance(center, fingerprint) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{Candidate, best};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Crowds around two centers, what is between them and what is far away; limits that they pass.
        #[test]
        fn lists_in_crowds_are_the_best_of_all_that_are_near(
            given in proptest::collection::vec(
                (prop_oneof![Just(0u64), Just(0x3f), Just(u64::MAX)], 0u64..256, any::<bool>(), any::<u64>()),
                1..400,
            ),
            max_distance in 0u32..9,
            limit in prop_oneof![0usize..40, Just(100), Just(usize::MAX)],
            crowd in prop_oneof![Just(0usize), Just(10), Just(1_000)],
            start in 0u32..9,
            (bounded, most) in (any::<bool>(), prop_oneof![1usize..200, Just(usize::MAX)]),
            (held, are_too_many) in (prop_oneof![Just(0usize), 1..500usize, Just(usize::MAX)], any::<bool>()),
        ) {
            let given: Vec<u64> = given
                .into_iter()
                .map(|(center, noise, near, far)| if near || far % 4 > 0 { center ^ noise } else { far })
                .collect();
            let mut fingerprints: Vec<(u64, u32)> = given.iter().copied().zip(0..).collect();
            fingerprints.sort_unstable();
            let folder = tempfile::tempdir().unwrap();
            let room = if bounded { Room::bounded(0, folder.path()).unwrap() } else { Room::default() };
            let cancel = AtomicBool::new(false);
            let mut near = Near::new(&fingerprints, given.len() as u32, &room, 2, &cancel).unwrap();
            let within = (&room, 2, &cancel);
            let sample = Sample::new(near.different(), max_distance, within).unwrap();
            let held = near.join(max_distance, held, within, &mut |_| Ok(are_too_many)).unwrap();
            prop_assert!(held != Held::None || are_too_many);
            let numbers = 0..near.different().len() as u32;
            let is_in_crowd = |number: u32| near.is_crowded(number);
            match held {
                Held::All => prop_assert!(!numbers.clone().any(is_in_crowd)),
                Held::Few => prop_assert!(numbers.clone().any(is_in_crowd)),
                Held::None => prop_assert!(numbers.clone().all(is_in_crowd)),
            }
            let mut found = Crowd::with(&near, max_distance, crowd, (held, most), &sample, within).unwrap();
            let (asking, others): (Vec<u32>, Vec<u32>) =
                (0..given.len() as u32).partition(|&text| is_in_crowd(near.number(text)));
            let mut lists: Vec<(u32, Found)> = others
                .iter()
                .map(|&text| (text, near.list(text, limit, &room).unwrap()))
                .collect();
            let (mut reach, mut rest) = (start, &asking[..]);
            while !rest.is_empty() {
                let ready = found.reach(rest, &near, limit, within).unwrap();
                prop_assert!(ready > 0);
                let asked = Asked { near: &near, limit, room: &room, cancel: &cancel };
                let some = found.lists(&rest[..ready], asked, &mut reach).unwrap();
                lists.extend(rest.iter().copied().zip(some));
                rest = &rest[ready..];
            }
            lists.sort_unstable_by_key(|list| list.0);
            prop_assert_eq!(lists.len(), given.len());
            for ((text, list), own) in lists.into_iter().zip(&given) {
                let before = (0..text).zip(&given);
                let all = before.map(|(number, other)| Candidate { number, rank: (own ^ other).count_ones() });
                let all = all.filter(|candidate| candidate.rank <= max_distance).collect();
                let expected = best(all, limit, false);
                prop_assert_eq!(&list.candidates, &expected.candidates);
                prop_assert_eq!(list.cut, expected.cut);
            }
        }
    }
}
