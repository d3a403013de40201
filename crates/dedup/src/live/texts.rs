//! Normalised texts by document id, compressed in blocks.
//!
//! ```text
//! chunk of 128 ids ─► block of 16 KiB, LZ4 ─► block … ─► open block, plain
//! ```
//! A text lies in one block, so that reading it unpacks one: some microseconds, less than comparing it takes. Chinese news
//! take six tenths of their UTF-8 (`benches`), one by one they would take nine. Documents leave without telling, as with keys: chunks are
//! looked through in turn, and written anew where a quarter of a chunk's bytes have left.

use std::sync::Arc;

use lz4_flex::block;

use super::chunks::{Chunk, Chunks};

/// Ids per chunk: writing one anew takes some hundred microseconds.
pub(super) const CHUNK: usize = 128;

/// Bytes of texts from which on a block is packed.
const BLOCK: usize = 16 << 10;

/// Texts of neighbouring ids, one behind the other.
#[derive(Debug, Default, Clone)]
struct Packed {
    /// Where the text of each id ends, among all bytes of the chunk. An empty text stands for none.
    ends: Vec<u32>,
    /// Of the text of each id: what equal texts have in common.
    tags: Vec<u64>,
    /// What is packed: where each block begins, and its bytes.
    blocks: Vec<(u32, Arc<[u8]>)>,
    /// Where the open block begins.
    opened: u32,
    open: Vec<u8>,
    /// Ids with a text.
    texts: u32,
}

impl Packed {
    /// Puts a text at a place behind all others.
    fn push(&mut self, place: usize, text: &str, tag: u64) {
        let end = self.opened + self.open.len() as u32;
        self.ends.resize(place, end);
        self.open.extend_from_slice(text.as_bytes());
        self.ends.push(end + text.len() as u32);
        self.tags.resize(place, 0);
        self.tags.push(tag);
        self.texts += u32::from(!text.is_empty());
        if self.open.len() >= BLOCK {
            self.pack();
        }
    }

    fn pack(&mut self) {
        if !self.open.is_empty() {
            let packed = block::compress_prepend_size(&self.open).into();
            self.blocks.push((self.opened, packed));
            self.opened += self.open.len() as u32;
            self.open = Vec::new();
        }
    }

    /// Gives spare room back.
    fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// Whether there is a text at a place.
    fn has(&self, place: usize) -> bool {
        let start =
            place.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        self.ends.get(place).is_some_and(|&end| end > start)
    }

    /// The text at a place; `version` says which chunk this is.
    fn get<'a>(
        &'a self,
        place: usize,
        version: (u64, u64),
        unpacked: &'a mut Unpacked,
    ) -> Option<&'a str> {
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        if start == end {
            return None;
        }
        let (begin, bytes) = if start >= self.opened {
            (self.opened, &self.open)
        } else {
            let at = self.blocks.partition_point(|(begin, _)| *begin <= start) - 1;
            let (begin, packed) = &self.blocks[at];
            let block = Some((version.0, version.1, at));
            if unpacked.block != block {
                // What was packed here unpacks.
                unpacked.bytes = lz4_flex::block::decompress_size_prepended(packed).ok()?;
                unpacked.block = block;
            }
            (*begin, &unpacked.bytes)
        };
        // What was pushed is UTF-8 whole.
        std::str::from_utf8(bytes.get((start - begin) as usize..(end - begin) as usize)?).ok()
    }

    /// Every text with its place, one block unpacked at a time.
    fn each(&self, mut on_text: impl FnMut(usize, &str)) {
        let mut place = 0;
        let packed = self.blocks.iter().map(|(begin, packed)| {
            (*begin, block::decompress_size_prepended(packed).unwrap_or_default())
        });
        for (begin, bytes) in packed.chain(std::iter::once((self.opened, self.open.clone()))) {
            let till = begin + bytes.len() as u32;
            while let Some(&end) = self.ends.get(place).filter(|&&end| end <= till) {
                let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
                let text = bytes.get(start.saturating_sub(begin) as usize..(end - begin) as usize);
                if let Some(Ok(text)) =
                    text.filter(|text| !text.is_empty()).map(std::str::from_utf8)
                {
                    on_text(place, text);
                }
                place += 1;
            }
        }
    }
}

impl Chunk for Packed {
    const IDS: u64 = CHUNK as u64;

    fn bytes(&self) -> usize {
        let packed: usize = self.blocks.iter().map(|(_, packed)| packed.len() + 16).sum();
        packed
            + self.blocks.capacity() * size_of::<(u32, Arc<[u8]>)>()
            + self.open.capacity()
            + self.ends.capacity() * 4
            + self.tags.capacity() * 8
            + size_of::<Self>()
    }

    fn is_empty(&self) -> bool {
        self.texts == 0
    }

    fn end(&mut self) {
        self.pack();
        self.shrink();
    }
}

/// The block that was unpacked last: neighbours that are read one after the other unpack it once.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// How often chunks had been written anew, its chunk, and its place there.
    block: Option<(u64, u64, usize)>,
    bytes: Vec<u8>,
}

/// Texts of ids that ascend. Clones share chunks and blocks until one of them changes.
#[derive(Debug, Default, Clone)]
pub(super) struct Texts {
    chunks: Chunks<Packed>,
    /// Changes since memory was last looked after.
    changes: usize,
    /// How often a chunk was written anew.
    rewritten: u64,
}

impl Texts {
    /// The text of an id larger than all before: at most 2^24 bytes, and less than 2^32 in a chunk. Equal texts have one tag.
    pub(super) fn push(&mut self, id: u64, text: &str, tag: u64) {
        self.chunks.push(id, |chunk| chunk.push(Packed::place(id), text, tag));
    }

    /// The text of an id.
    pub(super) fn get<'a>(&'a self, id: u64, unpacked: &'a mut Unpacked) -> Option<&'a str> {
        let version = (self.rewritten, id / Packed::IDS);
        self.chunks.get(id)?.get(Packed::place(id), version, unpacked)
    }

    /// The tag of the text of an id, where there is a text.
    pub(super) fn tag(&self, id: u64) -> Option<u64> {
        let (chunk, place) = (self.chunks.get(id)?, Packed::place(id));
        chunk.has(place).then(|| chunk.tags[place])
    }

    /// Number of chunks: so many looks see everything.
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Calls `on_text` with every text, by id.
    pub(super) fn each(&self, mut on_text: impl FnMut(u64, &str)) {
        for (first, chunk) in self.chunks.iter() {
            chunk.each(|place, text| on_text(first + place as u64, text));
        }
    }

    /// After so many changes: two chunks for every chunk's worth of them, so that what has left is gone after at most half as
    /// many changes as there are documents. Texts of documents that have left go to `on_dead`.
    pub(super) fn tend(
        &mut self,
        changes: usize,
        is_alive: impl Fn(u64) -> bool,
        mut on_dead: impl FnMut(u64, &str),
    ) {
        self.changes = self.changes.saturating_add(changes);
        let rounds = self.changes / CHUNK;
        self.changes %= CHUNK;
        // All chunks once is enough, whatever has left at one stroke.
        for _ in 0..rounds.saturating_mul(2).min(self.chunks.len()) {
            self.look(4, &is_alive, &mut on_dead);
        }
    }

    /// Looks through the next chunk that is full, and writes it anew where one in so many bytes has left.
    pub(super) fn look(
        &mut self,
        share: u32,
        is_alive: &impl Fn(u64) -> bool,
        on_dead: &mut impl FnMut(u64, &str),
    ) {
        let is_new = self.chunks.look(|first, chunk| {
            let (mut start, mut gone) = (0, 0);
            for (place, &end) in chunk.ends.iter().enumerate() {
                gone += if is_alive(first + place as u64) { 0 } else { end - start };
                start = end;
            }
            if gone == 0 || gone < start / share {
                return None;
            }
            let mut left = Packed::default();
            chunk.each(|place, text| {
                let id = first + place as u64;
                if is_alive(id) {
                    left.push(place, text, chunk.tags[place]);
                } else {
                    on_dead(id, text);
                }
            });
            // Written anew only where something went.
            (left.texts < chunk.texts).then(|| {
                left.end();
                left
            })
        });
        self.rewritten += u64::from(is_new);
    }

    /// Gives the room for more chunks back.
    pub(super) fn shrink(&mut self) {
        self.chunks.shrink();
    }

    /// Bytes held. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.chunks.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Texts, Unpacked};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn get(texts: &Texts, id: u64) -> Option<String> {
        texts.get(id, &mut Unpacked::default()).map(str::to_owned)
    }

    proptest! {
        #[test]
        fn texts_are_found_until_their_document_has_left(
            steps in prop::collection::vec((1..90_u64, "[a-z中文]{0,9}", 0..3000_usize, any::<bool>()), 1..60),
            base in prop_oneof![Just(0_u64), 0..u64::from(u32::MAX) * 4],
        ) {
            let (mut texts, mut model) = (Texts::default(), BTreeMap::new());
            let mut id = base;
            for (step, text, times, lives) in steps {
                id += step;
                let text = text.repeat(times);
                texts.push(id, &text, id ^ 5);
                if !text.is_empty() {
                    model.insert(id, (text, lives));
                }
            }
            let mut unpacked = Unpacked::default();
            for (&id, (text, _)) in &model {
                prop_assert_eq!(texts.get(id, &mut unpacked), Some(text.as_str()));
                prop_assert_eq!(get(&texts, id), Some(text.clone()));
                prop_assert_eq!(get(&texts, id + 1).is_some(), model.contains_key(&(id + 1)));
                prop_assert_eq!(texts.tag(id), Some(id ^ 5));
                prop_assert_eq!(texts.tag(id + 1).is_some(), model.contains_key(&(id + 1)));
            }
            let mut listed = Vec::new();
            texts.each(|id, text| listed.push((id, text.to_owned())));
            let expected: Vec<_> = model.iter().map(|(id, (text, _))| (*id, text.clone())).collect();
            prop_assert_eq!(listed, expected);
            prop_assert!(texts.chunks.is_counted());
            let mut gone = BTreeMap::new();
            let is_alive = |id: u64| model.get(&id).is_some_and(|(_, lives)| *lives);
            texts.tend(CHUNK * texts.chunks.len(), is_alive, |id, text| {
                gone.insert(id, text.to_owned());
            });
            prop_assert!(texts.chunks.is_counted());
            for (id, (text, lives)) in &model {
                // Who lives stays; who has left is told once or is still there.
                let (there, told) = (get(&texts, *id), gone.get(id));
                prop_assert_eq!(there.is_some(), told.is_none());
                prop_assert_eq!(texts.tag(*id), there.as_ref().map(|_| id ^ 5));
                prop_assert!(!(*lives && told.is_some()));
                prop_assert_eq!(there.as_ref().or(told), Some(text));
            }
        }
    }

    #[test]
    fn a_few_long_texts_that_leave_give_their_memory_back() {
        let mut texts = Texts::default();
        let is_long = |id: u64| id.is_multiple_of(5);
        for id in 0..1280_u64 {
            let long =
                |at: u64| char::from_u32(0x4e00 + (id * 7919 + at * 104_729) as u32 % 20_000);
            let text =
                if is_long(id) { (0..3000).filter_map(long).collect() } else { "短".to_owned() };
            texts.push(id, &text, id);
        }
        let before = texts.bytes();
        texts.tend(1280, |id| !is_long(id), |_, _| ());
        // The chunk being filled stays.
        assert!(texts.bytes() < before / 8, "{before} to {}", texts.bytes());
    }

    #[test]
    fn memory_follows_a_window() {
        let (mut texts, mut most) = (Texts::default(), 0);
        for id in 0..200_000_u64 {
            texts.push(id, &format!("第{id}条"), id);
            texts.tend(1, |old| old + 20_000 > id, |_, _| ());
            most = most.max(texts.bytes());
        }
        // Alive are 20,000 texts of some 12 bytes and 12 for the id.
        assert!(most < 2 * 20_000 * 24 + (1 << 16), "{most}");
    }
}
