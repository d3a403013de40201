//! One table of a memtable: cache lines of fingerprints, written in place.
//!
//! The top bits of the prefix key name a line of 64 bytes: up to seven fingerprints, and a last word with their number
//! and a link. A full line moves as it is to an overflow line, which the emptied one then links: so the line a key names
//! always has room after one step, however long its chain is, and an insertion is O(1) for any input. Nothing is
//! directed, sorted or shifted; a look-up misses the cache once where a sealed table misses twice, and an insertion that
//! follows a look-up writes the line that was just read.

use crate::hamming::plan::Prefix;
use crate::memory::{Words, prefetch};

/// Words of a line, the last of which says how full it is and where it goes on.
const LINE: usize = 8;
const ROOM: usize = LINE - 1;

/// Overflow lines allocated at a time: 16 KB, so that growing never copies.
const SPARE: usize = 256;

/// Words of a huge page.
const PAGE: usize = (2 << 20) / 8;

#[derive(Debug)]
pub(super) struct Buckets {
    /// Key bits below those that name a line.
    rest: u32,
    home: Words,
    overflow: Vec<Words>,
    /// Overflow lines in use.
    linked: usize,
}

/// Count and link (0: none, else the overflow line's number plus one) in the last word of a line.
fn tail(count: usize, link: usize) -> u64 {
    (link as u64) << 8 | count as u64
}

fn count(line: &[u64]) -> usize {
    (line[ROOM] & 0xff) as usize
}

fn link(line: &[u64]) -> usize {
    (line[ROOM] >> 8) as usize
}

impl Buckets {
    /// Empty lines, `2^bits` of them or as many as the prefix can tell apart.
    pub(super) fn new(prefix: &Prefix, bits: u32) -> Self {
        let bits = bits.min(prefix.bits());
        let home = Words::zeroed(LINE << bits);
        Self { rest: prefix.bits() - bits, home, overflow: Vec::new(), linked: 0 }
    }

    /// Pages of the system that its lines take, if they are huge.
    pub(super) fn pages(&self) -> usize {
        self.home.len().div_ceil(PAGE)
    }

    /// Has the system clear a page, before anything is in it.
    pub(super) fn touch(&mut self, page: usize) {
        self.home[page * PAGE] = 0;
    }

    /// Line of a key.
    #[inline]
    pub(super) fn slot(&self, key: u64) -> usize {
        // The rest is 64 where one line holds everything.
        key.checked_shr(self.rest).unwrap_or(0) as usize
    }

    /// Asks for a line.
    #[inline]
    pub(super) fn ask(&self, slot: usize) {
        prefetch(&self.home, slot * LINE);
    }

    fn overflow(&self, number: usize) -> &[u64] {
        let at = number % SPARE * LINE;
        &self.overflow[number / SPARE][at..at + LINE]
    }

    /// Calls `on_part` with the fingerprints of a line and of those it links.
    #[inline]
    pub(super) fn visit<'a>(&'a self, slot: usize, mut on_part: impl FnMut(&'a [u64])) {
        let mut line = &self.home[slot * LINE..(slot + 1) * LINE];
        loop {
            let next = link(line);
            if next > 0 {
                prefetch(self.overflow(next - 1), 0);
            }
            on_part(&line[..count(line)]);
            if next == 0 {
                return;
            }
            line = self.overflow(next - 1);
        }
    }

    /// Adds a fingerprint to a line.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, value: u64) {
        let range = slot * LINE..(slot + 1) * LINE;
        let line = &mut self.home[range.clone()];
        let filled = count(line);
        if filled < ROOM {
            line[filled] = value;
            line[ROOM] += 1;
            return;
        }
        if self.linked == self.overflow.len() * SPARE {
            self.overflow.push(Words::zeroed(SPARE * LINE));
        }
        let number = self.linked;
        self.linked += 1;
        let at = number % SPARE * LINE;
        let line = &mut self.home[range];
        self.overflow[number / SPARE][at..at + LINE].copy_from_slice(line);
        line[0] = value;
        line[ROOM] = tail(1, number + 1);
    }

    /// Takes everything out, the memory stays.
    pub(super) fn clear(&mut self) {
        self.home.fill(0);
        self.linked = 0;
    }

    /// Bytes reserved.
    pub(super) fn bytes(&self) -> usize {
        (self.home.len() + self.overflow.len() * SPARE * LINE) * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hamming::plan::Plan;
    use std::collections::BTreeMap;

    const COUNT: usize = if cfg!(miri) { 500 } else { 10_000 };

    #[test]
    fn lines_hold_what_was_put_into_them_however_full() {
        let plan = Plan::named("k3-t6").unwrap();
        let prefix = &plan.prefixes()[1];
        // More bits than the prefix has are as many as it has: 128 MB, too slow to clear for Miri.
        let most = if cfg!(miri) { 11 } else { 40 };
        for (bits, shared) in [(0, 0), (4, 0), (9, 0), (9, 3), (9, 64), (most, 0)] {
            let mut buckets = Buckets::new(prefix, bits);
            let mut model: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            let mut state = 7u64;
            for _ in 0..COUNT {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let value = (state ^ state >> 29).checked_shl(shared).unwrap_or(state & 1);
                let slot = buckets.slot(prefix.key(value));
                buckets.insert(slot, value);
                model.entry(slot).or_default().push(value);
            }
            for (slot, mut expected) in model {
                let mut found = Vec::new();
                buckets.visit(slot, |part| found.extend_from_slice(part));
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{bits} bits, slot {slot}");
            }
            let lines = buckets.bytes() / 64;
            assert!(lines <= (1 << bits.min(prefix.bits())) + COUNT / ROOM + SPARE, "{lines}");
        }
    }
}
