//! Short titles that differ in a number are different documents, whoever asks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, Step, Texts, Verify};
use simhash_dedup::{DedupOptions, Deduper, Measure, Method};
use simhash_index::{AddOptions, PlanChoice};
use simhash_sketch::{FingerprinterOptions, Scratch};
use std::sync::atomic::AtomicBool;

const TITLES: [[&str; 2]; 14] = [
    ["第3集", "第4集"],
    ["EP01", "EP02"],
    ["庆余年第3集", "庆余年第4集"],
    ["名侦探柯南EP01", "名侦探柯南EP02"],
    ["2021年度汉字", "2020年度汉字"],
    ["上海地铁10号线", "上海地铁11号线"],
    ["某某电视剧全集在线观看第12集", "某某电视剧全集在线观看第13集"],
    ["今天多云转小雨最高气温7度", "今天多云转小雨最高气温8度"],
    ["EP100", "EP1000"],
    ["价格100元", "价格10000元"],
    ["2026年11月1日", "2026年11月11日"],
    ["13800138000", "13800013800"],
    ["中共中央政治局第十次集体学习", "中共中央政治局第十四次集体学习"],
    ["受寒潮影响，今晚青禾市最低气温-5℃", "受寒潮影响，今晚青禾市最低气温5℃"],
];

/// Whether the second of two texts counts as a duplicate of the first where one comes after the other.
fn live(texts: [&str; 2], method: LiveMethod, verify: Verify) -> bool {
    let options = LiveOptions { method, verify: Some(verify), ..LiveOptions::default() };
    let index = LiveIndex::new(&options).unwrap();
    let mut answers = texts.map(|text| {
        let document = index.document(text, &mut Scratch::default());
        let how = AddOptions::default();
        let step = index.check_and_add(&document, None, how, |_| Texts::None);
        matches!(step.unwrap(), Step::Done(checked) if checked.duplicate_of.is_some())
    });
    answers.sort_unstable();
    answers[1]
}

fn within(max_distance: u32) -> LiveMethod {
    LiveMethod::SimHash { max_distance: Some(max_distance), plan: PlanChoice::Auto, capacity: None }
}

/// Whether one of two texts is a duplicate in a stream.
fn batch(texts: [&str; 2], options: &DedupOptions) -> bool {
    let mut deduper = Deduper::new(options).unwrap();
    let decisions = deduper.push(&texts, &AtomicBool::new(false)).unwrap();
    decisions[1].duplicate_of.is_some()
}

#[test]
fn titles_that_differ_in_a_number_are_not_merged_by_default() {
    for titles in TITLES {
        assert!(!batch(titles, &DedupOptions::default()), "{titles:?}");
        for max_distance in [3, 8, 16] {
            let method = Method::SimHash { max_distance };
            let options = DedupOptions { method, ..DedupOptions::default() };
            assert!(!batch(titles, &options), "{titles:?} within {max_distance}");
        }
        for method in [LiveMethod::minhash(), within(16)] {
            assert!(!live(titles, method, Verify::default()), "{titles:?} in an index");
        }
    }
}

/// Every one of these is another document, though the features of thousands of them are the same set.
#[test]
fn every_distinct_number_is_kept() {
    type Template = (&'static str, fn(u32) -> String);
    let templates: [Template; 5] = [
        ("EP", |n| format!("EP{n}")),
        ("第n集", |n| format!("第{n}集")),
        ("庆余年", |n| format!("庆余年 第{n}集")),
        ("order", |n| format!("订单号{}已发货", 20_261_100_000_u64 + u64::from(n) * 37)),
        ("date", |n| format!("{}年{}月{}日", 2000 + n / 372, n / 31 % 12 + 1, n % 31 + 1)),
    ];
    for (name, make) in templates {
        let texts: Vec<String> = (1..=10_000).map(make).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut deduper = Deduper::new(&DedupOptions::default()).unwrap();
        deduper.push(&texts, &AtomicBool::new(false)).unwrap();
        assert_eq!(deduper.summary().kept, 10_000, "{name}");
    }
}

#[test]
fn one_means_equal_at_every_length_and_a_threshold_of_one_still_finds_what_it_found() {
    let repeated = |times: usize| "今天天气真不错我们一起去公园散步吧".repeat(times);
    for texts in [["哈哈", "哈哈哈"], [&repeated(8), &repeated(9)]] {
        for min_similarity in [0.8, 1.0] {
            let options = DedupOptions {
                method: Method::BruteForce,
                min_similarity: Some(min_similarity),
                ..DedupOptions::default()
            };
            let similarity_of = |measure| {
                let options = DedupOptions { measure, ..options.clone() };
                let mut deduper = Deduper::new(&options).unwrap();
                deduper.push(&texts, &AtomicBool::new(false)).unwrap()[1].similarity
            };
            assert_eq!(similarity_of(Measure::Auto), Some(1.0_f64.next_down()), "{texts:?}");
            assert_eq!(similarity_of(Measure::Jaccard), Some(1.0), "{texts:?}");
        }
    }
}

#[test]
fn edit_distance_merges_them_where_it_is_asked_for() {
    let titles = TITLES[4];
    let edit = Verify { measure: Measure::Edit, least: 0.8 };
    // Whoever proposes them: their fingerprints are further apart.
    let mut near = TITLES[5..8].iter().filter(|&&titles| live(titles, within(16), edit));
    assert!(near.next().is_some());
    let measure = Measure::Edit;
    let brute = DedupOptions { method: Method::BruteForce, ..DedupOptions::default() };
    // Candidates are those with enough features in common: none, then, is lost to the threshold of a method.
    let fingerprinter = FingerprinterOptions::preset("chars").unwrap();
    let options = DedupOptions { measure, fingerprinter, min_similarity: Some(0.5), ..brute };
    assert!(batch(titles, &options));
}

#[test]
fn both_doors_measure_alike() {
    let pairs = [
        ["今天上午召开新闻发布会介绍最新进展", "今天上午召开新闻发布会介绍最新进展情况"],
        ["青禾市图书馆新馆昨日起试运行，周一闭馆", "青禾市图书馆新馆今日起试运行，周一闭馆"],
        ["四号线今日贯通", "四号线今日贯通了"],
        ["四号线今日贯通", "五号线明日贯通"],
    ];
    let agreed = pairs.map(|texts| {
        let one = live(texts, LiveMethod::minhash(), Verify::default());
        assert_eq!(batch(texts, &DedupOptions::default()), one, "{texts:?}");
        one
    });
    assert_eq!(agreed, [true, true, true, false]);
}
