//! Fingerprints of no region of a crowd, and who is near them.
//!
//! ```text
//! in memory       an index of them                                                what is asked for is looked up in it
//! within a bound  a join, and an index of some after the other: all pairs         while these are few ([`known`])
//!                 an index of those that are asked for next: the pairs of these   where they are many, or few ask ([`Windows`])
//! ```

use super::join::join;
use super::near::{Held, Near};
use super::nearest::Nearest;
use super::pairs::{Pair, Pairs};
use super::windows::Windows;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::{Index, IndexOptions, Item, SearchOptions};
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// Fingerprints that one task looks up at once: each may have some thousand others near it.
const ASKED: usize = 16;
/// The share of memory for an index of some fingerprints.
const SHARE: u64 = 16;
/// Least fingerprints of such an index.
const LEAST: usize = if cfg!(test) { 64 } else { 1 << 12 };

/// Who is near the fingerprints of no region.
pub(super) struct Outside {
    max_distance: u32,
    /// How many there are.
    count: usize,
    found: Found,
}

/// How they are found.
enum Found {
    /// By place among these, in memory.
    Index(Box<Index>, Column<u32>),
    /// By the number of the one that asks, itself included.
    Known(Pairs),
    /// Those of some texts at a time.
    Windows(Box<Windows>),
}

impl Outside {
    /// `numbers` are those of fingerprints of no region, ascending; within a bound no more than `most` pairs are there at once, or as
    /// many as one fingerprint has.
    pub(super) fn new(
        near: &Near,
        numbers: Column<u32>,
        max_distance: u32,
        (held, most): (Held, usize),
        within: (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        let ((room, _, cancel), count) = (within, numbers.len());
        let found = if room.most().is_none() {
            let own = numbers.iter().map(|&number| near.different()[number as usize]);
            let index = index(own, max_distance, cancel)?;
            Found::Index(Box::new(index), numbers)
        } else if held == Held::Few {
            // All pairs are too many, and those who ask are few.
            Found::Windows(Box::new(Windows::new(near, numbers, max_distance, most, within)?))
        } else if let Some(pairs) = known(near, &numbers, max_distance, most, within)? {
            Found::Known(pairs)
        } else {
            Found::Windows(Box::new(Windows::new(near, numbers, max_distance, most, within)?))
        };
        Ok(Self { max_distance, count, found })
    }

    /// Makes ready what the first of these texts, which ascend and follow those of the last call, have near them; how many of them, one
    /// at least.
    pub(super) fn reach(
        &mut self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<usize, DedupError> {
        match &mut self.found {
            Found::Windows(windows) => windows.reach(texts, near, limit, within),
            Found::Index(..) | Found::Known(_) => Ok(texts.len()),
        }
    }

    /// What texts that have fingerprints have near them, as far as it can be in their lists.
    pub(super) fn nearest(
        &self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<Vec<Nearest>, DedupError> {
        let mut all: Vec<Nearest> = texts.iter().map(|_| Nearest::new(limit)).collect();
        let by_pairs = |pairs: &[Pair], text: u32, nearest: &mut Nearest| {
            for &(_, number, distance) in pairs {
                room.relieve()?;
                near.before(number, text, distance, limit, nearest);
            }
            Ok::<_, DedupError>(())
        };
        match &self.found {
            Found::Index(index, numbers) => {
                let own = |&text: &u32| near.different()[near.number(text) as usize];
                let items: Vec<Item> = texts.iter().map(own).map(Item::Fingerprint).collect();
                let found = index.search_many(&items, SearchOptions::default(), 1, cancel)?;
                for ((&text, found), nearest) in texts.iter().zip(found).zip(&mut all) {
                    for other in &found.matches {
                        let number = numbers[other.id as usize];
                        near.before(number, text, other.distance, limit, nearest);
                    }
                }
            }
            Found::Known(pairs) => {
                for (&text, nearest) in texts.iter().zip(&mut all) {
                    by_pairs(pairs.of(near.number(text)), text, nearest)?;
                }
            }
            Found::Windows(windows) => {
                for (&text, nearest) in texts.iter().zip(&mut all) {
                    by_pairs(windows.pairs(near.number(text)), text, nearest)?;
                }
            }
        }
        Ok(all)
    }

    /// Bytes held, of an index when its tables are sealed: whether there is one or the memory is bounded.
    pub(super) fn bytes(&self) -> usize {
        let each = bytes_of_each(self.max_distance, self.count);
        #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
        let index = (each * self.count as f64) as usize;
        index + self.count * size_of::<u32>()
    }
}

/// An index of these, by place.
pub(super) fn index(
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

/// How many of so many fingerprints an index may have within a bound.
pub(super) fn indexed_at_once(max_distance: u32, count: usize, room: &Room) -> usize {
    let each = bytes_of_each(max_distance, count) + size_of::<Item>() as f64;
    #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
    let most = room.most().map_or(usize::MAX, |most| ((most / SHARE) as f64 / each) as usize);
    most.max(LEAST)
}

/// Fingerprints that all tasks look up before what they found is put away.
pub(super) fn asked_at_once() -> usize {
    ASKED * rayon::current_num_threads().max(1)
}

/// Looks fingerprints up: the pairs that `pair` makes of one that was asked for, the place of one that is near it, and their distance.
pub(super) fn look_up<T: Sync>(
    index: &Index,
    asked: &[T],
    own: impl Fn(&T) -> u64 + Sync,
    pair: impl Fn(&T, usize, u32) -> Option<Pair> + Sync,
    (room, threads, cancel): (&Room, usize, &AtomicBool),
) -> Result<Vec<Vec<Pair>>, DedupError> {
    room.relieve()?;
    let mut slots: Vec<(&[T], Vec<Pair>)> =
        asked.chunks(ASKED).map(|asked| (asked, Vec::new())).collect();
    parallel::for_each_large(
        &mut slots,
        threads,
        cancel,
        || (),
        |(), (asked, found)| {
            let items: Vec<Item> = asked.iter().map(&own).map(Item::Fingerprint).collect();
            let answers = index.search_many(&items, SearchOptions::default(), 1, cancel)?;
            for (asked, answer) in asked.iter().zip(answers) {
                let matches = answer.matches.iter();
                found.extend(matches.filter_map(|one| pair(asked, one.id as usize, one.distance)));
            }
            Ok(room.relieve()?)
        },
    )?;
    Ok(slots.into_iter().map(|(_, found)| found).collect())
}

/// Bytes of an index for each of so many fingerprints, when its tables are sealed.
fn bytes_of_each(max_distance: u32, count: usize) -> f64 {
    let mut options = IndexOptions::default();
    options.max_distance = max_distance;
    let index = Index::new(&options).ok();
    let estimate = index.and_then(|it| it.plan().estimate(count as u64, max_distance).ok());
    estimate.map_or(1.0, |each| each.table_bytes + each.id_bytes)
}

/// The pairs with fingerprints of no region, found before they are asked for: those among themselves by a join, those of fingerprints of
/// regions by an index of some of them after the other, for which there is memory. None: there are more than `most`.
fn known(
    near: &Near,
    outside: &[u32],
    max_distance: u32,
    most: usize,
    within: (&Room, usize, &AtomicBool),
) -> Result<Option<Pairs>, DedupError> {
    let ((room, threads, cancel), different) = (within, near.different());
    let mut pairs: Column<Pair> = Column::new(room)?;
    for &number in outside {
        pairs.push((number, number, 0))?;
        room.relieve()?;
    }
    let own = outside.iter().map(|&number| different[number as usize]);
    let are_all = join(near, own, max_distance, within, |found| {
        pairs.extend_from_slice(found)?;
        Ok(pairs.len() <= most)
    })?;
    if !are_all {
        return Ok(None);
    }
    // Those of no region do not ask.
    let looked_up = if outside.len() < different.len() { outside } else { &[] };
    for some in looked_up.chunks(indexed_at_once(max_distance, outside.len(), room)) {
        let index =
            index(some.iter().map(|&number| different[number as usize]), max_distance, cancel)?;
        // Both ascend.
        let mut others = outside.iter().peekable();
        let mut asking = (0..different.len() as u32)
            .filter(|one| others.next_if(|other| *other == one).is_none())
            .peekable();
        while asking.peek().is_some() {
            let asked: Vec<u32> = asking.by_ref().take(asked_at_once()).collect();
            let own = |&number: &u32| different[number as usize];
            let pair = |&number: &u32, place: usize, distance| {
                let other = some[place];
                near.looks_at(number, other).then_some((number, other, distance))
            };
            for found in look_up(&index, &asked, own, pair, within)? {
                pairs.extend_from_slice(&found)?;
            }
            if pairs.len() > most {
                return Ok(None);
            }
        }
    }
    Ok(Some(Pairs::sealed(pairs, different.len() as u32, room, threads, cancel)?))
}
