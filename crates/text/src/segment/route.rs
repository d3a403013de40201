//! The likeliest path through every block of a chunk: dynamic programming from the right.

use super::chunk::PAD;
use super::dictionary::OTHER;
use super::words::{Words, grown};
use std::hint::select_unpredictable;

/// For every position of a chunk the word that starts there on the likeliest path of its block.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// Sum of scores from here to the end of the block.
    sums: Vec<f64>,
    steps: Vec<Step>,
}

/// The word that a path takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Characters.
    pub(super) len: u32,
    /// The dictionary's slot; 0 for a single character, whose slot nobody asks for, and for words of a user's.
    pub(super) slot: u32,
}

const SINGLE: Step = Step { len: 1, slot: 0 };

/// The least sum at a segmentable character and at another. Sums are never above 0, which is what they start from after a
/// block: the greatest there. A table, because for floats a choice between constants becomes a branch.
static LEAST: [f64; 2] = [f64::NEG_INFINITY, 0.0];

/// The greater of two numbers, neither of them NaN: one instruction, where `f64::max` needs four to look for NaN. Each position
/// waits for the one after it here.
#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl Route {
    /// Finds the paths: at each position the word with the greatest sum; of equal sums the longer word. `codes` end with [`PAD`] more.
    pub(super) fn find(&mut self, codes: &[u16], words: &Words) {
        let len = codes.len() - PAD;
        let sums = grown(&mut self.sums, len + 1, 0.0);
        let steps = grown(&mut self.steps, len, SINGLE);
        sums[len] = 0.0;
        let mut long = words.long.as_slice();
        let mut next_long = long.last().map_or(u32::MAX, |word| word.start);
        let (mut after, mut after_next) = (0.0, 0.0);
        let codes = &codes[..len];
        let (ones, twos, slots) = (&words.one[..len], &words.two[..len], &words.two_slots[..len]);
        for start in (0..len).rev() {
            let other = codes[start] == OTHER;
            let least = LEAST[usize::from(other)];
            let two: f64 = twos[start] + after_next;
            let one: f64 = ones[start] + after;
            // Which of the two wins cannot be predicted: no branch.
            let pair = select_unpredictable(other, false, two >= one);
            let mut best = greater(greater(two, least), one);
            let pair =
                (select_unpredictable(pair, 2, 1), select_unpredictable(pair, slots[start], 0));
            let mut step = Step { len: pair.0, slot: pair.1 };
            if next_long == start as u32 {
                // From the longest down, so only a greater sum displaces what came before.
                let (mut longest, mut long_step) = (f64::NEG_INFINITY, SINGLE);
                while let Some((word, rest)) =
                    long.split_last().filter(|(word, _)| word.start == next_long)
                {
                    let sum = word.score + sums[start + word.len as usize];
                    if sum > longest {
                        longest = sum;
                        long_step = Step { len: word.len, slot: word.slot };
                    }
                    long = rest;
                }
                next_long = long.last().map_or(u32::MAX, |word| word.start);
                if longest >= best {
                    (best, step) = (longest, long_step);
                }
            }
            if best == f64::NEG_INFINITY {
                // No word at all starts here.
                best = words.unknown + after;
                step = SINGLE;
            }
            sums[start] = best;
            steps[start] = step;
            (after, after_next) = (best, after);
        }
    }

    /// The word that the path through `start` takes there, if a path does.
    #[inline]
    pub(super) fn word(&self, start: usize) -> Step {
        self.steps[start]
    }
}
