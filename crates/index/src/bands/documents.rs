//! Ids, who is alive, and the signatures where they are kept.
//!
//! The table holds the low 32 bits of ids. Entries of dead documents stay there until a sweep, so their ids are held until
//! then ([`Documents::swept`]), and no two ids that an entry may name share their low bits. The signatures of a chunk are freed
//! when its last document dies.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::IndexError;
use crate::ids::Ids;
use crate::ids::records::{self, Bare};

/// Ids per chunk; with 128 hashes its signatures take half a megabyte.
pub(super) const CHUNK: usize = 1024;

/// Words of a chunk's bits.
const WORDS: usize = CHUNK / 64;

/// Fewer dead documents are not worth a sweep.
const LEAST_DEAD: usize = 4096;

/// Signatures of the documents of a chunk, in order; those of dead ones are what they were.
#[derive(Debug, Clone)]
struct Chunk {
    live: u32,
    signatures: Arc<[u32]>,
}

/// Clones share the signatures, those of the chunk being filled until one of them changes.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    ids: Bare,
    /// Deleted since the last sweep began.
    died: Vec<u32>,
    /// From the one of the oldest id on; empty where no signatures are kept.
    chunks: VecDeque<Option<Chunk>>,
    /// Those that are not freed.
    kept: usize,
    /// Id of the first chunk's first document.
    base: u64,
    /// Positions kept per document; 0: none.
    hashes: usize,
}

impl Documents {
    /// No documents; the first id begins a chunk.
    pub(super) fn starting_at(first: u64, hashes: usize) -> Result<Self, IndexError> {
        if !first.is_multiple_of(CHUNK as u64) {
            return Err(IndexError::Full { oldest: first });
        }
        // Records come in larger chunks: the ids before the first are as if they had left.
        let before = first % records::CHUNK as u64;
        let mut ids = Bare::starting_at(first - before)?;
        for _ in 0..before {
            let short = ids.push(0, false);
            ids.kill(short);
            ids.release(short);
        }
        Ok(Self { ids, died: Vec::new(), chunks: VecDeque::new(), kept: 0, base: first, hashes })
    }

    /// The ids themselves.
    pub(super) fn ids(&self) -> &Bare {
        &self.ids
    }

    pub(super) fn dead(&self) -> usize {
        self.died.len()
    }

    /// How many ids a short one comes after the oldest: the order of age.
    pub(super) fn age(&self, short: u32) -> u32 {
        short.wrapping_sub(self.ids.oldest() as u32)
    }

    /// The full id of one that comes so many after the oldest.
    pub(super) fn id(&self, age: u32) -> u64 {
        self.ids.oldest() + u64::from(age)
    }

    fn place(&self, id: u64) -> (usize, usize) {
        let at = (id - self.base) as usize;
        (at / CHUNK, at % CHUNK)
    }

    /// The signature of a document that is alive, as long as signatures are kept.
    pub(super) fn signature(&self, id: u64) -> &[u32] {
        let (chunk, at) = self.place(id);
        let chunk = self.chunks.get(chunk).and_then(Option::as_ref);
        chunk.map_or(&[], |chunk| &chunk.signatures[at * self.hashes..][..self.hashes])
    }

    /// A new document; an empty signature is kept as zeros, which nothing reads.
    pub(super) fn push(&mut self, signature: &[u32]) -> u64 {
        let short = self.ids.push(0, false);
        let id = self.ids.id(short);
        if self.hashes == 0 {
            return id;
        }
        let (number, at) = self.place(id);
        if number == self.chunks.len() {
            // All of it may have left while it was being filled.
            if let Some(last) = number.checked_sub(1) {
                self.free_if_dead(last);
            }
            let signatures = vec![0; CHUNK * self.hashes].into();
            self.kept += 1;
            self.chunks.push_back(Some(Chunk { live: 0, signatures }));
        }
        if let Some(Some(chunk)) = self.chunks.back_mut() {
            chunk.live += 1;
            if !signature.is_empty() {
                Arc::make_mut(&mut chunk.signatures)[at * self.hashes..][..self.hashes]
                    .copy_from_slice(&signature[..self.hashes]);
            }
        }
        id
    }

    /// Takes a live id away.
    pub(super) fn delete(&mut self, id: u64) {
        self.ids.kill(id as u32);
        self.died.push(id as u32);
        if self.hashes == 0 {
            return;
        }
        let (number, _) = self.place(id);
        // The chunk being filled stays.
        let full = self.base + (number as u64 + 1) * CHUNK as u64 <= self.ids.next();
        if let Some(Some(chunk)) = self.chunks.get_mut(number) {
            chunk.live -= 1;
        }
        if full {
            self.free_if_dead(number);
        }
    }

    /// Frees the signatures of a full chunk if none of its documents is alive.
    fn free_if_dead(&mut self, number: usize) {
        if let Some(slot) = self.chunks.get_mut(number)
            && slot.take_if(|chunk| chunk.live == 0).is_some()
        {
            self.kept -= 1;
        }
        while self.chunks.front().is_some_and(Option::is_none) {
            self.chunks.pop_front();
            self.base += CHUNK as u64;
        }
    }

    /// Whether so much is dead that sweeping the table is worth it: a fifth, so that a deletion costs a look at five
    /// documents' entries. What dies while it is swept is within that.
    pub(super) fn should_sweep(&self) -> bool {
        self.died.len() > LEAST_DEAD.max(self.ids.live() as usize / 4) / 8 * 7
    }

    /// Those that have left since this was asked last.
    pub(super) fn take_died(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.died)
    }

    /// The table no longer names these.
    pub(super) fn swept(&mut self, died: Vec<u32>) {
        for short in died {
            self.ids.release(short);
        }
    }

    /// Of each chunk from the oldest on: which documents are alive, and their signatures in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = ([u64; WORDS], Vec<&[u32]>)> {
        let (first, next) = (self.ids.oldest(), self.ids.next());
        (first..next).step_by(CHUNK).map(move |from| {
            let (mut alive, mut rows) = ([0; WORDS], Vec::new());
            for id in (from..next.min(from + CHUNK as u64)).filter(|&id| self.ids.has(id)) {
                let at = (id - from) as usize;
                alive[at / 64] |= 1 << (at % 64);
                if self.hashes > 0 {
                    rows.push(self.signature(id));
                }
            }
            (alive, rows)
        })
    }

    /// The next chunk of a saved index, `count` ids long; false if more are said to be alive than there are ids or signatures.
    pub(super) fn restore(&mut self, count: usize, alive: [u64; WORDS], rows: &[u32]) -> bool {
        let live: u32 = alive.iter().map(|word| word.count_ones()).sum();
        let is_alive = |at: usize| alive[at / 64] >> (at % 64) & 1 == 1;
        let beyond = (count..CHUNK).any(is_alive);
        if beyond || rows.len() != live as usize * self.hashes {
            return false;
        }
        let mut signatures = vec![0; CHUNK * self.hashes];
        let mut rows = rows.chunks_exact(self.hashes.max(1));
        for at in 0..count {
            let short = self.ids.push(0, false);
            if !is_alive(at) {
                self.ids.kill(short);
                self.ids.release(short);
            } else if let Some(row) = rows.next() {
                signatures[at * self.hashes..][..self.hashes].copy_from_slice(row);
            }
        }
        if self.hashes > 0 {
            let needed = live > 0 || count < CHUNK;
            self.kept += usize::from(needed);
            let signatures = signatures.into();
            self.chunks.push_back(needed.then_some(Chunk { live, signatures }));
        }
        true
    }

    /// As if so many more chunks of records had been filled, and their documents had left and been swept out.
    #[cfg(test)]
    pub(super) fn skip(&mut self, chunks: usize) {
        self.ids.skip(chunks);
        if self.hashes > 0 {
            let (number, _) = self.place(self.ids.next());
            self.chunks.resize(number, None);
        }
    }

    /// Bytes of ids and of signatures.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let listed = self.chunks.capacity() * size_of::<Option<Chunk>>() + self.died.capacity() * 4;
        (self.ids.bytes() + listed, self.kept * CHUNK * self.hashes * 4)
    }
}
