//! Word n-grams: windows of n successive words, joined by one space.
//!
//! Where the words come from is the caller's choice (Unicode words, jieba); how they become features is the same. A text
//! with at least one word but fewer than n has one feature, all its words; a text of no words (punctuation alone) but not
//! empty has one feature, the whole text.

use unicode_segmentation::UnicodeSegmentation;

/// Calls `each` with every Unicode word of `text` (UAX #29 word boundaries; pieces without a letter or digit are left out).
/// Each Han character is a word of its own here.
pub(crate) fn unicode_words<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    text.unicode_words().for_each(&mut each);
}

/// Calls `each` with every n-gram over `words`; `joined` is scratch.
pub(crate) fn for_each_ngram(
    text: &str,
    words: &[&str],
    n: usize,
    joined: &mut String,
    mut each: impl FnMut(&str),
) {
    if words.is_empty() {
        if !text.is_empty() {
            each(text);
        }
        return;
    }
    let n = n.min(words.len());
    if n == 1 {
        for word in words {
            each(word);
        }
        return;
    }
    for window in words.windows(n) {
        joined.clear();
        for (index, word) in window.iter().enumerate() {
            if index > 0 {
                joined.push(' ');
            }
            joined.push_str(word);
        }
        each(joined);
    }
}

#[cfg(test)]
mod tests {
    use super::{for_each_ngram, unicode_words};

    fn ngrams(text: &str, n: usize) -> Vec<String> {
        let (mut words, mut joined, mut all) = (Vec::new(), String::new(), Vec::new());
        unicode_words(text, |word| words.push(word));
        for_each_ngram(text, &words, n, &mut joined, |ngram| all.push(ngram.to_owned()));
        all
    }

    #[test]
    fn words_lose_punctuation_and_keep_numbers() {
        assert_eq!(
            ngrams("The fox can't jump 32.3 feet, right?", 1),
            ["The", "fox", "can't", "jump", "32.3", "feet", "right"]
        );
        assert_eq!(ngrams("版本3.5发布", 1), ["版", "本", "3.5", "发", "布"]);
    }

    #[test]
    fn word_ngrams_are_joined_by_a_space() {
        assert_eq!(ngrams("a quick, brown fox", 2), ["a quick", "quick brown", "brown fox"]);
    }

    #[test]
    fn a_text_of_few_words_has_one_feature() {
        assert_eq!(ngrams("brown, fox!", 3), ["brown fox"]);
        assert_eq!(ngrams("?!", 2), ["?!"]);
        assert!(ngrams("", 2).is_empty());
    }
}
