//! Fingerprint -> id, one cache miss away, at about eight bytes each, growing a line at a time.
//!
//! Linear hashing over cache lines. A line has twelve slots, an id and a tag byte each, and a link to an overflow line,
//! which few have at this load. Whenever the load passes its limit the next line in turn is split in two by one more
//! bit of the hash; so the slowest insertion moves some twelve ids and the map is never rebuilt. Keys are not stored:
//! an id's fingerprint is in the records, and a tag lets one comparison in 255 go there in vain.

use crate::memory::{Words, halves, halves_mut, prefetch};

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

/// Overflow lines that are allocated at a time: 64 KB.
const SPARE: usize = 1024;

/// Where a line is: in the table, or among the overflow lines.
#[derive(Clone, Copy)]
enum Place {
    Home(usize),
    Overflow(usize),
}

#[derive(Debug)]
pub(crate) struct Lines {
    parts: Vec<Words>,
    overflow: Vec<Words>,
    free: Vec<usize>,
    /// Lines in use.
    used: usize,
    /// Ids in the map.
    count: usize,
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

impl Lines {
    pub(crate) fn new() -> Self {
        let parts = vec![Words::zeroed(FIRST * WORDS)];
        Self { parts, overflow: Vec::new(), free: Vec::new(), used: FIRST, count: 0 }
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
            Place::Overflow(line) => {
                let at = line % SPARE * WORDS;
                &self.overflow[line / SPARE][at..at + WORDS]
            }
        }
    }

    fn line_mut(&mut self, place: Place) -> &mut [u64] {
        match place {
            Place::Home(line) => {
                let (part, at) = part_of(line);
                &mut self.parts[part][at * WORDS..(at + 1) * WORDS]
            }
            Place::Overflow(line) => {
                let at = line % SPARE * WORDS;
                &mut self.overflow[line / SPARE][at..at + WORDS]
            }
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
            for slot in 0..SLOTS {
                if tag_at(line, slot) == wanted {
                    let id = halves(line)[slot];
                    if is_it(id) {
                        return Some((place, slot, id));
                    }
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

    /// Calls `on_id` for the ids of the hash's line with its tag.
    #[inline]
    pub(crate) fn tagged(&self, hash: u64, on_id: impl Fn(u32)) {
        let line = self.line(Place::Home(self.home(hash)));
        let wanted = tag(hash);
        (0..SLOTS)
            .filter(|&slot| tag_at(line, slot) == wanted)
            .for_each(|slot| on_id(halves(line)[slot]));
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
                self.split(hash_of, touch);
                self.line_to_split(|line| prefetch(line, 0));
            }
            Some(AHEAD) => self.line_to_split(|line| {
                let ids = (0..SLOTS).filter(|&slot| tag_at(line, slot) != 0);
                ids.for_each(|slot| touch(halves(line)[slot]));
            }),
            Some(_) => {}
        }
    }

    /// A look at the next line in turn.
    fn line_to_split(&self, look: impl FnOnce(&[u64])) {
        look(self.line(Place::Home(self.used - (1 << self.used.ilog2()))));
    }

    fn place(&mut self, home: usize, hash: u64, id: u32) {
        let mut place = Place::Home(home);
        loop {
            let line = self.line(place);
            if let Some(slot) = (0..SLOTS).find(|&slot| tag_at(line, slot) == 0) {
                set(self.line_mut(place), slot, id, tag(hash));
                return;
            }
            place = match self.next(place) {
                Some(next) => next,
                None => self.link(place),
            };
        }
    }

    /// Gives a full line an overflow line.
    fn link(&mut self, place: Place) -> Place {
        if self.free.is_empty() {
            let first = self.overflow.len() * SPARE;
            self.overflow.push(Words::zeroed(SPARE * WORDS));
            self.free.extend((first..first + SPARE).rev());
        }
        let new = self.free.pop().unwrap_or(0);
        halves_mut(self.line_mut(place))[LINK] = new as u32 + 1;
        Place::Overflow(new)
    }

    /// Splits the next line in turn.
    fn split(&mut self, hash_of: impl Fn(u32) -> u64, touch: impl Fn(u32)) {
        let level = self.used.ilog2();
        let old = self.used - (1 << level);
        let (part, _) = part_of(self.used);
        if part == self.parts.len() {
            self.parts.push(Words::zeroed((FIRST << (part - 1)) * WORDS));
        }
        let mut members = Vec::with_capacity(2 * SLOTS);
        let mut place = Some(Place::Home(old));
        while let Some(here) = place {
            let line = self.line(here);
            let ids = (0..SLOTS).filter(|&slot| tag_at(line, slot) != 0);
            members.extend(ids.map(|slot| halves(line)[slot]));
            place = self.next(here);
            self.line_mut(here).fill(0);
            if let Place::Overflow(line) = here {
                self.free.push(line);
            }
        }
        for &id in &members {
            touch(id);
        }
        self.used += 1;
        for id in members {
            let hash = hash_of(id);
            let home = self.home(hash);
            self.place(home, hash, id);
        }
    }

    /// Bytes in use. The last part is reserved whole, but the system gives memory only to the lines in use.
    pub(crate) fn bytes(&self) -> usize {
        (self.used + self.overflow.len() * SPARE) * WORDS * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn hash(id: u32) -> u64 {
        super::super::mix(u64::from(id), 0x5555)
    }

    #[test]
    fn lines_agree_with_a_map_through_growth_and_removal() {
        let mut lines = Lines::new();
        let mut model = BTreeMap::new();
        for id in 0..100_000u32 {
            lines.insert(hash(id), id, hash, |_| ());
            model.insert(id, id);
            if id % 3 == 0 && model.remove(&(id / 2)).is_some() {
                lines.remove(hash(id / 2), id / 2);
            }
        }
        for id in 0..110_000u32 {
            let found = lines.find(hash(id), |other| other == id);
            assert_eq!(found, model.get(&id).copied(), "id {id}");
        }
    }

    #[test]
    fn an_id_costs_about_eight_bytes() {
        let mut lines = Lines::new();
        for id in 0..200_000u32 {
            lines.insert(hash(id), id, hash, |_| ());
        }
        let per_id = lines.bytes() as f64 / 200_000.0;
        assert!(per_id < 8.5, "{per_id} bytes per id");
    }

    #[test]
    fn equal_hashes_overflow_and_are_all_found() {
        let mut lines = Lines::new();
        for id in 0..1000 {
            lines.insert(7, id, |_| 7, |_| ());
        }
        for id in 0..1000 {
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
