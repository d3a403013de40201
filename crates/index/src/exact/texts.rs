//! Who holds which text.

use crate::IndexError;
use crate::ids::holders::{HolderMap, Holders};
use crate::ids::lines::Lines;
use crate::ids::records::Pairs;
use crate::ids::{Ids, mix, seed};

/// Documents by the hashes of their texts. Copies of one text cost 20 to 24 bytes each: the record and a place in a list.
#[derive(Debug)]
pub struct Equal {
    seed: u64,
    ids: Pairs,
    /// Hash of a text -> the first of those who hold it.
    lines: Lines,
    /// The texts that several hold.
    shared: HolderMap<u128>,
}

/// What a document holds that is alive; `None`: it is empty.
pub(super) fn held(ids: &Pairs, short: u32) -> Option<u128> {
    (!ids.is_other(short)).then(|| ids.pair(short))
}

/// The text is a hash already; the seed keeps crafted ones from one line.
fn hash(text: u128, seed: u64) -> u64 {
    mix(text as u64 ^ (text >> 64) as u64, seed)
}

impl Equal {
    /// No documents, the next id being `first`, which begins a chunk of records.
    pub(super) fn starting_at(first: u64) -> Result<Self, IndexError> {
        let (lines, shared) = (Lines::new(), HolderMap::default());
        Ok(Self { seed: seed(), ids: Pairs::starting_at(first)?, lines, shared })
    }

    pub(super) fn ids(&self) -> &Pairs {
        &self.ids
    }

    fn hash(&self, text: u128) -> u64 {
        hash(text, self.seed)
    }

    pub(super) fn prefetch(&self, text: u128) {
        self.lines.prefetch(self.hash(text));
    }

    /// The first of those who hold a text.
    pub(super) fn first(&self, text: u128) -> Option<u32> {
        self.lines.find(self.hash(text), |id| self.ids.pair(id) == text)
    }

    /// Calls `on_id` with the live ids of a text, ascending, at most `limit`; true if there are more.
    pub(super) fn holders(&self, text: u128, limit: usize, mut on_id: impl FnMut(u64)) -> bool {
        let list = self.shared.get(&text);
        let one = list.is_none().then(|| self.first(text)).flatten();
        let many = list.into_iter().flat_map(Holders::iter);
        let mut alive = one.into_iter().chain(many).filter(|&id| self.ids.is_alive(id));
        alive.by_ref().take(limit).for_each(|id| on_id(self.ids.id(id)));
        alive.next().is_some()
    }

    /// A new document; without a text it is empty.
    pub(super) fn push(&mut self, text: Option<u128>) -> u64 {
        let Some(text) = text else {
            let short = self.ids.push_pair(0, true);
            return self.ids.id(short);
        };
        let first = self.first(text);
        let short = self.ids.push_pair(text, false);
        if let Some(first) = first {
            self.shared.push_after(text, first, short);
        } else {
            let (seed, ids) = (self.seed, &self.ids);
            let hash_of = |id| hash(ids.pair(id), seed);
            self.lines.insert(hash_of(short), short, hash_of, |id| ids.prefetch_value(id));
        }
        self.ids.id(short)
    }

    /// What a document holds; `None`: it is empty. It must be alive.
    pub(super) fn text(&self, short: u32) -> Option<u128> {
        held(&self.ids, short)
    }

    /// An id that has left already.
    pub(super) fn push_gone(&mut self) {
        let short = self.ids.push_pair(0, true);
        self.ids.kill(short);
        self.ids.release(short);
    }

    /// Takes a live document away. Amortised O(1).
    pub(super) fn delete(&mut self, short: u32) {
        let text = self.text(short);
        self.ids.kill(short);
        let Some(text) = text else { return self.ids.release(short) };
        let (hash, ids) = (self.hash(text), &self.ids);
        let mut dropped = Vec::new();
        let left = self.shared.lost_one(&text, |id| ids.is_alive(id), |id| dropped.push(id));
        match left {
            None => {
                self.lines.remove(hash, short);
                dropped.push(short);
            }
            Some(left) => {
                if left.first != left.before {
                    self.lines.replace(hash, left.before, left.first);
                }
                if left.alone {
                    self.shared.remove(&text);
                }
                if left.live == 0 {
                    self.lines.remove(hash, left.first);
                    dropped.push(left.first);
                }
            }
        }
        for short in dropped {
            self.ids.release(short);
        }
    }

    /// Gives some of the memory back that nobody needs; false: all of it.
    pub(super) fn compact(&mut self, few: usize) -> bool {
        let (seed, ids) = (self.seed, &self.ids);
        let is_more = self.lines.compact(few, |id| hash(ids.pair(id), seed));
        if !is_more {
            self.shared.shrink();
        }
        is_more
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.ids.bytes() + self.lines.bytes() + self.shared.bytes()
    }
}
