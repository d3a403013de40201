//! Exact groups: documents with equal normalised texts, by their hashes, part by part.

use super::across::{InputTexts, Inputs};
use super::order::{Order, Places};
use super::pieces::Piece;
use super::varint;
use crate::checkpoint::{Restoring, Saving};
use crate::decide::ALONE;
use crate::error::DedupError;
use crate::parallel;
use ahash::AHashMap;
use simhash_store::{Column, Parts, Room};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Parts that are looked at by themselves, by the highest bits of the hash.
const PART_BITS: u32 = 8;
/// Bytes of a hash without those bits.
const HASH_BYTES: usize = 15;
/// Bytes of a part that is looked at as a whole, about; of a larger one pieces, by the next bits of the hash.
const PIECE: usize = 1 << 22;
/// What spreads the numbers of inputs over the bits of a hash (2^128 divided by the golden ratio, odd).
const INPUT: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// The hashes of the documents' texts, in parts, each with its document as the difference to the one before it.
pub(super) struct Hashes {
    parts: Parts,
    /// The last document of each part.
    last: Vec<u32>,
    /// Documents without text, ascending.
    empty: Column<u32>,
    /// Documents.
    count: u32,
}

impl Hashes {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        let parts = Parts::new(room, 1 << PART_BITS)?;
        Ok(Self { parts, last: vec![0; 1 << PART_BITS], empty: Column::new(room)?, count: 0 })
    }

    /// Takes the hash of the next document's text; of one without text there is none.
    pub(super) fn push(&mut self, hash: Option<u128>) -> Result<(), DedupError> {
        let document = self.count;
        self.count += 1;
        let Some(hash) = hash else { return Ok(self.empty.push(document)?) };
        let part = (hash >> (u128::BITS - PART_BITS)) as usize;
        let before = std::mem::replace(&mut self.last[part], document);
        let end = self.parts.end(part, HASH_BYTES + 5)?;
        end.extend_from_slice(&hash.to_le_bytes()[..HASH_BYTES]);
        varint::write(u64::from(document - before), end);
        Ok(())
    }

    /// How many documents there are.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// How many of them, from this one on, have no text.
    pub(super) fn empty_from(&self, document: u32) -> u64 {
        (self.empty.len() - self.empty.partition_point(|&one| one < document)) as u64
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.parts.bytes() + self.empty.bytes()
    }

    /// Calls `see` with the rest of the hash and the document of each of a part, in order.
    fn each(
        &self,
        part: usize,
        room: &Room,
        mut see: impl FnMut(u128, u32),
    ) -> Result<(), DedupError> {
        let mut document = 0;
        self.parts.each(part, |mut rest| {
            while let Some((hash, behind)) = rest.split_first_chunk::<HASH_BYTES>() {
                let (more, behind) = varint::read(behind);
                document += more as u32;
                let mut bytes = [0; 16];
                bytes[..HASH_BYTES].copy_from_slice(hash);
                see(u128::from_le_bytes(bytes), document);
                rest = behind;
            }
            Ok(room.relieve()?)
        })
    }

    /// By place in the order: the place of the first document with the same text, [`ALONE`] of one without; where there are inputs, of
    /// the same input.
    fn leaders(
        &self,
        places: &Places<'_>,
        inputs: Option<&Inputs>,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Column<AtomicU32>, DedupError> {
        let count = self.count as usize;
        let leaders = Column::made(room, count, |place| AtomicU32::new(place as u32))?;
        for &document in self.empty.iter() {
            leaders[places.of(document) as usize].store(ALONE, Relaxed);
        }
        let mut pieces: Vec<Piece> = Piece::all(&self.parts, PIECE).collect();
        parallel::for_each_large(
            &mut pieces,
            threads,
            cancel,
            || (),
            |(), piece| {
                parallel::check(cancel)?;
                self.lead(piece, places, inputs, &leaders, room)
            },
        )?;
        Ok(leaders)
    }

    /// Notes for each later document of a text the first one, by place.
    fn lead(
        &self,
        piece: &Piece,
        places: &Places<'_>,
        inputs: Option<&Inputs>,
        leaders: &[AtomicU32],
        room: &Room,
    ) -> Result<(), DedupError> {
        let mut first: AHashMap<u128, u32> = AHashMap::new();
        let each = |see: &mut dyn FnMut(u128, u32)| {
            self.each(piece.part, room, |hash, document| {
                if piece.has((hash >> (8 * HASH_BYTES as u32 - u64::BITS)) as u64) {
                    // Texts of two inputs are as unlikely to meet as two texts.
                    let own = inputs
                        .map_or(0, |inputs| u128::from(inputs.of(document)).wrapping_mul(INPUT));
                    see(hash ^ own, places.of(document));
                }
            })
        };
        each(&mut |hash, place| {
            let known = first.entry(hash).or_insert(place);
            *known = place.min(*known);
        })?;
        each(&mut |hash, place| {
            if let Some(&leader) = first.get(&hash).filter(|&&leader| leader < place) {
                leaders[place as usize].store(leader, Relaxed);
            }
        })
    }
}

/// The texts and their documents.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    /// By document: the number of its text, [`ALONE`] where that is empty.
    texts: Column<u32>,
    /// By text: its first document in the order of taking.
    first: Column<u32>,
    /// A bit for each text: it has other documents.
    copied: Column<u64>,
    /// Where documents of one input are not compared: then a text is that of one input.
    across: Option<Arc<InputTexts>>,
}

impl Groups {
    /// Of documents by the hashes of their texts; `order` has all of them in the order of taking.
    pub(super) fn new(
        hashes: &Hashes,
        order: &Order,
        inputs: Option<&Inputs>,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let count = order.len() as usize;
        let places = Places::new(order, room)?;
        let leaders = hashes.leaders(&places, inputs, room, threads, cancel)?;
        let equals = match inputs {
            Some(_) => Some(hashes.leaders(&places, None, room, threads, cancel)?),
            None => None,
        };
        parallel::check(cancel)?;
        let mut equal = Column::new(room)?;
        let mut groups = Self {
            texts: Column::made(room, count, |_| ALONE)?,
            first: Column::new(room)?,
            copied: Column::made(room, count.div_ceil(64), |_| 0)?,
            across: None,
        };
        for (place, document) in (0u32..).zip(order.iter()) {
            let leader = leaders[place as usize].load(Relaxed);
            if place % 1024 == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
            if leader == ALONE {
                continue;
            }
            let text = if leader == place {
                let text = groups.len();
                groups.first.push(document)?;
                if let Some(equals) = &equals {
                    let first = equals[place as usize].load(Relaxed);
                    let is_first = first == place;
                    equal.push(if is_first { text } else { groups.text(order.at(first)) })?;
                }
                text
            } else {
                let text = groups.texts[order.at(leader) as usize];
                groups.copied[text as usize / 64] |= 1 << (text % 64);
                text
            };
            groups.texts[document as usize] = text;
        }
        if let Some(inputs) = inputs {
            groups.across = Some(Arc::new(InputTexts::new(inputs, &groups.first, equal, room)?));
        }
        Ok(groups)
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.column(self.first.len(), self.first.iter().copied())?;
        to.column(self.texts.len(), self.texts.iter().copied())?;
        to.column(self.copied.len(), self.copied.iter().copied())?;
        self.across.as_ref().map_or(Ok(()), |across| across.save(to))
    }

    /// What was kept of groups of so many documents.
    pub(super) fn restore(
        from: &mut Restoring,
        documents: u32,
        inputs: Option<&Inputs>,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let first: Column<u32> = from.column(|&first| first < documents)?;
        let count = first.len();
        let texts: Column<u32> = from.column(|&text| text == ALONE || (text as usize) < count)?;
        let copied: Column<u64> = from.column(|_| true)?;
        if texts.len() != documents as usize || copied.len() != texts.len().div_ceil(64) {
            return Err(from.wrong("groups of another number of documents"));
        }
        let mut firsts = (0u32..).zip(first.iter());
        if !firsts.all(|(text, &document)| texts[document as usize] == text) {
            return Err(from.wrong("a text that its first document does not have"));
        }
        let across =
            inputs.map(|inputs| InputTexts::restore(from, inputs, &first, room)).transpose()?;
        Ok(Self { texts, first, copied, across: across.map(Arc::new) })
    }

    /// The inputs of texts, where documents of one input are not compared; nothing otherwise.
    pub(super) fn across(&self) -> Arc<InputTexts> {
        self.across.clone().unwrap_or_default()
    }

    /// The first text that is equal to this one, where several are.
    pub(super) fn shared(&self, text: u32) -> Option<u32> {
        let across = self.across.as_ref().filter(|across| across.is_shared(text))?;
        Some(across.first_equal(text))
    }

    /// How many texts may be the first of several that are equal.
    pub(super) fn shared_texts(&self) -> usize {
        if self.across.is_some() { self.first.len() } else { 0 }
    }

    /// Whether two texts are equal.
    pub(super) fn are_equal(&self, a: u32, b: u32) -> bool {
        a == b || self.shared(a).is_some_and(|first| self.shared(b) == Some(first))
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> u32 {
        self.first.len() as u32
    }

    /// The number of a document's text, or [`ALONE`].
    pub(crate) fn text(&self, document: u32) -> u32 {
        self.texts[document as usize]
    }

    /// The first document of a text.
    pub(crate) fn first(&self, text: u32) -> u32 {
        self.first[text as usize]
    }

    /// The text of which this document is the first.
    pub(super) fn text_led_by(&self, document: u32) -> Option<u32> {
        let text = self.text(document);
        (text != ALONE && self.first(text) == document).then_some(text)
    }

    /// How many texts have their first document before this one, where documents are taken in input order.
    pub(super) fn led_before(&self, document: u32) -> u32 {
        self.first.partition_point(|&first| first < document) as u32
    }

    /// Whether a text has other documents than its first.
    pub(super) fn is_copied(&self, text: u32) -> bool {
        self.copied[text as usize / 64] >> (text % 64) & 1 == 1
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let across = self.across.as_ref().map_or(0, |across| across.bytes());
        self.texts.bytes() + self.first.bytes() + self.copied.bytes() + across
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_those_of_a_map(
            hashes in proptest::collection::vec(proptest::option::weighted(0.9, 0u128..20), 0..200),
            spread in prop_oneof![Just(1u128), Just(1 << 64), Just(u128::MAX / 20)],
            backwards in any::<bool>(),
            bounded in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let room = if bounded { Room::bounded(0, folder.path()).unwrap() } else { Room::default() };
            let exact = |document: u32| hashes[document as usize].map(|hash| hash * spread);
            let mut pushed = Hashes::new(&room).unwrap();
            let count = hashes.len() as u32;
            (0..count).for_each(|document| pushed.push(exact(document)).unwrap());
            let order = if backwards { Order::Backwards(count) } else { Order::Input(count) };
            let cancel = AtomicBool::new(false);
            let groups = Groups::new(&pushed, &order, None, &room, 2, &cancel).unwrap();
            let (mut known, mut first, mut copied) = (AHashMap::new(), Vec::new(), Vec::new());
            for document in order.iter() {
                let Some(hash) = exact(document) else {
                    prop_assert_eq!(groups.text(document), ALONE);
                    continue;
                };
                let next = first.len() as u32;
                let text = *known.entry(hash).or_insert(next);
                if text == next {
                    first.push(document);
                    copied.push(false);
                } else {
                    copied[text as usize] = true;
                }
                prop_assert_eq!(groups.text(document), text);
                prop_assert_eq!(groups.text_led_by(document), (text == next).then_some(text));
            }
            prop_assert_eq!(&groups.first[..], &first[..]);
            for (text, &copied) in (0..).zip(&copied) {
                prop_assert_eq!(groups.is_copied(text), copied);
            }
        }
    }
}
