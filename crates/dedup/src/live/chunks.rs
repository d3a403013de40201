//! What is kept by ids that ascend, in chunks of neighbouring ones.
//!
//! Documents leave without telling: an index with a window takes away what is old. So the chunks are looked through in
//! turn, some with every so many changes, and written anew without what has left. The cost of a look is spread over the
//! changes that brought it about.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of what counts who shares a chunk, and of the way to it.
const SHARED: usize = 24;

/// What is kept of neighbouring ids.
pub(super) trait Chunk: Clone + Default {
    /// How many ids: looking through them is short.
    const IDS: u64;

    /// Where in its chunk an id is.
    fn place(id: u64) -> usize {
        (id % Self::IDS) as usize
    }

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Whether nothing is kept of any of its ids any more.
    fn is_empty(&self) -> bool;

    /// No further id comes to it.
    fn end(&mut self) {}
}

/// Chunks of ids that ascend. Clones share them until one of them changes.
#[derive(Debug, Clone)]
pub(super) struct Chunks<C> {
    all: VecDeque<Arc<C>>,
    /// Number of the first chunk: its ids begin at `first * C::IDS`.
    first: u64,
    /// Number of the chunk to look through next.
    next: u64,
    /// Bytes of all chunks.
    held: usize,
}

impl<C> Default for Chunks<C> {
    fn default() -> Self {
        Self { all: VecDeque::new(), first: 0, next: 0, held: 0 }
    }
}

impl<C: Chunk> Chunks<C> {
    /// How many there are: so many looks see everything.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn at(&self, id: u64) -> Option<usize> {
        usize::try_from((id / C::IDS).checked_sub(self.first)?).ok()
    }

    /// The chunk of an id.
    pub(super) fn get(&self, id: u64) -> Option<&C> {
        self.all.get(self.at(id)?).map(|chunk| &**chunk)
    }

    /// The first id of each chunk, and the chunk.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &C)> {
        (self.first..).zip(&self.all).map(|(number, chunk)| (number * C::IDS, &**chunk))
    }

    fn change_at(&mut self, at: usize, change: impl FnOnce(&mut C)) {
        let Some(chunk) = self.all.get_mut(at) else { return };
        // Before it is copied for being shared: a copy has no spare capacity.
        let before = chunk.bytes();
        let chunk = Arc::make_mut(chunk);
        change(chunk);
        self.held = self.held - before + chunk.bytes();
    }

    /// Changes the chunk of an id.
    pub(super) fn change(&mut self, id: u64, change: impl FnOnce(&mut C)) {
        if let Some(at) = self.at(id) {
            self.change_at(at, change);
        }
    }

    /// Changes the chunk of an id larger than all before.
    pub(super) fn push(&mut self, id: u64, change: impl FnOnce(&mut C)) {
        let number = id / C::IDS;
        if self.all.is_empty() {
            self.first = number;
        }
        while self.first + self.all.len() as u64 <= number {
            if let Some(last) = self.all.len().checked_sub(1) {
                self.change_at(last, C::end);
            }
            let chunk = C::default();
            self.held += chunk.bytes() + SHARED;
            self.all.push_back(Arc::new(chunk));
        }
        self.change_at(self.all.len() - 1, change);
    }

    /// Looks through the next chunk that is full: `look` gets its first id and the chunk, and gives the chunk that takes its place,
    /// if one does. True: one did.
    pub(super) fn look(&mut self, look: impl FnOnce(u64, &C) -> Option<C>) -> bool {
        let full = self.all.len().saturating_sub(1) as u64;
        if full == 0 {
            return false;
        }
        let is_full = (self.first..self.first + full).contains(&self.next);
        let number = if is_full { self.next } else { self.first };
        self.next = number + 1;
        let Some(chunk) = self.all.get_mut((number - self.first) as usize) else { return false };
        let left = look(number * C::IDS, chunk);
        let is_new = left.is_some();
        if let Some(left) = left {
            self.held = self.held - chunk.bytes() + left.bytes();
            *chunk = Arc::new(left);
        }
        while self.all.len() > 1 && self.all.front().is_some_and(|chunk| chunk.is_empty()) {
            self.held -= self.all.pop_front().map_or(0, |chunk| chunk.bytes() + SHARED);
            self.first += 1;
        }
        is_new
    }

    /// Gives the room for more chunks back.
    pub(super) fn shrink(&mut self) {
        self.all.shrink_to_fit();
    }

    /// Bytes held. O(1).
    pub(super) fn bytes(&self) -> usize {
        let spare = self.all.capacity() - self.all.len();
        self.held + spare * size_of::<Arc<C>>()
    }

    /// Whether the bytes of all chunks, counted, are those that are told.
    #[cfg(test)]
    pub(super) fn is_counted(&self) -> bool {
        self.held == self.all.iter().map(|chunk| chunk.bytes() + SHARED).sum::<usize>()
    }
}
