//! Entries of documents that came together, by part before they have their turn: what is left to do in turn is to copy them.

use super::entries::{PARTS, split};
use super::varint;
use simhash_sketch::MethodSketch;

/// Entries of a piece, at most: a piece lies in one chunk of its part, of whose end half a piece is lost.
const PIECE: usize = 32;

/// The entries of some documents, whose numbers are counted from the first of them.
#[derive(Default)]
pub(super) struct Sheaf {
    pieces: Vec<Piece>,
    /// Of all pieces, without their first entries.
    bytes: Vec<u8>,
}

/// Entries of one part, in order.
pub(super) struct Piece {
    pub(super) part: usize,
    /// The key of the first entry as far as its part tells, and the document; the document of the last one.
    pub(super) low: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Where the bytes of the others end.
    end: usize,
}

impl Sheaf {
    /// The entries of documents under the keys of their sketches.
    pub(super) fn of(sketches: &[MethodSketch]) -> Self {
        let keys = || {
            (0..).zip(sketches).flat_map(|(document, sketch)| {
                let keys: &[u64] = match sketch {
                    MethodSketch::Signature { keys, .. } => keys,
                    _ => &[],
                };
                keys.iter().map(move |&key| (split(key), document))
            })
        };
        // By part: where its entries begin, then where they end.
        let mut ends = vec![0; PARTS];
        keys().for_each(|((part, _), _)| ends[part] += 1);
        let mut count = 0;
        for end in &mut ends {
            count += std::mem::replace(end, count);
        }
        let mut sorted = vec![(0, 0); count];
        for ((part, low), document) in keys() {
            sorted[ends[part]] = (low, document);
            ends[part] += 1;
        }
        let (mut sheaf, mut start) = (Self::default(), 0);
        for (part, end) in ends.into_iter().enumerate() {
            for entries in sorted[start..end].chunks(PIECE) {
                sheaf.push(part, entries);
            }
            start = end;
        }
        sheaf
    }

    fn push(&mut self, part: usize, entries: &[(u32, u32)]) {
        let (low, first) = entries[0];
        let mut last = first;
        for &(low, document) in &entries[1..] {
            write(low, document - last, &mut self.bytes);
            last = document;
        }
        self.pieces.push(Piece { part, low, first, last, end: self.bytes.len() });
    }

    /// The pieces, each with the bytes of its entries but for the first.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (&Piece, &[u8])> {
        let mut start = 0;
        self.pieces.iter().map(move |piece| {
            let bytes = &self.bytes[start..piece.end];
            start = piece.end;
            (piece, bytes)
        })
    }
}

/// Writes an entry: the key as far as its part tells, and how far the document is behind that of the entry before it.
#[inline]
pub(super) fn write(low: u32, behind: u32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&low.to_le_bytes());
    varint::write(behind.into(), bytes);
}
