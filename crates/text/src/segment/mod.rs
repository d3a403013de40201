//! Chinese word segmentation with the tokens of Python jieba 0.42.1 (`cut`, accurate mode), bit for bit.
//!
//! ```text
//! text ──block──► runs of segmentable characters ──route──► the likeliest words ──► tokens
//!                                                               │ runs of single characters
//!                                                               └──hmm──► words in no dictionary
//! ```
//!
//! The likeliest segmentation maximises the sum of `ln f − ln total` over its words; it is found from the right by dynamic
//! programming fused with the walks through the dictionary, so no word graph is ever stored. Sums are f64 and their order is
//! that of Python, because near-ties decide real documents; of equal sums the longer word wins.
//!
//! Words come as slices of the text with the dictionary's node, so nobody has to look them up again. Nothing is dropped:
//! the tokens joined are the text.

mod block;
pub(crate) mod dictionary;
mod hmm;
mod route;

use block::utf8_len;
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
/// Cost: linear in the text; no allocation once `scratch` has grown to the longest block (36 bytes per character of it).
pub fn cut<'t>(
    text: &'t str,
    hmm: bool,
    scratch: &mut SegmentScratch,
    mut each: impl FnMut(Word<'t>),
) {
    let SegmentScratch { characters, route, way } = scratch;
    // Both closures of `split` pass tokens on, one at a time.
    let each = std::cell::RefCell::new(&mut each);
    block::split(
        text,
        characters,
        |characters, offset| {
            let mut each = each.borrow_mut();
            route.find(characters);
            let mut out = Tokens { text, characters, at: offset, each: &mut **each };
            if hmm { with_hmm(route, way, &mut out) } else { without_hmm(route, &mut out) }
        },
        |start, end| {
            let text = &text[start..end];
            let len = text.chars().count();
            (each.borrow_mut())(Word { text, len, start, slot: 0 });
        },
    );
}

/// Hands on the tokens of a block, which follow each other without gaps.
struct Tokens<'a, 't, F: FnMut(Word<'t>)> {
    text: &'t str,
    /// The characters of the block that are not yet handed on.
    characters: &'a [u16],
    /// Where they start in the text.
    at: usize,
    each: &'a mut F,
}

impl<'t, F: FnMut(Word<'t>)> Tokens<'_, 't, F> {
    /// The next `len` characters are a token.
    fn token(&mut self, len: usize, slot: u32) {
        let (token, rest) = self.characters.split_at(len);
        let end = self.at + token.iter().map(|&c| utf8_len(c)).sum::<usize>();
        (self.each)(Word { text: &self.text[self.at..end], len, start: self.at, slot });
        self.characters = rest;
        self.at = end;
    }

    fn singles(&mut self, count: usize) {
        for _ in 0..count {
            self.token(1, 0);
        }
    }
}

/// Single characters of the route are joined where they are ASCII letters and digits.
fn without_hmm<'t>(route: &Route, out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>) {
    let mut joined = 0;
    for (len, slot) in route.words() {
        if len == 1 && is_alphanumeric(out.characters[joined]) {
            joined += 1;
            continue;
        }
        if joined > 0 {
            out.token(joined, 0);
            joined = 0;
        }
        out.token(len, slot);
    }
    if joined > 0 {
        out.token(joined, 0);
    }
}

/// Runs of single characters of the route are cut again by the HMM.
fn with_hmm<'t>(route: &Route, way: &mut Vec<u8>, out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>) {
    let mut singles = 0;
    for (len, slot) in route.words() {
        if len == 1 {
            singles += 1;
            continue;
        }
        cut_again(singles, way, out);
        singles = 0;
        out.token(len, slot);
    }
    cut_again(singles, way, out);
}

/// The next `singles` characters, which the route took one by one.
fn cut_again<'t>(
    singles: usize,
    way: &mut Vec<u8>,
    out: &mut Tokens<'_, 't, impl FnMut(Word<'t>)>,
) {
    let run = &out.characters[..singles];
    if singles < 2 || Route::is_word(run) {
        return out.singles(singles);
    }
    let mut rest = run;
    while let Some(&first) = rest.first() {
        if first >= FIRST_HAN {
            let han = rest.iter().take_while(|&&c| c >= FIRST_HAN).count();
            let (piece, after) = rest.split_at(han);
            hmm::cut(piece, way, |start, end| {
                out.token(end - start, 0);
            });
            rest = after;
        } else {
            let len = ascii_piece(rest);
            out.token(len, 0);
            rest = &rest[len..];
        }
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
