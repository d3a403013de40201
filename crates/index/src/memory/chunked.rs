//! A list in chunks that clones share until they change.
//!
//! A clone costs a pointer for every 4,096 values; the first change of a chunk after that copies it.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Values of a chunk.
const CHUNK: usize = 4096;

/// Values by their place.
#[derive(Debug, Clone)]
pub(crate) struct Chunked<T>(Vec<Arc<Vec<T>>>);

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Chunked<T> {
    pub(crate) fn len(&self) -> usize {
        let last = self.0.last().map_or(0, |chunk| chunk.len());
        self.0.len().saturating_sub(1) * CHUNK + last
    }

    pub(crate) fn push(&mut self, value: T) {
        match self.0.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(value),
            None => self.0.push(Arc::new(vec![value])),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let chunk = self.0.last_mut()?;
        let value = Arc::make_mut(chunk).pop();
        if chunk.is_empty() {
            self.0.pop();
        }
        value
    }

    /// Gives the room back that nothing needs.
    pub(crate) fn shrink(&mut self) {
        if let Some(chunk) = self.0.last_mut() {
            Arc::make_mut(chunk).shrink_to_fit();
        }
        self.0.shrink_to_fit();
    }

    /// Bytes held, O(1).
    pub(crate) fn bytes(&self) -> usize {
        let last = self.0.last().map_or(0, |chunk| chunk.capacity());
        (self.0.len().saturating_sub(1) * CHUNK + last) * size_of::<T>()
            + self.0.capacity() * size_of::<Arc<Vec<T>>>()
    }
}

impl<T> Index<usize> for Chunked<T> {
    type Output = T;
    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.0[at / CHUNK][at % CHUNK]
    }
}

impl<T: Clone> IndexMut<usize> for Chunked<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut Arc::make_mut(&mut self.0[at / CHUNK])[at % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::Chunked;

    #[test]
    fn it_is_a_list_and_a_clone_stays_as_it_was() {
        let (mut list, mut model) = (Chunked::default(), Vec::new());
        let mut old = (list.clone(), model.clone());
        let mut state = 1u64;
        for round in 0..if cfg!(miri) { 6000_u64 } else { 60_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // Grows over several chunks, shrinks to none.
            let grows = (round / 20_000).is_multiple_of(2);
            if (state >> 33).is_multiple_of(8) == grows {
                assert_eq!(list.pop(), model.pop());
            } else {
                list.push(round);
                model.push(round);
            }
            if !model.is_empty() {
                let at = (state >> 40) as usize % model.len();
                assert_eq!(list[at], model[at]);
                (list[at], model[at]) = (round, round);
            }
            assert_eq!(list.len(), model.len());
            if round % 5000 == 77 {
                assert!((0..old.1.len()).all(|at| old.0[at] == old.1[at]));
                list.shrink();
                old = (list.clone(), model.clone());
            }
        }
    }
}
