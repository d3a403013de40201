//! Chinese word segmentation with the tokens of Python jieba 0.42.1 (`cut`, accurate mode), bit for bit.
//!
//! ```text
//! text ──chunk──► segmentable characters ──route──► the likeliest words ──► tokens
//!                                                               │ runs of single characters
//!                                                               └──hmm──► words in no dictionary
//! ```
//!
//! The likeliest segmentation maximises the sum of `ln f − ln total` over its words; it is found from the right by dynamic
//! programming. Sums are f64 and their order is
//! that of Python, because near-ties decide real documents; of equal sums the longer word wins.
//!
//! Words come as slices of the text with the dictionary's node, so nobody has to look them up again. Nothing is dropped:
//! the tokens joined are the text.

mod chunk;
pub(crate) mod dictionary;
mod hmm;
mod route;

use crate::lexicon::Dictionary;
use chunk::{Chunk, OTHER};
use dictionary::FIRST_HAN;
use route::Route;

/// A token of a text.
#[derive(Clone, Copy, Debug)]
pub struct Word<'t> {
    /// The token, a slice of the text.
    pub text: &'t str,
    /// Number of characters.
    pub len: usize,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// The dictionary's slot, for words that the dictionary produced; others have 0 and may still be in it.
    pub(crate) slot: u32,
}

/// Reusable memory of [`cut`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct SegmentScratch {
    chunk: Chunk,
    route: Route,
    way: Vec<u8>,
}

/// Calls `each` with every token of `text`, in order: the tokens of `jieba.cut(text, HMM=hmm)`. The HMM finds words that are in
/// no dictionary; without it, characters that form no word stand alone.
///
/// Cost: linear in the text; no allocation once `scratch` has grown to the longest block (60 bytes per character of it, and
/// the tables of 1024 characters at least).
pub fn cut<'t>(text: &'t str, hmm: bool, scratch: &mut SegmentScratch, each: impl FnMut(Word<'t>)) {
    cut_with(None, text, hmm, scratch, each);
}

/// [`cut`] with the words of a user's dictionary.
pub fn cut_with<'t>(
    user: Option<&Dictionary>,
    text: &'t str,
    hmm: bool,
    scratch: &mut SegmentScratch,
    mut each: impl FnMut(Word<'t>),
) {
    let SegmentScratch { chunk, route, way } = scratch;
    let mut base = 0;
    while base < text.len() {
        chunk::read(text, base, chunk);
        route.find(&chunk.characters, user);
        let mut out = Tokens { text, base, chunk, at: 0, each: &mut each };
        while let Some(&character) = chunk.characters.get(out.at) {
            if character == OTHER {
                out.other();
            } else if hmm {
                with_hmm(route, user, way, &mut out);
            } else {
                without_hmm(route, &mut out);
            }
        }
        base = out.end();
    }
}

/// Hands on the tokens of a chunk, which follow each other without gaps.
struct Tokens<'a, 't, F> {
    text: &'t str,
    chunk: &'a Chunk,
    /// Where the chunk starts in the text.
    base: usize,
    /// The character that the next token starts with.
    at: usize,
    each: &'a mut F,
}

impl<'a, 't, F: FnMut(Word<'t>)> Tokens<'a, 't, F> {
    /// The characters that are not yet handed on.
    fn rest(&self) -> &'a [u16] {
        &self.chunk.characters[self.at..]
    }

    /// Where the next token starts in the text.
    fn end(&self) -> usize {
        self.base + self.chunk.offsets[self.at] as usize
    }

    /// The next `len` characters are a token.
    #[inline]
    fn token(&mut self, len: usize, slot: u32) {
        let start = self.end();
        self.at += len;
        let text = &self.text[start..self.end()];
        (self.each)(Word { text, len, start, slot });
    }

    fn singles(&mut self, count: usize) {
        for _ in 0..count {
            self.token(1, 0);
        }
    }

    /// The next code point, which is in no block, is a token; CR LF is one.
    fn other(&mut self) {
        let crlf = self.text.as_bytes()[self.end()..].starts_with(b"\r\n");
        self.token(1 + usize::from(crlf), 0);
    }
}

/// The next token without HMM: a word, or single ASCII letters and digits of the route joined.
fn without_hmm<'t>(route: &Route, out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>) {
    let joins = |&(at, &c): &(usize, &u16)| is_alphanumeric(c) && route.word(out.at + at).len == 1;
    let joined = out.rest().iter().enumerate().take_while(joins).count();
    if joined > 0 {
        return out.token(joined, 0);
    }
    let word = route.word(out.at);
    out.token(word.len as usize, word.slot);
}

/// The next tokens with HMM: a word of the route, or a run of its single characters, cut again.
fn with_hmm<'t>(
    route: &Route,
    user: Option<&Dictionary>,
    way: &mut Vec<u8>,
    out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>,
) {
    let word = route.word(out.at);
    if word.len > 1 {
        return out.token(word.len as usize, word.slot);
    }
    let single = |&(at, &c): &(usize, &u16)| c != OTHER && route.word(out.at + at).len == 1;
    let singles = out.rest().iter().enumerate().take_while(single).count();
    if singles == 1 || route.is_word(out.at, singles) {
        out.singles(singles);
    } else {
        cut_again(singles, user, way, out);
    }
}

/// Cuts a run of single characters that is no word: ideographs by the HMM, the rest by a pattern.
fn cut_again<'t>(
    singles: usize,
    user: Option<&Dictionary>,
    way: &mut Vec<u8>,
    out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>,
) {
    let mut run = &out.rest()[..singles];
    while let Some(&first) = run.first() {
        let len = if first >= FIRST_HAN {
            run.iter().take_while(|&&c| c >= FIRST_HAN).count()
        } else {
            ascii_piece(run)
        };
        let (piece, rest) = run.split_at(len);
        if first >= FIRST_HAN {
            let mut at = 0;
            hmm::cut(piece, way, |len| {
                let word = &piece[at..at + len];
                at += len;
                if user.is_some_and(|user| user.is_deleted(word)) {
                    out.singles(len);
                } else {
                    out.token(len, 0);
                }
            });
        } else {
            out.token(len, 0);
        }
        run = rest;
    }
}

/// Length of the token that starts a run outside the ideographs: `[a-zA-Z0-9]+(\.\d+)?%?`, or everything before the next such.
fn ascii_piece(run: &[u16]) -> usize {
    let count =
        |from: usize, class: fn(u16) -> bool| run[from..].iter().take_while(|&&c| class(c)).count();
    let word = count(0, is_alphanumeric);
    if word == 0 {
        return count(0, |c| c < FIRST_HAN && !is_alphanumeric(c));
    }
    let is = |at: usize, byte: u8| run.get(at) == Some(&u16::from(byte));
    let mut end = word;
    if is(end, b'.') {
        let digits = count(end + 1, |c| (u16::from(b'0')..=u16::from(b'9')).contains(&c));
        if digits > 0 {
            end += 1 + digits;
        }
    }
    end + usize::from(is(end, b'%'))
}

fn is_alphanumeric(character: u16) -> bool {
    u8::try_from(character).is_ok_and(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;
