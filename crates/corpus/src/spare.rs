//! Memory of blocks that are done with, for blocks to come.
//!
//! A block is as long as the next one. Its memory is in the page tables of the process and in a cache of the processor, and who reads into it
//! need not clear it first.

use std::sync::{Mutex, PoisonError};

/// Most that are kept.
const KEPT: usize = 16;

/// The memory of the blocks of one input.
pub(crate) struct Spare {
    /// Bytes of a block.
    length: usize,
    all: Mutex<Vec<Vec<u8>>>,
}

impl Spare {
    /// None yet, of blocks of so many bytes.
    pub(crate) fn new(length: usize) -> Self {
        Self { length, all: Mutex::default() }
    }

    /// Memory of a block and so many bytes, whatever is in it.
    pub(crate) fn take(&self, more: usize) -> Vec<u8> {
        let length = self.length + more;
        let Some(mut bytes) = self.all.lock().unwrap_or_else(PoisonError::into_inner).pop() else {
            return vec![0; length];
        };
        if bytes.len() < length {
            // No more than that, or it would be too much for a block.
            bytes.reserve_exact(length - bytes.len());
            bytes.resize(length, 0);
        }
        bytes
    }

    /// Keeps what was taken, if it is no longer than two blocks: it may have grown for a long record.
    pub(crate) fn give_back(&self, bytes: Vec<u8>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT && (self.length..=2 * self.length).contains(&bytes.capacity()) {
            all.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Spare};

    #[test]
    fn memory_is_used_again_but_for_that_of_long_records_and_of_too_many() {
        let spare = Spare::new(100);
        let (first, long) = (spare.take(10), spare.take(300));
        assert_eq!((first.len(), long.len()), (110, 400));
        let at = first.as_ptr();
        spare.give_back(first);
        spare.give_back(long);
        let again = spare.take(0);
        assert_eq!((again.as_ptr(), again.len()), (at, 110));
        spare.give_back(again);
        let grown = spare.take(20);
        assert_eq!((grown.len(), grown.capacity()), (120, 120));
        spare.give_back(grown);
        assert_eq!(spare.take(150).len(), 250);
        (0..2 * KEPT).for_each(|_| spare.give_back(Vec::with_capacity(100)));
        assert_eq!(spare.all.lock().unwrap().len(), KEPT);
    }
}
