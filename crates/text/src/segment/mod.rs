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

use chunk::OTHER;
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
    characters: Vec<u16>,
    route: Route,
    way: Vec<u8>,
}

/// Calls `each` with every token of `text`, in order: the tokens of `jieba.cut(text, HMM=hmm)`. The HMM finds words that are in
/// no dictionary; without it, characters that form no word stand alone.
///
/// Cost: linear in the text; no allocation once `scratch` has grown to the longest block (60 bytes per character of it, and
/// the tables of 1024 characters at least).
pub fn cut<'t>(text: &'t str, hmm: bool, scratch: &mut SegmentScratch, each: impl FnMut(Word<'t>)) {
    let SegmentScratch { characters, route, way } = scratch;
    let mut out = Tokens { text, at: 0, each };
    while out.at < text.len() {
        chunk::read(text, out.at, characters);
        route.find(characters);
        let mut start = 0;
        while start < characters.len() {
            start += if characters[start] == OTHER {
                out.other()
            } else if hmm {
                with_hmm(route, &characters[start..], start, way, &mut out)
            } else {
                without_hmm(route, &characters[start..], start, &mut out)
            };
        }
    }
}

/// Hands on tokens, which follow each other without gaps.
struct Tokens<'t, F> {
    text: &'t str,
    /// Where the next token starts.
    at: usize,
    each: F,
}

impl<'t, F: FnMut(Word<'t>)> Tokens<'t, F> {
    /// The next `characters` are a token.
    fn token(&mut self, characters: &[u16], slot: u32) {
        let bytes = characters.iter().map(|&c| if c < 128 { 1 } else { 3 }).sum();
        self.hand_on(bytes, characters.len(), slot);
    }

    fn singles(&mut self, characters: &[u16]) {
        for character in characters {
            self.token(std::slice::from_ref(character), 0);
        }
    }

    /// The next code point, which is in no block, is a token; CR LF is one. Returns the number of code points.
    fn other(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(b"\r\n") {
            self.hand_on(2, 2, 0);
            return 2;
        }
        self.hand_on(chunk::utf8_len(rest[0]), 1, 0);
        1
    }

    fn hand_on(&mut self, bytes: usize, len: usize, slot: u32) {
        let start = self.at;
        self.at += bytes;
        (self.each)(Word { text: &self.text[start..self.at], len, start, slot });
    }
}

/// The next tokens without HMM: a word, or single ASCII letters and digits of the route joined. `characters` are those from
/// position `start` of the chunk on. Returns how many were handed on.
fn without_hmm<'t>(
    route: &Route,
    characters: &[u16],
    start: usize,
    out: &mut Tokens<'t, impl FnMut(Word<'t>)>,
) -> usize {
    let joins = |&(at, &c): &(usize, &u16)| is_alphanumeric(c) && route.word(start + at).len == 1;
    let joined = characters.iter().enumerate().take_while(joins).count();
    if joined > 0 {
        out.token(&characters[..joined], 0);
        return joined;
    }
    let word = route.word(start);
    out.token(&characters[..word.len as usize], word.slot);
    word.len as usize
}

/// The next tokens with HMM: a word of the route, or a run of its single characters, cut again.
fn with_hmm<'t>(
    route: &Route,
    characters: &[u16],
    start: usize,
    way: &mut Vec<u8>,
    out: &mut Tokens<'t, impl FnMut(Word<'t>)>,
) -> usize {
    let word = route.word(start);
    if word.len > 1 {
        out.token(&characters[..word.len as usize], word.slot);
        return word.len as usize;
    }
    let single = |&(at, &c): &(usize, &u16)| c != OTHER && route.word(start + at).len == 1;
    let singles = characters.iter().enumerate().take_while(single).count();
    let run = &characters[..singles];
    if singles == 1 || route.is_word(start, singles) {
        out.singles(run);
    } else {
        cut_again(run, way, out);
    }
    singles
}

/// Cuts a run of single characters that is no word: ideographs by the HMM, the rest by a pattern.
fn cut_again<'t>(mut run: &[u16], way: &mut Vec<u8>, out: &mut Tokens<'t, impl FnMut(Word<'t>)>) {
    while let Some(&first) = run.first() {
        let len = if first >= FIRST_HAN {
            run.iter().take_while(|&&c| c >= FIRST_HAN).count()
        } else {
            ascii_piece(run)
        };
        let (piece, rest) = run.split_at(len);
        if first >= FIRST_HAN {
            hmm::cut(piece, way, |start, end| out.token(&piece[start..end], 0));
        } else {
            out.token(piece, 0);
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
