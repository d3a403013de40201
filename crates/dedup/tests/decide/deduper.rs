//! Decisions against the naive rule, whatever the batches and threads.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{
    corpus, decisions, decisions_keyed, on_threads, oracle, oracle_keyed, simhash,
};
use proptest::prelude::*;
use simhash_dedup::{Cluster, DedupError, DedupOptions, Deduper, Keep, Key, Method};
use simhash_index::bands::BandPlan;
use simhash_sketch::{Fingerprinter, Scratch};
use std::sync::atomic::AtomicBool;

fn method() -> impl Strategy<Value = Method> {
    prop_oneof![
        6 => (0u32..=16).prop_map(|max_distance| Method::SimHash { max_distance }),
        6 => (1usize..30, 1usize..6)
            .prop_map(|(bands, rows)| Method::MinHash { plan: Some(BandPlan { bands, rows }) }),
        2 => (1usize..4).prop_map(|count| Method::Sentences { count }),
        2 => Just(Method::BruteForce),
        1 => Just(Method::Exact),
    ]
}

fn keep() -> impl Strategy<Value = Keep> {
    prop_oneof![
        3 => Just(Keep::First),
        1 => Just(Keep::Last),
        1 => Just(Keep::Longest),
        1 => any::<bool>().prop_map(|largest| Keep::Field { path: "date".into(), largest }),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        1 => Just(Key::Missing),
        3 => (-2i32..3).prop_map(|number| Key::Number(f64::from(number))),
        // Of which doubles cannot tell all from each other.
        2 => (-2i64..3).prop_map(|number| Key::number(&(i64::MAX - 2 + number).to_string())),
        1 => (0u32..2).prop_map(|number| Key::Number(i64::MAX as f64 + f64::from(number * 4096))),
        3 => "202[0-3]".prop_map(|text| Key::Text(text.into())),
    ]
}

fn options() -> impl Strategy<Value = DedupOptions> {
    let cluster = prop_oneof![Just(Cluster::Representative), Just(Cluster::Components)];
    let similarity = prop_oneof![Just(None), (0.0f64..=1.0).prop_map(Some), Just(Some(0.8))];
    let limit = || prop_oneof![Just(1usize), Just(2), Just(3), Just(5), Just(1_000)];
    let short = prop_oneof![Just(None), Just(Some(0usize)), Just(Some(20))];
    (method(), cluster, keep(), similarity, (limit(), limit()), short).prop_map(
        |(method, cluster, keep, similarity, (limit, bucket), short)| {
            let mut options = DedupOptions {
                method,
                cluster,
                keep,
                min_similarity: similarity,
                max_verifications: limit,
                max_bucket: bucket,
                ..DedupOptions::default()
            };
            options.fingerprinter.min_features = short;
            options
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn decisions_are_those_of_the_rule(
        texts in corpus(0..120),
        keys in proptest::collection::vec(key(), 120),
        options in options(),
        batch in 1usize..130,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let keys = &keys[..texts.len()];
        let (expected, truncated) = oracle_keyed(&texts, keys, &options);
        let (got, deduper) = decisions_keyed(&texts, keys, &options, batch);
        prop_assert_eq!(got, expected);
        let summary = deduper.summary();
        prop_assert_eq!(summary.truncated, truncated);
        prop_assert_eq!(summary.read, texts.len() as u64);
        prop_assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    }
}

pub(crate) const IDEOGRAPHS: &str = "甲乙丙丁戊己庚辛壬癸子丑";
const DIGITS: &str = "0123456789";

/// A long text of few characters: any two have nearly every pair in common, and no passage of five.
pub(crate) fn of_few(characters: &str, seed: u64, len: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let characters: Vec<char> = characters.chars().collect();
    let next = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        characters[(state >> 33) as usize % characters.len()]
    };
    (0..len).map(next).collect()
}

/// Such texts, some of them just too short to be compared by long shingles, with a few characters replaced.
fn long_texts() -> impl Strategy<Value = Vec<String>> {
    let kind = prop_oneof![Just((IDEOGRAPHS, 1)), Just((DIGITS, 2))];
    let edits = proptest::collection::vec(0usize..460, 0..5);
    let text = (kind, 0u64..3, 380usize..460, edits).prop_map(|((of, part), seed, len, edits)| {
        let mut text: Vec<char> = of_few(of, seed, 460).chars().take(len / part).collect();
        edits.into_iter().filter_map(|at| text.get_mut(at).map(|slot| *slot = '寅')).count();
        text.into_iter().collect()
    });
    proptest::collection::vec(text, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn long_texts_are_decided_by_the_rule_too(
        texts in long_texts(), options in options(), fixed in any::<bool>(), batch in 1usize..13,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut options = options;
        options.fingerprinter.extract.ngram = fixed.then_some(2);
        let keys = vec![Key::Missing; texts.len()];
        let (expected, truncated) = oracle_keyed(&texts, &keys, &options);
        let (got, deduper) = decisions_keyed(&texts, &keys, &options, batch);
        prop_assert_eq!(got, expected);
        prop_assert_eq!(deduper.summary().truncated, truncated);
    }
}

#[test]
fn long_texts_with_their_pairs_in_common_are_apart_unless_pairs_are_asked_for() {
    for (characters, len) in [(IDEOGRAPHS, 600), (DIGITS, 300)] {
        let [a, b] = [0, 1].map(|seed| of_few(characters, seed, len));
        let edited = a.replacen(characters.chars().next().unwrap(), "寅", 3);
        assert_apart_unless_by_pairs([&a, &b, &edited]);
    }
}

fn assert_apart_unless_by_pairs(texts: [&str; 3]) {
    let of = |options: &DedupOptions| -> Vec<Option<u64>> {
        decisions(&texts, options, 2).0.iter().map(|decision| decision.duplicate_of).collect()
    };
    for method in [Method::default(), Method::BruteForce, Method::SimHash { max_distance: 16 }] {
        let mut options = DedupOptions { method, ..DedupOptions::default() };
        assert_eq!(of(&options), [None, None, Some(0)], "{method:?}");
        if method != (Method::SimHash { max_distance: 16 }) {
            options.fingerprinter.extract.ngram = Some(2);
            assert_eq!(of(&options), [None, Some(0), Some(0)], "{method:?}");
        }
    }
}

#[test]
fn ties_go_to_the_document_kept_first_though_a_copy_of_the_other_came_before_it() {
    let base = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let texts = [
        "丙天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况",
        base,
        "今天上午北京甲召开新闻发布会介绍城乙交通建设的最新进展情况",
        base,
        "今天上午北京市召开新闻发布会介绍城市交通建设的最新甲展情况",
    ];
    let plan = Some(BandPlan { bands: 4, rows: 1 });
    for max_verifications in [1, 2, 3] {
        let method = Method::MinHash { plan };
        let options = DedupOptions { method, max_verifications, ..DedupOptions::default() };
        for batch in 1..=texts.len() {
            assert_eq!(decisions(&texts, &options, batch).0, oracle(&texts, &options).0);
        }
    }
}

/// Documents beyond one internal batch of 2,048.
const LONG: usize = 3_000;

/// Texts beyond one internal batch.
fn long_corpus() -> Vec<String> {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = corpus(LONG).new_tree(&mut runner).unwrap();
    proptest::strategy::ValueTree::current(&tree)
}

/// Every method, what belongs together, and a keep rule of each kind.
pub(crate) fn matrix() -> Vec<DedupOptions> {
    let mut all = Vec::new();
    let plan = Some(BandPlan { bands: 20, rows: 4 });
    for method in [
        Method::SimHash { max_distance: 8 },
        Method::MinHash { plan },
        Method::Sentences { count: 2 },
        Method::BruteForce,
        Method::Exact,
    ] {
        for cluster in [Cluster::Representative, Cluster::Components] {
            for keep in [Keep::First, Keep::Longest] {
                let keep = keep.clone();
                all.push(DedupOptions { method, cluster, keep, ..DedupOptions::default() });
            }
        }
    }
    all
}

#[test]
fn batches_and_threads_change_nothing() {
    let corpus = long_corpus();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    let near = |decision: &&simhash_dedup::Decision| decision.similarity.is_some_and(|s| s < 1.0);
    let (expected, _) = oracle(&texts, &simhash(8));
    assert!(expected.iter().filter(near).count() > 150, "the corpus must have near-duplicates");
    for options in matrix() {
        let expected = decisions(&texts, &options, LONG);
        let summary = expected.1.summary();
        for (pool, threads, batch) in [
            (1, 0, LONG),
            (4, 0, LONG),
            (4, 3, 1_000),
            (2, 1, 7),
            (3, 0, 1),
            (4, 0, 2_048),
            (2, 0, 333),
        ] {
            let options = DedupOptions { threads, ..options.clone() };
            let (got, figures) = on_threads(pool, || {
                let (got, deduper) = decisions(&texts, &options, batch);
                (got, deduper.summary())
            });
            assert!(
                got == expected.0,
                "{options:?}: pool {pool}, threads {threads}, batch {batch}"
            );
            assert_eq!(figures.truncated, summary.truncated);
            assert_eq!(figures.index_bytes, summary.index_bytes, "{options:?}");
        }
    }
}

#[test]
fn many_documents_are_decided_as_the_rule_says() {
    let corpus = long_corpus();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    for options in matrix() {
        let (expected, truncated) = oracle(&texts, &options);
        let (got, deduper) = decisions(&texts, &options, 1_234);
        assert!(got == expected, "{options:?}");
        assert_eq!(deduper.summary().truncated, truncated);
    }
}

#[test]
fn components_chain_where_representatives_do_not() {
    let a = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃辰宿列张";
    let b = a.replace("甲乙丙", "一二三");
    let c = b.replace("列张", "四五").replace("日月", "六七");
    let mut options = simhash(16);
    options.min_similarity = Some(0.75);
    let of = |options: &DedupOptions, texts: &[&str]| -> Vec<Option<u64>> {
        decisions(texts, options, 3).0.iter().map(|decision| decision.duplicate_of).collect()
    };
    assert_eq!(of(&options, &[a, &b, &c]), [None, Some(0), None]);
    options.cluster = Cluster::Components;
    // The link may come last, and the member in the middle may be a copy.
    assert_eq!(of(&options, &[a, &b, &c]), [None, Some(0), Some(0)]);
    assert_eq!(of(&options, &[a, &c, &b]), [None, Some(0), Some(0)]);
    options.keep = Keep::Last;
    assert_eq!(of(&options, &[a, &c, &b]), [Some(2), Some(2), None]);
}

#[test]
fn a_longest_representative_resembles_its_members() {
    let short = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let long = format!("{short}张三四五");
    let longer = format!("{short}张三四五李六七八");
    let options = DedupOptions { keep: Keep::Longest, ..simhash(16) };
    let (decisions, _) = decisions(&[short, &long, &longer], &options, 2);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    // The short one is too far from the longest, which is kept; so is it, though both resemble the middle one.
    assert_eq!(of, [None, Some(2), None]);
}

#[test]
fn the_caller_may_choose_from_each_cluster() {
    let a = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let b = format!("{a}。");
    let options = DedupOptions { keep: Keep::Chosen, ..simhash(16) };
    let mut deduper = Deduper::new(&options).unwrap();
    let cancel = AtomicBool::new(false);
    let pushed = deduper.push(&["别的", a, &b, a, "", "别的"], &cancel).unwrap();
    assert_eq!(pushed, []);
    assert_eq!(deduper.clusters(), [vec![0, 5], vec![1, 2, 3]]);
    assert!(matches!(deduper.choose(&[6]), Err(DedupError::OutOfRange { .. })));
    deduper.choose(&[2, 5]).unwrap();
    let decisions = deduper.finish(&cancel).unwrap();
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [Some(5), Some(2), None, Some(2), None, None]);
    assert!(decisions[1].similarity.unwrap() < 1.0);
    assert_eq!(decisions[0].similarity, Some(1.0));
    assert!(matches!(deduper.push(&[a], &cancel), Err(DedupError::Stopped)));
}

#[test]
fn members_resemble_the_kept_document_not_each_other() {
    // b resembles a, c resembles b, c does not resemble a: c is kept.
    let a = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃辰宿列张";
    let b = a.replace("甲乙丙", "一二三");
    let c = b.replace("列张", "四五").replace("日月", "六七");
    let options = simhash(16);
    let options = DedupOptions { min_similarity: Some(0.75), ..options };
    let (decisions, _) = decisions(&[a, &b, &c], &options, 3);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, Some(0), None]);
}

#[test]
fn empty_texts_are_kept_counted_and_match_nothing() {
    let (decisions, deduper) = decisions(&["", " ", "", "一", "一"], &simhash(8), 5);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, None, None, None, Some(3)]);
    let summary = deduper.summary();
    assert_eq!((summary.kept, summary.empty, summary.short), (4, 3, 2));
}

#[test]
fn short_texts_match_by_equality_after_normalisation_only() {
    let texts = ["好的", "好的", "好吧", "ＯＫ", "ok"];
    let (decisions, _) = decisions(&texts, &simhash(8), 2);
    let of: Vec<_> = decisions.iter().map(|decision| decision.duplicate_of).collect();
    assert_eq!(of, [None, Some(0), None, None, Some(3)]);
}

#[test]
fn options_outside_their_range_are_refused() {
    let default = DedupOptions::default;
    for options in [
        simhash(17),
        DedupOptions { min_similarity: Some(1.5), ..default() },
        DedupOptions { min_similarity: Some(f64::NAN), ..default() },
        DedupOptions { max_verifications: 0, ..default() },
        DedupOptions { max_bucket: 0, ..default() },
    ] {
        assert!(matches!(Deduper::new(&options), Err(DedupError::OutOfRange { .. })));
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

#[test]
fn decisions_carry_the_fingerprint_of_their_text_where_it_is_asked_for() {
    let texts = [
        "第一季度营业收入同比增长百分之十二净利润同比增长百分之八",
        "短文",
        "第一季度营业收入同比增长百分之十二净利润同比增长百分之九",
        "",
        "第一季度营业收入同比增长百分之十二净利润同比增长百分之八",
        "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况，会议由市长主持",
    ];
    let cancel = AtomicBool::new(false);
    for cluster in [Cluster::Representative, Cluster::Components] {
        for keep in [Keep::First, Keep::Last, Keep::Longest] {
            for batch in [1, 4] {
                let options = DedupOptions { cluster, keep: keep.clone(), ..simhash(8) };
                let by = Fingerprinter::new(&options.fingerprinter).unwrap();
                let mut deduper = Deduper::new(&options).unwrap().with_fingerprints();
                let mut found = Vec::new();
                for texts in texts.chunks(batch) {
                    found.extend(deduper.push(texts, &cancel).unwrap());
                }
                found.extend(deduper.finish(&cancel).unwrap());
                let (plain, _) = decisions(&texts, &options, batch);
                for ((text, decision), plain) in texts.iter().zip(found).zip(plain) {
                    let fingerprint = by.sketch(text, &mut Scratch::default()).fingerprint;
                    assert_eq!(decision, simhash_dedup::Decision { fingerprint, ..plain });
                    assert_eq!(fingerprint.is_some(), text.len() > 6);
                    assert_eq!(plain.fingerprint, None);
                }
            }
        }
    }
    let mut other = Deduper::new(&DedupOptions::default()).unwrap().with_fingerprints();
    assert_eq!(other.push(&texts, &cancel).unwrap()[0].fingerprint, None);
}

proptest! {
    #[test]
    fn known_documents_decide_and_do_not_count(
        texts in corpus(0..40), cut in 0usize..40, method in method(), batch in 1usize..12,
    ) {
        let options = DedupOptions { method, ..DedupOptions::default() };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (known, new) = texts.split_at(cut.min(texts.len()));
        let (joined, all) = decisions(&texts, &options, batch);
        let (_, before) = decisions(known, &options, batch);
        let cancel = AtomicBool::new(false);
        let mut deduper = Deduper::new(&options).unwrap();
        deduper.push(known, &cancel).unwrap();
        deduper.end_known().unwrap();
        let mut found = Vec::new();
        for texts in new.chunks(batch) {
            found.extend(deduper.push(texts, &cancel).unwrap());
        }
        prop_assert_eq!(&found, &joined[known.len()..]);
        let (summary, all, before) = (deduper.summary(), all.summary(), before.summary());
        prop_assert_eq!(summary.read, new.len() as u64);
        prop_assert_eq!(summary.kept, all.kept - before.kept);
        prop_assert_eq!(summary.duplicates, all.duplicates - before.duplicates);
        prop_assert_eq!(summary.truncated, all.truncated - before.truncated);
        prop_assert_eq!(summary.empty, all.empty - before.empty);
        prop_assert_eq!(summary.short, all.short - before.short);
        prop_assert_eq!(summary.bytes, all.bytes - before.bytes);
        prop_assert_eq!(summary.index_bytes, all.index_bytes);
        let mut originals: Vec<_> = found.iter().filter_map(|each| each.duplicate_of).collect();
        originals.sort_unstable();
        originals.dedup();
        prop_assert_eq!(summary.clusters, originals.len() as u64);
    }
}

#[test]
fn where_the_end_decides_there_are_no_known_documents() {
    for options in [
        DedupOptions { keep: Keep::Last, ..DedupOptions::default() },
        DedupOptions { cluster: Cluster::Components, ..DedupOptions::default() },
    ] {
        let refused = Deduper::new(&options).unwrap().end_known();
        assert!(
            matches!(refused, Err(DedupError::Option { argument: "known", .. })),
            "{refused:?}"
        );
    }
}
