//! Word n-grams: windows of n successive words, joined by one space.
//!
//! Where the words come from is the caller's choice (Unicode words, jieba, white space); how they become features is the same. A text
//! with at least one word but fewer than n has one feature, all its words; a text of no words (punctuation alone) but not
//! empty has one feature, the whole text.

use crate::lexicon::Dictionary;
use crate::segment::{self, SegmentScratch};
use unicode_segmentation::UnicodeSegmentation;

/// Reusable memory: where the words of a text are, and what it takes to find and join them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordScratch {
    /// Start and end of each word, in bytes.
    spans: Vec<(usize, usize)>,
    joined: String,
    segment: SegmentScratch,
}

impl WordScratch {
    pub(crate) fn segment(&mut self) -> &mut SegmentScratch {
        &mut self.segment
    }
}

/// Finds the Unicode words of `text` (UAX #29 word boundaries; pieces without a letter or digit are left out). Each Han
/// character is a word of its own here.
pub(crate) fn unicode(text: &str, scratch: &mut WordScratch) {
    scratch.spans.clear();
    scratch.spans.extend(text.unicode_word_indices().map(|(at, word)| (at, at + word.len())));
}

/// Finds what white space separates in `text`.
pub(crate) fn separated(text: &str, scratch: &mut WordScratch) {
    scratch.spans.clear();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (start, c.is_whitespace()) {
            (Some(from), true) => {
                scratch.spans.push((from, at));
                start = None;
            }
            (None, false) => start = Some(at),
            _ => {}
        }
    }
    scratch.spans.extend(start.map(|from| (from, text.len())));
}

/// Finds the words of `text` that our segmenter cuts and that have a letter or digit.
pub(crate) fn own(text: &str, user: Option<&Dictionary>, hmm: bool, scratch: &mut WordScratch) {
    let WordScratch { spans, segment, .. } = scratch;
    spans.clear();
    segment::cut_with(user, text, hmm, segment, |word| {
        if has_letter_or_digit(word.text) {
            spans.push((word.start, word.start + word.text.len()));
        }
    });
}

/// jieba-rs, the second opinion: one dictionary for the process, made of ours when it is first needed. Its words have no tags,
/// which say nothing about where a text is cut.
#[cfg(feature = "jieba-rs")]
static JIEBA_RS: std::sync::LazyLock<jieba_rs::Jieba> = std::sync::LazyLock::new(|| {
    let mut jieba = jieba_rs::Jieba::empty();
    segment::dictionary::for_each_word(|word, frequency| {
        jieba.add_word(word, Some(frequency as usize), None);
    });
    // The one word of jieba's that is not in ours, for no text is cut so that it is a token. It counts in the total.
    jieba.add_word("γ射线", Some(3), None);
    jieba
});

/// As [`own`], cut by jieba-rs (accurate mode).
#[cfg(feature = "jieba-rs")]
pub(crate) fn jieba_rs(text: &str, hmm: bool, scratch: &mut WordScratch) {
    scratch.spans.clear();
    let mut at = 0;
    for token in JIEBA_RS.cut(text, hmm) {
        let start = at;
        at += token.word.len();
        if has_letter_or_digit(token.word) {
            scratch.spans.push((start, at));
        }
    }
}

fn has_letter_or_digit(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// Calls `each` with every n-gram over the words found last, in `text`.
pub(crate) fn for_each_ngram(
    text: &str,
    n: usize,
    scratch: &mut WordScratch,
    mut each: impl FnMut(&str),
) {
    let WordScratch { spans, joined, .. } = scratch;
    if spans.is_empty() {
        if !text.is_empty() {
            each(text);
        }
        return;
    }
    let n = n.min(spans.len());
    if n == 1 {
        for &(start, end) in &*spans {
            each(&text[start..end]);
        }
        return;
    }
    // All words once, so that each n-gram is a slice of it.
    joined.clear();
    for &(start, end) in &*spans {
        joined.push_str(&text[start..end]);
        joined.push(' ');
    }
    let length = |&(start, end): &(usize, usize)| end - start;
    let mut from = 0;
    let mut to = spans[..n - 1].iter().map(|word| length(word) + 1).sum::<usize>();
    for window in spans.windows(n) {
        to += length(&window[n - 1]);
        each(&joined[from..to]);
        from += length(&window[0]) + 1;
        to += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{WordScratch, for_each_ngram, own, separated, unicode};

    fn ngrams_by(find: impl FnOnce(&str, &mut WordScratch), text: &str, n: usize) -> Vec<String> {
        let (mut scratch, mut all) = (WordScratch::default(), Vec::new());
        find(text, &mut scratch);
        for_each_ngram(text, n, &mut scratch, |ngram| all.push(ngram.to_owned()));
        all
    }

    fn ngrams(text: &str, n: usize) -> Vec<String> {
        ngrams_by(unicode, text, n)
    }

    #[test]
    fn chinese_words_lose_punctuation() {
        let text = "我来到北京清华大学，2024年。";
        let words = ["我", "来到", "北京", "清华大学", "2024", "年"];
        assert_eq!(ngrams_by(|text, scratch| own(text, None, true, scratch), text, 1), words);
        #[cfg(feature = "jieba-rs")]
        assert_eq!(ngrams_by(|text, scratch| super::jieba_rs(text, true, scratch), text, 1), words);
    }

    #[test]
    fn without_the_hmm_characters_of_unknown_words_stand_alone() {
        let text = "他来到了网易杭研大厦";
        let by = |hmm| ngrams_by(|text, scratch| own(text, None, hmm, scratch), text, 1);
        assert_eq!(by(true), ["他", "来到", "了", "网易", "杭研", "大厦"]);
        assert_eq!(by(false), ["他", "来到", "了", "网易", "杭", "研", "大厦"]);
    }

    #[test]
    fn numbers_and_model_names_are_kept_whole() {
        let text = "新iPhone15Pro比COVID-19那年贵3.14倍，2024-05-01发布，见GB/T 7714。";
        let words = ngrams(text, 1);
        let whole = ["iPhone15Pro", "COVID", "19", "3.14", "2024", "05", "01", "GB", "T", "7714"];
        for word in whole {
            assert!(words.iter().any(|found| found == word), "{word} in {words:?}");
        }
        let jieba = ngrams_by(|text, scratch| own(text, None, true, scratch), text, 1);
        for word in ["iPhone15Pro", "COVID", "19", "3.14", "2024", "05", "01", "GB", "T", "7714"] {
            assert!(jieba.iter().any(|found| found == word), "{word} in {jieba:?}");
        }
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
    fn tokens_are_what_white_space_separates() {
        let text = "\u{3000}今天  天气,\n很 好 ! ";
        assert_eq!(ngrams_by(separated, text, 1), ["今天", "天气,", "很", "好", "!"]);
        assert_eq!(ngrams_by(separated, text, 4), ["今天 天气, 很 好", "天气, 很 好 !"]);
        assert_eq!(ngrams_by(separated, "一", 2), ["一"]);
        assert!(ngrams_by(separated, "", 2).is_empty());
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

    #[cfg(feature = "jieba-rs")]
    mod dictionary_of_jieba_rs {
        use super::super::JIEBA_RS;
        use crate::segment::dictionary::for_each_word;
        use jieba_rs::Jieba;

        /// Words and total frequency, which jieba-rs shows in this form alone.
        fn size(jieba: &Jieba) -> [usize; 2] {
            let shown = format!("{jieba:?}");
            let number = |name: &str| {
                let (_, rest) = shown.split_once(name).unwrap();
                rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
            };
            [number("records_len: "), number("total_freq: ")]
        }

        /// Setting a word of theirs to frequency 0 takes what it had from the total, and adds no word.
        #[test]
        fn it_has_the_words_and_frequencies_of_its_own() {
            let mut theirs = Jieba::new();
            assert_eq!(size(&JIEBA_RS), size(&theirs));
            let [words, mut total] = size(&theirs);
            let mut known = 0;
            let mut same = |word: &str, frequency: u32| {
                known += 1;
                theirs.add_word(word, Some(0), None);
                total -= frequency as usize;
                assert_eq!(size(&theirs), [words, total], "{word}");
            };
            for_each_word(&mut same);
            same("γ射线", 3);
            assert_eq!([words, total], [known, 0]);
        }

        /// Every word alone, and all in a row, with others left and right of it: blocks of 4,096 characters.
        #[test]
        fn it_cuts_its_words_as_with_its_own() {
            let theirs = Jieba::new();
            let mut row = String::new();
            let compare = |text: &str| {
                for hmm in [false, true] {
                    assert_eq!(JIEBA_RS.cut(text, hmm), theirs.cut(text, hmm), "{text}");
                }
            };
            for_each_word(|word, _| {
                compare(word);
                row.push_str(word);
                if row.len() > 3 * 4_096 {
                    compare(&row);
                    row.clear();
                }
            });
            compare(&row);
        }
    }
}
