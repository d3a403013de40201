//! Fingerprint -> id, at about seven bytes each, growing a page at a time.
//!
//! Extendible hashing: the top bits of a hash pick a page, a page is a small open-addressing table of 32-bit ids with a
//! tag byte each. A page that overflows grows by half, and from `PAGE` ids on splits in two, so the slowest insertion
//! touches one page and never the whole map. Keys are not stored: an id's fingerprint is in the records, and a tag
//! lets only one comparison in 250 go there in vain.

/// Most ids in a page: splitting one costs some 50 µs at worst, and a page directory of 50 million ids stays at 100 KB.
const PAGE: usize = 2048;
/// Directory bits, at most; hashes are seeded, so that nobody can aim for one page.
const DEPTH: u32 = 24;
const EMPTY: u8 = 0;
const REMOVED: u8 = 1;

#[derive(Debug, Default)]
struct Page {
    /// How many top hash bits the members share.
    depth: u32,
    live: usize,
    removed: usize,
    tags: Box<[u8]>,
    ids: Box<[u32]>,
}

#[derive(Debug)]
pub(super) struct Pages {
    depth: u32,
    directory: Vec<u32>,
    all: Vec<Page>,
    bytes: usize,
}

fn tag(hash: u64) -> u8 {
    ((hash >> 32) as u8).max(REMOVED + 1)
}

fn home(hash: u64, capacity: usize) -> usize {
    // Range reduction by multiplication: capacities need not be powers of two.
    (((hash & 0xffff_ffff) * capacity as u64) >> 32) as usize
}

impl Page {
    /// A page with room for `expected` ids at two thirds load.
    fn sized(depth: u32, expected: usize) -> Self {
        let capacity = (expected + expected / 2).max(8);
        Self {
            depth,
            live: 0,
            removed: 0,
            tags: vec![EMPTY; capacity].into(),
            ids: vec![0; capacity].into(),
        }
    }

    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let (wanted, capacity) = (tag(hash), self.tags.len());
        if capacity == 0 {
            return None;
        }
        let mut at = home(hash, capacity);
        // An empty slot always remains: pages grow at four fifths.
        loop {
            let tag = self.tags[at];
            if tag == wanted && is_it(self.ids[at]) {
                return Some(at);
            }
            if tag == EMPTY {
                return None;
            }
            at += 1;
            if at == capacity {
                at = 0;
            }
        }
    }

    fn place(&mut self, hash: u64, id: u32) {
        let capacity = self.tags.len();
        let mut at = home(hash, capacity);
        while self.tags[at] > REMOVED {
            at += 1;
            if at == capacity {
                at = 0;
            }
        }
        self.removed -= usize::from(self.tags[at] == REMOVED);
        self.tags[at] = tag(hash);
        self.ids[at] = id;
        self.live += 1;
    }

    fn is_full(&self) -> bool {
        (self.live + self.removed + 1) * 5 > self.tags.len() * 4
    }

    fn members(&self) -> impl Iterator<Item = u32> {
        self.tags.iter().zip(&self.ids).filter(|(tag, _)| **tag > REMOVED).map(|(_, id)| *id)
    }

    fn bytes(&self) -> usize {
        self.tags.len() * 5 + size_of::<Self>()
    }
}

impl Pages {
    pub(super) fn new() -> Self {
        Self { depth: 0, directory: vec![0], all: vec![Page::default()], bytes: 0 }
    }

    fn page(&self, hash: u64) -> usize {
        // Two shifts: a depth of 0 would shift by 64.
        self.directory[(hash >> 1 >> (63 - self.depth)) as usize] as usize
    }

    /// The id with this hash that `is_it` accepts.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let page = &self.all[self.page(hash)];
        page.find(hash, is_it).map(|at| page.ids[at])
    }

    /// Adds an id that is not in the map. `hash_of` gives the hash of any id of the map.
    pub(super) fn insert(&mut self, hash: u64, id: u32, hash_of: impl Fn(u32) -> u64) {
        while self.all[self.page(hash)].is_full() {
            self.grow(self.page(hash), &hash_of);
        }
        let page = self.page(hash);
        self.all[page].place(hash, id);
    }

    /// Puts `new` where `old` is.
    pub(super) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        let page = self.page(hash);
        if let Some(at) = self.all[page].find(hash, |id| id == old) {
            self.all[page].ids[at] = new;
        }
    }

    /// Removes an id.
    pub(super) fn remove(&mut self, hash: u64, id: u32) {
        let number = self.page(hash);
        let page = &mut self.all[number];
        if let Some(at) = page.find(hash, |other| other == id) {
            page.tags[at] = REMOVED;
            page.removed += 1;
            page.live -= 1;
        }
    }

    fn grow(&mut self, number: usize, hash_of: &impl Fn(u32) -> u64) {
        let old = std::mem::take(&mut self.all[number]);
        self.bytes -= old.bytes().min(self.bytes);
        if old.live < PAGE || old.depth == DEPTH {
            let mut page = Page::sized(old.depth, old.live + old.live / 8 + 4);
            old.members().for_each(|id| page.place(hash_of(id), id));
            self.bytes += page.bytes();
            self.all[number] = page;
            return;
        }
        if old.depth == self.depth {
            self.directory = self.directory.iter().flat_map(|&page| [page, page]).collect();
            self.depth += 1;
        }
        let depth = old.depth + 1;
        let mut low = Page::sized(depth, old.live / 2 + old.live / 8);
        let mut high = Page::sized(depth, old.live / 2 + old.live / 8);
        for id in old.members() {
            let hash = hash_of(id);
            let half = if hash >> (64 - depth) & 1 == 0 { &mut low } else { &mut high };
            if half.is_full() {
                // An uneven split: rare, and settled by growing this half once.
                let mut larger = Page::sized(depth, old.live);
                half.members().for_each(|id| larger.place(hash_of(id), id));
                *half = larger;
            }
            half.place(hash, id);
        }
        self.bytes += low.bytes() + high.bytes();
        self.all[number] = low;
        let new = self.all.len() as u32;
        self.all.push(high);
        let span = 1usize << (self.depth - depth);
        let first = self.directory.iter().position(|&page| page as usize == number).unwrap_or(0);
        self.directory[first + span..first + 2 * span].fill(new);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.directory.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn hash(id: u32) -> u64 {
        u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d)
            ^ u64::from(id).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn pages_agree_with_a_map_through_growth_and_removal() {
        let mut pages = Pages::new();
        let mut model = BTreeMap::new();
        for id in 0..100_000u32 {
            pages.insert(hash(id), id, hash);
            model.insert(id, id);
            if id % 3 == 0 {
                let gone = id / 2;
                if model.remove(&gone).is_some() {
                    pages.remove(hash(gone), gone);
                }
            }
        }
        for id in 0..110_000u32 {
            let found = pages.find(hash(id), |other| other == id);
            assert_eq!(found, model.get(&id).copied(), "id {id}");
        }
        let per_id = pages.bytes() as f64 / model.len() as f64;
        assert!(per_id < 16.0, "{per_id} bytes per id");
    }

    #[test]
    fn replaced_ids_are_found_in_their_place() {
        let mut pages = Pages::new();
        pages.insert(7, 1, hash);
        pages.replace(7, 1, 2);
        assert_eq!(pages.find(7, |_| true), Some(2));
    }
}
