//! The order of documents, and the keys that a keep rule compares, as columns.

use crate::error::DedupError;
use crate::keep::Key;
use crate::options::Keep;
use crate::parallel;
use simhash_store::{Column, Room};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;

/// Documents whose keys are sorted at once in memory.
const RUN: usize = 1 << 16;

/// All documents in an order.
#[derive(Debug)]
pub(super) enum Order {
    /// As they came.
    Input(u32),
    /// The last one first.
    Backwards(u32),
    Listed(Column<u32>),
}

impl Order {
    /// How many documents there are.
    pub(super) fn len(&self) -> u32 {
        match self {
            Self::Input(count) | Self::Backwards(count) => *count,
            Self::Listed(documents) => documents.len() as u32,
        }
    }

    /// The document at a place.
    pub(super) fn at(&self, place: u32) -> u32 {
        match self {
            Self::Input(_) => place,
            Self::Backwards(count) => count - 1 - place,
            Self::Listed(documents) => documents[place as usize],
        }
    }

    /// The documents in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|place| self.at(place))
    }
}

/// By document: its place in an order.
pub(super) enum Places<'a> {
    By(&'a Order),
    Listed(Column<u32>),
}

impl<'a> Places<'a> {
    pub(super) fn new(order: &'a Order, room: &Room) -> Result<Self, DedupError> {
        let Order::Listed(documents) = order else { return Ok(Self::By(order)) };
        let mut places = Column::made(room, documents.len(), |_| 0)?;
        for (place, &document) in (0u32..).zip(documents.iter()) {
            places[document as usize] = place;
            if place % 1024 == 0 {
                room.relieve()?;
            }
        }
        Ok(Self::Listed(places))
    }

    pub(super) fn of(&self, document: u32) -> u32 {
        match self {
            // Both are their own inverse.
            Self::By(order) => order.at(document),
            Self::Listed(places) => places[document as usize],
        }
    }
}

/// The keys of documents, as bytes.
pub(super) struct Keys {
    bytes: Column<u8>,
    /// Where each ends.
    ends: Column<u64>,
    key: Vec<u8>,
}

impl Keys {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        Ok(Self { bytes: Column::new(room)?, ends: Column::new(room)?, key: Vec::new() })
    }

    pub(super) fn push(&mut self, key: &Key) -> Result<(), DedupError> {
        self.key.clear();
        key.write(&mut self.key);
        self.bytes.extend_from_slice(&self.key)?;
        self.ends.push(self.bytes.len() as u64)?;
        Ok(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.bytes() + self.ends.bytes()
    }

    fn get(&self, document: u32) -> Key {
        let start = document.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        Key::read(&self.bytes[start as usize..self.ends[document as usize] as usize])
    }

    /// All documents, best first.
    pub(super) fn order(
        &self,
        keep: &Keep,
        count: u32,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<Order, DedupError> {
        let largest = match keep {
            Keep::First | Keep::Chosen => return Ok(Order::Input(count)),
            Keep::Last => return Ok(Order::Backwards(count)),
            Keep::Longest => true,
            Keep::Field { largest, .. } => *largest,
        };
        let mut sorted = Column::new(room)?;
        let mut starts = Vec::new();
        for from in (0..count).step_by(RUN) {
            parallel::check(cancel)?;
            room.relieve()?;
            let documents = from..count.min(from + RUN as u32);
            let mut run: Vec<(Key, u32)> =
                documents.map(|document| (self.get(document), document)).collect();
            // Stable: ties stay in input order.
            run.sort_by(|a, b| a.0.before(&b.0, largest));
            starts.push(sorted.len());
            sorted.extend(run.into_iter().map(|(_, document)| document))?;
        }
        if starts.len() <= 1 {
            return Ok(Order::Listed(sorted));
        }
        let mut order = Column::new(room)?;
        let head = |at: usize| {
            let document = sorted[at];
            Reverse(Head { key: self.get(document), document, at, largest })
        };
        let mut heads: BinaryHeap<Reverse<Head>> = starts.iter().map(|&at| head(at)).collect();
        while let Some(Reverse(Head { document, at, .. })) = heads.pop() {
            order.push(document)?;
            if order.len() % 1024 == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
            if at + 1 < sorted.len() && !(at + 1).is_multiple_of(RUN) {
                heads.push(head(at + 1));
            }
        }
        Ok(Order::Listed(order))
    }
}

/// The first document of the rest of a run.
struct Head {
    key: Key,
    document: u32,
    at: usize,
    largest: bool,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.before(&other.key, self.largest).then(self.document.cmp(&other.document))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::order;

    /// More documents than are sorted at once.
    #[test]
    fn the_order_is_that_of_all_keys_sorted_together() {
        let numbers =
            (0..3 * RUN as u64 + 5).map(|number| number.wrapping_mul(0x9E37_79B9) % 1_000);
        let keys: Vec<Key> = numbers
            .map(|number| match number % 5 {
                0 => Key::Missing,
                1 => Key::Text(number.to_string().into()),
                2 => Key::number(&format!("90071992547409{number}")),
                _ => Key::Number(number as f64 - 500.0),
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let keeps = [true, false].map(|largest| Keep::Field { path: "date".into(), largest });
        for room in [Room::default(), Room::bounded(0, folder.path()).unwrap()] {
            let mut columns = Keys::new(&room).unwrap();
            for key in &keys {
                columns.push(key).unwrap();
            }
            for keep in keeps.iter().chain([&Keep::First, &Keep::Last, &Keep::Longest]) {
                let cancel = AtomicBool::new(false);
                let got = columns.order(keep, keys.len() as u32, &room, &cancel).unwrap();
                let expected = order(keep, &keys, keys.len() as u32);
                assert!(got.iter().eq(expected), "{keep:?}");
                let places = Places::new(&got, &room).unwrap();
                assert!(
                    (0..).zip(got.iter()).all(|(place, document)| places.of(document) == place)
                );
            }
        }
    }
}
