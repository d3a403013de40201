//! jieba-rs as a second opinion on our segmenter.
//!
//! Without HMM both must agree on any text. With it they differ, for these reasons and no other (each has a test):
//!
//! 1. jieba-rs keeps ASCII runs such as dates and model numbers whole, where jieba cuts at the hyphens.
//! 2. jieba-rs segments more ideographs than jieba: U+3400 to U+4DBF, U+9FD6 to U+9FFF, U+F900 to U+FAFF and beyond U+FFFF.
//! 3. jieba-rs rounds the parameters of the HMM to six decimals, and its total frequency is 3 lower: near-ties of long runs.

use jieba_rs::Jieba;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use simhash_text::segment::{SegmentScratch, cut};
use simhash_text::{Extractor, ExtractorOptions, OptionsError, Segmenter, Unit, Weighting};
use std::sync::LazyLock;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

fn ours(text: &str, hmm: bool) -> String {
    let mut tokens = Vec::new();
    cut(text, hmm, &mut SegmentScratch::default(), |word| tokens.push(word.text));
    tokens.join("/")
}

fn theirs(text: &str, hmm: bool) -> String {
    let tokens: Vec<&str> = JIEBA.cut(text, hmm).into_iter().map(|token| token.word).collect();
    tokens.join("/")
}

#[test]
fn ascii_runs_differ_at_hyphens() {
    assert_eq!(ours("日期2013-05-06", true), "日期/2013/-/05/-/06");
    assert_eq!(theirs("日期2013-05-06", true), "日期/2013-05-06");
}

#[test]
fn rare_ideographs_differ_where_jieba_does_not_segment_them() {
    assert_eq!(ours("㐀㑊", true), "㐀/㑊");
    assert_eq!(theirs("㐀㑊", true), "㐀㑊");
}

fn extractor(segmenter: Segmenter) -> Result<Extractor, OptionsError> {
    Extractor::new(&ExtractorOptions {
        unit: Unit::Jieba,
        weighting: Some(Weighting::Count),
        segmenter,
        ..ExtractorOptions::default()
    })
}

#[cfg(not(feature = "jieba-rs"))]
#[test]
fn a_build_without_it_says_so() {
    assert!(extractor(Segmenter::Own).is_ok());
    let error = extractor(Segmenter::JiebaRs).unwrap_err();
    assert!(matches!(error, OptionsError::NotBuilt { argument: "segmenter", .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "segmenter must be own in a build without the cargo feature jieba-rs, got jieba-rs"
    );
}

#[cfg(feature = "jieba-rs")]
#[test]
fn both_segmenters_serve_the_extractor() {
    let words =
        |segmenter| extractor(segmenter).unwrap().tokens("我来到北京清华大学，日期2013-05-06。");
    let (own, theirs) = (words(Segmenter::Own), words(Segmenter::JiebaRs));
    assert_eq!(own[..4], theirs[..4]);
    assert_ne!(own, theirs, "the date");
}

/// Text whose characters both segment, without ASCII, in blocks too short for near-ties.
fn prose() -> impl Strategy<Value = String> {
    let block = "[的一是了我不人在他有这上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开北京清华东西南]{1,10}";
    prop::collection::vec((block, "[，。！？]"), 0..6)
        .prop_map(|blocks| blocks.into_iter().map(|(block, stop)| block + &stop).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn without_hmm_both_cut_prose_alike(text in prose()) {
        prop_assert_eq!(ours(&text, false), theirs(&text, false));
    }

}

/// Ten thousand texts, the same in every run: a random one is a near-tie now and then.
#[test]
fn with_hmm_both_cut_prose_alike() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..10_000 {
        let text = prose().new_tree(&mut runner).unwrap().current();
        assert_eq!(ours(&text, true), theirs(&text, true), "{text}");
    }
}

/// The first is what Python jieba says.
#[test]
fn near_ties_of_the_model_differ() {
    assert_eq!(ours("他然国过会会会东？", true), "他然国/过会/会会东/？");
    assert_eq!(theirs("他然国过会会会东？", true), "他然国/过会会/会东/？");
}
