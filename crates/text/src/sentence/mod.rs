//! Sentences: what two copies of a text still share when a page has put other things around and between them.
//!
//! The method of the n longest sentences: a document is represented by the hashes of its n longest sentences, and two
//! documents are similar when **any one of them is equal**. Long sentences are rarely written twice by accident, and they
//! are the body of a page rather than its furniture. It is exact matching: one changed character in each of the n
//! sentences hides a copy, and a sentence that a site repeats on every page links them all (guard against it when
//! matching).
//!
//! What removes whole stretches (HTML, platform noise, emoji) is done before the text is split, everything else per
//! sentence afterwards, because case and punctuation are what shows where sentences end. Length counts the code points
//! of the normalised sentence except punctuation and white space. The hash is of the normalised sentence without the
//! punctuation and white space at its ends, so 好。 and 好！ are equal.

mod hash;
mod split;

pub use hash::SentenceHash;
pub use split::sentences;

use crate::normalize::scan::Class;
use crate::normalize::{NormalizeScratch, Normalizer, is_punctuation};
use std::cmp::Reverse;

/// How sentences are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceOptions {
    /// How many of the longest sentences are taken. Default 5, the method's usual choice.
    pub count: usize,
    /// Shortest sentence that counts, in code points without punctuation and white space. Default 5: shorter ones are
    /// salutations, captions and page furniture, which unrelated texts share. 0 and 1 let every sentence with a letter
    /// or digit count.
    pub min_length: usize,
    /// How sentences are normalised. Default [`Normalizer::default`].
    pub normalizer: Normalizer,
    /// How they are hashed. Default [`SentenceHash::Xxh3`].
    pub hash: SentenceHash,
}

impl Default for SentenceOptions {
    fn default() -> Self {
        Self {
            count: 5,
            min_length: 5,
            normalizer: Normalizer::default(),
            hash: SentenceHash::default(),
        }
    }
}

/// A sentence that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// [`SentenceHash`] of the normalised sentence without the punctuation and white space at its ends.
    pub hash: u64,
    /// Code points of the normalised sentence without punctuation and white space.
    pub length: u32,
    /// Its place among the sentences of the text, from 0.
    pub index: u32,
}

/// Reusable memory of [`Longest`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct SentenceScratch {
    whole: NormalizeScratch,
    one: NormalizeScratch,
    found: Vec<Sentence>,
}

/// Finds the longest sentences of texts.
#[derive(Clone, Debug)]
pub struct Longest {
    count: usize,
    min_length: u32,
    /// The steps before splitting.
    before: Normalizer,
    /// The steps on each sentence.
    after: Normalizer,
    hash: SentenceHash,
}

impl Longest {
    /// Prepares for these options.
    pub fn new(options: &SentenceOptions) -> Self {
        let n = &options.normalizer;
        Self {
            count: options.count,
            min_length: u32::try_from(options.min_length).unwrap_or(u32::MAX).max(1),
            before: Normalizer { html: n.html, noise: n.noise, emoji: n.emoji, ..Normalizer::OFF },
            after: Normalizer { html: false, noise: false, emoji: false, ..n.clone() },
            hash: options.hash,
        }
    }

    /// The longest sentences of `text`, the longest first, ties in the order of the text; equal sentences (by hash) count
    /// once, at their first place. Fewer than `count` if the text has no more; none if all are too short.
    ///
    /// Cost: normalisation, and a hash for each sentence that is among the longest so far; no allocation once `scratch` has
    /// grown.
    pub fn of<'a>(&self, text: &str, scratch: &'a mut SentenceScratch) -> &'a [Sentence] {
        /// Sentences that are collected beyond twice those wanted before the shorter ones go: sorting fewer is no cheaper.
        const SPARE: usize = 16;
        #[cfg(feature = "counters")]
        crate::counters::CUT_SENTENCES.add();
        let SentenceScratch { whole, one, found } = scratch;
        found.clear();
        let mut least = self.min_length;
        for (index, sentence) in (0..).zip(sentences(self.before.apply_to_part(text, whole))) {
            let sentence = self.after.apply_to_part(sentence, one);
            let length = length(sentence);
            if length < least {
                continue;
            }
            let core = sentence.trim_matches(is_filler);
            found.push(Sentence { hash: self.hash.of(core), length, index });
            if found.len() >= self.count.saturating_mul(2).saturating_add(SPARE) {
                self.keep_longest(found);
                // Of equal length the earlier wins, so from here on only longer ones have a chance. A sentence that has
                // been dropped and comes again is as long as before, so it needs no memory of it.
                if let Some(shortest) = found.last().filter(|_| found.len() == self.count) {
                    least = shortest.length.saturating_add(1);
                }
            }
        }
        self.keep_longest(found);
        found
    }

    /// The longest of these, the longest first, ties in the order of the text, equal ones once.
    fn keep_longest(&self, found: &mut Vec<Sentence>) {
        // By hash first, so that equal sentences meet; equal hashes keep the earliest.
        found.sort_unstable_by_key(|s| (s.hash, s.index));
        found.dedup_by_key(|s| s.hash);
        found.sort_unstable_by_key(|s| (Reverse(s.length), s.index));
        found.truncate(self.count);
    }
}

/// [`Longest::of`] for a single text: its `count` longest sentences, normalised by default.
pub fn longest(text: &str, count: usize) -> Vec<Sentence> {
    let options = SentenceOptions { count, ..SentenceOptions::default() };
    Longest::new(&options).of(text, &mut SentenceScratch::default()).to_vec()
}

fn is_filler(c: char) -> bool {
    c.is_whitespace() || is_punctuation(c)
}

/// The first bytes of everything that is filler: punctuation, and white space of ASCII, U+0085, U+00A0 (C2), U+1680 (E1),
/// U+2000 and the following (E2), U+3000 (E3).
const FILLER: Class = Class::of(&[0xC2, 0xCB, 0xE1, 0xE2, 0xE3, 0xEF, b' '])
    .with_range(b'\t', b'\r')
    .with_range(b'!', b'/')
    .with_range(b':', b'@')
    .with_range(b'[', b'`')
    .with_range(b'{', b'~');

/// Code points of a sentence without punctuation and white space.
fn length(sentence: &str) -> u32 {
    let bytes = sentence.as_bytes();
    // All code points: the bytes that do not continue one.
    let all = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    let (mut filler, mut at) = (0, 0);
    loop {
        at = FILLER.next(bytes, at);
        let Some(c) = sentence[at..].chars().next() else { break };
        filler += usize::from(is_filler(c));
        at += c.len_utf8();
    }
    u32::try_from(all - filler).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_code_point_counts_or_is_filler() {
        for c in char::MIN..=char::MAX {
            let text = format!("中{c}a");
            let plain = text.chars().filter(|&c| !is_filler(c)).count();
            assert_eq!(length(&text) as usize, plain, "U+{:X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn the_longest_are_those_of_a_plain_sort(
            words in prop::collection::vec((0usize..40, 0usize..9), 0..200),
            count in 0usize..12,
        ) {
            let one = |&(word, length): &(usize, usize)| format!("{}{word}。", "字".repeat(length));
            let text = words.iter().map(one).collect::<Vec<_>>().concat();
            let options = SentenceOptions { count, min_length: 3, ..SentenceOptions::default() };
            let mut all: Vec<Sentence> = Vec::new();
            for (index, sentence) in (0..).zip(sentences(&text)) {
                let hash = SentenceHash::Xxh3.of(sentence.trim_matches(is_filler));
                let length = sentence.chars().filter(|&c| !is_filler(c)).count() as u32;
                if length >= 3 && all.iter().all(|other| other.hash != hash) {
                    all.push(Sentence { hash, length, index });
                }
            }
            all.sort_by_key(|s| (Reverse(s.length), s.index));
            all.truncate(count);
            let mut scratch = SentenceScratch::default();
            prop_assert_eq!(Longest::new(&options).of(&text, &mut scratch), &all[..]);
        }
    }
}
