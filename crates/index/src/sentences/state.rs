//! The documents and their times, and how each change changes them.

use super::operation::Operation;
use super::{SentenceItem, SentenceMap, SentenceOptions, Shared, SharedMatches};
use crate::IndexError;
use crate::window::{Ages, Window};

/// Documents that leave under one exclusive hold of the state: about a tenth of a millisecond.
pub(super) const EXPIRED: u64 = 512;

#[derive(Debug)]
pub(super) struct State {
    pub(super) map: SentenceMap,
    pub(super) ages: Ages,
    pub(super) window: Option<Window>,
}

impl State {
    pub(super) fn new(options: &SentenceOptions) -> Result<Self, IndexError> {
        options.window.unwrap_or_default().check()?;
        let map = SentenceMap::new(options)?;
        Ok(Self { map, ages: Ages::default(), window: options.window })
    }

    /// Moves time on; what is before the answer is then too old. `None`: time does not move.
    pub(super) fn advance(&mut self, at: u64) -> Option<u64> {
        let window = self.window.filter(|_| at > self.ages.latest())?;
        self.ages.advance(at);
        Some(window.max_age.map_or(0, |age| at.saturating_sub(age)))
    }

    /// Adds a document at the latest time; where the window is full the oldest leaves first.
    pub(super) fn add(&mut self, item: &SentenceItem) -> Result<u64, IndexError> {
        self.map.make_room(1)?;
        if let Some(most) = self.window.and_then(|window| window.max_count) {
            while self.map.len() >= most && self.expire_one(u64::MAX) {}
        }
        let id = self.map.add_item(item)?;
        if self.window.is_some() {
            self.ages.push(id as u32, self.ages.latest());
        }
        Ok(id)
    }

    /// Renews the age of a live document.
    pub(super) fn touch(&mut self, id: u64) {
        self.ages.renew(id as u32, self.ages.latest());
        let Self { ages, map, .. } = self;
        ages.sweep(map.len(), |id| map.has_short(id));
    }

    /// Takes the oldest documents away whose time is before `before`, [`EXPIRED`] at most; how many they were.
    pub(super) fn expire_some(&mut self, before: u64) -> u64 {
        (0..EXPIRED).take_while(|_| self.expire_one(before)).count() as u64
    }

    /// Takes all of them away: for who has the state to himself.
    fn expire(&mut self, before: u64) {
        while self.expire_some(before) == EXPIRED {}
    }

    fn expire_one(&mut self, before: u64) -> bool {
        let map = &self.map;
        let oldest = self.ages.pop_before(before, |id| map.has_short(id));
        oldest.is_some_and(|id| self.map.delete(self.map.full(id)))
    }

    pub(super) fn delete(&mut self, id: u64) -> bool {
        let deleted = self.map.delete(id);
        if deleted && self.window.is_some() {
            let Self { ages, map, .. } = self;
            ages.sweep(map.len(), |id| map.has_short(id));
        }
        deleted
    }

    /// The best match by which an addition is judged: most shared sentences, then the lowest id, among the first
    /// sketches of each sentence.
    pub(super) fn nearest(&self, item: &SentenceItem) -> Option<Shared> {
        /// Sketches of a sentence that are looked at: more would let a crafted input make additions slow, and the
        /// oldest decide among equals anyway.
        const EXAMINED: usize = 256;
        self.map.best(item, EXAMINED)
    }

    pub(super) fn search(&self, item: &SentenceItem, limit: usize) -> SharedMatches {
        self.map.search_item(item, limit)
    }

    /// A change read from a file. False: it does not fit what is there.
    pub(super) fn replay(&mut self, change: &Operation) -> Result<bool, IndexError> {
        Ok(match change {
            Operation::Advance(at) => {
                let before = self.advance(*at);
                before.inspect(|&before| self.expire(before)).is_some()
            }
            Operation::Add(item) => {
                self.add(item)?;
                true
            }
            Operation::Touch(id) => {
                let fits = self.window.is_some() && self.map.has(*id);
                if fits {
                    self.touch(*id);
                }
                fits
            }
            Operation::Delete(id) => self.delete(*id),
            Operation::Overlook(item, shared) => {
                self.map.overlook(item, Shared { id: 0, shared: *shared })
            }
            Operation::Expire(before) => {
                self.expire(*before);
                self.window.is_some()
            }
        })
    }
}
