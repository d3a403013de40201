//! Decisions against the naive rule, whatever the batches and threads.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{corpus, decisions, on_threads, oracle};
use proptest::prelude::*;
use simhash_dedup::{DedupError, DedupOptions, Deduper};
use std::sync::atomic::AtomicBool;

fn options() -> impl Strategy<Value = DedupOptions> {
    let similarity = prop_oneof![Just(None), (0.0f64..=1.0).prop_map(Some), Just(Some(0.8))];
    let limit = prop_oneof![Just(1usize), Just(2), Just(3), Just(1_000)];
    let short = prop_oneof![Just(None), Just(Some(0usize)), Just(Some(20))];
    (0u32..=16, similarity, limit, short).prop_map(|(distance, similarity, limit, short)| {
        let mut options = DedupOptions {
            max_distance: distance,
            min_similarity: similarity,
            max_verifications: limit,
            ..DedupOptions::default()
        };
        options.fingerprinter.min_features = short;
        options
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn decisions_are_those_of_the_rule(
        texts in corpus(0..120),
        options in options(),
        batch in 1usize..130,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (expected, truncated) = oracle(&texts, &options);
        let (got, deduper) = decisions(&texts, &options, batch);
        prop_assert_eq!(got, expected);
        let summary = deduper.summary();
        prop_assert_eq!(summary.truncated, truncated);
        prop_assert_eq!(summary.read, texts.len() as u64);
        prop_assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    }
}

/// Texts beyond one internal batch of 2,048 documents.
fn long_corpus() -> Vec<String> {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = corpus(5_000).new_tree(&mut runner).unwrap();
    proptest::strategy::ValueTree::current(&tree)
}

#[test]
fn batches_and_threads_change_nothing() {
    let corpus = long_corpus();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    let options = DedupOptions::default();
    let (expected, truncated) = oracle(&texts, &options);
    let near = |decision: &&simhash_dedup::Decision| decision.similarity.is_some_and(|s| s < 1.0);
    assert!(expected.iter().filter(near).count() > 300, "the corpus must have near-duplicates");
    for (pool, threads, batch) in [
        (1, 0, 5_000),
        (4, 0, 5_000),
        (4, 3, 1_000),
        (2, 1, 7),
        (3, 0, 1),
        (4, 0, 2_048),
        (2, 0, 333),
    ] {
        let options = DedupOptions { threads, ..options.clone() };
        let (got, summary) = on_threads(pool, || {
            let (got, deduper) = decisions(&texts, &options, batch);
            (got, deduper.summary())
        });
        assert!(got == expected, "pool {pool}, threads {threads}, batch {batch}");
        assert_eq!(summary.truncated, truncated);
    }
}

#[test]
fn forty_thousand_equal_texts_are_one_cluster() {
    let text = "同一条新闻被许多网站原样转载，正文一字不差，只有来源不同。";
    let texts = vec![text; 40_000];
    let (decisions, deduper) = decisions(&texts, &DedupOptions::default(), 40_000);
    let summary = deduper.summary();
    assert_eq!((summary.kept, summary.duplicates, summary.clusters), (1, 39_999, 1));
    assert!(decisions[1..].iter().all(|decision| {
        (decision.duplicate_of, decision.similarity, decision.distance)
            == (Some(0), Some(1.0), Some(0))
    }));
}

#[test]
fn members_resemble_the_kept_document_not_each_other() {
    // b resembles a, c resembles b, c does not resemble a: c is kept.
    let a = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃辰宿列张";
    let b = a.replace("甲乙丙", "一二三");
    let c = b.replace("列张", "四五").replace("日月", "六七");
    let options = DedupOptions { max_distance: 16, ..DedupOptions::default() };
    let options = DedupOptions { min_similarity: Some(0.75), ..options };
    let (decisions, _) = decisions(&[a, &b, &c], &options, 3);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, Some(0), None]);
}

#[test]
fn empty_texts_are_kept_counted_and_match_nothing() {
    let (decisions, deduper) = decisions(&["", " ", "", "一", "一"], &DedupOptions::default(), 5);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, None, None, None, Some(3)]);
    let summary = deduper.summary();
    assert_eq!((summary.kept, summary.empty, summary.short), (4, 3, 2));
}

#[test]
fn short_texts_match_by_equality_after_normalisation_only() {
    let texts = ["好的", "好的", "好吧", "ＯＫ", "ok"];
    let (decisions, _) = decisions(&texts, &DedupOptions::default(), 2);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, Some(0), None, None, Some(3)]);
}

#[test]
fn options_outside_their_range_are_refused() {
    let default = DedupOptions::default;
    for options in [
        DedupOptions { max_distance: 17, ..default() },
        DedupOptions { min_similarity: Some(1.5), ..default() },
        DedupOptions { min_similarity: Some(f64::NAN), ..default() },
        DedupOptions { max_verifications: 0, ..default() },
    ] {
        assert_eq!(
            Deduper::new(&options).err().map(|error| error.code()),
            Some("ERR_OUT_OF_RANGE")
        );
    }
}

#[test]
fn a_cancelled_deduper_stays_stopped() {
    let mut deduper = Deduper::new(&DedupOptions::default()).unwrap();
    let texts = ["今天上午北京市召开新闻发布会"; 3];
    let cancelled = deduper.push(&texts, &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(DedupError::Cancelled)), "{cancelled:?}");
    let later = deduper.push(&texts, &AtomicBool::new(false));
    assert!(matches!(later, Err(DedupError::Stopped)), "{later:?}");
}
