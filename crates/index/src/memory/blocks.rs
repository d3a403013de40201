//! Blocks of one size that never move: taken when needed, given back, and let go when a piece of them is free.
//!
//! Records and overflow lines grow a little at a time and are read at random, so they want huge pages without asking
//! for one each. The first blocks come in small pieces, until they would fill a huge page; from then on a piece is as
//! many blocks as fit one. Clones share a piece until it changes.

use super::{CowArc, Words};

/// Blocks of `SIZE` words: `SMALL` in each of the first pieces, `LARGE`, a multiple of it, in the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks<const SIZE: usize, const SMALL: usize, const LARGE: usize> {
    pieces: Vec<Piece>,
    /// No piece before this one has room.
    roomy: usize,
    /// Words of all pieces.
    words: usize,
}

#[derive(Debug, Clone)]
struct Piece {
    words: CowArc<Words>,
    /// Place after the one last given back, 0 for none: the first word of a block that nobody has says the next.
    given: u32,
    /// First place that was never taken.
    fresh: u32,
    used: usize,
}

impl Piece {
    fn empty() -> Self {
        Self { words: CowArc::new(Words::zeroed(0)), given: 0, fresh: 0, used: 0 }
    }
}

impl<const SIZE: usize, const SMALL: usize, const LARGE: usize> Blocks<SIZE, SMALL, LARGE> {
    /// Pieces of the smaller kind.
    const FIRST: usize = LARGE / SMALL;

    /// Piece of a block and its place there.
    #[inline]
    fn place(block: usize) -> (usize, usize) {
        if block < LARGE {
            (block / SMALL, block % SMALL)
        } else {
            (Self::FIRST - 1 + block / LARGE, block % LARGE)
        }
    }

    /// Blocks of a piece, and the number of its first.
    fn extent(piece: usize) -> (usize, usize) {
        match piece.checked_sub(Self::FIRST) {
            None => (SMALL, piece * SMALL),
            Some(later) => (LARGE, (later + 1) * LARGE),
        }
    }

    /// A block of zeros.
    pub(crate) fn take(&mut self) -> usize {
        loop {
            let (count, first) = Self::extent(self.roomy);
            if self.roomy == self.pieces.len() {
                self.pieces.push(Piece::empty());
            }
            let piece = &mut self.pieces[self.roomy];
            if piece.words.is_empty() {
                piece.words = CowArc::new(Words::zeroed(count * SIZE));
                self.words += count * SIZE;
            }
            if let Some(at) = piece.given.checked_sub(1) {
                let at = at as usize;
                let block = &mut piece.words.make_mut()[at * SIZE..(at + 1) * SIZE];
                piece.given = block[0] as u32;
                piece.used += 1;
                block.fill(0);
                return first + at;
            }
            if (piece.fresh as usize) < count {
                piece.fresh += 1;
                piece.used += 1;
                return first + piece.fresh as usize - 1;
            }
            self.roomy += 1;
        }
    }

    /// Gives a block back.
    pub(crate) fn give(&mut self, block: usize) {
        let (number, at) = Self::place(block);
        let piece = &mut self.pieces[number];
        piece.used -= 1;
        if piece.used == 0 {
            self.words -= piece.words.len();
            *piece = Piece::empty();
        } else {
            piece.words.make_mut()[at * SIZE] = u64::from(piece.given);
            piece.given = at as u32 + 1;
        }
        self.roomy = self.roomy.min(number);
    }

    #[inline]
    pub(crate) fn block(&self, block: usize) -> &[u64] {
        let (piece, at) = Self::place(block);
        &self.pieces[piece].words[at * SIZE..(at + 1) * SIZE]
    }

    #[inline]
    pub(crate) fn block_mut(&mut self, block: usize) -> &mut [u64] {
        let (piece, at) = Self::place(block);
        &mut self.pieces[piece].words.make_mut()[at * SIZE..(at + 1) * SIZE]
    }

    /// Bytes reserved: at most a piece more than is in use, and pieces that some block keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.words * 8 + self.pieces.capacity() * size_of::<Piece>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_are_distinct_zeroed_and_keep_what_is_written() {
        let mut blocks: Blocks<3, 2, 8> = Blocks::default();
        let mut taken = BTreeSet::new();
        let mut state = 1u64;
        for round in 0..if cfg!(miri) { 3000 } else { 20_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // Grows to some hundreds, shrinks to none, and again.
            let grow = (round / 1000_u64).is_multiple_of(2);
            let held: usize = blocks.pieces.iter().map(|piece| piece.words.len()).sum();
            assert_eq!(blocks.words, held);
            if (state >> 33).is_multiple_of(4) == grow
                && let Some(&block) = taken.iter().nth((state >> 40) as usize % taken.len().max(1))
            {
                assert_eq!(blocks.block(block), [block as u64; 3]);
                blocks.give(block);
                taken.remove(&block);
            } else {
                let block = blocks.take();
                assert_eq!(blocks.block(block), [0; 3]);
                blocks.block_mut(block).fill(block as u64);
                assert!(taken.insert(block), "{block} twice");
            }
        }
        for &block in &taken {
            assert_eq!(blocks.block(block), [block as u64; 3]);
            blocks.give(block);
        }
        assert!(blocks.pieces.iter().all(|piece| piece.words.is_empty() && piece.used == 0));
    }

    #[test]
    fn pieces_follow_each_other_without_gap() {
        type Small = Blocks<1, 2, 8>;
        let mut next = 0;
        for piece in 0..20 {
            let (count, first) = Small::extent(piece);
            assert_eq!(first, next);
            for at in 0..count {
                assert_eq!(Small::place(first + at), (piece, at));
            }
            next += count;
        }
    }
}
