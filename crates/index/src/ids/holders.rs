//! The ids that hold one fingerprint or one text: mostly one, sometimes very many.

use std::collections::VecDeque;
use std::hash::Hash;

use ahash::AHashMap;

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
            self.purge(is_alive, release);
        }
    }

    /// Drops all holders that are dead; one at least must be alive.
    pub(crate) fn purge(&mut self, is_alive: impl Fn(u32) -> bool, mut release: impl FnMut(u32)) {
        if self.ids.len() > self.live {
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

/// Holders by what they hold, and the bytes of their lists as a counter: nobody has to walk them to know it.
#[derive(Debug)]
pub(crate) struct HolderMap<K> {
    map: AHashMap<K, Holders>,
    listed: usize,
}

impl<K> Default for HolderMap<K> {
    fn default() -> Self {
        Self { map: AHashMap::new(), listed: 0 }
    }
}

/// What a death has left of the holders of something.
pub(crate) struct Left {
    /// The first holder before, and now.
    pub(crate) before: u32,
    pub(crate) first: u32,
    pub(crate) live: usize,
    /// Whether the list has one id.
    pub(crate) alone: bool,
}

impl<K: Eq + Hash> HolderMap<K> {
    pub(crate) fn get(&self, key: &K) -> Option<&Holders> {
        self.map.get(key)
    }

    /// A further holder; where there was no list, one of `first` and `id`.
    pub(crate) fn push_after(&mut self, key: K, first: u32, id: u32) {
        let mut before = 0;
        let list = self.map.entry(key).and_modify(|holders| before = holders.bytes());
        let list = list.or_insert_with(|| Holders::new(first));
        list.push(id);
        self.listed = self.listed - before + list.bytes();
    }

    /// A further holder, or the first.
    pub(crate) fn push(&mut self, key: K, id: u32) {
        let (mut before, listed) = (0, &mut self.listed);
        let list = self.map.entry(key).and_modify(|holders| {
            before = holders.bytes();
            holders.push(id);
        });
        *listed = *listed - before + list.or_insert_with(|| Holders::new(id)).bytes();
    }

    /// [`Holders::lost_one`]; None: there is no list.
    pub(crate) fn lost_one(
        &mut self,
        key: &K,
        is_alive: impl Fn(u32) -> bool,
        release: impl FnMut(u32),
    ) -> Option<Left> {
        let holders = self.map.get_mut(key)?;
        let (before, bytes) = (holders.first(), holders.bytes());
        holders.lost_one(is_alive, release);
        self.listed = self.listed - bytes + holders.bytes();
        let alone = holders.iter().nth(1).is_none();
        Some(Left { before, first: holders.first(), live: holders.live(), alone })
    }

    pub(crate) fn remove(&mut self, key: &K) {
        if let Some(holders) = self.map.remove(key) {
            self.listed -= holders.bytes();
        }
    }

    /// Everything that is held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &Holders)> {
        #[cfg(test)]
        walking::count(self.map.len());
        self.map.iter()
    }

    /// Gives the room for more entries back.
    pub(crate) fn shrink(&mut self) {
        self.map.shrink_to_fit();
    }

    /// Bytes of lists and map.
    pub(crate) fn bytes(&self) -> usize {
        self.listed + self.map.capacity() * (size_of::<(K, Holders)>() + 1)
    }

    /// [`HolderMap::bytes`] as a walk finds them.
    #[cfg(test)]
    pub(crate) fn walked_bytes(&self) -> usize {
        let lists: usize = self.iter().map(|(_, holders)| holders.bytes()).sum();
        lists + self.map.capacity() * (size_of::<(K, Holders)>() + 1)
    }
}

/// How many entries walks have visited, for tests of what must not walk.
#[cfg(test)]
pub(crate) mod walking {
    use std::cell::Cell;

    thread_local! {
        static VISITED: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn count(entries: usize) {
        VISITED.set(VISITED.get() + entries);
    }

    /// Entries visited by `work` on this thread.
    pub(crate) fn visited(work: impl FnOnce()) -> usize {
        let before = VISITED.get();
        work();
        VISITED.get() - before
    }
}
