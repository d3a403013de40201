//! Dictionaries, stop words and idf tables of a user, as an extractor uses them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use simhash_text::lexicon::{Dictionary, Idf, IdfTrainer, StopWords};
use simhash_text::{Extractor, ExtractorOptions, Normalizer, Unit};
use std::sync::Arc;

const TEXT: &str = "云计算平台的云计算专家讨论云计算平台";

fn keywords(options: ExtractorOptions) -> Vec<(String, f64)> {
    let options = ExtractorOptions { unit: Unit::Jieba, ..options };
    let extractor = Extractor::for_normalized(&options, &Normalizer::default()).unwrap();
    extractor.tokens(TEXT).into_iter().map(|token| (token.token, token.weight)).collect()
}

fn words(options: ExtractorOptions) -> Vec<String> {
    keywords(options).into_iter().map(|(word, _)| word).collect()
}

#[test]
fn the_dictionary_decides_the_words() {
    assert_eq!(words(ExtractorOptions::default()), ["计算", "平台", "讨论", "专家"]);
    let mut dictionary = Dictionary::new();
    dictionary.load("云计算 5 n".as_bytes()).unwrap();
    let options =
        ExtractorOptions { dictionary: Some(Arc::new(dictionary)), ..ExtractorOptions::default() };
    assert_eq!(words(options), ["云计算", "平台", "讨论", "专家"]);
}

#[test]
fn words_of_a_dictionary_match_normalised_text() {
    let mut dictionary = Dictionary::new();
    dictionary.add("ＸＲＡＹ检测仪", Some(1000));
    let options = ExtractorOptions {
        unit: Unit::Jieba,
        dictionary: Some(Arc::new(dictionary)),
        ..ExtractorOptions::default()
    };
    let extractor = Extractor::for_normalized(&options, &Normalizer::default()).unwrap();
    assert_eq!(extractor.tokens("xray检测仪")[0].token, "xray检测仪");
}

#[test]
fn stop_words_are_no_keywords() {
    let mut stop_words = StopWords::default();
    stop_words.load("平台\n讨论\n".as_bytes()).unwrap();
    let options =
        ExtractorOptions { stop_words: Some(Arc::new(stop_words)), ..ExtractorOptions::default() };
    assert_eq!(words(options), ["计算", "专家"]);
}

#[test]
fn an_idf_table_replaces_that_of_jieba() {
    let idf = Idf::load("计算 1\n平台 4\n专家 2\n".as_bytes()).unwrap();
    let options = ExtractorOptions { idf: Some(Arc::new(idf)), ..ExtractorOptions::default() };
    // Seven keywords occur; 讨论 has the median, 2.
    let expected = [
        ("平台", 2.0 * (4.0 / 7.0)),
        ("计算", 3.0 * (1.0 / 7.0)),
        ("专家", 2.0 / 7.0),
        ("讨论", 2.0 / 7.0),
    ];
    let expected = expected.map(|(word, weight)| (word.to_owned(), weight));
    assert_eq!(keywords(options), expected);
}

#[test]
fn a_trained_table_counts_documents_not_occurrences() {
    let mut trainer = IdfTrainer::default();
    for text in [TEXT, "平台的专家", "今天天气不错"] {
        trainer.add(text, None);
    }
    assert_eq!(trainer.documents(), 3);
    let idf = trainer.finish(1).unwrap();
    assert!(idf.get("平台") < idf.get("计算"));
    assert_eq!(Idf::load(idf.save().as_bytes()).unwrap(), idf);
}

#[test]
fn options_that_would_not_be_used_are_refused() {
    let dictionary = Some(Arc::new(Dictionary::new()));
    let refused = |options: ExtractorOptions| Extractor::new(&options).unwrap_err().argument();
    assert_eq!(
        refused(ExtractorOptions { dictionary: dictionary.clone(), ..ExtractorOptions::default() }),
        "dictionary"
    );
    #[cfg(feature = "jieba-rs")]
    {
        let theirs = ExtractorOptions {
            unit: Unit::Jieba,
            weighting: Some(simhash_text::Weighting::Count),
            segmenter: simhash_text::Segmenter::JiebaRs,
            ..ExtractorOptions::default()
        };
        assert!(Extractor::new(&theirs).is_ok());
        assert_eq!(refused(ExtractorOptions { dictionary, ..theirs }), "dictionary");
    }
    let stop_words = Some(Arc::new(StopWords::default()));
    assert_eq!(
        refused(ExtractorOptions { stop_words, ..ExtractorOptions::default() }),
        "stop_words"
    );
}
