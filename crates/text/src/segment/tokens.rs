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

/// Hands on the tokens of a chunk, which follow each other without gaps.
pub(super) struct Tokens<'a, 't, F> {
    text: &'t str,
    /// Codes and offsets of the chunk.
    codes: &'a [u16],
    offsets: &'a [u32],
    /// Where the chunk starts in the text.
    base: usize,
    /// The entry that the next token starts with.
    at: usize,
    each: &'a mut F,
}

impl<'a, 't, F: FnMut(Word<'t>)> Tokens<'a, 't, F> {
    pub(super) fn new(text: &'t str, base: usize, chunk: &'a Chunk, each: &'a mut F) -> Self {
        Self { text, codes: chunk.codes(), offsets: chunk.offsets(), base, at: 0, each }
    }

    /// All tokens with HMM.
    pub(super) fn with_hmm(
        &mut self,
        route: &Route,
        words: &Words,
        user: Option<&Dictionary>,
        way: &mut Vec<u8>,
    ) {
        while let Some(&code) = self.codes.get(self.at) {
            let step = route.word(self.at);
            if step.len == 1 && code != OTHER && self.is_single(route, self.at + 1) {
                let singles = 2 + self.count(self.at + 2, |at| self.is_single(route, at));
                if words.is_word(self.at, singles) {
                    self.singles(singles);
                } else {
                    self.cut_again(singles, user, way);
                }
            } else {
                self.token(step.len as usize, step.slot);
            }
        }
    }

    /// All tokens without HMM.
    pub(super) fn without_hmm(&mut self, route: &Route) {
        while let Some(code) = self.codes.get(self.at) {
            let step = route.word(self.at);
            if step.len == 1 && ALPHANUMERICS.contains(code) {
                let joins =
                    |at: usize| ALPHANUMERICS.contains(&self.codes[at]) && route.word(at).len == 1;
                self.token(1 + self.count(self.at + 1, joins), 0);
            } else {
                self.token(step.len as usize, step.slot);
            }
        }
    }

    /// Whether the path takes the segmentable character at `at` alone; not at the chunk's end.
    #[inline]
    fn is_single(&self, route: &Route, at: usize) -> bool {
        at < self.codes.len() && self.codes[at] != OTHER && route.word(at).len == 1
    }

    /// How many entries from `at` are such that `is`.
    fn count(&self, at: usize, is: impl Fn(usize) -> bool) -> usize {
        (at..self.codes.len()).take_while(|&at| is(at)).count()
    }

    /// The next `len` entries are a token.
    #[inline]
    fn token(&mut self, len: usize, slot: u32) {
        let start = self.base + self.offsets[self.at] as usize;
        let other = self.codes[self.at] == OTHER;
        self.at += len;
        let end = self.base + self.offsets[self.at] as usize;
        let text = &self.text[start..end];
        let len = if other { other_len(text) } else { len };
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
                    if user.is_some_and(|user| user.is_deleted(self.peek(len))) {
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

    /// The text of the next `len` entries.
    fn peek(&self, len: usize) -> &'t str {
        let offset = |at: usize| self.base + self.offsets[at] as usize;
        &self.text[offset(self.at)..offset(self.at + len)]
    }
}

/// Characters of a token outside the blocks, or of a block of letters and digits: one, or as many as ASCII bytes.
fn other_len(text: &str) -> usize {
    if text.as_bytes().first().is_some_and(u8::is_ascii) { text.len() } else { 1 }
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
