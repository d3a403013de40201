//! Strings by document id, in chunks of ids: an id costs four bytes, a string its own.
//!
//! Documents leave without telling: an index with a window takes away what is old. So the chunks are looked through in
//! turn, some with every so many changes, and written anew without what has left. The cost of a look is spread over the
//! changes that brought it about; at most about as much as is alive can lie dead.

use std::collections::VecDeque;
use std::sync::Arc;

/// Ids per chunk: looking through one takes some 20 µs.
pub(super) const CHUNK: usize = 1024;

/// Bytes of what counts who shares a chunk, and of the way to it.
pub(super) const SHARED: usize = 24;

/// Strings of neighbouring ids; the string of the id at place i ends at `ends[i]`. An empty one stands for none.
#[derive(Debug, Default, Clone)]
struct Chunk {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Chunk {
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

    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + size_of::<Self>() + SHARED
    }
}

/// Strings of ids that ascend. Clones share the chunks until one of them changes.
#[derive(Debug, Default, Clone)]
pub(super) struct Strings {
    chunks: VecDeque<Arc<Chunk>>,
    /// Number of the first chunk: its ids begin at `first * CHUNK`.
    first: u64,
    /// Number of the chunk to look through next.
    next: u64,
    /// Bytes of all chunks.
    held: usize,
}

impl Strings {
    /// Number of chunks: so many looks see everything.
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The string of an id larger than all before.
    pub(super) fn push(&mut self, id: u64, text: &str) {
        let number = id / CHUNK as u64;
        if self.chunks.is_empty() {
            self.first = number;
        }
        while self.first + self.chunks.len() as u64 <= number {
            self.chunks.push_back(Arc::default());
            self.held += size_of::<Chunk>() + SHARED;
        }
        if let Some(chunk) = self.chunks.back_mut() {
            // Before it is copied for being shared: a copy has no spare capacity.
            let before = chunk.bytes();
            let chunk = Arc::make_mut(chunk);
            chunk.push((id % CHUNK as u64) as usize, text);
            self.held = self.held - before + chunk.bytes();
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<&str> {
        let chunk = (id / CHUNK as u64).checked_sub(self.first)?;
        self.chunks.get(usize::try_from(chunk).ok()?)?.get((id % CHUNK as u64) as usize)
    }

    /// Every string, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        (self.first..).zip(&self.chunks).flat_map(|(number, chunk)| chunk_strings(number, chunk))
    }

    /// Looks through the next chunk that is full: strings of documents that have left go to `on_dead` and are forgotten.
    pub(super) fn tend(
        &mut self,
        is_alive: impl Fn(u64) -> bool,
        mut on_dead: impl FnMut(u64, &str),
    ) {
        let full = self.chunks.len().saturating_sub(1) as u64;
        if full == 0 {
            return;
        }
        let number = if (self.first..self.first + full).contains(&self.next) {
            self.next
        } else {
            self.first
        };
        self.next = number + 1;
        let Some(chunk) = self.chunks.get_mut((number - self.first) as usize) else { return };
        let mut left = Chunk::default();
        let mut dead = 0;
        for (id, text) in chunk_strings(number, chunk) {
            if is_alive(id) {
                left.push((id % CHUNK as u64) as usize, text);
            } else {
                on_dead(id, text);
                dead += 1;
            }
        }
        if dead > 0 {
            left.bytes.shrink_to_fit();
            left.ends.shrink_to_fit();
            self.held = self.held - chunk.bytes() + left.bytes();
            *chunk = Arc::new(left);
        }
        while self.chunks.len() > 1
            && self.chunks.front().is_some_and(|chunk| chunk.ends.is_empty())
        {
            self.held -= self.chunks.pop_front().map_or(0, |chunk| chunk.bytes());
            self.first += 1;
        }
    }

    /// Gives the room for more chunks back.
    pub(super) fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
    }

    /// Bytes held. O(1).
    pub(super) fn bytes(&self) -> usize {
        let spare = self.chunks.capacity() - self.chunks.len();
        self.held + spare * size_of::<Arc<Chunk>>()
    }
}

fn chunk_strings(number: u64, chunk: &Chunk) -> impl Iterator<Item = (u64, &str)> {
    let first = number * CHUNK as u64;
    (0..chunk.ends.len()).filter_map(move |place| Some((first + place as u64, chunk.get(place)?)))
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
            let held = |strings: &Strings| {
                strings.chunks.iter().map(|chunk| chunk.bytes()).sum::<usize>()
            };
            prop_assert_eq!(strings.held, held(&strings));
            let mut gone = BTreeMap::new();
            for _ in 0..=(id - base) / CHUNK as u64 + 1 {
                let is_alive = |id| model.get(&id).is_some_and(|(_, lives)| *lives);
                strings.tend(is_alive, |id, text| drop(gone.insert(id, text.to_owned())));
                prop_assert_eq!(strings.held, held(&strings));
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
