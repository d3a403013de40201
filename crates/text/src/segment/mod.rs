//! Chinese word segmentation with the tokens of Python jieba 0.42.1 (`cut`, accurate mode), bit for bit.
//!
//! ```text
//! text ──chunk──► codes of characters ──words──► words and scores ──route──► the likeliest words ──► tokens
//!                                                                                   │ runs of single characters
//!                                                                                   └──hmm──► words in no dictionary
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
#[expect(dead_code, reason = "the build script reads what belongs to words")]
mod packed;
mod route;
mod tables;
mod tokens;
mod words;

use crate::lexicon::Dictionary;
use dictionary::singles;
use route::Route;
use tokens::Tokens;
use words::Words;

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

impl Word<'_> {
    /// Length in UTF-16 code units.
    #[inline]
    pub fn utf16_len(&self) -> usize {
        // Characters outside the Basic Multilingual Plane, which take two units and four bytes, are tokens of their own.
        self.len + usize::from(self.len == 1 && self.text.len() == 4)
    }
}

/// Reusable memory of [`cut`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct SegmentScratch {
    chunk: chunk::Columns,
    words: Words,
    route: Route,
    way: Vec<u8>,
}

/// Calls `each` with every token of `text`, in order: the tokens of `jieba.cut(text, HMM=hmm)`. The HMM finds words that are in
/// no dictionary; without it, characters that form no word stand alone.
///
/// Cost: linear in the text; no allocation once `scratch` has grown to the longest block (40 bytes per character
/// of it and 24 per word of three characters and more; 512 characters at least).
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
    let SegmentScratch { chunk, words, route, way } = scratch;
    let singles = if let Some(user) = user { user.singles() } else { singles() };
    let mut base = 0;
    while base < text.len() {
        let chunk = chunk::read(&text[base..], user.is_some(), chunk);
        words.find(chunk.padded(), user);
        route.find(chunk.padded(), singles, words);
        let mut out = Tokens::new(chunk, base, route, words, &mut each);
        if hmm {
            out.with_hmm(user, way);
        } else {
            out.without_hmm();
        }
        base += chunk.len();
    }
}

#[cfg(test)]
mod tests;
