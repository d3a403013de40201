//! Ids, who is alive, and the signatures where they are kept.
//!
//! Ids are 64 bits and never reused; the table holds their low 32 bits. Entries of dead documents stay in the table until a
//! sweep, so ids are counted from the oldest that an entry may still name ([`Documents::swept`]), and no two of them share
//! their low bits. A chunk is freed when its last document dies.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::IndexError;

/// Ids per chunk; with 128 hashes its signatures take half a megabyte.
pub(super) const CHUNK: usize = 1024;

/// Words of a chunk's bits.
const WORDS: usize = CHUNK / 64;

/// Fewer dead documents are not worth a sweep.
const LEAST_DEAD: u64 = 4096;

#[derive(Debug, Clone)]
struct Chunk {
    alive: [u64; WORDS],
    live: u32,
    signatures: Arc<[u32]>,
}

/// Clones share the signatures, those of the chunk being filled until one of them changes.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    chunks: VecDeque<Option<Chunk>>,
    /// Those that are not freed.
    kept: usize,
    /// Id of the first chunk's first document.
    base: u64,
    next: u64,
    live: u64,
    /// Deleted since the last sweep.
    dead: u64,
    /// Positions kept per document; 0: none.
    hashes: usize,
}

impl Documents {
    /// No documents; the first id begins a chunk.
    pub(super) fn starting_at(first: u64, hashes: usize) -> Result<Self, IndexError> {
        if !first.is_multiple_of(CHUNK as u64) || first > u64::MAX >> 1 {
            return Err(IndexError::Full { oldest: first });
        }
        let chunks = VecDeque::new();
        Ok(Self { chunks, kept: 0, base: first, next: first, live: 0, dead: 0, hashes })
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The oldest id that an entry of the table may name.
    pub(super) fn oldest(&self) -> u64 {
        self.base
    }

    pub(super) fn live(&self) -> u64 {
        self.live
    }

    pub(super) fn dead(&self) -> u64 {
        self.dead
    }

    /// Whether so many more ids fit.
    pub(super) fn check_room(&self, more: u64) -> Result<(), IndexError> {
        if self.next - self.base + more >= u64::from(u32::MAX) {
            return Err(IndexError::Full { oldest: self.base });
        }
        Ok(())
    }

    /// How many ids a short one comes after the oldest: the order of age.
    pub(super) fn age(&self, short: u32) -> u32 {
        short.wrapping_sub(self.base as u32)
    }

    /// The full id of one that comes so many after the oldest.
    pub(super) fn id(&self, age: u32) -> u64 {
        self.base + u64::from(age)
    }

    /// The full id of a short one.
    pub(super) fn full(&self, short: u32) -> u64 {
        self.id(self.age(short))
    }

    fn find(&self, age: u64) -> Option<(&Chunk, usize)> {
        let at = age as usize;
        Some((self.chunks.get(at / CHUNK)?.as_ref()?, at % CHUNK))
    }

    pub(super) fn is_alive(&self, short: u32) -> bool {
        let found = self.find(u64::from(self.age(short)));
        found.is_some_and(|(chunk, at)| chunk.alive[at / 64] >> (at % 64) & 1 == 1)
    }

    pub(super) fn has(&self, id: u64) -> bool {
        (self.base..self.next).contains(&id) && self.is_alive(id as u32)
    }

    /// The signature of a document that is alive, as long as signatures are kept.
    pub(super) fn signature(&self, short: u32) -> &[u32] {
        let found = self.find(u64::from(self.age(short)));
        found.map_or(&[], |(chunk, at)| &chunk.signatures[at * self.hashes..][..self.hashes])
    }

    /// A new document; an empty signature is kept as zeros, which nothing reads.
    pub(super) fn push(&mut self, signature: &[u32]) -> u64 {
        let (id, at) = (self.next, (self.next % CHUNK as u64) as usize);
        if at == 0 {
            let signatures = vec![0; CHUNK * self.hashes].into();
            self.kept += 1;
            self.chunks.push_back(Some(Chunk { alive: [0; WORDS], live: 0, signatures }));
        }
        if let Some(Some(chunk)) = self.chunks.back_mut() {
            chunk.alive[at / 64] |= 1 << (at % 64);
            chunk.live += 1;
            if !signature.is_empty() {
                Arc::make_mut(&mut chunk.signatures)[at * self.hashes..][..self.hashes]
                    .copy_from_slice(&signature[..self.hashes]);
            }
        }
        self.next += 1;
        self.live += 1;
        id
    }

    /// Takes an id away; false if it was not alive.
    pub(super) fn delete(&mut self, id: u64) -> bool {
        if !self.has(id) {
            return false;
        }
        let at = (id - self.base) as usize;
        // The chunk being filled stays.
        let full = (at / CHUNK + 1) * CHUNK <= (self.next - self.base) as usize;
        if let Some(slot) = self.chunks.get_mut(at / CHUNK)
            && let Some(chunk) = slot
        {
            chunk.alive[at % CHUNK / 64] &= !(1 << (at % 64));
            chunk.live -= 1;
            if chunk.live == 0 && full {
                *slot = None;
                self.kept -= 1;
            }
        }
        self.live -= 1;
        self.dead += 1;
        true
    }

    /// Whether so much is dead that sweeping the table is worth it: a fifth, so that a deletion costs a look at five
    /// documents' entries.
    pub(super) fn should_sweep(&self) -> bool {
        self.dead > LEAST_DEAD.max(self.live / 4)
    }

    /// The table names living documents only.
    pub(super) fn swept(&mut self) {
        self.dead = 0;
        while self.chunks.front().is_some_and(|chunk| match chunk {
            None => true,
            Some(chunk) => chunk.live == 0 && self.base + CHUNK as u64 <= self.next,
        }) {
            self.kept -= usize::from(self.chunks.pop_front().flatten().is_some());
            self.base += CHUNK as u64;
        }
    }

    /// Of each chunk from the oldest on: which documents are alive, and their signatures in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = ([u64; WORDS], Vec<&[u32]>)> {
        self.chunks.iter().map(|chunk| {
            let Some(chunk) = chunk else { return ([0; WORDS], Vec::new()) };
            let rows = (0..CHUNK).filter(|at| chunk.alive[at / 64] >> (at % 64) & 1 == 1);
            let kept = rows.map(|at| &chunk.signatures[at * self.hashes..][..self.hashes]);
            (chunk.alive, if self.hashes == 0 { Vec::new() } else { kept.collect() })
        })
    }

    /// The next chunk of a saved index, `count` ids long; false if more are said to be alive than there are ids or signatures.
    pub(super) fn restore(&mut self, count: usize, alive: [u64; WORDS], rows: &[u32]) -> bool {
        let live: u32 = alive.iter().map(|word| word.count_ones()).sum();
        let beyond = (count..CHUNK).any(|at| alive[at / 64] >> (at % 64) & 1 == 1);
        if beyond || rows.len() != live as usize * self.hashes {
            return false;
        }
        let mut signatures = vec![0; CHUNK * self.hashes];
        let places = (0..CHUNK).filter(|at| alive[at / 64] >> (at % 64) & 1 == 1);
        if self.hashes > 0 {
            for (at, row) in places.zip(rows.chunks_exact(self.hashes)) {
                signatures[at * self.hashes..][..self.hashes].copy_from_slice(row);
            }
        }
        let needed = live > 0 || count < CHUNK;
        let chunk = Chunk { alive, live, signatures: signatures.into() };
        self.kept += usize::from(needed);
        self.chunks.push_back(needed.then_some(chunk));
        self.next += count as u64;
        self.live += u64::from(live);
        true
    }

    /// As if so many more chunks had been filled, and their documents had left and been swept out.
    #[cfg(test)]
    pub(super) fn skip(&mut self, chunks: usize) {
        self.chunks.extend(std::iter::repeat_with(|| None).take(chunks));
        self.next += (chunks * CHUNK) as u64;
    }

    /// Bytes of ids and of signatures.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let listed = self.chunks.capacity() * size_of::<Option<Chunk>>();
        (listed, self.kept * CHUNK * self.hashes * 4)
    }
}
