//! The likeliest path through every block of a chunk.
//!
//! Four passes, each simple enough to run ahead of its memory accesses: the dictionary's first step from every position, the
//! second step, the few longer words, and the dynamic programme from the right. Most words have one or two characters, so
//! two columns hold nearly all of them; the longer ones are in a list.

use super::chunk::OTHER;
use super::dictionary::{Node, code, codes, nodes, scores};

/// For every position of a chunk the word that starts there on the likeliest path of its block.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    codes: Vec<u16>,
    /// The prefix of one character, and the scores of the words of one and of two; −∞ where there is no such word.
    first: Vec<Node>,
    score_1: Vec<f64>,
    score_2: Vec<f64>,
    /// Where the dictionary goes on after two characters.
    deep: Vec<(u32, Node)>,
    /// Words of three characters and more, by position and then by length.
    long: Vec<Long>,
    /// Sum of scores from here to the end of the block.
    sums: Vec<f64>,
    words: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Long {
    start: u32,
    len: u32,
    slot: u32,
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
    pub(super) fn find(&mut self, characters: &[u16]) {
        let (nodes, scores) = (nodes(), scores());
        self.look_up(characters, nodes, scores);
        self.extend(nodes, scores);
        self.choose(characters);
    }

    /// Words of one and two characters.
    fn look_up(&mut self, characters: &[u16], nodes: &[u64], scores: &[f64]) {
        let len = characters.len();
        let codes = codes();
        self.codes.clear();
        self.codes.extend(characters.iter().map(|&character| code(codes, character)));
        self.codes.extend([0; PAD]);
        self.first.clear();
        self.first.extend(self.codes[..len].iter().map(|&code| Node::ROOT.step(nodes, code)));
        self.score_1.clear();
        self.score_1.extend(self.first.iter().map(|node| scores[node.frequency()]));
        self.deep.clear();
        self.score_2.clear();
        let seconds = self.first.iter().zip(&self.codes[1..]).enumerate();
        self.score_2.extend(seconds.map(|(start, (first, &code))| {
            let second = first.step(nodes, code);
            if !second.is_leaf() {
                self.deep.push((start as u32, second));
            }
            scores[second.frequency()]
        }));
    }

    /// Words of three characters and more.
    fn extend(&mut self, nodes: &[u64], scores: &[f64]) {
        self.long.clear();
        for &(start, second) in &self.deep {
            let mut node = second;
            let mut len = 2;
            // Code 0, which follows every block, ends the walk at the latest.
            while let Some(next) = self.codes.get(start as usize + len as usize) {
                node = node.step(nodes, *next);
                len += 1;
                if node.frequency() > 0 {
                    let (slot, score) = (node.slot(), scores[node.frequency()]);
                    self.long.push(Long { start, len, slot, score });
                }
                if node.is_leaf() {
                    break;
                }
            }
        }
    }

    /// From the right: at each position the word with the greatest sum; of equal sums the longer word.
    fn choose(&mut self, characters: &[u16]) {
        let len = characters.len();
        let unknown = -super::dictionary::LN_TOTAL; // ln 1 − ln total
        self.sums.clear();
        self.sums.resize(len + PAD, 0.0);
        self.words.clear();
        self.words.resize(len, SINGLE);
        let mut long = self.long.as_slice();
        for start in (0..len).rev() {
            if characters[start] == OTHER {
                continue; // the sum after the end of a block is 0
            }
            let one = self.score_1[start] + self.sums[start + 1];
            let two = self.score_2[start] + self.sums[start + 2];
            let mut best = if two >= one { two } else { one };
            let pair =
                Step { len: 2, slot: self.first[start].slot_of_child(self.codes[start + 1]) };
            let mut step = if two >= one { pair } else { SINGLE };
            if long.last().is_some_and(|word| word.start as usize == start) {
                let from = long.partition_point(|word| (word.start as usize) < start);
                for word in &long[from..] {
                    let sum = word.score + self.sums[start + word.len as usize];
                    if sum >= best {
                        best = sum;
                        step = Step { len: word.len, slot: word.slot };
                    }
                }
                long = &long[..from];
            }
            if best == f64::NEG_INFINITY {
                // No word at all starts here.
                best = unknown + self.sums[start + 1];
                step = SINGLE;
            }
            self.sums[start] = best;
            self.words[start] = step;
        }
    }

    /// The word that the path through `start` takes there, if a path does.
    #[inline]
    pub(super) fn word(&self, start: usize) -> Step {
        self.words[start]
    }

    /// Whether the `len` characters from `start`, two or more, are a word.
    pub(super) fn is_word(&self, start: usize, len: usize) -> bool {
        if len == 2 {
            return self.score_2[start] > f64::NEG_INFINITY;
        }
        self.long
            .binary_search_by_key(&(start, len), |word| (word.start as usize, word.len as usize))
            .is_ok()
    }
}
