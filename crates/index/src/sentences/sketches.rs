//! Distinct sketches: a fixed number of sentence hashes each, in chunks that never move.
//!
//! ```text
//! word 0: lowest live id u32, group u32      word 1: id of the document that brought it
//! words 2 .. n + 2: the sentences, ascending; unused ones at the end
//! ```
//! Equal sketches are one entry whatever the number of documents that have them. Entries are numbered; a number is
//! used again once nothing refers to it.

use std::sync::Arc;

use crate::memory::Chunked;

/// Words before the sentences.
const HEAD: usize = 2;

/// Entries per chunk: 230 KB with five sentences.
const CHUNK: usize = 4096;

/// The group of an entry that is dead.
const NONE: u32 = u32::MAX;

/// Clones share the chunks until they change.
#[derive(Debug, Clone)]
pub(super) struct Sketches {
    /// Sentences per sketch, at most.
    most: usize,
    chunks: Vec<Arc<[u64]>>,
    /// Sentences of each entry.
    counts: Chunked<u8>,
    free: Vec<u32>,
    /// Entries that can be numbered.
    pub(super) limit: usize,
}

impl Sketches {
    pub(super) fn new(most: usize) -> Self {
        // A position of a sentence has 31 bits.
        let limit = i32::MAX as usize / most;
        Self { most, chunks: Vec::new(), counts: Chunked::default(), free: Vec::new(), limit }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Whether so many more entries can be numbered.
    pub(super) fn has_room(&self, more: usize) -> bool {
        (self.counts.len() - self.free.len()).saturating_add(more) <= self.limit
    }

    /// A new entry, alive.
    pub(super) fn add(&mut self, sentences: &[u64], id: u64, group: u32) -> u32 {
        let entry = self.free.pop().unwrap_or_else(|| {
            if self.counts.len().is_multiple_of(CHUNK) {
                self.chunks.push(vec![0; CHUNK * (self.most + HEAD)].into());
            }
            self.counts.push(0);
            self.counts.len() as u32 - 1
        });
        self.counts[entry as usize] = sentences.len() as u8;
        let words = self.words_mut(entry);
        words[HEAD..HEAD + sentences.len()].copy_from_slice(sentences);
        words[0] = u64::from(group) << 32 | u64::from(id as u32);
        words[1] = id;
        entry
    }

    fn span(&self, entry: u32) -> (usize, std::ops::Range<usize>) {
        let (chunk, at) = (entry as usize / CHUNK, entry as usize % CHUNK * (self.most + HEAD));
        (chunk, at..at + self.most + HEAD)
    }

    fn words(&self, entry: u32) -> &[u64] {
        let (chunk, span) = self.span(entry);
        &self.chunks[chunk][span]
    }

    fn words_mut(&mut self, entry: u32) -> &mut [u64] {
        let (chunk, span) = self.span(entry);
        &mut Arc::make_mut(&mut self.chunks[chunk])[span]
    }

    /// The sentences of an entry, ascending.
    pub(super) fn sentences(&self, entry: u32) -> &[u64] {
        &self.words(entry)[HEAD..HEAD + usize::from(self.counts[entry as usize])]
    }

    /// The sentence at a position: `most` positions to an entry.
    pub(super) fn at(&self, position: u32) -> u64 {
        let (entry, at) = (position / self.most as u32, position as usize % self.most);
        self.words(entry)[HEAD + at]
    }

    /// The lowest live id of an entry.
    pub(super) fn first(&self, entry: u32) -> u32 {
        self.words(entry)[0] as u32
    }

    /// The id of the document that brought the sketch: sketches are as old as these ids.
    pub(super) fn since(&self, entry: u32) -> u64 {
        self.words(entry)[1]
    }

    /// Numbers given so far, dead ones included.
    pub(super) fn len(&self) -> u32 {
        self.counts.len() as u32
    }

    pub(super) fn group(&self, entry: u32) -> u32 {
        (self.words(entry)[0] >> 32) as u32
    }

    pub(super) fn is_alive(&self, entry: u32) -> bool {
        self.group(entry) != NONE
    }

    pub(super) fn set_first(&mut self, entry: u32, first: u32) {
        let group = self.group(entry);
        self.words_mut(entry)[0] = u64::from(group) << 32 | u64::from(first);
    }

    pub(super) fn set_group(&mut self, entry: u32, group: u32) {
        let first = self.first(entry);
        self.words_mut(entry)[0] = u64::from(group) << 32 | u64::from(first);
    }

    /// From now on the entry is dead; its number and sentences stay until `release`.
    pub(super) fn kill(&mut self, entry: u32) {
        self.set_group(entry, NONE);
    }

    /// Nothing refers to a dead entry any more.
    pub(super) fn release(&mut self, entry: u32) {
        self.free.push(entry);
    }

    /// Gives the memory back behind the last number that is in use.
    pub(super) fn compact(&mut self) {
        self.free.sort_unstable();
        while self.free.last().is_some_and(|&free| free as usize + 1 == self.counts.len()) {
            self.free.pop();
            self.counts.pop();
        }
        self.chunks.truncate(self.counts.len().div_ceil(CHUNK));
        self.counts.shrink();
        self.free.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK * (self.most + HEAD) * 8
            + self.chunks.capacity() * size_of::<Arc<[u64]>>()
            + self.counts.bytes()
            + self.free.capacity() * 4
    }
}
