//! Who holds what: fingerprint -> ids, text -> ids, id -> what was added.
//!
//! A fingerprint is *known* from the moment it enters the tables until it is purged from them. It is *dead* while
//! known without a live id: deleting leaves it in the tables (removing it there would be O(n)), searches drop it
//! because it has no holder, adding it again revives it without touching the tables, and a rewrite of the tables
//! purges it. So no fingerprint is ever in the tables twice.
//!
//! Of an index that was opened from a mapped file the file itself says who holds a fingerprint, until that changes: see
//! [`base`](super::base). A fingerprint that has moved from there is in the maps here, and only there.

use ahash::AHashSet;

use super::Item;
use super::base::Numbers;
use crate::IndexError;
use crate::ids::holders::{HolderMap, Holders};
use crate::ids::lines::Lines;
use crate::ids::{Ids, mix, seed};
use crate::memory::Sparse;

#[derive(Debug)]
pub(crate) struct Documents {
    seed: u64,
    records: Numbers,
    lines: Lines,
    /// Fingerprints with more than one id.
    shared: HolderMap<u64>,
    /// Dead fingerprints of saved tables that no id has ever held here.
    strays: AHashSet<u64>,
    texts: HolderMap<u128>,
    text_of: Sparse<u128>,
    /// Known fingerprints, and those that died at some time since the last purge.
    known: usize,
    dead: usize,
    died: Vec<u64>,
}

/// Fewer dead fingerprints are not worth a purge.
const LEAST_DEAD: usize = 4096;

impl Documents {
    pub(crate) fn new() -> Self {
        Self {
            seed: seed(),
            records: Numbers::default(),
            lines: Lines::new(),
            shared: HolderMap::default(),
            strays: AHashSet::new(),
            texts: HolderMap::default(),
            text_of: Sparse::default(),
            known: 0,
            dead: 0,
            died: Vec::new(),
        }
    }

    /// No ids yet, the next one being `first`.
    pub(crate) fn starting_at(first: u64) -> Result<Self, IndexError> {
        Ok(Self::of(Numbers::starting_at(first)?))
    }

    /// Those of a saved index, of which some ids and who holds their fingerprints are known already.
    pub(crate) fn of(records: Numbers) -> Self {
        Self { records, ..Self::new() }
    }

    /// Numbers an item of a saved index; None: its id is gone. True: its fingerprint is the first of its kind here.
    pub(crate) fn restore(&mut self, item: Option<Item>) -> bool {
        if let Some(item) = item {
            return self.add(item).1;
        }
        let id = self.records.push(0, true);
        self.records.kill(id);
        self.records.release(id);
        false
    }

    /// Makes room for so many fingerprints of a saved index.
    pub(crate) fn expect(&mut self, fingerprints: usize) {
        while self.reserve(fingerprints, usize::MAX) {}
    }

    /// Numbers a fingerprint of a saved index that no earlier id holds.
    pub(crate) fn restore_alone(&mut self, value: u64) {
        self.enter(value);
    }

    /// An id of the mapped file has a text.
    pub(crate) fn restore_text(&mut self, id: u64, text: u128) {
        self.text_of.insert(id as u32, text);
        self.texts.push(text, id as u32);
    }

    /// An id of the mapped file holds a fingerprint that the tables of the file do not have, to be told in order. Its
    /// fingerprint, if it is the first of its kind.
    pub(crate) fn restore_late(&mut self, id: u64) -> Option<u64> {
        let value = self.records.value(id as u32);
        if let Some(first) = self.found(value) {
            self.shared.push_after(value, first, id as u32);
            return None;
        }
        self.line_up(value, id as u32);
        Some(value)
    }

    /// The tables are those of a file. `strays` are in them and nobody holds them; beside them `more` fingerprints are known.
    pub(crate) fn settle(&mut self, sealed: usize, more: usize, strays: Vec<u64>) {
        (self.known, self.dead) = (sealed + more, strays.len());
        self.strays.extend(&strays);
        self.died = strays;
    }

    fn found(&self, value: u64) -> Option<u32> {
        self.lines.find(mix(value, self.seed), |id| self.records.value(id) == value)
    }

    fn known_as(&self, value: u64) -> Option<u32> {
        self.found(value).or_else(|| self.records.find_mapped(value))
    }

    /// Takes a fingerprint over from the mapped file, before who holds it changes; the first id that holds it.
    fn take_over(&mut self, value: u64) -> Option<u32> {
        let first = self.records.find_mapped(value)?;
        let further: Vec<u32> = self.records.mapped_holders(value).skip(1).collect();
        self.records.moved(value);
        self.line_up(value, first);
        for id in further {
            self.shared.push_after(value, first, id);
        }
        Some(first)
    }

    /// Whether a fingerprint is in the tables, or on its way there.
    pub(crate) fn is_known(&self, value: u64) -> bool {
        self.known_as(value).is_some() || self.strays.contains(&value)
    }

    /// Asks for what [`Documents::first`] and [`Documents::add`] read.
    #[inline]
    pub(crate) fn prefetch(&self, value: u64) {
        self.lines.prefetch(mix(value, self.seed));
        self.records.ask(value);
    }

    /// Reads what `prefetch` has asked for, and asks for what comes next.
    #[inline]
    pub(crate) fn prefetch_records(&self, value: u64) {
        let hash = mix(value, self.seed);
        self.lines.tagged(hash, |id| self.records.prefetch(id));
    }

    /// The lowest live id that holds this fingerprint.
    pub(crate) fn first(&self, value: u64) -> Option<u64> {
        let id = self.known_as(value)?;
        self.records.is_alive(id).then(|| self.records.id(id))
    }

    /// Calls `on_id` with the live ids that hold this fingerprint, ascending, at most `limit`; true if there are more.
    pub(crate) fn holders(&self, value: u64, limit: usize, on_id: impl FnMut(u64)) -> bool {
        match self.shared.get(&value) {
            Some(holders) => self.list(holders.iter(), limit, on_id),
            None => match self.found(value) {
                Some(id) => self.list(std::iter::once(id), limit, on_id),
                None => self.list(self.records.mapped_holders(value), limit, on_id),
            },
        }
    }

    /// The same for a text.
    pub(crate) fn text_holders(&self, text: u128, limit: usize, on_id: impl FnMut(u64)) -> bool {
        self.texts.get(&text).is_some_and(|holders| self.list(holders.iter(), limit, on_id))
    }

    fn list(
        &self,
        holders: impl Iterator<Item = u32>,
        limit: usize,
        mut on_id: impl FnMut(u64),
    ) -> bool {
        let mut alive = holders.filter(|&id| self.records.is_alive(id));
        alive.by_ref().take(limit).for_each(|id| on_id(self.records.id(id)));
        alive.next().is_some()
    }

    /// The lowest live id that holds this text.
    pub(crate) fn first_text(&self, text: u128) -> Option<u64> {
        self.texts.get(&text).map(|holders| self.records.id(holders.first()))
    }

    /// Calls `on_holders` for every fingerprint (None: text) with more than one live id.
    pub(crate) fn shared(&self, mut on_holders: impl FnMut(Option<u64>, Vec<u64>)) {
        let ids = |holders: &Holders| {
            let mut ids = Vec::with_capacity(holders.live());
            self.list(holders.iter(), usize::MAX, |id| ids.push(id));
            ids
        };
        self.shared.iter().for_each(|(&value, holders)| on_holders(Some(value), ids(holders)));
        self.records.shared(|holders| {
            let value = self.records.value(holders[0]);
            on_holders(Some(value), holders.iter().map(|&id| self.records.id(id)).collect());
        });
        let texts = self.texts.iter().filter(|(_, holders)| holders.live() > 1);
        texts.for_each(|(_, holders)| on_holders(None, ids(holders)));
    }

    /// Numbers an item (a fingerprint already spread). True: its fingerprint is new to the tables and must enter them.
    pub(crate) fn add(&mut self, item: Item) -> (u64, bool) {
        let (id, fresh) = match item {
            Item::Fingerprint(value) => self.add_fingerprint(value),
            Item::Exact(text) => {
                let id = self.records.push(0, true);
                self.text_of.insert(id, text);
                self.texts.push(text, id);
                (id, false)
            }
            Item::Empty => (self.records.push(0, true), false),
        };
        (self.records.id(id), fresh)
    }

    fn add_fingerprint(&mut self, value: u64) -> (u32, bool) {
        let Some(old) = self.found(value).or_else(|| self.take_over(value)) else {
            let id = self.enter(value);
            let strayed = self.strays.remove(&value);
            if strayed {
                self.known -= 1;
                self.dead -= 1;
            }
            return (id, !strayed);
        };
        let id = self.records.push(value, false);
        if self.records.is_alive(old) {
            self.shared.push_after(value, old, id);
        } else {
            self.lines.replace(mix(value, self.seed), old, id);
            self.records.release(old);
            self.dead -= 1;
        }
        (id, false)
    }

    /// Does a bit of the work of making room for so many more fingerprints; false if there is room.
    pub(crate) fn reserve(&mut self, more: usize, bit: usize) -> bool {
        let (seed, records) = (self.seed, &self.records);
        self.lines.reserve(more, bit, |id| mix(records.value(id), seed))
    }

    /// [`Documents::add`] of a fingerprint that is not known, not even as dead.
    pub(crate) fn add_unknown(&mut self, value: u64) -> u64 {
        let id = self.enter(value);
        self.records.id(id)
    }

    fn enter(&mut self, value: u64) -> u32 {
        let id = self.records.push(value, false);
        self.line_up(value, id);
        self.known += 1;
        id
    }

    fn line_up(&mut self, value: u64, id: u32) {
        let (seed, records) = (self.seed, &self.records);
        let hash_of = |id| mix(records.value(id), seed);
        self.lines.insert(mix(value, seed), id, hash_of, |id| records.prefetch_value(id));
    }

    /// Ids, fingerprints and texts as they are now. O(chunks): they are shared until they change.
    pub(crate) fn copied(&self) -> (Numbers, Sparse<u128>) {
        (self.records.copied(), self.text_of.clone())
    }

    /// The ids themselves.
    pub(crate) fn ids(&self) -> &Numbers {
        &self.records
    }

    /// What a live id holds.
    pub(crate) fn item(&self, id: u64) -> Option<Item> {
        let id = self.records.short(id).filter(|&id| self.records.is_alive(id))?;
        if !self.records.is_other(id) {
            return Some(Item::Fingerprint(self.records.value(id)));
        }
        Some(self.text_of.get(id).map_or(Item::Empty, |&text| Item::Exact(text)))
    }

    /// Takes an id away; false if it was not alive. Amortised O(1).
    pub(crate) fn delete(&mut self, id: u64) -> bool {
        let Some(id) = self.records.short(id).filter(|&id| self.records.is_alive(id)) else {
            return false;
        };
        if !self.records.is_other(id) {
            let value = self.records.value(id);
            // What the file says holds for its ids as they were.
            if self.records.is_mapped(id) {
                self.take_over(value);
            }
            self.records.kill(id);
            self.delete_fingerprint(value);
            return true;
        }
        self.records.kill(id);
        if let Some(text) = self.text_of.remove(id) {
            self.delete_text(text);
        } else {
            self.records.release(id);
        }
        true
    }

    fn delete_fingerprint(&mut self, value: u64) {
        let mut dropped = Vec::new();
        let is_alive = |id| self.records.is_alive(id);
        let Some(left) = self.shared.lost_one(&value, is_alive, |id| dropped.push(id)) else {
            self.bury(value);
            return;
        };
        if left.first != left.before {
            self.lines.replace(mix(value, self.seed), left.before, left.first);
        }
        for id in dropped {
            self.records.release(id);
        }
        if left.alone {
            self.shared.remove(&value);
        }
        if left.live == 0 {
            self.bury(value);
        }
    }

    fn bury(&mut self, value: u64) {
        self.dead += 1;
        self.died.push(value);
    }

    fn delete_text(&mut self, text: u128) {
        let mut dropped = Vec::new();
        let is_alive = |id| self.records.is_alive(id);
        let left = self.texts.lost_one(&text, is_alive, |id| dropped.push(id));
        if let Some(left) = left.filter(|left| left.live == 0) {
            dropped.push(left.first);
            self.texts.remove(&text);
        }
        for id in dropped {
            self.records.release(id);
        }
    }

    /// The fingerprints that died since this was asked last, some revived or there twice. Those that stay in the tables
    /// are given back by [`Documents::remember_dead`].
    pub(crate) fn take_died(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.died)
    }

    /// Of these fingerprints, those that are still dead are to be purged some other time.
    pub(crate) fn remember_dead(&mut self, died: &[u64]) {
        for &value in died {
            let dead = self.found(value).is_some_and(|id| !self.records.is_alive(id));
            if dead || self.strays.contains(&value) {
                self.died.push(value);
            }
        }
    }

    /// A fingerprint has left the tables. False if it has been revived meanwhile: then it must enter them again.
    pub(crate) fn forget(&mut self, value: u64) -> bool {
        let Some(id) = self.known_as(value) else {
            if self.strays.remove(&value) {
                self.known -= 1;
                self.dead -= 1;
            }
            return true;
        };
        if self.records.is_alive(id) {
            return false;
        }
        self.lines.remove(mix(value, self.seed), id);
        self.records.release(id);
        self.known -= 1;
        self.dead -= 1;
        true
    }

    /// Gives some of the memory back that nobody needs; false: all of it.
    pub(crate) fn compact(&mut self, few: usize) -> bool {
        let (seed, records) = (self.seed, &self.records);
        let is_more = self.lines.compact(few, |id| mix(records.value(id), seed));
        if !is_more {
            self.shared.shrink();
            self.texts.shrink();
            self.text_of.shrink();
        }
        is_more
    }

    /// Entries in the list of the dead, those revived since included.
    pub(crate) fn died(&self) -> usize {
        self.died.len()
    }

    /// Whether most of what the tables hold is dead.
    pub(crate) fn is_mostly_dead(&self) -> bool {
        self.dead > 4 * LEAST_DEAD.max(self.known - self.dead)
    }

    /// Whether the dead are so many that purging them is worth rewriting all tables: a fifth of what is known, so
    /// that a deletion costs the rewriting of five fingerprints.
    pub(crate) fn should_purge(&self) -> bool {
        self.died.len() > LEAST_DEAD.max(self.known / 5)
    }

    /// Fingerprints in the tables, and how many of them have no live id.
    pub(crate) fn known(&self) -> (usize, usize) {
        (self.known, self.dead)
    }

    /// Bytes held, texts included. O(1): it is asked for while documents are added.
    pub(crate) fn bytes(&self) -> usize {
        self.shared.bytes() + self.texts.bytes() + self.bytes_beside()
    }

    fn bytes_beside(&self) -> usize {
        self.records.bytes()
            + self.lines.bytes()
            + self.text_of.bytes()
            + self.died.capacity() * 8
            + self.strays.capacity() * (size_of::<u64>() + 1)
    }

    /// As if so many more chunks of ids had been used and released.
    #[cfg(test)]
    pub(crate) fn skip(&mut self, chunks: usize) {
        self.records.skip(chunks);
    }

    /// [`Documents::bytes`] as a walk over all holders finds them.
    #[cfg(test)]
    pub(crate) fn walked_bytes(&self) -> usize {
        self.shared.walked_bytes() + self.texts.walked_bytes() + self.bytes_beside()
    }
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
