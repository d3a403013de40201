//! Which words start where in a chunk, with their scores.
//!
//! Most words have one or two characters. The score of one is a table's by its code; a column holds those of two, filled in
//! one pass without a branch, so that it runs ahead of its memory accesses. Where the dictionary goes on after two characters
//! is noted in passing; a second such pass keeps the places where a third character fits, one in ten, and only from there the
//! trie is walked.

use super::chunk::PAD;
use super::dictionary::{Node, bases, characters, ln_total, nodes, scores};
use crate::lexicon::Dictionary;
use crate::prefetch::prefetch;

/// The words of a chunk. −∞ is the score of what is no word.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Score of the two characters from each position.
    pub(super) two: Vec<f64>,
    /// The dictionary's slot of those two; where the path takes a longer word, the slot of that.
    pub(super) slots: Vec<u32>,
    /// Words of three characters and more, by position and then by length.
    pub(super) long: Vec<Long>,
    /// Score of a character that is no word.
    pub(super) unknown: f64,
    /// Where two characters are a prefix of more; the first `deep` of them count.
    prefixes: Vec<Prefix>,
    deep: usize,
}

/// Where the third character would be, after two that are a prefix of more.
#[derive(Clone, Copy, Debug, Default)]
struct Prefix {
    start: u32,
    slot: u32,
}

/// A word of three characters or more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) score: f64,
    pub(super) slot: u32,
}

/// The first `len` elements of `column`, which grows if it must and never shrinks: short texts would pay for filling it anew.
#[inline]
pub(super) fn grown<T: Clone>(column: &mut Vec<T>, len: usize, fill: T) -> &mut [T] {
    if column.len() < len {
        column.resize(len, fill);
    }
    &mut column[..len]
}

impl Words {
    /// Finds the words of a chunk, whose codes end with [`PAD`] more. What an earlier chunk left is overwritten.
    pub(super) fn find(&mut self, codes: &[u16], user: Option<&Dictionary>) {
        let nodes = nodes();
        let scores = if let Some(user) = user { user.scores() } else { scores() };
        self.unknown = -user.map_or_else(ln_total, Dictionary::ln_total); // ln 1 − ln total
        self.ask(codes, nodes);
        self.pairs(codes, nodes, scores);
        self.third(codes, nodes);
        self.longer(codes, nodes, scores);
        if let Some(user) = user {
            self.shadow(&codes[..codes.len() - PAD], user);
        }
    }

    /// Where pairs are; the memory is asked for, so that it is there in the next pass.
    fn ask(&mut self, codes: &[u16], nodes: &[u64]) {
        let len = codes.len() - PAD;
        let bases = bases();
        // Plain indices over slices of one length: chains of zips keep so many pointers that they are spilled.
        let (here, next) = (&codes[..len], &codes[1..=len]);
        let slots = grown(&mut self.slots, len, 0);
        for at in 0..len {
            slots[at] = Node::slot_of_two(bases, here[at], next[at]);
            prefetch(nodes, slots[at] as usize);
        }
    }

    /// Words of two characters, and the prefixes of longer ones.
    fn pairs(&mut self, codes: &[u16], nodes: &[u64], scores: &[f64]) {
        let len = codes.len() - PAD;
        let (next, after) = (&codes[1..=len], &codes[2..len + 2]);
        let two = grown(&mut self.two, len, 0.0);
        let slots = &self.slots[..len];
        let prefixes = grown(&mut self.prefixes, len + 1, Prefix::default());
        let mut count = 0;
        for at in 0..len {
            let second = Node::checked(nodes, slots[at], next[at]);
            two[at] = scores[second.frequency()];
            // Written whether it counts or not: the next one that does overwrites it, and no branch has to be guessed.
            let slot = second.slot_of_child(after[at]);
            prefixes[count] = Prefix { start: at as u32, slot };
            prefetch(nodes, slot as usize);
            count += usize::from(!second.is_leaf());
        }
        self.deep = count;
    }

    /// Keeps the prefixes that the third character continues.
    fn third(&mut self, codes: &[u16], nodes: &[u64]) {
        let mut count = 0;
        let prefixes = &mut self.prefixes[..self.deep];
        for at in 0..prefixes.len() {
            let Prefix { start, slot } = prefixes[at];
            let third = Node::checked(nodes, slot, codes[start as usize + 2]);
            prefixes[count] = Prefix { start, slot };
            count += usize::from(third.exists());
        }
        self.deep = count;
    }

    /// Words of three characters and more.
    fn longer(&mut self, codes: &[u16], nodes: &[u64], scores: &[f64]) {
        self.long.clear();
        for &Prefix { start, slot } in &self.prefixes[..self.deep] {
            let mut node = Node::at(nodes, slot);
            let mut len = 3;
            loop {
                if node.frequency() > 0 {
                    let score = scores[node.frequency()];
                    self.long.push(Long { start, len, score, slot: node.slot() });
                }
                if node.is_leaf() {
                    break;
                }
                node = node.step(nodes, codes[start as usize + len as usize]);
                len += 1;
            }
        }
    }

    /// Words of the user take the place of jieba's of the same characters; −∞ is the score of a deleted one.
    fn shadow(&mut self, codes: &[u16], user: &Dictionary) {
        let characters = characters();
        let own = self.long.len();
        for start in 0..codes.len() {
            let rest = codes[start..].iter().map(|&code| characters[usize::from(code)]);
            user.for_each_prefix(rest, |len, score| match len {
                1 => {} // is in the user's table of single characters
                2 => (self.two[start], self.slots[start]) = (score, 0),
                _ => {
                    let (start, len) = (start as u32, len as u32);
                    self.long.push(Long { start, len, score, slot: 0 });
                }
            });
        }
        if self.long.len() > own {
            // Two sorted runs, which a stable sort merges; of equals the user's comes last and stays.
            self.long.sort_by_key(|word| (word.start, word.len));
            self.long.dedup_by(|later, kept| {
                let same = (later.start, later.len) == (kept.start, kept.len);
                if same {
                    *kept = *later;
                }
                same
            });
        }
    }

    /// The slot of the word that the path takes at `start`, if it has two characters or more.
    #[inline]
    pub(super) fn slot(&self, start: usize) -> u32 {
        self.slots[start]
    }

    /// Whether the two characters from `start` are a word.
    #[inline]
    pub(super) fn is_pair(&self, start: usize) -> bool {
        self.two[start] > f64::NEG_INFINITY
    }
}
