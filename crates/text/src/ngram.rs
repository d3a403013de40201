//! Character n-grams: every window of n code points of the text, in order, spaces and punctuation included.
//!
//! A text shorter than n has one n-gram, the whole text; an empty text has none. Windows are code points, not bytes or
//! UTF-16 units, so that an emoji counts like any other character. The windows are ranges of the text: nothing is copied.

use crate::extract::MAX_NGRAM;

/// Calls `each(start, end)` with the bytes of every n-gram of `text`. `n` is from 1 to [`MAX_NGRAM`].
#[inline]
pub(crate) fn for_each(text: &str, n: usize, mut each: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    // Where the last n characters start; the oldest is next to be overwritten. A power of two needs no division.
    let mut starts = [0; MAX_NGRAM];
    let (mut at, mut characters) = (0, 0);
    while let Some(&lead) = bytes.get(at) {
        starts[characters % MAX_NGRAM] = at;
        characters += 1;
        at += utf8_len(lead);
        if characters >= n {
            each(starts[(characters - n) % MAX_NGRAM], at);
        }
    }
    if characters > 0 && characters < n {
        each(0, at);
    }
}

/// Bytes of the code point that starts with `lead`: as many as its leading ones, or one.
#[inline]
fn utf8_len(lead: u8) -> usize {
    (lead.leading_ones() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::for_each;
    use proptest::prelude::*;

    fn ngrams(text: &str, n: usize) -> Vec<&str> {
        let mut all = Vec::new();
        for_each(text, n, |start, end| all.push(&text[start..end]));
        all
    }

    #[test]
    fn windows_are_code_points() {
        assert_eq!(ngrams("中a😀文", 2), ["中a", "a😀", "😀文"]);
        assert_eq!(ngrams("中a😀文", 1), ["中", "a", "😀", "文"]);
        assert_eq!(ngrams("中文", 2), ["中文"]);
    }

    #[test]
    fn a_short_text_is_its_own_only_ngram_and_an_empty_text_has_none() {
        assert_eq!(ngrams("中文", 3), ["中文"]);
        assert!(ngrams("", 1).is_empty());
    }

    proptest! {
        #[test]
        fn ngrams_equal_the_windows_of_the_code_points(text in any::<String>(), n in 1..=8_usize) {
            let chars: Vec<char> = text.chars().collect();
            let windows: Vec<String> = if chars.len() < n && !chars.is_empty() {
                vec![text.clone()]
            } else {
                chars.windows(n).map(|window| window.iter().collect()).collect()
            };
            prop_assert_eq!(ngrams(&text, n), windows);
        }
    }
}
