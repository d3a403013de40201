//! Fingerprint -> id, one cache miss away, at about eight bytes each, growing a line at a time.
//!
//! Linear hashing over cache lines. A line has twelve slots, an id and a tag byte each, and a link to an overflow line,
//! which few have at this load. An id enters the line that its hash names; what was there moves on when the line is
//! full, so that an addition touches one line and not a chain. Whenever the load passes its limit the next line in turn
//! is split in two by one more bit of the hash; so the slowest insertion moves some twelve ids and the map is never
//! rebuilt. Keys are not stored: an id's fingerprint is in the records, and a tag lets one comparison in 255 go there in
//! vain.

use crate::memory::{Blocks, Words, halves, halves_mut, prefetch};

/// Words and slots of a line of 64 bytes: twelve ids, twelve tags, one link.
const WORDS: usize = 8;
const SLOTS: usize = 12;
const TAGS: usize = 12;
const LINK: usize = 15;

/// Lines of the first part; each further part doubles the whole, so that a level of linear hashing is a part.
const FIRST: usize = 4;

/// Share of the slots used before a line is split. Lines not yet split at a level are twice as full as the others, so
/// some overflow at any load; at 0.95 a fifth do, and an id costs 7.5 to 8 bytes (64 / (12 * load), and the overflow of
/// a Poisson distribution). At 0.72 it would cost 8.1 to 8.8.
const LOAD: (usize, usize) = (95, 100);

/// Insertions before a split at which the records of its ids are asked for: some microseconds, in which they come.
const AHEAD: usize = 4;

/// Overflow lines that are allocated at a time: 16 KB at first, huge pages later.
const SPARE: usize = 256;
const PAGE: usize = (2 << 20) / (WORDS * 8);

/// Where a line is: in the table, or among the overflow lines.
#[derive(Clone, Copy)]
enum Place {
    Home(usize),
    Overflow(usize),
}

#[derive(Debug)]
pub(crate) struct Lines {
    parts: Vec<Words>,
    overflow: Blocks<WORDS, SPARE, PAGE>,
    /// Lines in use, and the most that were since the last part was made.
    used: usize,
    touched: usize,
    /// Ids in the map.
    count: usize,
    /// Room for the ids of the line being split.
    moving: Vec<u32>,
}

fn tag(hash: u64) -> u8 {
    ((hash >> 56) as u8).max(1)
}

/// Part and offset of a line.
fn part_of(line: usize) -> (usize, usize) {
    match (line / FIRST).checked_ilog2() {
        None => (0, line),
        Some(log) => (log as usize + 1, line - (FIRST << log)),
    }
}

fn tag_at(line: &[u64], slot: usize) -> u8 {
    (halves(line)[TAGS + slot / 4] >> (slot % 4 * 8)) as u8
}

fn set(line: &mut [u64], slot: usize, id: u32, tag: u8) {
    let line = halves_mut(line);
    line[slot] = id;
    let shift = slot % 4 * 8;
    let tags = &mut line[TAGS + slot / 4];
    *tags = *tags & !(0xff << shift) | u32::from(tag) << shift;
}

/// Slots of a line with this tag, four compared at a time; 0 is that of free ones.
#[inline]
fn tagged(line: &[u64], tag: u8) -> impl Iterator<Item = usize> {
    const LOW: u32 = 0x7f7f_7f7f;
    let tags: [u32; SLOTS / 4] = std::array::from_fn(|part| halves(line)[TAGS + part]);
    tags.into_iter().enumerate().flat_map(move |(part, tags)| {
        let differ = tags ^ u32::from_ne_bytes([tag; 4]);
        // The high bit of each byte that is zero, exactly.
        let mut equal = !(((differ & LOW) + LOW) | differ | LOW);
        std::iter::from_fn(move || {
            let slot = (equal != 0).then(|| part * 4 + equal.trailing_zeros() as usize / 8);
            equal &= equal.wrapping_sub(1);
            slot
        })
    })
}

/// The ids of a line.
fn members(line: &[u64]) -> impl Iterator<Item = u32> {
    (0..SLOTS).filter(|&slot| tag_at(line, slot) != 0).map(|slot| halves(line)[slot])
}

fn free_slot(line: &[u64]) -> Option<usize> {
    tagged(line, 0).next()
}

impl Lines {
    pub(crate) fn new() -> Self {
        let parts = vec![Words::zeroed(FIRST * WORDS)];
        Self {
            parts,
            overflow: Blocks::default(),
            used: FIRST,
            touched: FIRST,
            count: 0,
            moving: Vec::new(),
        }
    }

    /// The line of a hash: its low bits, one bit more for lines that were split already at this level.
    fn home(&self, hash: u64) -> usize {
        let level = self.used.ilog2();
        let line = hash as usize & ((2 << level) - 1);
        if line < self.used { line } else { hash as usize & ((1 << level) - 1) }
    }

    fn line(&self, place: Place) -> &[u64] {
        match place {
            Place::Home(line) => {
                let (part, at) = part_of(line);
                &self.parts[part][at * WORDS..(at + 1) * WORDS]
            }
            Place::Overflow(line) => self.overflow.block(line),
        }
    }

    fn line_mut(&mut self, place: Place) -> &mut [u64] {
        match place {
            Place::Home(line) => {
                let (part, at) = part_of(line);
                &mut self.parts[part][at * WORDS..(at + 1) * WORDS]
            }
            Place::Overflow(line) => self.overflow.block_mut(line),
        }
    }

    fn next(&self, place: Place) -> Option<Place> {
        let link = halves(self.line(place))[LINK];
        (link > 0).then(|| Place::Overflow(link as usize - 1))
    }

    fn locate(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<(Place, usize, u32)> {
        let wanted = tag(hash);
        let mut place = Place::Home(self.home(hash));
        loop {
            let line = self.line(place);
            for slot in tagged(line, wanted) {
                let id = halves(line)[slot];
                if is_it(id) {
                    return Some((place, slot, id));
                }
            }
            place = self.next(place)?;
        }
    }

    /// Asks for the line of a hash.
    pub(crate) fn prefetch(&self, hash: u64) {
        let (part, at) = part_of(self.home(hash));
        prefetch(&self.parts[part], at * WORDS);
    }

    /// Calls `on_id` for the ids of the hash's line with its tag, and asks for the line that it links.
    #[inline]
    pub(crate) fn tagged(&self, hash: u64, on_id: impl Fn(u32)) {
        let home = Place::Home(self.home(hash));
        let line = self.line(home);
        tagged(line, tag(hash)).for_each(|slot| on_id(halves(line)[slot]));
        if let Some(next) = self.next(home) {
            prefetch(self.line(next), 0);
        }
    }

    /// The id with this hash that `is_it` accepts.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.locate(hash, is_it).map(|(_, _, id)| id)
    }

    /// Puts `new` where `old` is.
    pub(crate) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        if let Some((place, slot, _)) = self.locate(hash, |id| id == old) {
            set(self.line_mut(place), slot, new, tag(hash));
        }
    }

    /// Removes an id.
    pub(crate) fn remove(&mut self, hash: u64, id: u32) {
        if let Some((place, slot, _)) = self.locate(hash, |other| other == id) {
            set(self.line_mut(place), slot, 0, 0);
            self.count -= 1;
        }
    }

    /// Splits a few lines unless so many more ids fit without; whether it did. An empty line costs little to split.
    pub(crate) fn reserve(
        &mut self,
        more: usize,
        few: usize,
        hash_of: impl Fn(u32) -> u64,
    ) -> bool {
        for _ in 0..few {
            if self.used * SLOTS * LOAD.0 / LOAD.1 >= self.count + more {
                return false;
            }
            self.split(&hash_of);
        }
        true
    }

    /// Adds an id that is not in the map. `hash_of` gives the hash of any id of the map; `touch` asks for what it reads.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        id: u32,
        hash_of: impl Fn(u32) -> u64,
        touch: impl Fn(u32),
    ) {
        self.place(self.home(hash), hash, id);
        self.count += 1;
        match (self.used * SLOTS * LOAD.0 / LOAD.1).checked_sub(self.count) {
            None => {
                self.split(hash_of);
                prefetch(self.line(Place::Home(self.next_split())), 0);
            }
            Some(AHEAD) => {
                let line = self.line(Place::Home(self.next_split()));
                members(line).for_each(touch);
                let (part, at) = part_of(self.used);
                if let Some(part) = self.parts.get(part) {
                    prefetch(part, at * WORDS);
                }
            }
            Some(_) => {}
        }
    }

    /// Enters an id in the line that a hash names, never further: a full line makes room there first.
    fn place(&mut self, home: usize, hash: u64, id: u32) {
        let home = Place::Home(home);
        let mut free = free_slot(self.line(home));
        if free.is_none() {
            self.make_room(home);
            free = free_slot(self.line(home));
        }
        if let Some(slot) = free {
            set(self.line_mut(home), slot, id, tag(hash));
        }
    }

    /// Moves what a full line holds to where its overflow lines have room, or if they have none as a whole to a new
    /// one: so a chain is walked once for many additions.
    fn make_room(&mut self, home: Place) {
        let mut moved = 0;
        let mut next = self.next(home);
        while let Some(place) = next {
            while moved < SLOTS
                && let Some(slot) = free_slot(self.line(place))
            {
                let line = self.line(home);
                let (id, tag) = (halves(line)[moved], tag_at(line, moved));
                set(self.line_mut(place), slot, id, tag);
                set(self.line_mut(home), moved, 0, 0);
                moved += 1;
            }
            next = self.next(place);
        }
        if moved > 0 {
            return;
        }
        let new = self.overflow.take();
        let line: [u64; WORDS] = std::array::from_fn(|word| self.line(home)[word]);
        self.overflow.block_mut(new).copy_from_slice(&line);
        let line = self.line_mut(home);
        line.fill(0);
        halves_mut(line)[LINK] = new as u32 + 1;
    }

    /// The line whose turn it is to be split.
    fn next_split(&self) -> usize {
        self.used - (1 << self.used.ilog2())
    }

    /// Splits the next line in turn.
    fn split(&mut self, hash_of: impl Fn(u32) -> u64) {
        let old = Place::Home(self.next_split());
        let (part, _) = part_of(self.used);
        if part == self.parts.len() {
            self.parts.push(Words::zeroed((FIRST << (part - 1)) * WORDS));
        }
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        self.empty(old, &mut moving);
        self.used += 1;
        self.touched = self.touched.max(self.used);
        for &id in &moving {
            let hash = hash_of(id);
            self.place(self.home(hash), hash, id);
        }
        self.moving = moving;
    }

    /// Undoes a few splits unless the ids need so many lines; whether it did.
    pub(crate) fn compact(&mut self, few: usize, hash_of: impl Fn(u32) -> u64) -> bool {
        for _ in 0..few {
            if self.used == FIRST || (self.used - 1) * SLOTS * LOAD.0 / LOAD.1 < self.count {
                return false;
            }
            self.join(&hash_of);
        }
        true
    }

    /// Takes the last line back into the one that it was split from.
    fn join(&mut self, hash_of: impl Fn(u32) -> u64) {
        let last = Place::Home(self.used - 1);
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        self.empty(last, &mut moving);
        self.used -= 1;
        // With it the overflow lines go that ids have left half empty.
        self.empty(Place::Home(self.next_split()), &mut moving);
        let (part, at) = part_of(self.used);
        if at == 0 {
            self.parts.truncate(part);
            self.touched = self.used;
        }
        for &id in &moving {
            let hash = hash_of(id);
            self.place(self.home(hash), hash, id);
        }
        self.moving = moving;
    }

    /// Takes all ids out of a line and its overflow lines.
    fn empty(&mut self, line: Place, ids: &mut Vec<u32>) {
        ids.extend(members(self.line(line)));
        let mut linked = self.next(line);
        while let Some(place @ Place::Overflow(line)) = linked {
            ids.extend(members(self.line(place)));
            linked = self.next(place);
            self.overflow.give(line);
        }
        self.line_mut(line).fill(0);
    }

    /// Bytes in use. The last part is reserved whole, but the system gives memory only to the lines that were in use.
    pub(crate) fn bytes(&self) -> usize {
        self.touched * WORDS * 8 + self.overflow.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const COUNT: u32 = if cfg!(miri) { 1000 } else { 100_000 };

    const EQUAL: u32 = if cfg!(miri) { 40 } else { 1000 };

    fn hash(id: u32) -> u64 {
        super::super::mix(u64::from(id), 0x5555)
    }

    #[test]
    fn lines_agree_with_a_map_through_growth_and_removal() {
        let mut lines = Lines::new();
        let mut model = BTreeMap::new();
        for id in 0..COUNT {
            lines.insert(hash(id), id, hash, |_| ());
            model.insert(id, id);
            if id % 3 == 0 && model.remove(&(id / 2)).is_some() {
                lines.remove(hash(id / 2), id / 2);
            }
        }
        for id in 0..COUNT + COUNT / 10 {
            let found = lines.find(hash(id), |other| other == id);
            assert_eq!(found, model.get(&id).copied(), "id {id}");
        }
    }

    #[test]
    fn what_has_left_gives_its_lines_back_and_the_others_are_found() {
        let mut lines = Lines::new();
        for id in 0..COUNT {
            lines.insert(hash(id), id, hash, |_| ());
        }
        let before = lines.bytes();
        for left in [COUNT / 10, 3, 0, COUNT / 5] {
            for id in 0..COUNT {
                let is_there = lines.find(hash(id), |other| other == id).is_some();
                match (is_there, id < left) {
                    (true, false) => lines.remove(hash(id), id),
                    (false, true) => lines.insert(hash(id), id, hash, |_| ()),
                    _ => {}
                }
            }
            while lines.compact(100, hash) {}
            for id in 0..COUNT {
                let found = lines.find(hash(id), |other| other == id);
                assert_eq!(found, (id < left).then_some(id));
            }
            // Half of the lines were there since the last part was made.
            assert!(
                lines.bytes() < before / 4 + (1 << 15),
                "{left}: {before} to {}",
                lines.bytes()
            );
        }
    }

    #[test]
    fn an_id_costs_about_eight_bytes() {
        let mut lines = Lines::new();
        for id in 0..2 * COUNT {
            lines.insert(hash(id), id, hash, |_| ());
        }
        let per_id = lines.bytes() as f64 / f64::from(2 * COUNT);
        // Overflow lines come 16 KiB at a time.
        assert!(per_id < if cfg!(miri) { 17.0 } else { 8.5 }, "{per_id} bytes per id");
    }

    #[test]
    fn equal_hashes_overflow_and_are_all_found() {
        let mut lines = Lines::new();
        for id in 0..EQUAL {
            lines.insert(7, id, |_| 7, |_| ());
        }
        for id in 0..EQUAL {
            assert_eq!(lines.find(7, |other| other == id), Some(id));
            lines.remove(7, id);
            assert_eq!(lines.find(7, |other| other == id), None);
        }
    }

    #[test]
    fn replaced_ids_are_found_in_their_place() {
        let mut lines = Lines::new();
        lines.insert(7, 1, hash, |_| ());
        lines.replace(7, 1, 2);
        assert_eq!(lines.find(7, |_| true), Some(2));
    }
}
