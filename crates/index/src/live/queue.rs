//! Ids with their times, first in, first out, in blocks that clones share until they change.

use std::collections::VecDeque;

use crate::memory::CowArc;

/// Entries of a block: 48 KiB.
const BLOCK: usize = 4096;

#[derive(Debug, Clone, Default)]
struct Block {
    ids: Vec<u32>,
    times: Vec<u64>,
}

/// Entries in order. A clone costs a pointer for every 4,096 of them; the first entry after that copies the last block.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    blocks: VecDeque<CowArc<Block>>,
    /// Entries of the first block that are gone.
    gone: usize,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        let last = self.blocks.back().map_or(0, |block| block.ids.len());
        self.blocks.len().saturating_sub(1) * BLOCK + last - self.gone
    }

    pub(super) fn push(&mut self, id: u32, time: u64) {
        if self.blocks.back().is_none_or(|block| block.ids.len() == BLOCK) {
            self.blocks.push_back(CowArc::default());
        }
        if let Some(block) = self.blocks.back_mut() {
            let block = block.make_mut();
            block.ids.push(id);
            block.times.push(time);
        }
    }

    /// The time of the first entry.
    pub(super) fn first_time(&self) -> Option<u64> {
        self.blocks.front()?.times.get(self.gone).copied()
    }

    /// Takes the first entry away; its id.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let block = self.blocks.front()?;
        let id = *block.ids.get(self.gone)?;
        self.gone += 1;
        if self.gone == block.ids.len() {
            self.blocks.pop_front();
            self.gone = 0;
        }
        Some(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let each = self
            .blocks
            .iter()
            .flat_map(|block| block.ids.iter().copied().zip(block.times.iter().copied()));
        each.skip(self.gone)
    }

    pub(super) fn bytes(&self) -> usize {
        let last = self
            .blocks
            .back()
            .map_or(0, |block| block.ids.capacity() * 4 + block.times.capacity() * 8);
        self.blocks.len().saturating_sub(1) * BLOCK * 12
            + last
            + self.blocks.capacity() * size_of::<CowArc<Block>>()
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;
    use std::collections::VecDeque;

    #[test]
    fn it_is_a_queue_and_a_clone_stays_as_it_was() {
        let (mut queue, mut model) = (Queue::default(), VecDeque::new());
        let mut old = (queue.clone(), model.clone());
        let mut state = 1u64;
        for round in 0..if cfg!(miri) { 9000_u64 } else { 90_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // Grows over several blocks, shrinks to none.
            if (state >> 33).is_multiple_of(8) == (round / 30_000).is_multiple_of(2) {
                assert_eq!(queue.first_time(), model.front().map(|&(_, time)| time));
                assert_eq!(queue.pop(), model.pop_front().map(|(id, _)| id));
            } else {
                queue.push(state as u32, round);
                model.push_back((state as u32, round));
            }
            assert_eq!(queue.len(), model.len());
            if round % 7000 == 77 {
                assert!(old.0.iter().eq(old.1));
                assert!(queue.iter().eq(model.iter().copied()));
                old = (queue.clone(), model.clone());
            }
        }
    }
}
