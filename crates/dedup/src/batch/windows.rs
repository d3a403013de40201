//! What texts have near them outside of regions where the pairs do not fit, a **window** of texts after the other.
//!
//! ```text
//! fingerprints of the next texts ─► an index ◄─ fingerprints of no region, those of the oldest texts first ─► pairs by text
//! ```
//! Of the pairs of a fingerprint at one distance those with the oldest texts come first, so when it has one more than the limit no other one
//! can be in a list. Where there are too many all the same, the window becomes shorter while it is made: what was found for its
//! last texts is dropped, and found again with the next ones.

use super::near::Near;
use super::outside::{asked_at_once, index, indexed_at_once, look_up};
use super::pairs::{Pair, Pairs};
use super::sort::sort;
use crate::decide::ALONE;
use crate::error::DedupError;
use crate::parallel;
use simhash_store::{Column, Room};
use std::sync::atomic::AtomicBool;

/// Texts or fingerprints between two looks at the memory.
const LOOK: usize = 1024;

/// Fingerprints of no region, and the pairs with them of some texts.
///
/// Disk: 16 bytes for each of them, 12 for each pair, and `8 + 4 * (k + 1)` for each fingerprint of a window. Memory: an index of a sixteenth of the bound.
pub(super) struct Windows {
    max_distance: u32,
    /// The first text, the number and the fingerprint of each, by first text.
    others: Column<(u32, u32, u64)>,
    /// Fingerprints of a window at most.
    texts: usize,
    /// Those that the next one begins with: twice as many as the last one was left with, so that little is found twice.
    next: usize,
    /// Pairs of a window at most, but for those of one text.
    most: usize,
    /// The text behind the window.
    end: u32,
    /// Fingerprints of its texts, ascending, each with the first of these.
    asking: Vec<(u32, u32)>,
    /// By place among these.
    pairs: Pairs,
}

impl Windows {
    pub(super) fn new(
        near: &Near,
        numbers: Column<u32>,
        max_distance: u32,
        most: usize,
        (room, threads, cancel): (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        let mut others: Column<(u32, u32, u64)> = Column::new(room)?;
        for (place, &number) in numbers.iter().enumerate() {
            others.push((near.first(number), number, near.different()[number as usize]))?;
            if place % LOOK == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
        drop(numbers);
        sort(&mut others, room, threads, cancel)?;
        let texts = indexed_at_once(max_distance, near.different().len(), room);
        Ok(Self {
            max_distance,
            texts,
            next: texts,
            others,
            most,
            end: 0,
            asking: Vec::new(),
            pairs: Pairs::default(),
        })
    }

    /// Makes a window that begins with the first of these texts where they are behind the last one; how many of them are in it.
    pub(super) fn reach(
        &mut self,
        texts: &[u32],
        near: &Near,
        limit: usize,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<usize, DedupError> {
        if let Some(&first) = texts.first().filter(|&&first| first >= self.end) {
            self.make(first, near, limit, within)?;
        }
        Ok(texts.partition_point(|&text| text < self.end))
    }

    /// The pairs of a fingerprint of the window.
    pub(super) fn pairs(&self, number: u32) -> &[Pair] {
        let place = self.asking.binary_search_by_key(&number, |&(number, _)| number);
        place.map_or(&[], |place| self.pairs.of(place as u32))
    }

    fn make(
        &mut self,
        from: u32,
        near: &Near,
        limit: usize,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<(), DedupError> {
        let (room, threads, cancel) = within;
        // The last window goes before the next one comes.
        (self.asking, self.pairs) = (Vec::new(), Pairs::default());
        let (mut asking, mut end) = (Vec::new(), from);
        while end < near.len() && asking.len() < self.next {
            let number = near.number(end);
            if number != ALONE && near.is_crowded(number) {
                asking.push((number, end));
            }
            end += 1;
            if (end as usize).is_multiple_of(LOOK) {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
        asking.sort_unstable();
        asking.dedup_by_key(|&mut (number, _)| number);
        let mut window = Window {
            counts: Column::made(room, asking.len() * (self.max_distance as usize + 1), |_| 0)?,
            pairs: Column::new(room)?,
            max_distance: self.max_distance,
            asking,
            end,
            limit,
        };
        window.find(&self.others, near, self.most, within)?;
        let Window { pairs, asking, end, counts, .. } = window;
        drop(counts);
        let left = asking.iter().filter(|(_, text)| *text < end).count();
        debug_assert!(pairs.len() <= self.most || left == 1, "{} pairs of several", pairs.len());
        self.next = (2 * left).clamp(1, self.texts);
        self.pairs = Pairs::sealed(pairs, asking.len() as u32, room, threads, cancel)?;
        (self.asking, self.end) = (asking, end);
        Ok(())
    }
}

/// A window that is being made.
struct Window {
    max_distance: u32,
    asking: Vec<(u32, u32)>,
    end: u32,
    limit: usize,
    /// By place and distance: how many pairs there are.
    counts: Column<u32>,
    pairs: Column<Pair>,
}

impl Window {
    fn find(
        &mut self,
        others: &[(u32, u32, u64)],
        near: &Near,
        mut most: usize,
        (room, threads, cancel): (&Room, usize, &AtomicBool),
    ) -> Result<(), DedupError> {
        let own = self.asking.iter().map(|&(number, _)| near.different()[number as usize]);
        let index = index(own, self.max_distance, cancel)?;
        let ranks = self.max_distance as usize + 1;
        for some in others.chunks(asked_at_once()) {
            // Texts see earlier ones.
            if some[0].0 >= self.end {
                break;
            }
            let pair = |&(_, number, _): &(u32, u32, u64), place: usize, distance| {
                let (asking, text) = self.asking[place];
                let is_wanted = text < self.end
                    && self.counts[place * ranks + distance as usize] as usize <= self.limit
                    && near.looks_at(asking, number);
                is_wanted.then_some((place as u32, number, distance))
            };
            let found = look_up(&index, some, |other| other.2, pair, (room, threads, cancel))?;
            for pair in found.into_iter().flatten() {
                let count = &mut self.counts[pair.0 as usize * ranks + pair.2 as usize];
                if (*count as usize) <= self.limit {
                    *count += 1;
                    self.pairs.push(pair)?;
                }
            }
            if self.pairs.len() > most && !self.shorten(most / 2, room, cancel)? {
                most = usize::MAX;
            }
        }
        Ok(())
    }

    /// Leaves so many of the first texts that they have at most so many pairs, one at least; false: there is one alone.
    fn shorten(
        &mut self,
        most: usize,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<bool, DedupError> {
        let ranks = self.max_distance as usize + 1;
        let counted = self.asking.iter().zip(self.counts.chunks(ranks));
        let counted = counted.filter(|((_, text), _)| *text < self.end);
        let mut by_text: Vec<(u32, usize)> = counted
            .map(|(&(_, text), counts)| (text, counts.iter().map(|&count| count as usize).sum()))
            .collect();
        by_text.sort_unstable();
        let mut sum = 0;
        let fits = by_text.iter().take_while(|&&(_, count)| {
            sum += count;
            sum <= most
        });
        let Some(&(end, _)) = by_text.get(fits.count().max(1)) else { return Ok(false) };
        self.end = end;
        // Where they lie: a second column would be as much disk again.
        let mut left = 0;
        for place in 0..self.pairs.len() {
            let pair = self.pairs[place];
            if self.asking[pair.0 as usize].1 < end {
                self.pairs[left] = pair;
                left += 1;
            }
            if place % LOOK == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
        }
        self.pairs.truncate(left);
        Ok(true)
    }
}
