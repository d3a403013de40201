//! Character n-grams: every window of n code points of the text, in order, spaces and punctuation included.
//!
//! A text shorter than n has one n-gram, the whole text; an empty text has none. Windows are code points, not bytes or
//! UTF-16 units, so that an emoji counts like any other character. The windows are slices of the text: nothing is copied.

/// Calls `each` with every n-gram of `text`. `n` is from 1 to [`MAX_NGRAM`](crate::extract::MAX_NGRAM).
pub(crate) fn for_each<'t>(text: &'t str, n: usize, mut each: impl FnMut(&'t str)) {
    debug_assert!(n > 0, "checked when the extractor is built");
    let mut end = text.char_indices().map(|(at, c)| at + c.len_utf8()).skip(n - 1).peekable();
    if end.peek().is_none() {
        if !text.is_empty() {
            each(text);
        }
        return;
    }
    let start = text.char_indices().map(|(at, _)| at);
    for (start, end) in start.zip(end) {
        each(&text[start..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::for_each;
    use proptest::prelude::*;

    fn ngrams(text: &str, n: usize) -> Vec<&str> {
        let mut all = Vec::new();
        for_each(text, n, |ngram| all.push(ngram));
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
