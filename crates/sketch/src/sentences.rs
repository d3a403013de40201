//! Text to sentence hashes: the sketch of the method of the n longest sentences.
//!
//! A text without a sentence that is long enough has no such sketch: short sentences are shared by unrelated texts, and
//! what has none but those is compared as a whole, by the hash of the normalised text.

use std::fmt;

use simhash_text::NormalizeScratch;
use simhash_text::feature;
use simhash_text::sentence::{Longest, Sentence, SentenceOptions, SentenceScratch};

/// Shortest sentence that counts, in code points without punctuation and white space, by default.
///
/// Measured on pairs of documents of `../shared/data` that have a sentence of so many code points in common, counted once
/// per sentence and pair: in zh-news-eventmonitor 14 % of the pairs that share one of 1 or 2 are similar (Jaccard of
/// character 5-grams at least 0.5), 20 % for 3 and 4, 27 % for 5 to 7, 42 % for 8 and 9, and 44 to 48 % for every length
/// from 10 on; in zh-poetry-tang, verses of five and seven characters, 59 % for 5 to 7 and 80 % for 10 and 11.
pub const MIN_LENGTH: usize = 10;

/// What is kept of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentenceSketch {
    /// Hashes of its longest sentences, the longest first, distinct.
    Sentences(Vec<u64>),
    /// It has no sentence that is long enough: XXH3-128 of the normalised text.
    Exact(u128),
    /// The normalised text is empty.
    Empty,
}

/// Reusable memory; one per thread.
#[derive(Clone, Debug, Default)]
pub struct SketchScratch {
    sentences: SentenceScratch,
    normalize: NormalizeScratch,
}

/// Makes sentence sketches.
#[derive(Clone, Debug)]
pub struct SentenceSketcher {
    longest: Longest,
    options: SentenceOptions,
}

impl SentenceSketcher {
    /// A sketcher for these options; [`MIN_LENGTH`] is the length to give where none is asked for.
    pub fn new(options: &SentenceOptions) -> Self {
        Self { longest: Longest::new(options), options: options.clone() }
    }

    /// The sketch of `text`.
    pub fn sketch(&self, text: &str, scratch: &mut SketchScratch) -> SentenceSketch {
        let found = self.sentences(text, &mut scratch.sentences);
        if !found.is_empty() {
            return SentenceSketch::Sentences(found.iter().map(|one| one.hash).collect());
        }
        match self.options.normalizer.apply(text, &mut scratch.normalize) {
            "" => SentenceSketch::Empty,
            text => SentenceSketch::Exact(feature::exact(text)),
        }
    }

    /// The longest sentences of `text`, the longest first; none if all are too short.
    pub fn sentences<'a>(&self, text: &str, scratch: &'a mut SentenceScratch) -> &'a [Sentence] {
        self.longest.of(text, scratch)
    }

    /// How many sentences are taken, at most.
    pub fn count(&self) -> usize {
        self.options.count
    }
}

/// The recipe: the options in words but for the number of sentences. Sketches of equal recipes can be compared.
impl fmt::Display for SentenceSketcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SentenceOptions { min_length, hash, normalizer, .. } = &self.options;
        write!(f, "minLength {min_length}, hash {}, normalize {normalizer}", hash.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simhash_text::Normalizer;
    use simhash_text::sentence::SentenceHash;

    fn sketch(text: &str) -> SentenceSketch {
        let options = SentenceOptions { min_length: MIN_LENGTH, ..SentenceOptions::default() };
        SentenceSketcher::new(&options).sketch(text, &mut SketchScratch::default())
    }

    #[test]
    fn texts_without_a_long_sentence_are_compared_as_a_whole() {
        assert_eq!(sketch(""), SentenceSketch::Empty);
        assert_eq!(sketch(" \u{3000}\n"), SentenceSketch::Empty);
        assert!(matches!(sketch("短句。还是短句！"), SentenceSketch::Exact(_)));
        assert_eq!(sketch("第 01 集"), sketch("第01集"));
        assert_ne!(sketch("第01集"), sketch("第02集"));
        let SentenceSketch::Sentences(two) =
            sketch("这一句有足够多的字可以算数。这一句也有足够多的字。短。")
        else {
            panic!("sentences")
        };
        assert_eq!(two.len(), 2);
    }

    #[test]
    fn a_recipe_names_what_makes_hashes_equal() {
        let options = SentenceOptions {
            count: 3,
            min_length: 10,
            normalizer: Normalizer::OFF,
            hash: SentenceHash::Md5,
        };
        let sketcher = SentenceSketcher::new(&options);
        assert_eq!(sketcher.to_string(), "minLength 10, hash md5, normalize nothing");
        assert_eq!(sketcher.count(), 3);
    }
}
