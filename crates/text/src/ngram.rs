//! Character n-grams: every window of n code points of the text, in order, spaces and punctuation included; and windows
//! whose length follows from what is written in them.
//!
//! A text shorter than n has one n-gram, the whole text; an empty text has none. Windows are code points, not bytes or
//! UTF-16 units, so that an emoji counts like any other character. The windows are ranges of the text: nothing is copied.
//!
//! # By script
//!
//! An ideograph says more than a letter: there are thousands of them, each a word or part of one, while the pairs of 26
//! letters are the same in every English text. So from each character on a window is the shortest run that weighs [`FULL`],
//! an ideograph weighing half of it and a letter a fifth: two ideographs, five letters, or of both as many as come to that
//! together; the last window reaches to the end of the text. A digit weighs as much as an ideograph, so that the numbers by
//! which titles differ, 第12集 or EP02, are not lost within longer windows. The rule looks at nothing but the window, so
//! neither an edit elsewhere nor the share of one language in the text changes how a passage is cut.
//!
//! # Around a change
//!
//! A window, but for the one that reaches to the end of the text, depends on its own characters alone. Where a part of a text is found in
//! another text, so are the windows within the part; [`touching`] and [`touching_by_script`] give the others.

use crate::extract::MAX_NGRAM;
use std::ops::Range;

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

/// Weight of a window by script: divisible by 2 and by 5.
const FULL: u32 = 10;
/// First byte of U+3000, from which on characters are Han, kana, Hangul, their punctuation and emoji, but for some alphabets of
/// few readers (Lisu, Vai, Javanese, U+A4D0 to U+ABFF). Radicals, strokes and single jamo lie below it, and are not found in
/// running text.
const IDEOGRAPH: u8 = 0xE3;

/// Calls `each(start, end)` with the bytes of every window by script. Where the last of them does not reach the end of the
/// text, as in 地铁No, whose 地铁 is the last run that weighs enough, it is followed by one that does: 地铁No.
#[inline]
pub(crate) fn for_each_by_script(text: &str, mut each: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let (mut start, mut at, mut weight) = (0, 0, 0);
    let (mut last, mut end) = (0, 0);
    while let Some(&lead) = bytes.get(at) {
        at += utf8_len(lead);
        weight += script_weight(lead);
        while weight >= FULL {
            each(start, at);
            (last, end) = (start, at);
            weight -= script_weight(bytes[start]);
            start += utf8_len(bytes[start]);
        }
        // Between two of three bytes each that weigh half a window all windows are as long as this one: most of Chinese text.
        if at == start + 3 && weight == FULL / 2 {
            while let Some(&next) = bytes.get(at)
                && (IDEOGRAPH..0xF0).contains(&next)
            {
                each(start, start + 6);
                (last, end) = (start, start + 6);
                (start, at) = (at, at + 3);
            }
        }
    }
    if end < at {
        each(last, at);
    }
}

#[inline]
fn script_weight(lead: u8) -> u32 {
    if lead >= IDEOGRAPH || lead.is_ascii_digit() { FULL / 2 } else { FULL / 5 }
}

/// Calls `each` with the windows of `n` code points that start before the end of `span` and end behind its start, but for those that
/// start before `since`. A span that does not go to the end of the text must have `n` code points behind it.
pub(crate) fn touching(
    text: &str,
    n: usize,
    since: usize,
    span: &Range<usize>,
    mut each: impl FnMut(usize, usize),
) {
    let bytes = text.as_bytes();
    let mut start = span.start;
    for _ in 1..n {
        start = before(bytes, since, start);
    }
    let mut end = start;
    for _ in 1..n {
        end += bytes.get(end).copied().map_or(0, utf8_len);
    }
    while start < span.end
        && let Some(&lead) = bytes.get(end)
    {
        end += utf8_len(lead);
        each(start, end);
        start += utf8_len(bytes[start]);
    }
}

/// The same of the windows by script. Behind a span that does not go to the end of the text, and in one that does, must be a window.
pub(crate) fn touching_by_script(
    text: &str,
    since: usize,
    span: &Range<usize>,
    mut each: impl FnMut(usize, usize),
) {
    let bytes = text.as_bytes();
    let (mut start, mut weight) = (span.start, 0);
    while start > since {
        let one = before(bytes, since, start);
        weight += script_weight(bytes[one]);
        // The window from here ends before the span.
        if weight >= FULL {
            break;
        }
        start = one;
    }
    let (mut at, mut weight) = (start, 0);
    let (mut last, mut end) = (0, 0);
    while start < span.end {
        while weight < FULL {
            let Some(&lead) = bytes.get(at) else {
                if end < at {
                    each(last, at);
                }
                return;
            };
            at += utf8_len(lead);
            weight += script_weight(lead);
        }
        each(start, at);
        (last, end) = (start, at);
        weight -= script_weight(bytes[start]);
        start += utf8_len(bytes[start]);
    }
}

/// The start of the code point before `at`, or `since` if there is none.
fn before(bytes: &[u8], since: usize, at: usize) -> usize {
    let is_start = |&start: &usize| bytes[start] & 0xC0 != 0x80;
    (since..at).rev().find(is_start).unwrap_or(since)
}

/// How long `text` is for windows by script, in ideographs: letters, whose windows are long, do not count, and a digit counts
/// as two, since there are only a hundred pairs of digits: two texts of 200 any digits have three quarters of theirs in common.
pub(crate) fn ideographs(text: &str) -> usize {
    // Sums that fit into a byte are added up by vectors.
    let count = |bytes: &[u8]| -> u8 {
        bytes
            .iter()
            .map(|&byte| u8::from(byte >= IDEOGRAPH) + 2 * u8::from(byte.is_ascii_digit()))
            .sum()
    };
    text.as_bytes().chunks(64).map(|bytes| usize::from(count(bytes))).sum()
}

/// Bytes of the code point that starts with `lead`: as many as its leading ones, or one.
#[inline]
fn utf8_len(lead: u8) -> usize {
    (lead.leading_ones() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::{for_each, for_each_by_script, ideographs, touching, touching_by_script};
    use proptest::prelude::*;

    fn by_script(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        for_each_by_script(text, |start, end| all.push(&text[start..end]));
        all
    }

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

    #[test]
    fn windows_by_script_are_two_ideographs_or_five_letters() {
        assert_eq!(by_script("地铁通车"), ["地铁", "铁通", "通车"]);
        assert_eq!(by_script("subway"), ["subwa", "ubway"]);
        assert_eq!(by_script("第12集完"), ["第1", "12", "2集", "集完"]);
        assert_eq!(by_script("用GPT写"), ["用GPT", "GPT写"]);
        assert_eq!(by_script("柯南EP01"), ["柯南", "南EP0", "EP01", "P01", "01"]);
        assert_eq!(by_script("地铁No"), ["地铁", "地铁No"]);
        assert_eq!([by_script("集"), by_script("abcd")], [["集"], ["abcd"]]);
        assert!(by_script("").is_empty());
    }

    proptest! {
        #[test]
        fn windows_by_script_are_the_shortest_that_weigh_enough(text in "[a-e0-9中文。 é😀ー\u{2fff}\u{3000}]{0,20}|.*") {
            let chars: Vec<char> = text.chars().collect();
            let weight = |c: char| if c >= '\u{3000}' || c.is_ascii_digit() { 0.5 } else { 0.2 };
            let (mut expected, mut last) = (Vec::new(), (0, 0));
            for start in 0..chars.len() {
                let ends = start..chars.len();
                let full = |&end: &usize| chars[start..=end].iter().copied().map(weight).sum::<f64>() > 0.99;
                if let Some(end) = ends.into_iter().find(full) {
                    expected.push(chars[start..=end].iter().collect::<String>());
                    last = (start, end + 1);
                }
            }
            if last.1 < chars.len() {
                expected.push(chars[last.0..].iter().collect());
            }
            prop_assert_eq!(by_script(&text), expected);
            let digits = chars.iter().filter(|c| c.is_ascii_digit()).count();
            let others = chars.iter().filter(|&&c| c >= '\u{3000}').count();
            prop_assert_eq!(ideographs(&text), others + 2 * digits);
        }

        /// Windows within what lies between spans, and those that touch a span, are all windows, each once.
        #[test]
        fn what_touches_spans_is_all_that_is_not_between_them(
            parts in prop::collection::vec(("[a-e0-9中文。 é😀]{0,4}", "[a-e0-9中文。 é😀]{0,14}"), 0..5),
            tail in "[a-e0-9中文。 é😀]{16,30}",
            n in 1..=8_usize,
        ) {
            let (mut text, mut spans) = (String::from("0123456789"), Vec::new());
            for (changed, same) in &parts {
                let from = text.len();
                text.push_str(changed);
                spans.push(from..text.len());
                text.push_str(same);
            }
            let from = text.len();
            text.push_str(&tail);
            spans.push(from..text.len());
            let is_between = |start: usize, end: usize| {
                let mut since = 0;
                spans.iter().any(|span| {
                    let between = since <= start && end <= span.start;
                    since = span.end;
                    between
                })
            };
            let (mut all, mut found) = (Vec::new(), Vec::new());
            for_each(&text, n, |from, to| all.push((from, to)));
            let mut since = 0;
            for span in &spans {
                touching(&text, n, since, span, |from, to| found.push((from, to)));
                since = span.end;
            }
            all.retain(|&(from, to)| !is_between(from, to));
            prop_assert_eq!(&found, &all);
            (all, found, since) = (Vec::new(), Vec::new(), 0);
            for_each_by_script(&text, |from, to| all.push((from, to)));
            for span in &spans {
                touching_by_script(&text, since, span, |from, to| found.push((from, to)));
                since = span.end;
            }
            all.retain(|&(from, to)| !is_between(from, to));
            prop_assert_eq!(found, all);
        }

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
