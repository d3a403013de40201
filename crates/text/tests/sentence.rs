//! Sentences: where they end, which are the longest, what their hashes see.

use proptest::prelude::*;
use simhash_text::feature::hash;
use simhash_text::sentence::{
    Longest, Sentence, SentenceHash, SentenceOptions, SentenceScratch, longest, sentences,
};
use simhash_text::{Normalizer, Punctuation};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(sentences(text).collect::<Vec<_>>(), expected, "{text:?}");
}

#[test]
fn chinese_sentences_end_at_their_marks_and_keep_what_closes_them() {
    check(
        "今天天气好。我们走！去哪？不知道；走吧",
        &["今天天气好。", "我们走！", "去哪？", "不知道；", "走吧"],
    );
    check("他说：“走吧！”然后走了。", &["他说：“走吧！”", "然后走了。"]);
    check("（真的？！）好……是。。。", &["（真的？！）", "好……是。。。"]);
    check("第一行\n第二行\r\n\n 第三行 ", &["第一行", "第二行", "第三行"]);
    check("", &[]);
    check(" \n\u{3000}", &[]);
    check("。！", &["。！"]);
}

#[test]
fn english_full_stops_end_sentences_only_before_a_capital_or_the_end() {
    check("It works. Really! \"Does it?\" Yes.", &["It works.", "Really!", "\"Does it?\"", "Yes."]);
    check("He said \"go.\" Then he went.", &["He said \"go.\"", "Then he went."]);
    check("He left. \"Why?\" asked Ann.", &["He left.", "\"Why?\"", "asked Ann."]);
    check("Pi is 3.14 in v7.5.1 of www.a.b today.", &["Pi is 3.14 in v7.5.1 of www.a.b today."]);
    check(
        "Mr. Smith met Dr. J. Li, e.g. Tuesday. Good.",
        &["Mr. Smith met Dr. J. Li, e.g. Tuesday.", "Good."],
    );
    check("in the U.S. Senate. then on", &["in the U.S. Senate. then on"]);
    check("版本 3.14 发布. 很好.", &["版本 3.14 发布. 很好."]);
}

#[test]
fn the_longest_come_first_and_ties_go_to_the_earlier() {
    let text = "一二三四五。甲乙丙丁戊己。一二三四六。短。";
    let found = longest(text, 5);
    let expected = [("甲乙丙丁戊己", 6, 1), ("一二三四五", 5, 0), ("一二三四六", 5, 2)];
    let expected = expected.map(|(text, length, index)| Sentence {
        hash: hash(text.as_bytes()),
        length,
        index,
    });
    assert_eq!(found, expected);
    assert_eq!(longest(text, 2), expected[..2]);
    assert_eq!(longest("短。短！", 5), []);
}

#[test]
fn equal_sentences_count_once_whatever_their_end() {
    let found = longest("“同一句话在这里。”同一句话在这里！ 同一句话在这里", 5);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].length, found[0].index), (7, 0));
}

#[test]
fn length_counts_neither_punctuation_nor_white_space() {
    assert_eq!(longest("《甲》、“乙” - 丙, d e (f)", 1)[0].length, 6);
    let options = SentenceOptions { min_length: 0, ..SentenceOptions::default() };
    let finder = Longest::new(&options);
    let mut scratch = SentenceScratch::default();
    assert_eq!(finder.of("。！——…\n？", &mut scratch), []);
    assert_eq!(finder.of("好。", &mut scratch).len(), 1);
}

#[test]
fn sentences_are_found_before_normalisation_hides_their_ends() {
    let finder =
        |normalizer| Longest::new(&SentenceOptions { normalizer, ..SentenceOptions::default() });
    let page = "<p>臺灣的天氣很好。</p><script>var a=1;</script><p>It is 5 &gt; 3, Mr. Li. The end is near http://a.b/c?d;e</p>";
    let mut scratch = SentenceScratch::default();
    let found = finder(Normalizer::web()).of(page, &mut scratch).to_vec();
    let hashes: Vec<u64> = found.iter().map(|s| s.hash).collect();
    let expected = ["the end is near", "it is 5 3 mr li", "台湾的天气很好"];
    assert_eq!(hashes, expected.map(|sentence| hash(sentence.as_bytes())));
}

/// The definition, without the reuse of buffers and the sorting tricks.
fn longest_by_definition(text: &str, options: &SentenceOptions) -> Vec<(u32, u32)> {
    let filler = |c: char| c.is_whitespace() || "。！？；，、.!?;,:'\"()“”".contains(c);
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for (index, sentence) in (0..).zip(sentences(text)) {
        let normal: String = sentence.to_lowercase();
        let core = normal.trim_matches(filler).to_owned();
        let length = normal.chars().filter(|&c| !filler(c)).count();
        if length >= options.min_length.max(1) && !seen.contains(&core) {
            all.push((length as u32, index));
            seen.push(core);
        }
    }
    all.sort_by_key(|&(length, index)| (std::cmp::Reverse(length), index));
    all.truncate(options.count);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn nothing_but_white_space_is_lost(text in ".{0,60}|[a-zA-Z。！？；.!?;”\"' \n\r\t中文3]{0,60}") {
        let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(solid(&sentences(&text).collect::<String>()), solid(&text));
        prop_assert!(sentences(&text).all(|s| !s.is_empty() && s == s.trim() && !s.contains('\n')));
    }

    #[test]
    fn the_longest_follow_the_definition(text in "[abcA。！？；.,!?;”“\" \n中文]{0,80}", count in 0..6usize, min_length in 0..6usize) {
        let normalizer = Normalizer { case: true, ..Normalizer::OFF };
        let options = SentenceOptions {
            count,
            min_length,
            normalizer,
            hash: SentenceHash::default(),
        };
        let mut scratch = SentenceScratch::default();
        let found = Longest::new(&options).of(&text, &mut scratch);
        let found: Vec<_> = found.iter().map(|s| (s.length, s.index)).collect();
        prop_assert_eq!(found, longest_by_definition(&text, &options));
    }

    #[test]
    fn dropping_punctuation_first_does_not_change_lengths(text in "[abc。！，、：“”甲乙丙]{0,60}") {
        let lengths = |punctuation| {
            let normalizer = Normalizer { punctuation, ..Normalizer::default() };
            let options = SentenceOptions {
                count: 100,
                min_length: 1,
                normalizer,
                hash: SentenceHash::default(),
            };
            let mut scratch = SentenceScratch::default();
            Longest::new(&options).of(&text, &mut scratch).iter().map(|s| s.length).max()
        };
        prop_assert_eq!(lengths(Punctuation::Keep), lengths(Punctuation::Drop));
    }
}

#[test]
fn hostile_megabytes_finish() {
    for pattern in
        [".", "!", "”", ". ", ".A", ". A", "a.", "A.b. ", "。", "\u{85}", "\n", "\u{2026}", "…”"]
    {
        let text = pattern.repeat(1_000_000 / pattern.len());
        assert!(longest(&text, 5).len() <= 5, "{pattern}");
    }
}
