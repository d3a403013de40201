//! The same words and weights as Python jieba 0.42.1, bit for bit.
//!
//! `golden.jsonl` beside this file was written by Python jieba itself (`golden.py`) and is always tested. The larger fixtures
//! lie outside the repository (`../shared/fixtures/jieba`, with texts in `../shared/data`); where they are absent, a notice
//! says so.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod fixtures;

use serde_json::Value;
use simhash_text::lexicon::Dictionary;
use simhash_text::segment::{SegmentScratch, cut, cut_with};
use simhash_text::{Extractor, ExtractorOptions, TopK, Unit};

/// The tokens of `text`, joined by U+001F as the fixtures have them.
fn joined(text: &str, hmm: bool) -> String {
    let mut tokens = Vec::new();
    cut(text, hmm, &mut SegmentScratch::default(), |word| tokens.push(word.text));
    tokens.join("\u{1F}")
}

/// The keywords of `text` as the fixtures have them: word and the bits of its weight.
fn tags(text: &str) -> Vec<(String, u64)> {
    let options = ExtractorOptions {
        unit: Unit::Jieba,
        top_k: Some(TopK::Count(30)),
        ..ExtractorOptions::default()
    };
    let tokens = Extractor::new(&options).unwrap().tokens(text);
    tokens.into_iter().map(|token| (token.token, token.weight.to_bits())).collect()
}

fn expected_tags(line: &Value) -> Vec<(String, u64)> {
    let tag = |tag: &Value| {
        let weight: f64 = tag[1].as_str().unwrap().parse().unwrap();
        (tag[0].as_str().unwrap().to_owned(), weight.to_bits())
    };
    line["tags"].as_array().unwrap().iter().map(tag).collect()
}

#[test]
fn golden_texts_are_cut_as_by_python() {
    let mut lines = 0;
    for line in include_str!("golden.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        assert_eq!(joined(text, true), line["hmm"].as_str().unwrap(), "{text}");
        assert_eq!(joined(text, false), line["plain"].as_str().unwrap(), "{text}");
        assert_eq!(tags(text), expected_tags(&line), "{text}");
        lines += 1;
    }
    assert!(lines >= 30);
}

#[test]
fn user_words_cut_as_by_python() {
    let mut texts = 0;
    for line in include_str!("user.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let words: Vec<&str> =
            line["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let mut dictionary = Dictionary::new();
        // A word with a space can never match; Python takes it and we name the line instead.
        let (words, refused): (Vec<&str>, Vec<&str>) =
            words.into_iter().partition(|word| !word.starts_with("Edu "));
        dictionary.load(words.join("\n").as_bytes()).unwrap();
        if !refused.is_empty() {
            dictionary.add("Edu Trust认证", Some(2000));
        }
        for (word, frequency) in line["suggested"].as_object().unwrap() {
            assert_eq!(dictionary.frequency(word).map(u64::from), frequency.as_u64(), "{word}");
        }
        for text in line["texts"].as_array().unwrap() {
            for (field, hmm) in [("hmm", true), ("plain", false)] {
                let mut tokens = Vec::new();
                let cut_text = text["text"].as_str().unwrap();
                let mut scratch = SegmentScratch::default();
                cut_with(Some(&dictionary), cut_text, hmm, &mut scratch, |word| {
                    tokens.push(word.text);
                });
                assert_eq!(tokens.join("\u{1F}"), text[field].as_str().unwrap(), "{cut_text}");
                texts += 1;
            }
        }
    }
    assert!(texts >= 30);
}

#[test]
fn every_fixture_is_cut_as_by_python() {
    for (file, hmm) in [("cut_hmm", true), ("cut_nohmm", false)] {
        let Some(fixtures) = fixtures::read(file) else { return };
        let mut lines = 0;
        for (text, line) in fixtures {
            let text: String = text.chars().take(2000).collect();
            assert_eq!(
                joined(&text, hmm),
                line["tokens"].as_str().unwrap(),
                "{file} {}",
                line["id"]
            );
            lines += 1;
        }
        assert_eq!(lines, 500);
    }
}

#[test]
fn every_fixture_has_the_keywords_of_python() {
    let Some(fixtures) = fixtures::read("extract_tags") else { return };
    let mut lines = 0;
    for (text, line) in fixtures {
        assert_eq!(tags(&text), expected_tags(&line), "{}", line["id"]);
        lines += 1;
    }
    assert_eq!(lines, 500);
}
