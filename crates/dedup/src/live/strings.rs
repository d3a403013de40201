//! Strings by document id, in chunks of ids: an id costs four bytes, a string its own. At most about as much as is alive can lie
//! dead.

use super::chunks::{Chunk, Chunks};

/// Ids per chunk: looking through one takes some 20 µs.
pub(super) const CHUNK: usize = 1024;

/// Strings of neighbouring ids; the string of the id at place i ends at `ends[i]`. An empty one stands for none.
#[derive(Debug, Default, Clone)]
struct Bytes {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Bytes {
    fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)? as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        // What was pushed is UTF-8 whole.
        std::str::from_utf8(&self.bytes[start..end]).ok().filter(|text| !text.is_empty())
    }

    /// Puts a string at a place behind all others.
    fn push(&mut self, place: usize, text: &str) {
        let end = self.bytes.len() as u32;
        self.ends.resize(place, end);
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as u32);
    }

    /// Every string, with its id where the first place is that of `first`.
    fn each(&self, first: u64) -> impl Iterator<Item = (u64, &str)> {
        let string = move |place: usize| Some((first + place as u64, self.get(place)?));
        (0..self.ends.len()).filter_map(string)
    }
}

impl Chunk for Bytes {
    const IDS: u64 = CHUNK as u64;

    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + size_of::<Self>()
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Strings of ids that ascend. Clones share the chunks until one of them changes.
#[derive(Debug, Default, Clone)]
pub(super) struct Strings(Chunks<Bytes>);

impl Strings {
    /// Number of chunks: so many looks see everything.
    pub(super) fn chunks(&self) -> usize {
        self.0.len()
    }

    /// The string of an id larger than all before.
    pub(super) fn push(&mut self, id: u64, text: &str) {
        self.0.push(id, |chunk| chunk.push(Bytes::place(id), text));
    }

    pub(super) fn get(&self, id: u64) -> Option<&str> {
        self.0.get(id)?.get(Bytes::place(id))
    }

    /// Every string, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.0.iter().flat_map(|(first, chunk)| chunk.each(first))
    }

    /// Looks through the next chunk that is full: strings of documents that have left go to `on_dead` and are forgotten.
    pub(super) fn tend(
        &mut self,
        is_alive: impl Fn(u64) -> bool,
        mut on_dead: impl FnMut(u64, &str),
    ) {
        self.0.look(|first, chunk| {
            let (mut left, mut dead) = (Bytes::default(), 0);
            for (id, text) in chunk.each(first) {
                if is_alive(id) {
                    left.push(Bytes::place(id), text);
                } else {
                    on_dead(id, text);
                    dead += 1;
                }
            }
            left.bytes.shrink_to_fit();
            left.ends.shrink_to_fit();
            (dead > 0).then_some(left)
        });
    }

    /// Gives the room for more chunks back.
    pub(super) fn shrink(&mut self) {
        self.0.shrink();
    }

    /// Bytes held. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Strings};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn strings_are_found_until_their_document_has_left(
            steps in prop::collection::vec((1..700_u64, "[a-z中文]{0,9}", any::<bool>()), 1..60),
            base in prop_oneof![Just(0_u64), 0..u64::from(u32::MAX) * 4],
        ) {
            let (mut strings, mut model) = (Strings::default(), BTreeMap::new());
            let mut id = base;
            for (step, text, lives) in steps {
                id += step;
                strings.push(id, &text);
                if !text.is_empty() {
                    model.insert(id, (text, lives));
                }
            }
            for (&id, (text, _)) in &model {
                prop_assert_eq!(strings.get(id), Some(text.as_str()));
            }
            let listed: Vec<_> = strings.iter().map(|(id, text)| (id, text.to_owned())).collect();
            let expected: Vec<_> = model.iter().map(|(id, (text, _))| (*id, text.clone())).collect();
            prop_assert_eq!(listed, expected);
            prop_assert!(strings.0.is_counted());
            let mut gone = BTreeMap::new();
            for _ in 0..=(id - base) / CHUNK as u64 + 1 {
                let is_alive = |id| model.get(&id).is_some_and(|(_, lives)| *lives);
                strings.tend(is_alive, |id, text| drop(gone.insert(id, text.to_owned())));
                prop_assert!(strings.0.is_counted());
            }
            // The last chunk is not full.
            let last = id / CHUNK as u64;
            for (&id, (text, lives)) in &model {
                let stays = *lives || id / CHUNK as u64 == last;
                prop_assert_eq!(strings.get(id), stays.then_some(text.as_str()));
                prop_assert_eq!(gone.get(&id), (!stays).then_some(text));
            }
        }
    }

    #[test]
    fn memory_follows_a_window() {
        let mut strings = Strings::default();
        let mut most = 0;
        for id in 0..400_000_u64 {
            strings.push(id, "一二三四五");
            if id % 512 == 0 {
                strings.tend(|old| old + 20_000 > id, |_, _| ());
            }
            most = most.max(strings.bytes());
        }
        // Alive are 20,000 strings of 15 bytes and 4 for the id.
        assert!(most < 2 * 20_000 * 19 + (1 << 16), "{most}");
    }
}
