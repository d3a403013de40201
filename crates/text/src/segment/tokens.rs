//! From the path through a chunk to tokens: what becomes of single characters.
//!
//! With HMM, a run of single characters that is no word is cut again: ideographs by the HMM, the rest by a pattern. Without,
//! single ASCII letters and digits are joined. All else is a token as the path has it.

use super::Word;
use super::chunk::Chunk;
use super::dictionary::{ALPHANUMERICS, DIGITS, DOT, FIRST_HAN, OTHER, PERCENT};
use super::hmm;
use super::route::Route;
use super::words::Words;
use crate::lexicon::Dictionary;
use std::hint::select_unpredictable;

/// Hands on the tokens of a chunk, which follow each other without gaps.
pub(super) struct Tokens<'a, 't, F> {
    chunk: Chunk<'a, 't>,
    codes: &'a [u16],
    /// Where the chunk starts in the text.
    base: usize,
    route: &'a Route,
    words: &'a Words,
    /// The entry that the next token starts with.
    at: usize,
    each: &'a mut F,
}

impl<'a, 't, F: FnMut(Word<'t>)> Tokens<'a, 't, F> {
    pub(super) fn new(
        chunk: Chunk<'a, 't>,
        base: usize,
        route: &'a Route,
        words: &'a Words,
        each: &'a mut F,
    ) -> Self {
        Self { chunk, codes: chunk.codes(), base, route, words, at: 0, each }
    }

    /// All tokens with HMM.
    pub(super) fn with_hmm(&mut self, user: Option<&Dictionary>, way: &mut Vec<u8>) {
        while self.at < self.codes.len() {
            let singles = self.route.step(self.at).singles();
            if singles < 2 {
                self.step();
            } else if self.is_word(singles) {
                self.singles(singles);
            } else {
                self.cut_again(singles, user, way);
            }
        }
    }

    /// All tokens without HMM.
    pub(super) fn without_hmm(&mut self) {
        while let Some(code) = self.codes.get(self.at) {
            let singles = self.route.step(self.at).singles();
            if ALPHANUMERICS.contains(code) && singles > 0 {
                let run = &self.codes[self.at..][..singles];
                self.token(run.iter().take_while(|code| ALPHANUMERICS.contains(code)).count(), 0);
            } else {
                self.step();
            }
        }
    }

    /// Whether the next `singles` characters, two or more that the path takes alone, are together a word.
    #[inline]
    fn is_word(&self, singles: usize) -> bool {
        if singles == 2 { self.words.is_pair(self.at) } else { self.route.is_whole(self.at) }
    }

    /// What the path takes next is a token.
    #[inline]
    fn step(&mut self) {
        let step = self.route.step(self.at);
        // Which it is cannot be predicted: no branch.
        let slot = select_unpredictable(step.is_word(), self.words.slot(self.at), 0);
        self.token(step.len(), slot);
    }

    /// The next `len` entries are a token.
    #[inline]
    fn token(&mut self, len: usize, slot: u32) {
        let start = self.base + self.chunk.start(self.at);
        let other = self.codes[self.at] == OTHER;
        let text = self.chunk.text(self.at, self.at + len);
        self.at += len;
        // Characters of a token outside the blocks, or of a block of letters and digits: one, or as many as ASCII bytes.
        let bytes = other && text.as_bytes().first().is_some_and(u8::is_ascii);
        let len = select_unpredictable(bytes, text.len(), len);
        (self.each)(Word { text, len, start, slot });
    }

    fn singles(&mut self, count: usize) {
        for _ in 0..count {
            self.token(1, 0);
        }
    }

    /// Cuts a run of single characters that is no word: ideographs by the HMM, the rest by a pattern.
    fn cut_again(&mut self, singles: usize, user: Option<&Dictionary>, way: &mut Vec<u8>) {
        let mut run = &self.codes[self.at..][..singles];
        while let Some(&first) = run.first() {
            let len = if first >= FIRST_HAN {
                run.iter().take_while(|&&code| code >= FIRST_HAN).count()
            } else {
                ascii_piece(run)
            };
            let (piece, rest) = run.split_at(len);
            if first >= FIRST_HAN {
                hmm::cut(piece, way, |len| {
                    if user.is_some_and(|user| {
                        user.is_deleted(self.chunk.text(self.at, self.at + len))
                    }) {
                        self.singles(len);
                    } else {
                        self.token(len, 0);
                    }
                });
            } else {
                self.token(len, 0);
            }
            run = rest;
        }
    }
}

/// Length of the token that starts a run outside the ideographs: `[a-zA-Z0-9]+(\.\d+)?%?`, or everything before the next such.
fn ascii_piece(run: &[u16]) -> usize {
    let count = |from: usize, class: &dyn Fn(&u16) -> bool| {
        run[from..].iter().take_while(|&code| class(code)).count()
    };
    let word = count(0, &|code| ALPHANUMERICS.contains(code));
    if word == 0 {
        return count(0, &|code| *code < FIRST_HAN && !ALPHANUMERICS.contains(code));
    }
    let mut end = word;
    if run.get(end) == Some(&DOT) {
        let digits = count(end + 1, &|code| DIGITS.contains(code));
        if digits > 0 {
            end += 1 + digits;
        }
    }
    end + usize::from(run.get(end) == Some(&PERCENT))
}
