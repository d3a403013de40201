//! The candidates of `SimHash` in crowds: where so many fingerprints are near each other that pairs of them cannot be held.
//!
//! A **region** is a crowd around a center: all within the distance of it. Fingerprints of no region are looked up in an index. Those of
//! regions are compared one after the other, a few to the nanosecond, and a limit ends most of it early: of the nearest no more are
//! gathered than the least distance has that has enough, and of the oldest no more than count. Regions that are too far from a text to
//! hold anything near it are passed over by their centers. So a text of a crowd of n costs n / 2 comparisons of 8 bytes each, in
//! order, and one of no crowd what it costs in an index.

use super::fingerprints::Near;
use crate::error::DedupError;
use crate::method::{Candidate, Found, best};
use crate::parallel;
use simhash_index::{Index, IndexOptions, Item, SearchOptions};
use simhash_sketch::hamming;
use std::sync::atomic::AtomicBool;

/// Fingerprints that are looked at as centers: a crowd of a thousandth of all is missed once in fifty times, and is looked up then.
const SAMPLED: usize = 4_096;
/// Fingerprints near a center that make a region: so many come from an index about as fast.
const CROWD: usize = 1_000;
/// Fingerprints whose oldest are looked for at once.
const BLOCK: usize = 1_024;

/// What is near whom, found when it is asked for. Memory: 12 bytes for each text of a region, and the index of the other fingerprints.
pub(super) struct Crowd {
    max_distance: u32,
    /// All different fingerprints, ascending.
    different: Vec<u64>,
    centers: Vec<u64>,
    regions: Vec<Region>,
    /// Of the fingerprints of no region, by place.
    index: Index,
    /// The number of each.
    outside: Vec<u32>,
}

/// The texts of a crowd, ascending, and their fingerprints.
#[derive(Default)]
struct Region {
    /// The largest distance from the center.
    radius: u32,
    fingerprints: Vec<u64>,
    texts: Vec<u32>,
}

impl Crowd {
    /// Of different fingerprints, ascending.
    pub(super) fn new(
        different: Vec<u64>,
        near: &Near,
        max_distance: u32,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        Self::with(different, near, max_distance, CROWD, cancel)
    }

    fn with(
        different: Vec<u64>,
        near: &Near,
        max_distance: u32,
        crowd: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut centers: Vec<u64> = Vec::new();
        for &center in different.iter().step_by(different.len().div_ceil(SAMPLED).max(1)) {
            parallel::check(cancel)?;
            if first_within(&centers, center, max_distance).is_none() {
                let mut count = 0;
                hamming::within(&different, center, max_distance, |_, _| count += 1);
                if count > crowd {
                    centers.push(center);
                }
            }
        }
        let mut options = IndexOptions::default();
        options.max_distance = max_distance;
        let (index, mut outside) = (Index::new(&options)?, Vec::new());
        let mut inside: Vec<Vec<(u32, u64)>> = vec![Vec::new(); centers.len()];
        for (number, &fingerprint) in (0u32..).zip(&different) {
            match first_within(&centers, fingerprint, max_distance) {
                None => outside.push(number),
                Some(region) => {
                    let texts = near.texts(number).iter();
                    inside[region].extend(texts.map(|&text| (text, fingerprint)));
                }
            }
        }
        let items: Vec<Item> =
            outside.iter().map(|&number| Item::Fingerprint(different[number as usize])).collect();
        index.add_many(&items, &[], cancel)?;
        let regions = inside.into_iter().zip(&centers).map(|(mut texts, &center)| {
            texts.sort_unstable();
            let distances = texts.iter().map(|&(_, own)| hamming::distance(own, center));
            let radius = distances.max().unwrap_or_default();
            let (texts, fingerprints) = texts.into_iter().unzip();
            Region { radius, fingerprints, texts }
        });
        let regions = regions.collect();
        Ok(Self { max_distance, different, centers, regions, index, outside })
    }

    /// The lists of texts that have fingerprints. `reach` is the distance within which the last text had enough candidates; it changes
    /// what a list costs and nothing else.
    pub(super) fn lists(
        &self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        reach: &mut u32,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError> {
        let own = |text: u32| self.different[near.number(text) as usize];
        let items: Vec<Item> = texts.iter().map(|&text| Item::Fingerprint(own(text))).collect();
        let found = self.index.search_many(&items, SearchOptions::default(), 1, cancel)?;
        let lists = texts.iter().zip(found).map(|(&text, found)| {
            let mut others = Vec::new();
            for other in &found.matches {
                let number = self.outside[other.id as usize];
                near.before(number, text, other.distance, limit, &mut others);
            }
            self.list(text, own(text), others, limit, reach)
        });
        Ok(lists.collect())
    }

    /// Bytes held, of the index when its tables are sealed.
    pub(super) fn bytes(&self) -> usize {
        let inside: usize = self.regions.iter().map(|region| region.texts.len()).sum();
        let count = self.outside.len();
        let estimate = self.index.plan().estimate(count as u64, self.max_distance);
        #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
        let index =
            estimate.map_or(0, |each| ((each.table_bytes + each.id_bytes) * count as f64) as usize);
        let each = size_of::<u64>() + size_of::<u32>();
        index + inside * each + count * size_of::<u32>() + self.different.len() * size_of::<u64>()
    }

    /// The list of a text, of which `others` are the candidates of no region.
    fn list(
        &self,
        text: u32,
        own: u64,
        others: Vec<Candidate>,
        limit: usize,
        reach: &mut u32,
    ) -> Found {
        let most = self.max_distance;
        let regions =
            self.regions.iter().zip(&self.centers).filter(|(region, center)| {
                hamming::distance(own, **center) <= most + region.radius
            });
        let before: Vec<(&[u64], &[u32])> = regions
            .map(|(Region { fingerprints, texts, .. }, _)| {
                let place = texts.partition_point(|&other| other < text);
                (&fingerprints[..place], &texts[..place])
            })
            .collect();
        let outside = others.len();
        let mut all = others;
        *reach = most.min(*reach);
        loop {
            for (fingerprints, texts) in &before {
                hamming::within(fingerprints, own, *reach, |place, rank| {
                    all.push(Candidate { number: texts[place], rank });
                });
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
        best(all, limit, false)
    }
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
        ) {
            let given: Vec<u64> = given
                .into_iter()
                .map(|(center, noise, near, far)| if near || far % 4 > 0 { center ^ noise } else { far })
                .collect();
            let mut fingerprints: Vec<(u64, u32)> = given.iter().copied().zip(0..).collect();
            fingerprints.sort_unstable();
            let near = Near::new(&fingerprints, given.len() as u32);
            let mut different: Vec<u64> = fingerprints.iter().map(|&(own, _)| own).collect();
            different.dedup();
            let cancel = AtomicBool::new(false);
            let found = Crowd::with(different, &near, max_distance, crowd, &cancel).unwrap();
            let texts: Vec<u32> = (0..given.len() as u32).collect();
            let mut reach = start;
            let lists = found.lists(&texts, &near, limit, &mut reach, &cancel).unwrap();
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
