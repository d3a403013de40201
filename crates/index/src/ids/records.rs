//! Id -> what was added under it, in chunks that are freed when none of their ids is needed.
//!
//! Ids are 64 bits and never reused. Inside, an id is its low 32 bits: all ids still needed lie within 2^32 of the
//! oldest, so the rest is known. Liveness is a bit; what was added is eight bytes (the value of a fingerprint, the number of
//! a sketch), or nothing where somebody else keeps it.

use std::collections::VecDeque;

use super::{Alive, Ids};
use crate::IndexError;
use crate::memory::{Blocks, prefetch};

/// Ids per chunk: 66 KB, so that the chunks of 50 million ids are listed in the second-level cache.
pub(crate) const CHUNK: usize = 8192;

/// Words of a bit for each id of a chunk.
pub(crate) const BITS: usize = CHUNK / 64;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Words of a chunk that keeps nothing: two bits for each id.
const BARE: usize = 2 * BITS;

/// Words of a chunk that keeps values.
const WITH_VALUES: usize = CHUNK + BARE;

/// Records that keep eight bytes for each id.
pub(crate) type Values = Records<WITH_VALUES, { HUGE / (WITH_VALUES * 8) }>;

/// Words of a chunk that keeps two values for each id.
const WITH_PAIRS: usize = 2 * CHUNK + BARE;

/// Records that keep sixteen bytes for each id.
pub(crate) type Pairs = Records<WITH_PAIRS, { HUGE / (WITH_PAIRS * 8) }>;

/// Records that keep only who is alive.
pub(crate) type Bare = Records<BARE, { HUGE / (BARE * 8) }>;

/// A block of values, if there are any, then a bit for each id that is alive, and one for each that has no value.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    block: u32,
    /// Ids that something still refers to.
    held: u32,
}

fn bit(words: &[u64], set: usize, at: usize) -> bool {
    words[set + at / 64] >> (at % 64) & 1 == 1
}

/// See [`Values`] and [`Bare`]: a chunk has `WORDS` words, a huge page `PAGE` of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records<const WORDS: usize, const PAGE: usize> {
    blocks: Blocks<WORDS, 1, PAGE>,
    chunks: VecDeque<Option<Chunk>>,
    /// Id of the first chunk's first record.
    base: u64,
    next: u64,
    live: u64,
}

impl<const WORDS: usize, const PAGE: usize> Records<WORDS, PAGE> {
    /// First words of the two bit sets behind the values.
    const ALIVE: usize = WORDS - BARE;
    const OTHER: usize = WORDS - BITS;

    /// No records yet; the first id begins a chunk, as the oldest always does.
    pub(crate) fn starting_at(first: u64) -> Result<Self, IndexError> {
        if !first.is_multiple_of(CHUNK as u64) || first > u64::MAX >> 1 {
            return Err(IndexError::Full { oldest: first });
        }
        Ok(Self { base: first, next: first, ..Self::default() })
    }

    fn place(&self, short: u32) -> (usize, usize) {
        let offset = short.wrapping_sub(self.base as u32) as usize;
        (offset / CHUNK, offset % CHUNK)
    }

    #[inline]
    fn words(&self, short: u32) -> Option<(&[u64], usize)> {
        let (chunk, at) = self.place(short);
        let chunk = (*self.chunks.get(chunk)?)?;
        Some((self.blocks.block(chunk.block as usize), at))
    }

    /// Numbers a new record; it is alive and held. `other` marks what is not a fingerprint.
    pub(crate) fn push(&mut self, value: u64, other: bool) -> u32 {
        let at = (self.next % CHUNK as u64) as usize;
        if at == 0 || self.chunks.is_empty() {
            let block = self.blocks.take() as u32;
            self.chunks.push_back(Some(Chunk { block, held: 0 }));
        }
        if let Some(Some(chunk)) = self.chunks.back_mut() {
            let words = self.blocks.block_mut(chunk.block as usize);
            if Self::ALIVE > 0 {
                words[at] = value;
            }
            words[Self::ALIVE + at / 64] |= 1 << (at % 64);
            words[Self::OTHER + at / 64] |= (other as u64) << (at % 64);
            chunk.held += 1;
        }
        let short = self.next as u32;
        self.next += 1;
        self.live += 1;
        short
    }

    #[inline]
    pub(crate) fn value(&self, short: u32) -> u64 {
        self.get(short).unwrap_or(0)
    }

    /// The value of an id that is still kept here.
    #[inline]
    pub(crate) fn get(&self, short: u32) -> Option<u64> {
        self.words(short).map(|(words, at)| words[at])
    }

    /// Whether an id that is still kept here is alive.
    #[inline]
    pub(crate) fn life(&self, short: u32) -> Option<bool> {
        self.words(short).map(|(words, at)| bit(words, Self::ALIVE, at))
    }

    /// The values of the chunk of this id, a bit for each that is alive, and one for each that has no value; none: the chunk
    /// is gone.
    pub(crate) fn chunk(&self, id: u64) -> Option<(&[u64], &[u64], &[u64])> {
        let (words, _) = self.words(id as u32)?;
        let (values, bits) = words.split_at(Self::ALIVE);
        let (alive, other) = bits.split_at(BITS);
        Some((values, alive, other))
    }

    /// Numbers a whole chunk of ids at once, behind whole chunks: those of these bits are alive and held, and of `other` have no
    /// value here.
    pub(crate) fn push_chunk(&mut self, alive: &[u64], other: &[u64]) {
        let held = alive.iter().map(|word| word.count_ones()).sum::<u32>();
        let chunk = (held > 0).then(|| {
            let block = self.blocks.take();
            let words = self.blocks.block_mut(block);
            words[Self::ALIVE..Self::OTHER].copy_from_slice(alive);
            words[Self::OTHER..].copy_from_slice(other);
            Chunk { block: block as u32, held }
        });
        self.chunks.push_back(chunk);
        self.next += CHUNK as u64;
        self.live += u64::from(held);
    }

    /// A new record of two values, see [`Records::push`].
    pub(crate) fn push_pair(&mut self, pair: u128, other: bool) -> u32 {
        let short = self.push(pair as u64, other);
        let (number, at) = self.place(short);
        if let Some(Some(chunk)) = self.chunks.get(number) {
            self.blocks.block_mut(chunk.block as usize)[CHUNK + at] = (pair >> 64) as u64;
        }
        short
    }

    /// Both values of an id, where there are two.
    pub(crate) fn pair(&self, short: u32) -> u128 {
        let words = self.words(short);
        words.map_or(0, |(words, at)| u128::from(words[CHUNK + at]) << 64 | u128::from(words[at]))
    }

    /// Asks for the value of an id.
    pub(crate) fn prefetch_value(&self, short: u32) {
        if let Some((words, at)) = self.words(short) {
            prefetch(words, at);
        }
    }

    /// Asks for the value of an id and whether it is alive.
    pub(crate) fn prefetch(&self, short: u32) {
        if let Some((words, at)) = self.words(short) {
            prefetch(words, at);
            prefetch(words, Self::ALIVE + at / 64);
        }
    }

    pub(crate) fn is_other(&self, short: u32) -> bool {
        self.words(short).is_some_and(|(words, at)| bit(words, Self::OTHER, at))
    }

    pub(crate) fn kill(&mut self, short: u32) {
        let (chunk, at) = self.place(short);
        if let Some(Some(chunk)) = self.chunks.get(chunk) {
            let words = self.blocks.block_mut(chunk.block as usize);
            words[Self::ALIVE + at / 64] &= !(1 << (at % 64));
            self.live -= 1;
        }
    }

    /// Nothing refers to this id any more.
    pub(crate) fn release(&mut self, short: u32) {
        let (number, _) = self.place(short);
        // The chunk being filled stays.
        let filling = number + 1 == self.chunks.len() && !self.next.is_multiple_of(CHUNK as u64);
        if let Some(slot) = self.chunks.get_mut(number)
            && let Some(chunk) = slot
        {
            chunk.held -= 1;
            if chunk.held == 0 && !filling {
                self.blocks.give(chunk.block as usize);
                *slot = None;
            }
        }
        while self.chunks.len() > 1 && self.is_spent() {
            if let Some(Some(chunk)) = self.chunks.pop_front() {
                self.blocks.give(chunk.block as usize);
            }
            self.base += CHUNK as u64;
        }
    }

    /// Whether the oldest chunk is of no use: freed, or full and released while it was being filled.
    fn is_spent(&self) -> bool {
        self.chunks.front().is_some_and(|chunk| chunk.as_ref().is_none_or(|chunk| chunk.held == 0))
    }

    /// As if so many more chunks of ids had been used and released.
    #[cfg(test)]
    pub(crate) fn skip(&mut self, chunks: usize) {
        self.chunks.extend(std::iter::repeat_n(None, chunks));
        self.next = (self.next.div_ceil(CHUNK as u64) + chunks as u64) * CHUNK as u64;
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.bytes() + self.chunks.capacity() * size_of::<Option<Chunk>>()
    }
}

impl<const WORDS: usize, const PAGE: usize> Ids for Records<WORDS, PAGE> {
    fn next(&self) -> u64 {
        self.next
    }

    fn oldest(&self) -> u64 {
        self.base
    }

    fn live(&self) -> u64 {
        self.live
    }

    fn alive(&self) -> Alive {
        let mut words = Vec::with_capacity(self.chunks.len() * BITS);
        for chunk in &self.chunks {
            match chunk {
                Some(chunk) => {
                    let block = self.blocks.block(chunk.block as usize);
                    words.extend_from_slice(&block[Self::ALIVE..Self::ALIVE + BITS]);
                }
                None => words.resize(words.len() + BITS, 0),
            }
        }
        Alive { first: self.base, words }
    }

    #[inline]
    fn is_alive(&self, short: u32) -> bool {
        self.words(short).is_some_and(|(words, at)| bit(words, Self::ALIVE, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few chunks under Miri.
    const COUNT: u64 = if cfg!(miri) { 9000 } else { 100_000 };

    #[test]
    fn released_chunks_are_freed_and_ids_stay() {
        let mut records = Values::default();
        for round in 0..COUNT {
            let short = records.push(round * 3, false);
            assert_eq!(records.id(short), round);
            assert_eq!(records.value(short), round * 3);
            if round >= 100 {
                let old = records.short(round - 100).unwrap();
                assert!(records.is_alive(old));
                records.kill(old);
                assert!(!records.is_alive(old));
                records.release(old);
            }
        }
        assert!(records.chunks.len() <= 3);
        assert_eq!(records.short(3), None);
        assert_eq!(records.next(), COUNT);
    }

    #[test]
    fn short_ids_wrap_around() {
        let base = (3 << 32) - 8192;
        let mut records = Records { base, next: base, ..Values::default() };
        let shorts: Vec<u32> = (0..20_000).map(|value| records.push(value, false)).collect();
        for (offset, &short) in shorts.iter().enumerate() {
            assert_eq!(records.id(short), base + offset as u64);
            assert_eq!(records.value(short), offset as u64);
        }
        assert!(records.check_room(u64::from(u32::MAX) - 20_001).is_ok());
        assert_eq!(
            records.check_room(u64::from(u32::MAX) - 20_000),
            Err(IndexError::Full { oldest: base })
        );
    }
}
