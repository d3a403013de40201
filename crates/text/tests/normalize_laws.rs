//! Laws of the whole chain: idempotent for every choice of steps, linear in hostile text, fast paths equal to plain ones.

use proptest::prelude::*;
use simhash_text::normalize::Punctuation;
use simhash_text::{NormalizeScratch, Normalizer, Whitespace};

fn normal(normalizer: &Normalizer, text: &str) -> String {
    normalizer.apply(text, &mut NormalizeScratch::default()).to_owned()
}

fn any_normalizer() -> impl Strategy<Value = Normalizer> {
    let whitespace = prop_oneof![
        Just(Whitespace::Keep),
        Just(Whitespace::Collapse),
        Just(Whitespace::Remove),
        Just(Whitespace::Auto)
    ];
    let punctuation =
        prop_oneof![Just(Punctuation::Keep), Just(Punctuation::Fold), Just(Punctuation::Drop)];
    (any::<[bool; 8]>(), punctuation, whitespace).prop_map(|(on, punctuation, whitespace)| {
        Normalizer {
            html: on[0],
            noise: on[1],
            emoji: on[2],
            nfkc: on[3],
            case: on[4],
            simplified: on[5],
            invisible: on[6],
            punctuation,
            whitespace,
            runs: on[7],
        }
    })
}

/// What some step looks for, whole and broken.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "<", "<<", ">", "&", "&amp;", "&lt;", "&amp;lt;", "&#60;", "&#x26;", "lt;", "amp;", "#38;", "；",
    "<b>", "</p>", "<a x=\"", "'", "\"", "=", "/", "<!--", "-->", "-", "<![CDATA[", "]]>", "<?x",
    "<!d", "<script>", "</script>", "<title>", "</title>", "br", "＜", "＞", "＆", "http", "://",
    "：／／", "www", ".", "．", "t.cn/", "@", "＠", "//@", "a@b.cn", "名", "#", "＃", "#题#", "[", "]", "［",
    "哈", "哈哈哈哈", "[doge]", "转发微博", "轉發微博", "转", "发微博", "回复", ":", "😀", "👍🏽", "\u{FE0F}", "\u{200D}",
    "©", "\u{20E3}", "\u{200B}", "\0", "\u{AD}", "漢", "乾", "𦀖", "，", "。", "…", "——", "“", "”", "–",
    "−", "1", "2", "１", "%", "％", "5", " ", "  ", "\n", "\r\n", "\u{A0}", "\u{3000}", "a", "aaaa",
    "Ａ", "ß", "İ", "e", "\u{301}", "\u{338}", "か", "\u{3099}", "ﾊ", "\u{FF9E}", "\u{1100}",
    "\u{1161}", "\u{11A8}", "①", "½", "ﷺ", "´", "中",
];

/// Pieces of markup, noise and everything else a step looks for, whole and broken, in any order.
fn hostile_text() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS);
    let piece = prop_oneof![
        8 => token.prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
        1 => ".{0,3}".prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn normalising_twice_is_normalising_once(normalizer in any_normalizer(), text in hostile_text()) {
        let once = normal(&normalizer, &text);
        prop_assert_eq!(normal(&normalizer, &once), once);
    }

    #[test]
    fn a_step_that_is_off_leaves_its_characters(text in "[a-z<>&@#\\[\\]:/.\u{4E00}-\u{4E20}]{0,20}") {
        let space_only = Normalizer { whitespace: Whitespace::Auto, runs: true, ..Normalizer::OFF };
        let kept = normal(&space_only, &text);
        let mut expected = String::new();
        for c in text.chars() {
            if !expected.ends_with(&String::from(c).repeat(3)) {
                expected.push(c);
            }
        }
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn invisible_characters_change_nothing_else(text in hostile_text(), at in any::<prop::sample::Index>()) {
        let normalizer = Normalizer { invisible: true, ..Normalizer::OFF };
        let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (front, back) = text.split_at(boundaries[at.index(boundaries.len())]);
        prop_assert_eq!(normal(&normalizer, &format!("{front}\u{200B}\0{back}")), normal(&normalizer, &text));
    }

    #[test]
    fn scratch_carries_nothing_over(normalizer in any_normalizer(), first in hostile_text(), second in hostile_text()) {
        let mut scratch = NormalizeScratch::default();
        normalizer.apply(&first, &mut scratch);
        let reused = normalizer.apply(&second, &mut scratch).to_owned();
        prop_assert_eq!(reused, normal(&normalizer, &second));
    }
}

/// A text nested deeper than rounds are made: what remains is letters and digits, and that is final.
#[test]
fn nesting_beyond_the_rounds_is_still_idempotent() {
    let noise = Normalizer { noise: true, ..Normalizer::OFF };
    let nested = format!("{}{}", "[a".repeat(30), "]".repeat(30));
    assert_eq!(normal(&noise, &nested), "a".repeat(22), "eight rounds, then letters only");
    let squeezed = Normalizer { whitespace: Whitespace::Remove, ..noise };
    let marks = "转发微博 ".repeat(20);
    let links = format!("{}{}", "ht http://b ".repeat(20), "tp://a ".repeat(20));
    for text in [nested, marks, links] {
        for normalizer in [squeezed.clone(), Normalizer::web(), Normalizer::microblog()] {
            let once = normal(&normalizer, &text);
            assert_eq!(normal(&normalizer, &once), once, "{text}");
        }
    }
}

#[test]
fn every_character_is_final_after_one_pass() {
    let fold = Normalizer { punctuation: Punctuation::Fold, html: true, ..Normalizer::microblog() };
    for normalizer in [Normalizer::web(), Normalizer::microblog(), fold] {
        let mut scratch = NormalizeScratch::default();
        for c in '\0'..=char::MAX {
            let once = normalizer.apply(&format!("a{c}1"), &mut scratch).to_owned();
            assert_eq!(normalizer.apply(&once, &mut scratch), once, "{c:?}");
        }
    }
}

/// Quadratic work on any of these megabytes would take hours.
#[test]
fn hostile_megabytes_finish() {
    let everything = Normalizer { emoji: true, runs: true, ..Normalizer::web() };
    let fold = Normalizer { punctuation: Punctuation::Fold, ..everything.clone() };
    let patterns = [
        "<",
        "&",
        "<a",
        "<!--",
        "<a b=\"",
        "<a x=\"<a\" y='",
        "<script>",
        "<title>",
        "<![CDATA[",
        "<!d",
        "<?x",
        "</",
        "&amp",
        "&#38;",
        "&#",
        "&#x",
        "amp;",
        "]]>",
        "@",
        "a@",
        "@a",
        "//@",
        "#",
        "#a",
        "[",
        "[a",
        "://",
        "http",
        "http://",
        "www.",
        "t.cn/",
        ".",
        ":",
        "转",
        "转发微博",
        "-",
        "1.",
        "\u{200B}",
        "😀",
        "\u{200D}",
        "©",
        "e\u{301}",
        "”",
        "\u{301}",
    ];
    for pattern in patterns {
        let text = pattern.repeat(1_000_000 / pattern.len());
        for normalizer in [&everything, &fold] {
            let once = normal(normalizer, &text);
            assert!(once.len() <= text.len(), "{pattern}");
        }
    }
    let nested = format!("&{}lt;br&gt;", "amp;".repeat(250_000));
    assert_eq!(normal(&Normalizer { html: true, ..Normalizer::OFF }, &nested), "br>");
}
