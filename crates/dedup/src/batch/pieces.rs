//! Parts of entries by the first bits of their keys, and pieces of parts that are too large to be looked at as a whole.

use simhash_store::{Parts, Room};

/// Bytes of pieces that are looked at before what is found in them is put away.
const WAVE: usize = 1 << 24;
/// The share of memory for them.
const SHARE: u64 = 128;

/// Entries of a part whose keys go on with these bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) part: usize,
    bits: u32,
    number: u64,
    /// About.
    pub(super) bytes: usize,
}

impl Piece {
    /// The pieces of all parts, of this many bytes each, about.
    pub(super) fn all(parts: &Parts, most: usize) -> impl Iterator<Item = Self> {
        (0..parts.len()).flat_map(move |part| {
            let bytes = parts.bytes_of(part);
            let bits = bytes.div_ceil(most).next_power_of_two().ilog2();
            (0..1 << bits).map(move |number| Self { part, bits, number, bytes: bytes >> bits })
        })
    }

    /// The same, so many together as are looked at before what is found in them is put away.
    pub(super) fn waves(
        parts: &Parts,
        most: usize,
        room: &Room,
    ) -> impl Iterator<Item = Vec<Self>> {
        let wave = room.most().map_or(WAVE, |bound| WAVE.min((bound / SHARE) as usize).max(most));
        let mut pieces = Self::all(parts, most).peekable();
        std::iter::from_fn(move || {
            let (mut bytes, mut together) = (0, Vec::new());
            while let Some(piece) = pieces.next_if(|_| bytes < wave) {
                bytes += piece.bytes;
                together.push(piece);
            }
            (!together.is_empty()).then_some(together)
        })
    }

    /// Whether an entry of the part is in it, by the bits of the key behind those of the part, which these begin with.
    pub(super) fn has(&self, behind: u64) -> bool {
        self.bits == 0 || behind >> (u64::BITS - self.bits) == self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_in_one_piece_of_its_part() {
        let folder = tempfile::tempdir().unwrap();
        for room in [Room::default(), Room::bounded(0, folder.path()).unwrap()] {
            let mut parts = Parts::new(&room, 3).unwrap();
            for _ in 0..1_000 {
                parts.end(1, 8).unwrap().extend_from_slice(&[7; 8]);
            }
            parts.end(2, 8).unwrap().push(7);
            let pieces: Vec<Piece> = Piece::all(&parts, 1_000).collect();
            let of = |part| pieces.iter().filter(move |piece| piece.part == part);
            assert_eq!([0, 1, 2].map(|part| of(part).count()), [1, 8, 1]);
            for behind in (0..64).map(|bits| u64::MAX << bits ^ 5 << 60) {
                for part in 0..3 {
                    assert_eq!(of(part).filter(|piece| piece.has(behind)).count(), 1);
                }
            }
            let waves: Vec<Vec<Piece>> = Piece::waves(&parts, 1_000, &room).collect();
            assert_eq!(waves.iter().flatten().count(), pieces.len());
            // Without memory one piece at a time, with the empty parts before it.
            assert_eq!(waves.len(), if room.most().is_some() { 9 } else { 1 });
        }
    }
}
