//! Stop words: words that never become keywords.

use super::lines;
use crate::feature::hash;
use crate::{NormalizeScratch, Normalizer, OptionsError};
use ahash::AHashSet;

/// The stop words of `extract_tags`, in lower case.
const JIEBA: [&str; 31] = [
    "the", "of", "is", "and", "to", "in", "that", "we", "for", "an", "are", "by", "be", "as", "on",
    "with", "can", "if", "from", "which", "you", "it", "this", "then", "at", "have", "all", "not",
    "one", "has", "or",
];

/// A set of stop words; a token is one if its lower case is in the set.
///
/// [`Default`] are the 31 English ones of jieba, to which `load` and `add` add, as in Python's `set_stop_words`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopWords {
    words: AHashSet<String>,
}

impl Default for StopWords {
    fn default() -> Self {
        Self { words: JIEBA.map(str::to_owned).into_iter().collect() }
    }
}

impl StopWords {
    /// No stop word at all.
    pub fn none() -> Self {
        Self { words: AHashSet::new() }
    }

    /// Adds the words of a file, one per line.
    ///
    /// # Errors
    /// [`OptionsError::Line`] for a line that is not UTF-8; the lines before it have been added.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), OptionsError> {
        lines::read("stop_words", "a word in UTF-8", bytes, |line| {
            self.add(line);
            Some(())
        })
    }

    /// Adds one word, in any case.
    pub fn add(&mut self, word: &str) {
        self.words.insert(word.to_lowercase());
    }

    /// Whether `word`, in any case, is a stop word. `lower` is scratch.
    pub(crate) fn contains(&self, word: &str, lower: &mut String) -> bool {
        lower.clear();
        lower.push_str(word);
        // Tokens of two characters and more hold ideographs and ASCII, so this is the lower case of any of them.
        lower.make_ascii_lowercase();
        self.words.contains(lower.as_str())
    }

    /// A number that is equal for equal sets.
    pub(crate) fn digest(&self) -> u64 {
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        words.sort_unstable();
        hash(words.join("\n").as_bytes())
    }

    /// The same words as they look after `normalizer`.
    pub(crate) fn normalized(&self, normalizer: &Normalizer) -> Self {
        let mut scratch = NormalizeScratch::default();
        let words = self.words.iter().map(|word| normalizer.apply(word, &mut scratch).to_owned());
        Self { words: words.collect() }
    }
}

/// Whether `word` is one of jieba's own stop words.
pub(crate) fn is_default(word: &str) -> bool {
    // All of them are ASCII and at most five letters long.
    word.len() <= 5 && word.is_ascii() && JIEBA.iter().any(|stop| stop.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::{JIEBA, StopWords, is_default};

    #[test]
    fn the_default_set_is_that_of_jieba() {
        let words = StopWords::default();
        let mut lower = String::new();
        for word in JIEBA {
            assert!(
                words.contains(&word.to_uppercase(), &mut lower)
                    && is_default(&word.to_uppercase())
            );
        }
        assert!(!is_default("fox") && !words.contains("fox", &mut lower));
    }

    #[test]
    fn loaded_words_are_added() {
        let mut words = StopWords::default();
        words.load("\u{FEFF}我们\r\n\r\nHTTP\n".as_bytes()).unwrap();
        let mut lower = String::new();
        assert!(["我们", "http", "The"].iter().all(|word| words.contains(word, &mut lower)));
        assert_eq!(
            words.load(b"ok\n\xFF\n").unwrap_err().to_string(),
            "stop_words line 2 must be a word in UTF-8, got \u{FFFD}"
        );
    }
}
