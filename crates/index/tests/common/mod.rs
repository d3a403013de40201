//! The oracle: every rule of the index in its plainest form.
#![allow(dead_code, unreachable_pub)]

use simhash_index::{Item, Match, Matches, Outcome};

/// A stream of well-mixed numbers (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// `value` with exactly `flips` bits flipped.
    pub fn near(&mut self, value: u64, flips: u32) -> u64 {
        let mut mask = 0u64;
        while mask.count_ones() < flips {
            mask |= 1 << self.below(64);
        }
        value ^ mask
    }
}

/// Every item ever added, and whether it is alive.
#[derive(Default)]
pub struct Model {
    pub items: Vec<(Item, bool)>,
}

impl Model {
    pub fn add(&mut self, item: Item) -> u64 {
        self.items.push((item, true));
        self.items.len() as u64 - 1
    }

    pub fn delete(&mut self, id: u64) -> bool {
        self.items.get_mut(id as usize).is_some_and(|entry| std::mem::replace(&mut entry.1, false))
    }

    pub fn search(&self, item: Item, distance: u32, limit: usize) -> Matches {
        let mut matches: Vec<Match> = (0..)
            .zip(&self.items)
            .filter(|(_, (_, alive))| *alive)
            .filter_map(|(id, &(other, _))| match (item, other) {
                (Item::Fingerprint(a), Item::Fingerprint(b)) => {
                    Some(Match { id, distance: (a ^ b).count_ones() })
                }
                (Item::Exact(a), Item::Exact(b)) => (a == b).then_some(Match { id, distance: 0 }),
                _ => None,
            })
            .filter(|found| found.distance <= distance)
            .collect();
        matches.sort_by_key(|found| (found.distance, found.id));
        let truncated = matches.len() > limit;
        matches.truncate(limit);
        Matches { matches, truncated }
    }

    pub fn check_and_add(&mut self, item: Item, distance: u32) -> Outcome<Match> {
        match self.search(item, distance, 1).matches.first() {
            Some(&near) => Outcome::duplicate(near),
            None => Outcome::added(self.add(item)),
        }
    }
}

/// All numbers with at most three bits set: 43,745.
pub fn patterns_of_three() -> Vec<u64> {
    let mut patterns = vec![0];
    for a in 0..64 {
        patterns.push(1u64 << a);
        for b in 0..a {
            patterns.push(1 << a | 1 << b);
            patterns.extend((0..b).map(|c| 1 << a | 1 << b | 1u64 << c));
        }
    }
    patterns
}
