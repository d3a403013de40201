//! The candidates of `SimHash` in crowds: where so many fingerprints are near each other that pairs of them cannot be held.
//!
//! A **region** is a crowd around a center: all within the distance of it. Fingerprints of no region are looked up in an index. Those of
//! regions are compared one after the other, a few to the nanosecond, and a limit ends most of it early: of the nearest no more are
//! gathered than the least distance has that has enough, and of the oldest no more than count. Regions that are too far from a text to
//! hold anything near it are passed over by their centers. So a text of a crowd of n costs n / 2 comparisons of 8 bytes each, in
//! order, and one of no crowd what it costs in an index.

use super::near::{Near, Pair, Pairs, join};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::{Candidate, Found, best};
use crate::parallel;
use simhash_index::{Index, IndexOptions, Item, SearchOptions};
use simhash_sketch::hamming;
use simhash_store::{Column, Room};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Fingerprints that are looked at as centers: a crowd of a thousandth of all is missed once in fifty times, and is looked up then.
const SAMPLED: usize = 4_096;
/// Fingerprints near a center that make a region: so many come from an index about as fast.
const CROWD: usize = 1_000;
/// Fingerprints whose oldest are looked for at once.
const BLOCK: usize = if cfg!(test) { 16 } else { 1_024 };
/// Fingerprints that are compared with one text between two looks at the memory.
const SCANNED: usize = if cfg!(test) { 32 } else { 1 << 14 };
/// Fingerprints that one task goes through at once.
const RUN: usize = if cfg!(test) { 8 } else { 1 << 12 };
/// Fingerprints that all tasks go through before what they found is put away.
const WAVE: usize = if cfg!(test) { 64 } else { 1 << 18 };
/// Fingerprints that one task looks up at once.
const ASKED: usize = 64;
/// The share of memory for an index of some fingerprints.
const SHARE: u64 = 16;
/// Least fingerprints of such an index.
const LEAST: usize = if cfg!(test) { 16 } else { 1 << 12 };

/// What is near whom, found when it is asked for. Bytes: 12 for each text of a region; of the other fingerprints an index, or where memory
/// is bounded the pairs that they are in, 12 each.
pub(super) struct Crowd {
    max_distance: u32,
    centers: Vec<u64>,
    regions: Vec<Region>,
    /// The texts of regions, one region after the other, ascending in each.
    texts: Column<u32>,
    /// Their fingerprints.
    fingerprints: Column<u64>,
    /// The number of each fingerprint of no region.
    outside: Column<u32>,
    others: Others,
}

/// A crowd.
struct Region {
    /// The largest distance from the center.
    radius: u32,
    /// Its texts.
    places: Range<usize>,
}

/// How fingerprints of no region are found.
enum Others {
    /// By place among them.
    Index(Box<Index>),
    /// By number of the one that asks, itself included.
    Known(Pairs),
}

impl Crowd {
    pub(super) fn new(
        near: &Near,
        max_distance: u32,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        Self::with(near, max_distance, CROWD, room, threads, cancel)
    }

    fn with(
        near: &Near,
        max_distance: u32,
        crowd: usize,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let different = near.different();
        let mut centers: Vec<u64> = Vec::new();
        for &center in different.iter().step_by(different.len().div_ceil(SAMPLED).max(1)) {
            if first_within(&centers, center, max_distance).is_none()
                && count_within(different, center, max_distance, room, threads, cancel)? > crowd
            {
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
                        let texts = near.texts(number).iter();
                        inside.extend(texts.map(|&text| (region, text, own)))?;
                    }
                }
                room.relieve()?;
            }
        }
        if room.most().is_some() {
            let check = || parallel::check(cancel);
            inside.sort_by_number(room, near.len(), |one| one.1, check)?;
            inside.sort_by_number(room, centers.len() as u32, |one| one.0, check)?;
        } else {
            parallel::sort(&mut inside, threads, cancel)?;
        }
        let others = if room.most().is_some() {
            let within = (room, threads, cancel);
            Others::Known(known(near, &outside, max_distance, within)?)
        } else {
            let own = outside.iter().map(|&number| different[number as usize]);
            Others::Index(Box::new(index(own, max_distance, cancel)?))
        };
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
        Ok(Self { max_distance, centers, regions, texts, fingerprints, outside, others })
    }

    /// The lists of texts that have fingerprints. `reach` is the distance within which the last text had enough candidates; it changes
    /// what a list costs and nothing else.
    pub(super) fn lists(
        &self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        reach: &mut u32,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let own = |text: u32| near.different()[near.number(text) as usize];
        let mut others: Vec<Vec<Candidate>> = vec![Vec::new(); texts.len()];
        match &self.others {
            Others::Index(index) => {
                let items: Vec<Item> =
                    texts.iter().map(|&text| Item::Fingerprint(own(text))).collect();
                let found = index.search_many(&items, SearchOptions::default(), 1, cancel)?;
                for ((&text, found), others) in texts.iter().zip(found).zip(&mut others) {
                    for other in &found.matches {
                        room.relieve()?;
                        let number = self.outside[other.id as usize];
                        near.before(number, text, other.distance, limit, others);
                    }
                }
            }
            Others::Known(pairs) => {
                for (&text, others) in texts.iter().zip(&mut others) {
                    for &(_, number, distance) in pairs.of(near.number(text)) {
                        room.relieve()?;
                        near.before(number, text, distance, limit, others);
                    }
                }
            }
        }
        let lists = texts.iter().zip(others).map(|(&text, others)| {
            parallel::check(cancel)?;
            self.list(text, own(text), others, limit, reach, room)
        });
        lists.collect()
    }

    /// Bytes held, of an index of the others when its tables are sealed: whether there is one or the memory is bounded.
    pub(super) fn bytes(&self) -> usize {
        let count = self.outside.len();
        let each = bytes_of_each(self.max_distance, count);
        #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
        let index = (each * count as f64) as usize;
        index + self.texts.bytes() + self.fingerprints.bytes() + self.outside.bytes()
    }

    /// The list of a text, of which `others` are the candidates of no region.
    fn list(
        &self,
        text: u32,
        own: u64,
        others: Vec<Candidate>,
        limit: usize,
        reach: &mut u32,
        room: &Room,
    ) -> Result<Found, DedupError> {
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
        let outside = others.len();
        let mut all = others;
        *reach = most.min(*reach);
        loop {
            for (fingerprints, texts) in &before {
                let blocks = fingerprints.chunks(SCANNED).zip(texts.chunks(SCANNED));
                for (block, texts) in blocks {
                    room.relieve()?;
                    hamming::within(block, own, *reach, |place, rank| {
                        all.push(Candidate { number: texts[place], rank });
                    });
                }
            }
            if *reach == most || all.iter().filter(|near| near.rank <= *reach).count() > limit {
                break;
            }
            *reach += 1;
            all.truncate(outside);
        }
        let oldest = limit / 4;
        if *reach < most && oldest > 0 {
            for (fingerprints, texts) in &before {
                let mut seen = 0;
                for (block, texts) in fingerprints.chunks(BLOCK).zip(texts.chunks(BLOCK)) {
                    room.relieve()?;
                    hamming::within(block, own, most, |place, rank| {
                        seen += 1;
                        // The nearer ones are there already.
                        if rank > *reach {
                            all.push(Candidate { number: texts[place], rank });
                        }
                    });
                    if seen >= oldest {
                        break;
                    }
                }
            }
        }
        *reach = least_reach(&all, limit).map_or(most, |least| least.min(*reach));
        Ok(best(all, limit, false))
    }
}

/// How many fingerprints lie within a distance of one.
fn count_within(
    different: &[u64],
    center: u64,
    max_distance: u32,
    room: &Room,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<usize, DedupError> {
    let count = AtomicUsize::new(0);
    let mut runs: Vec<&[u64]> = different.chunks(WAVE / 4).collect();
    parallel::for_each_large(
        &mut runs,
        threads,
        cancel,
        || (),
        |(), run| {
            let mut own = 0;
            hamming::within(run, center, max_distance, |_, _| own += 1);
            count.fetch_add(own, Relaxed);
            Ok(room.relieve()?)
        },
    )?;
    Ok(count.into_inner())
}

/// An index of these, by place.
fn index(
    fingerprints: impl Iterator<Item = u64>,
    max_distance: u32,
    cancel: &AtomicBool,
) -> Result<Index, DedupError> {
    let mut options = IndexOptions::default();
    options.max_distance = max_distance;
    let index = Index::new(&options)?;
    let items: Vec<Item> = fingerprints.map(Item::Fingerprint).collect();
    index.add_many(&items, &[], cancel)?;
    Ok(index)
}

/// The pairs with fingerprints of no region, found before they are asked for: those among themselves by a join, those of fingerprints of
/// regions by an index of some of them after the other, for which there is memory.
fn known(
    near: &Near,
    outside: &[u32],
    max_distance: u32,
    within: (&Room, usize, &AtomicBool),
) -> Result<Pairs, DedupError> {
    let ((room, threads, cancel), different) = (within, near.different());
    let mut pairs: Column<Pair> = Column::new(room)?;
    for &number in outside {
        pairs.push((number, number, 0))?;
        room.relieve()?;
    }
    let own = outside.iter().map(|&number| different[number as usize]);
    join(near, own, max_distance, within, |found| {
        pairs.extend_from_slice(found)?;
        Ok(true)
    })?;
    let each = bytes_of_each(max_distance, outside.len());
    #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
    let most = room.most().map_or(usize::MAX, |most| ((most / SHARE) as f64 / each) as usize);
    // Those of no region do not ask.
    let looked_up = if outside.len() < different.len() { outside } else { &[] };
    for some in looked_up.chunks(most.max(LEAST)) {
        let index =
            index(some.iter().map(|&number| different[number as usize]), max_distance, cancel)?;
        // Both ascend.
        let (mut number, mut others) = (0, outside.iter().peekable());
        while (number as usize) < different.len() {
            parallel::check(cancel)?;
            room.relieve()?;
            let end = different.len().min(number as usize + BATCH_DOCUMENTS) as u32;
            let asked: Vec<u32> = (number..end)
                .filter(|one| others.next_if(|other| *other == one).is_none())
                .collect();
            number = end;
            let mut slots: Vec<(&[u32], Vec<Pair>)> =
                asked.chunks(ASKED).map(|asked| (asked, Vec::new())).collect();
            parallel::for_each_large(
                &mut slots,
                threads,
                cancel,
                || (),
                |(), (asked, found)| {
                    let own = |&number: &u32| Item::Fingerprint(different[number as usize]);
                    let items: Vec<Item> = asked.iter().map(own).collect();
                    let all = SearchOptions::default();
                    let answers = index.search_many(&items, all, 1, cancel)?;
                    for (&number, answer) in asked.iter().zip(answers) {
                        let others = answer.matches.iter();
                        let pairs = others.map(|one| (number, some[one.id as usize], one.distance));
                        found.extend(pairs.filter(|&(_, other, _)| near.looks_at(number, other)));
                    }
                    Ok(room.relieve()?)
                },
            )?;
            for (_, found) in slots {
                pairs.extend_from_slice(&found)?;
            }
        }
    }
    Pairs::sealed(pairs, different.len() as u32, room, threads, cancel)
}

/// Bytes of an index for each of so many fingerprints, when its tables are sealed.
fn bytes_of_each(max_distance: u32, count: usize) -> f64 {
    let mut options = IndexOptions::default();
    options.max_distance = max_distance;
    let index = Index::new(&options).ok();
    let estimate = index.and_then(|it| it.plan().estimate(count as u64, max_distance).ok());
    estimate.map_or(1.0, |each| each.table_bytes + each.id_bytes)
}

/// The least distance within which more than `limit` of these lie.
fn least_reach(all: &[Candidate], limit: usize) -> Option<u32> {
    let mut counts = [0usize; 65];
    for near in all {
        counts[near.rank.min(64) as usize] += 1;
    }
    let mut sum = 0;
    counts.iter().zip(0..).find_map(|(count, distance)| {
        sum += count;
        (sum > limit).then_some(distance)
    })
}

/// The first of these within a distance.
fn first_within(centers: &[u64], fingerprint: u64, most: u32) -> Option<usize> {
    centers.iter().position(|&center| hamming::distance(center, fingerprint) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            bounded in any::<bool>(),
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
            let near = Near::new(&fingerprints, given.len() as u32, &room, 2, &cancel).unwrap();
            let found = Crowd::with(&near, max_distance, crowd, &room, 2, &cancel).unwrap();
            let texts: Vec<u32> = (0..given.len() as u32).collect();
            let mut reach = start;
            let lists = found.lists(&texts, &near, limit, &mut reach, &room, &cancel).unwrap();
            for ((&text, own), list) in texts.iter().zip(&given).zip(&lists) {
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
