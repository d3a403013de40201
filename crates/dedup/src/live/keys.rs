//! The caller's names of documents, both ways.
//!
//! A key may be used again: each document keeps the key it came with, and the key names the latest of them that is alive.

use ahash::AHashMap;
use simhash_text::feature;

use super::strings::Strings;

/// Key -> the latest id that came with it. The hash has 128 bits: two keys with one hash do not occur.
#[derive(Debug, Default)]
pub(super) struct Keys {
    strings: Strings,
    latest: AHashMap<u128, u64>,
    /// Earlier ids of keys that came more than once, ascending.
    earlier: AHashMap<u128, Vec<u64>>,
    /// Room of all lists of earlier ids.
    listed: usize,
}

impl Keys {
    /// The key of a new document.
    pub(super) fn add(&mut self, id: u64, key: &str, is_alive: impl Fn(u64) -> bool) {
        self.strings.push(id, key);
        let hash = feature::exact(key);
        if let Some(before) = self.latest.insert(hash, id)
            && is_alive(before)
        {
            let earlier = self.earlier.entry(hash).or_default();
            let room = earlier.capacity();
            // Now and then, so that one key used for ever costs what is alive.
            if earlier.len().is_power_of_two() {
                earlier.retain(|&id| is_alive(id));
            }
            earlier.push(before);
            self.listed = self.listed - room + earlier.capacity();
        }
    }

    /// Every key, by id, as it is now.
    pub(super) fn copied(&self) -> Strings {
        self.strings.clone()
    }

    pub(super) fn chunks(&self) -> usize {
        self.strings.chunks()
    }

    pub(super) fn key_of(&self, id: u64) -> Option<&str> {
        self.strings.get(id)
    }

    /// The latest live document with this key.
    pub(super) fn id_of(&self, key: &str, is_alive: impl Fn(u64) -> bool) -> Option<u64> {
        let hash = feature::exact(key);
        let latest = self.latest.get(&hash).copied();
        let earlier = self.earlier.get(&hash).map_or(&[][..], Vec::as_slice);
        latest.into_iter().chain(earlier.iter().rev().copied()).find(|&id| is_alive(id))
    }

    /// Forgets some of the keys whose documents have left.
    pub(super) fn tend(&mut self, is_alive: impl Fn(u64) -> bool) {
        let Self { strings, latest, earlier, listed } = self;
        strings.tend(&is_alive, |id, key| {
            let hash = feature::exact(key);
            if latest.get(&hash) != Some(&id) {
                return;
            }
            latest.remove(&hash);
            let Some(ids) = earlier.get_mut(&hash) else { return };
            ids.retain(|&id| is_alive(id));
            if let Some(before) = ids.pop() {
                latest.insert(hash, before);
            }
            if ids.is_empty() {
                *listed -= earlier.remove(&hash).map_or(0, |ids| ids.capacity());
            }
        });
    }

    /// Gives the room back that lists and maps do not need.
    pub(super) fn shrink(&mut self) {
        self.strings.shrink();
        self.latest.shrink_to_fit();
        self.earlier.values_mut().for_each(Vec::shrink_to_fit);
        self.listed = self.earlier.values().map(Vec::capacity).sum();
        self.earlier.shrink_to_fit();
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.strings.bytes()
            + self.latest.capacity() * (size_of::<(u128, u64)>() + 1)
            + self.earlier.capacity() * (size_of::<(u128, Vec<u64>)>() + 1)
            + self.listed * 8
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn the_bytes_are_what_a_walk_over_the_lists_finds() {
        let (mut keys, mut state) = (Keys::default(), 1_u64);
        for id in 0..20_000_u64 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let lives = |other: u64| other.is_multiple_of(3) || other + 4000 > id;
            keys.add(id, &format!("key {}", (state >> 40) % 900), lives);
            if id % 100 == 0 {
                keys.tend(lives);
            }
            let walked: usize = keys.earlier.values().map(Vec::capacity).sum();
            assert_eq!(keys.listed, walked, "{id}");
        }
        assert!(keys.listed > 0);
    }
}
