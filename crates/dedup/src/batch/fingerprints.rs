//! The candidates of `SimHash` by one join of all fingerprints with themselves.

use super::candidates::{Candidates, Gathered, Listed, Sketches};
use super::crowd::Crowd;
use super::groups::Groups;
use crate::decide::{ALONE, BATCH_DOCUMENTS};
use crate::error::DedupError;
use crate::method::{Candidate, Found, best};
use crate::parallel;
use simhash_index::SelfJoin;
use simhash_sketch::{MethodSketch, Sketcher};
use std::sync::atomic::AtomicBool;

/// Pairs of different fingerprints for each of them, or of 1,000 where they are fewer, up to which they are joined: 384 bytes, each pair
/// is held both ways round. Where there are more, in a crowd, lists are made as they are asked for ([`Crowd`]).
const CROWDED: usize = 16;
/// Texts of a crowd whose lists are made by one task at once.
const TOGETHER: usize = 8;

/// Fingerprints by document, then what is near whom.
pub(super) struct Fingerprints {
    max_distance: u32,
    /// By document.
    given: Vec<Option<u64>>,
    near: Near,
    /// Texts that were gone through.
    listed: u32,
    crowd: Option<Crowd>,
    bytes: usize,
}

/// Different fingerprints, by place in their order, and the pairs of them.
#[derive(Default)]
pub(super) struct Near {
    /// By text: its fingerprint, or [`ALONE`].
    of: Vec<u32>,
    /// By fingerprint: where its texts begin; one more for the end.
    starts: Vec<u32>,
    /// The texts of each, ascending.
    texts: Vec<u32>,
    /// Two fingerprints and their distance, both ways round, ascending.
    pairs: Vec<(u32, u32, u32)>,
    /// By fingerprint: where its pairs begin; one more for the end.
    pair_starts: Vec<u32>,
}

impl Near {
    pub(super) fn new(fingerprints: &[(u64, u32)], count: u32) -> Self {
        let mut near = Self { of: vec![ALONE; count as usize], ..Self::default() };
        for same in fingerprints.chunk_by(|a, b| a.0 == b.0) {
            let number = near.starts.len() as u32;
            near.starts.push(near.texts.len() as u32);
            for &(_, text) in same {
                near.of[text as usize] = number;
                near.texts.push(text);
            }
        }
        near.starts.push(near.texts.len() as u32);
        near
    }

    /// Finds the pairs of different fingerprints, ascending; false where there are too many.
    fn join(
        &mut self,
        different: &[u64],
        max_distance: u32,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<bool, DedupError> {
        let mut join = SelfJoin::new(different.to_vec(), max_distance)?;
        let number = |fingerprint| different.partition_point(|&other| other < fingerprint) as u32;
        while let Some(mut found) = join.next_batch(threads, cancel)? {
            parallel::for_each(
                &mut found,
                threads,
                cancel,
                || (),
                |(), (a, b, _)| {
                    (*a, *b) = (number(*a).into(), number(*b).into());
                    Ok(())
                },
            )?;
            for (a, b, distance) in found {
                let (a, b) = (a as u32, b as u32);
                self.pairs.extend([(a, b, distance), (b, a, distance)]);
            }
            if self.pairs.len() > 2 * CROWDED * different.len().max(1_000) {
                return Ok(false);
            }
        }
        parallel::sort(&mut self.pairs, threads, cancel)?;
        let mut end = 0;
        self.pair_starts = (0..=different.len() as u32)
            .map(|number| {
                end += self.pairs[end..].iter().take_while(|pair| pair.0 < number).count();
                end as u32
            })
            .collect();
        Ok(true)
    }

    /// The number of a text's fingerprint, or [`ALONE`].
    pub(super) fn number(&self, text: u32) -> u32 {
        self.of[text as usize]
    }

    /// The texts with a fingerprint, ascending.
    pub(super) fn texts(&self, number: u32) -> &[u32] {
        let at = |number: usize| self.starts[number] as usize;
        &self.texts[at(number as usize)..at(number as usize + 1)]
    }

    fn pairs(&self, number: u32) -> &[(u32, u32, u32)] {
        let at = |number: usize| self.pair_starts[number] as usize;
        &self.pairs[at(number as usize)..at(number as usize + 1)]
    }

    /// Whether others have the fingerprint of this text, or one near it.
    fn has_others(&self, text: u32) -> bool {
        let own = self.of[text as usize];
        own != ALONE && (self.texts(own).len() > 1 || !self.pairs(own).is_empty())
    }

    fn list(&self, text: u32, limit: usize) -> Found {
        let own = self.of[text as usize];
        let near = self.pairs(own).iter().map(|&(_, other, distance)| (other, distance));
        let mut candidates = Vec::new();
        for (other, rank) in near.chain([(own, 0)]) {
            self.before(other, text, rank, limit, &mut candidates);
        }
        best(candidates, limit, false)
    }

    /// Appends the texts before one that have a fingerprint at this distance, as far as they can be in its list.
    pub(super) fn before(
        &self,
        number: u32,
        text: u32,
        rank: u32,
        limit: usize,
        candidates: &mut Vec<Candidate>,
    ) {
        // The oldest of those with one fingerprint are its best: of a crowd of copies but for a word no more can be chosen, and one
        // more tells that the list is cut.
        let before = self.texts(number).iter().take_while(|&&other| other < text);
        let before = before.take(limit.saturating_add(1));
        candidates.extend(before.map(|&number| Candidate { number, rank }));
    }

    fn bytes(&self) -> usize {
        let numbers = self.of.len() + self.starts.len() + self.texts.len() + self.pair_starts.len();
        numbers * size_of::<u32>() + self.pairs.len() * size_of::<(u32, u32, u32)>()
    }
}

impl Fingerprints {
    pub(super) fn new(max_distance: u32) -> Self {
        let (given, near) = Default::default();
        Self { max_distance, given, near, listed: 0, crowd: None, bytes: 0 }
    }

    /// [`Candidates::next`] where there are too many pairs.
    fn next_of_crowd(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let (near, mut lists) = (&self.near, Vec::new());
        let Some(crowd) = &self.crowd else { return Ok(lists) };
        while lists.is_empty() && (self.listed as usize) < near.of.len() {
            let rest = self.listed..near.of.len() as u32;
            let texts = rest.filter(|&text| {
                self.listed = text + 1;
                near.number(text) != ALONE
            });
            let texts: Vec<u32> = texts.take(BATCH_DOCUMENTS).collect();
            let mut slots: Vec<(&[u32], Vec<Found>)> =
                texts.chunks(TOGETHER).map(|texts| (texts, Vec::new())).collect();
            let reach = || self.max_distance;
            parallel::for_each(&mut slots, threads, cancel, reach, |reach, (texts, found)| {
                *found = crowd.lists(texts, near, limit, reach, cancel)?;
                Ok(())
            })?;
            let found = texts.iter().zip(slots.into_iter().flat_map(|(_, found)| found));
            lists.extend(found.map(|(&text, found)| Listed { text, found }));
            lists.retain(|listed| !listed.found.candidates.is_empty());
        }
        Ok(lists)
    }
}

impl Candidates for Fingerprints {
    fn sketcher(&self) -> Sketcher {
        Sketcher::Fingerprint
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        self.given.extend(gathered.sketches.iter().map(MethodSketch::fingerprint));
        Ok(())
    }

    fn settle(
        &mut self,
        groups: &Groups,
        _: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let given = std::mem::take(&mut self.given);
        let own = given.len() * size_of::<Option<u64>>();
        let texts = 0..groups.len();
        let mut fingerprints: Vec<(u64, u32)> =
            texts.filter_map(|text| Some((given[groups.first(text) as usize]?, text))).collect();
        parallel::sort(&mut fingerprints, threads, cancel)?;
        self.near = Near::new(&fingerprints, groups.len());
        let mut different: Vec<u64> = fingerprints.iter().map(|&(own, _)| own).collect();
        different.dedup();
        let is_joined = self.near.join(&different, self.max_distance, threads, cancel)?;
        if !is_joined {
            self.near.pairs = Vec::new();
            self.crowd = Some(Crowd::new(different, &self.near, self.max_distance, cancel)?);
        }
        let crowd = self.crowd.as_ref().map_or(0, Crowd::bytes);
        self.bytes = self.near.bytes() + own + crowd;
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        if self.crowd.is_some() {
            return self.next_of_crowd(limit, threads, cancel);
        }
        let mut lists = Vec::new();
        while lists.is_empty() && (self.listed as usize) < self.near.of.len() {
            let rest = self.listed..self.near.of.len() as u32;
            let texts = rest.filter(|&text| {
                self.listed = text + 1;
                self.near.has_others(text)
            });
            let empty = |text| Listed { text, found: Found::default() };
            lists.extend(texts.take(BATCH_DOCUMENTS).map(empty));
            parallel::for_each(
                &mut lists,
                threads,
                cancel,
                || (),
                |(), listed| {
                    listed.found = self.near.list(listed.text, limit);
                    Ok(())
                },
            )?;
            lists.retain(|listed| !listed.found.candidates.is_empty());
        }
        Ok(lists)
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Many texts with one fingerprint, and limits that they pass.
        #[test]
        fn lists_are_the_best_of_all_that_are_near(
            given in proptest::collection::vec(prop_oneof![Just(0u64), Just(1), Just(3), Just(7), Just(u64::MAX)], 1..60),
            max_distance in 0u32..4,
            limit in 0usize..20,
        ) {
            let mut fingerprints: Vec<(u64, u32)> = given.iter().copied().zip(0..).collect();
            fingerprints.sort_unstable();
            let mut near = Near::new(&fingerprints, given.len() as u32);
            let mut different: Vec<u64> = fingerprints.iter().map(|&(own, _)| own).collect();
            different.dedup();
            let joined = near.join(&different, max_distance, 1, &AtomicBool::new(false)).unwrap();
            prop_assert!(joined);
            for (text, own) in (0u32..).zip(&given) {
                let before = (0u32..text).zip(&given);
                let all = before.map(|(number, other)| Candidate { number, rank: (own ^ other).count_ones() });
                let all = all.filter(|candidate| candidate.rank <= max_distance).collect();
                let (found, expected) = (near.list(text, limit), best(all, limit, false));
                prop_assert_eq!(found.candidates, expected.candidates);
                prop_assert_eq!(found.cut, expected.cut);
            }
        }
    }
}
