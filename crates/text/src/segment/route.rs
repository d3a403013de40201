//! The likeliest path through every block of a chunk.
//!
//! Four passes, each simple enough to run ahead of its memory accesses: the dictionary's first step from every position, the
//! second step, the few longer words, and the dynamic programme from the right. Most words have one or two characters, so
//! two columns hold nearly all of them; the longer ones are in a list.

use super::chunk::OTHER;
use super::dictionary::{LN_TOTAL, Node, code, codes, nodes, scores};
use crate::lexicon::Dictionary;

/// For every position of a chunk the word that starts there on the likeliest path of its block.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    codes: Vec<u16>,
    /// The prefixes of one and of two characters, whether they are words or not.
    first: Vec<Node>,
    second: Vec<Node>,
    /// Positions where the dictionary goes on after two characters.
    deep: Vec<u32>,
    /// Words of three characters and more, by position and then by length.
    long: Vec<Long>,
    /// Words of the user, by position and then by length: they shadow all others.
    user: Vec<UserWord>,
    /// Sum of scores from here to the end of the block.
    sums: Vec<f64>,
    words: Vec<Step>,
}

/// A word of three characters or more.
#[derive(Clone, Copy, Debug)]
struct Long {
    start: u32,
    len: u32,
    node: Node,
}

/// A word of the user; −∞ is the score of a deleted one.
#[derive(Clone, Copy, Debug)]
struct UserWord {
    start: u32,
    len: u32,
    score: f64,
}

/// The word that a path takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Characters.
    pub(super) len: u32,
    /// The dictionary's slot; 0 for a single character, whose slot nobody asks for.
    pub(super) slot: u32,
}

const SINGLE: Step = Step { len: 1, slot: 0 };

/// Entries beyond the last character, so that no look ahead by two needs a check.
const PAD: usize = 2;

impl Route {
    /// Finds the paths through a chunk. What an earlier chunk left is overwritten.
    pub(super) fn find(&mut self, characters: &[u16], user: Option<&Dictionary>) {
        let nodes = nodes();
        self.look_up(characters, nodes);
        self.extend(nodes);
        self.user.clear();
        if let Some(user) = user {
            for start in 0..characters.len() {
                user.for_each_prefix(&characters[start..], |len, score| {
                    self.user.push(UserWord { start: start as u32, len: len as u32, score });
                });
            }
        }
        let scores = if let Some(user) = user { user.scores() } else { scores() };
        let ln_total = user.map_or(LN_TOTAL, Dictionary::ln_total);
        self.choose(characters, scores, -ln_total); // ln 1 − ln total
    }

    /// Prefixes of one and two characters. Code 0, which stands for the end of a block too, leads nowhere.
    fn look_up(&mut self, characters: &[u16], nodes: &[u64]) {
        let codes = codes();
        self.codes.clear();
        self.codes.extend(characters.iter().map(|&character| code(codes, character)));
        self.codes.extend([0; PAD]);
        let len = characters.len();
        self.first.clear();
        self.first.extend(self.codes[..len].iter().map(|&code| Node::ROOT.step(nodes, code)));
        self.second.clear();
        let pairs = self.first.iter().zip(&self.codes[1..]);
        self.second.extend(pairs.map(|(first, &code)| first.step(nodes, code)));
        // Written whether it counts or not: the next one that does overwrites it, and no branch has to be guessed.
        self.deep.resize(len + 1, 0);
        let mut count = 0;
        for (start, second) in self.second.iter().enumerate() {
            self.deep[count] = start as u32;
            count += usize::from(!second.is_leaf());
        }
        self.deep.truncate(count);
    }

    /// Words of three characters and more.
    fn extend(&mut self, nodes: &[u64]) {
        self.long.clear();
        for &start in &self.deep {
            let mut node = self.second[start as usize];
            for (at, &code) in self.codes[start as usize + 2..].iter().enumerate() {
                node = node.step(nodes, code);
                if node.frequency() > 0 {
                    self.long.push(Long { start, len: at as u32 + 3, node });
                }
                if node.is_leaf() {
                    break;
                }
            }
        }
    }

    /// From the right: at each position the word with the greatest sum; of equal sums the longer word.
    fn choose(&mut self, characters: &[u16], scores: &[f64], unknown: f64) {
        let len = characters.len();
        self.sums.clear();
        self.sums.resize(len + PAD, 0.0);
        self.words.clear();
        self.words.resize(len, SINGLE);
        let (first, second) = (&self.first[..len], &self.second[..len]);
        let (sums, words) = (&mut self.sums[..len + PAD], &mut self.words[..len]);
        let mut long = self.long.iter().rev().peekable();
        let mut user = self.user.as_slice();
        let (mut after, mut after_next) = (0.0, 0.0);
        for start in (0..len).rev() {
            let one = scores[first[start].frequency()] + after;
            let two = scores[second[start].frequency()] + after_next;
            // Arithmetic instead of branches: which of the two wins cannot be predicted.
            let pair = u32::from(two >= one);
            let mut best = two.max(one);
            let mut step = Step { len: 1 + pair, slot: second[start].slot() * pair };
            if long.peek().is_some_and(|word| word.start as usize == start) {
                // From the longest down, so only a greater sum displaces what came before.
                let (mut longest, mut long_step) = (f64::NEG_INFINITY, SINGLE);
                while let Some(word) = long.next_if(|word| word.start as usize == start) {
                    let sum = scores[word.node.frequency()] + sums[start + word.len as usize];
                    if sum > longest {
                        longest = sum;
                        long_step = Step { len: word.len, slot: word.node.slot() };
                    }
                }
                if longest >= best {
                    (best, step) = (longest, long_step);
                }
            }
            if user.last().is_some_and(|word| word.start as usize == start) {
                let from = user.partition_point(|word| (word.start as usize) < start);
                let jieba = [(1, 0, one), (2, second[start].slot(), two)];
                let longer =
                    self.long.iter().filter(|word| word.start as usize == start).map(|word| {
                        (
                            word.len,
                            word.node.slot(),
                            scores[word.node.frequency()] + sums[start + word.len as usize],
                        )
                    });
                (best, step) =
                    shadowed(jieba.into_iter().chain(longer), &user[from..], &sums[start..]);
                user = &user[..from];
            }
            if best == f64::NEG_INFINITY {
                // No word at all starts here; after the end of a block the sum is 0.
                best = if characters[start] == OTHER { 0.0 } else { unknown + after };
                step = SINGLE;
            }
            sums[start] = best;
            words[start] = step;
            (after, after_next) = (best, after);
        }
    }

    /// The word that the path through `start` takes there, if a path does.
    #[inline]
    pub(super) fn word(&self, start: usize) -> Step {
        self.words[start]
    }

    /// Whether the `len` characters from `start`, two or more, are a word.
    pub(super) fn is_word(&self, start: usize, len: usize) -> bool {
        if !self.user.is_empty()
            && let Ok(at) = self.user.binary_search_by_key(&(start, len), |word| {
                (word.start as usize, word.len as usize)
            })
        {
            return self.user[at].score > f64::NEG_INFINITY;
        }
        if len == 2 {
            return self.second[start].frequency() > 0;
        }
        self.long
            .binary_search_by_key(&(start, len), |word| (word.start as usize, word.len as usize))
            .is_ok()
    }
}

/// The best of jieba's words `(length, slot, sum)` and the user's at a position; of equal sums the longer word. `sums` start
/// at the position.
fn shadowed(
    jieba: impl Iterator<Item = (u32, u32, f64)>,
    user: &[UserWord],
    sums: &[f64],
) -> (f64, Step) {
    let free = jieba.filter(|(len, ..)| user.iter().all(|word| word.len != *len));
    let users = user.iter().map(|word| (word.len, 0, word.score + sums[word.len as usize]));
    let none = (f64::NEG_INFINITY, SINGLE);
    free.chain(users).fold(none, |best, (len, slot, sum)| {
        let better = sum > best.0 || (sum >= best.0 && len > best.1.len);
        if better { (sum, Step { len, slot }) } else { best }
    })
}
