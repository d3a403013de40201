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
    /// Where a run of single characters starts that would together be a word of three characters or more, the last first;
    /// hardly ever any, but a crafted text is full of them.
    whole: Vec<u32>,
}

/// What a path takes: a word of two characters and more, as minus its length; or a number of single characters one after the
/// other, of which this is the first; 0 for an entry that no block holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step(i32);

impl Step {
    /// Entries to the next word of the path.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.0.wrapping_neg().max(1).cast_unsigned() as usize
    }

    /// Whether it is a word of two characters and more.
    #[inline]
    pub(super) fn is_word(self) -> bool {
        self.0 < 0
    }

    /// Single characters from here on, this one counted.
    #[inline]
    pub(super) fn singles(self) -> usize {
        self.0.max(0).cast_unsigned() as usize
    }
}

/// The greater of two numbers, neither of them NaN: one instruction, where `f64::max` needs four to look for NaN. Each position
/// waits for the one after it here.
#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The lesser of two numbers, neither of them NaN.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl Route {
    /// Finds the paths: at each position the word with the greatest sum; of equal sums the longer word. `codes` end with
    /// [`PAD`] more. `singles` are scores of single characters; that of [`OTHER`] is +∞.
    ///
    /// Sums are never above 0, which is what they start from after a block. So 0 as a bound changes no sum, except where the
    /// single character has +∞: there a new block begins.
    pub(super) fn find(&mut self, codes: &[u16], singles: &[f64], words: &mut Words) {
        let len = codes.len() - PAD;
        let sums = grown(&mut self.sums, len + 1, 0.0);
        let steps = grown(&mut self.steps, len, Step(0));
        sums[len] = 0.0;
        self.whole.clear();
        let mut long = words.long.as_slice();
        let mut next_long = long.last().map_or(u32::MAX, |word| word.start);
        let (mut after, mut after_next, mut run) = (0.0, 0.0, 0);
        let codes = &codes[..len];
        let (twos, slots) = (&words.two[..len], &mut words.slots[..len]);
        for start in (0..len).rev() {
            let code = codes[start];
            let two: f64 = twos[start] + after_next;
            let one: f64 = singles[usize::from(code)] + after;
            let mut best = lesser(greater(two, one), 0.0);
            // Which of the two wins cannot be predicted: no branch.
            let single = select_unpredictable(code == OTHER, 0, run.max(0) + 1);
            run = select_unpredictable(two >= one, -2, single);
            if next_long == start as u32 {
                // From the longest down, so only a greater sum displaces what came before.
                let (mut longest, mut len, mut slot) = (f64::NEG_INFINITY, 0, 0);
                let mut whole = false;
                while let Some((word, rest)) =
                    long.split_last().filter(|(word, _)| word.start == next_long)
                {
                    whole |= word.len.cast_signed() == single && word.score > f64::NEG_INFINITY;
                    let sum = word.score + sums[start + word.len as usize];
                    if sum > longest {
                        (longest, len, slot) = (sum, word.len, word.slot);
                    }
                    long = rest;
                }
                next_long = long.last().map_or(u32::MAX, |word| word.start);
                if longest >= best {
                    (best, run, slots[start]) = (longest, -len.cast_signed(), slot);
                }
                if whole && run == single {
                    self.whole.push(start as u32);
                }
            }
            if best == f64::NEG_INFINITY {
                // No word at all starts here.
                (best, run) = (words.unknown + after, single);
            }
            sums[start] = best;
            steps[start] = Step(run);
            (after, after_next) = (best, after);
        }
    }

    /// Whether the single characters from `start`, three or more of them, are together a word.
    pub(super) fn is_whole(&self, start: usize) -> bool {
        self.whole.binary_search_by(|whole| (start as u32).cmp(whole)).is_ok()
    }

    /// What the path through `start` takes there, if a path does.
    #[inline]
    pub(super) fn step(&self, start: usize) -> Step {
        self.steps[start]
    }
}
