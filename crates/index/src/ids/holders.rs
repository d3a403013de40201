//! The ids that hold one fingerprint or one text: mostly one, sometimes very many.

use std::collections::VecDeque;

/// Ids in the order they came. The first is always alive; dead ones further back are dropped when they are half.
#[derive(Debug)]
pub(crate) struct Holders {
    ids: VecDeque<u32>,
    live: usize,
}

impl Holders {
    pub(crate) fn new(first: u32) -> Self {
        Self { ids: VecDeque::from([first]), live: 1 }
    }

    pub(crate) fn push(&mut self, id: u32) {
        self.ids.push_back(id);
        self.live += 1;
    }

    pub(crate) fn first(&self) -> u32 {
        self.ids[0]
    }

    pub(crate) fn live(&self) -> usize {
        self.live
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.ids.iter().copied()
    }

    /// One holder has died; `is_alive` tells which are left. Calls `release` for every id that is dropped; the last
    /// id is never dropped here. Amortised O(1).
    pub(crate) fn lost_one(
        &mut self,
        is_alive: impl Fn(u32) -> bool,
        mut release: impl FnMut(u32),
    ) {
        self.live -= 1;
        while self.ids.len() > 1 && !is_alive(self.ids[0]) {
            if let Some(id) = self.ids.pop_front() {
                release(id);
            }
        }
        if self.ids.len() > 2 * self.live.max(1) {
            self.ids.retain(|&id| {
                let alive = is_alive(id);
                if !alive {
                    release(id);
                }
                alive
            });
            self.ids.shrink_to(self.live * 2);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * 4
    }
}
