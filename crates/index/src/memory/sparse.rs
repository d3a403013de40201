//! Values of a few of many numbers, in shards that clones share until they change.
//!
//! A clone costs a pointer for every 8,192 numbers among which one has a value; the first change of a shard after that copies it.

use std::sync::Arc;

use ahash::AHashMap;

/// Numbers of a shard have all but these low bits in common: additions, whose numbers grow, change one shard.
const BITS: u32 = 13;

/// Number -> value.
#[derive(Debug, Clone)]
pub(crate) struct Sparse<V> {
    shards: AHashMap<u32, Arc<AHashMap<u32, V>>>,
    /// Room of all shards.
    capacity: usize,
}

impl<V> Default for Sparse<V> {
    fn default() -> Self {
        Self { shards: AHashMap::new(), capacity: 0 }
    }
}

impl<V: Clone> Sparse<V> {
    fn shard(&self, number: u32) -> Option<&AHashMap<u32, V>> {
        self.shards.get(&(number >> BITS)).map(|shard| &**shard)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&V> {
        self.shard(number)?.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut V> {
        let shard = self.shards.get_mut(&(number >> BITS))?;
        // Who is not in it is no reason to copy it.
        if shard.contains_key(&number) { Arc::make_mut(shard).get_mut(&number) } else { None }
    }

    pub(crate) fn insert(&mut self, number: u32, value: V) {
        let shard = Arc::make_mut(self.shards.entry(number >> BITS).or_default());
        let before = shard.capacity();
        shard.insert(number, value);
        self.capacity = self.capacity - before + shard.capacity();
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<V> {
        self.shard(number)?.get(&number)?;
        let shared = self.shards.get_mut(&(number >> BITS))?;
        let before = shared.capacity();
        let shard = Arc::make_mut(shared);
        let value = shard.remove(&number);
        self.capacity = self.capacity - before + shard.capacity();
        if shard.is_empty() {
            self.capacity -= shard.capacity();
            self.shards.remove(&(number >> BITS));
        }
        value
    }

    /// Whether nothing has a value.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// Gives the room back that nothing needs.
    pub(crate) fn shrink(&mut self) {
        for shard in self.shards.values_mut() {
            if shard.capacity() > 2 * shard.len() + 8 {
                Arc::make_mut(shard).shrink_to_fit();
            }
        }
        self.shards.shrink_to_fit();
        self.capacity = self.shards.values().map(|shard| shard.capacity()).sum();
    }

    /// Bytes held, O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.capacity * (size_of::<(u32, V)>() + 1)
            + self.shards.capacity() * (size_of::<(u32, Arc<AHashMap<u32, V>>)>() + 1)
            + self.shards.len() * size_of::<AHashMap<u32, V>>()
    }
}

#[cfg(test)]
mod tests {
    use super::Sparse;
    use std::collections::BTreeMap;

    #[test]
    fn a_clone_stays_as_it_was_and_the_room_is_what_the_shards_have() {
        let (mut sparse, mut model) = (Sparse::default(), BTreeMap::new());
        let mut old = None;
        let mut state = 1u64;
        for round in 0..if cfg!(miri) { 500 } else { 20_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let number = (state >> 40) as u32 % 40_000;
            match (state >> 33) % 4 {
                0 => assert_eq!(sparse.remove(number), model.remove(&number)),
                1 => {
                    let (one, other) = (sparse.get_mut(number), model.get_mut(&number));
                    assert_eq!(one.as_deref(), other.as_deref());
                    if let (Some(one), Some(other)) = (one, other) {
                        (*one, *other) = (round, round);
                    }
                }
                _ => {
                    sparse.insert(number, round);
                    model.insert(number, round);
                }
            }
            let room: usize = sparse.shards.values().map(|shard| shard.capacity()).sum();
            assert_eq!(sparse.capacity, room);
            if round % 2000 == 77 {
                let (before, expected): (Sparse<u64>, BTreeMap<u32, u64>) =
                    old.replace((sparse.clone(), model.clone())).unwrap_or_default();
                for number in 0..40_000 {
                    assert_eq!(before.get(number), expected.get(&number), "{number}");
                }
                sparse.shrink();
            }
        }
        for number in model.into_keys() {
            sparse.remove(number);
        }
        assert!(sparse.is_empty());
    }
}
