//! Crowds: many texts that equal or nearly equal each other, where limits cut.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{decisions, on_threads, oracle, simhash};
use crate::deduper::{IDEOGRAPHS, matrix, of_few};
use simhash_dedup::{Cluster, DedupOptions, Keep, Method};

#[test]
fn forty_thousand_equal_texts_are_one_cluster_with_a_line_each() {
    let text = "同一条新闻被许多网站原样转载，正文一字不差，只有来源不同。";
    let texts = vec![text; 40_000];
    for options in matrix().into_iter().chain([simhash(8), DedupOptions::default()]) {
        let (decisions, deduper) = decisions(&texts, &options, 40_000);
        let summary = deduper.summary();
        assert_eq!((summary.kept, summary.duplicates, summary.clusters), (1, 39_999, 1));
        assert_eq!(decisions.len(), texts.len());
        let distance = matches!(options.method, Method::SimHash { .. }).then_some(0);
        let is_copy = |decision: &simhash_dedup::Decision| {
            (decision.duplicate_of, decision.similarity, decision.distance)
                == (Some(0), Some(1.0), distance)
        };
        assert!(decisions[1..].iter().all(is_copy), "{options:?}");
        // One entry, whatever the method keeps of it.
        let (_, one) = self::decisions(&texts[..1], &options, 1);
        assert_eq!(summary.index_bytes, one.summary().index_bytes, "{options:?}");
    }
}

#[test]
fn forty_thousand_near_equal_texts_stay_bounded() {
    let text = |n: usize| {
        format!(
            "同一条新闻被许多网站转载，正文几乎一字不差，只有末尾的编号{n}不同，读者看不出有什么区别，\
             编辑也看不出来；标题、导语、正文、图片说明、责任编辑都照抄原文，连错别字也原样保留下来，\
             只为了抢在别人前面登出，赚几个点击。"
        )
    };
    for cluster in [Cluster::Representative, Cluster::Components] {
        for method in [Method::SimHash { max_distance: 16 }, Method::MinHash { plan: None }] {
            // Fingerprints within the distance are all looked at, the square of a crowd, and components compare each text with
            // a thousand others: there 5,000 are different, and come eight times.
            let is_linear =
                cluster == Cluster::Representative && method == Method::MinHash { plan: None };
            let different = if is_linear { 40_000 } else { 5_000 };
            let texts: Vec<String> = (0..40_000).map(|n| text(n % different)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let options = DedupOptions { method, cluster, ..DedupOptions::default() };
            let (decisions, deduper) = decisions(&texts, &options, 40_000);
            let summary = deduper.summary();
            assert_eq!((summary.kept, summary.clusters), (1, 1), "{method:?} {cluster:?}");
            assert!(decisions[1..].iter().all(|decision| decision.duplicate_of == Some(0)));
            // There are more candidates than are looked at, whatever is kept, and that is said.
            assert!(summary.truncated > 0, "{method:?} {cluster:?}");
            let last = decisions.last().map(|decision| decision.truncated);
            assert_eq!((decisions[0].truncated, last), (false, Some(true)), "{method:?}");
        }
    }
}

/// Texts that resemble each other by twos and threes in crowds of one template, and some copies.
fn crowd() -> Vec<String> {
    let template = "本站讯今天上午有关部门召开新闻发布会介绍最新情况";
    (0..300usize)
        .map(|n| {
            let family = of_few(IDEOGRAPHS, (n * 7 % 60) as u64, 12);
            format!("{template}{family}{}", ["寅", "卯", "辰", "巳"][n / 60 % 4])
        })
        .collect()
}

#[test]
fn what_a_limit_cuts_depends_neither_on_the_cluster_nor_on_what_is_kept() {
    let corpus = crowd();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    for options in matrix().into_iter().filter(|options| options.keep == Keep::First) {
        let cut = |options: &DedupOptions| -> Vec<bool> {
            decisions(&texts, options, 100).0.iter().map(|decision| decision.truncated).collect()
        };
        let options = DedupOptions {
            max_bucket: 5,
            max_verifications: 1,
            cluster: Cluster::Components,
            ..options
        };
        let expected = cut(&options);
        let keyless = matches!(options.method, Method::Exact | Method::Sentences { .. });
        assert!(keyless || expected.contains(&true), "{options:?}: nothing is cut");
        // Who is kept depends on the threshold, who is cut does not; by brute force the threshold makes the candidates.
        for least in [Some(0.0), Some(0.8), Some(1.0), None] {
            if options.method != Method::BruteForce || least == Some(0.8) {
                let options = DedupOptions {
                    cluster: Cluster::Representative,
                    min_similarity: least,
                    ..options.clone()
                };
                assert_eq!(cut(&options), expected, "{options:?}");
            }
        }
    }
}

#[test]
fn crowds_are_decided_by_the_rule_whatever_limits_cut() {
    let corpus = crowd();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    for base in matrix() {
        for keep in [Keep::First, Keep::Last, Keep::Longest] {
            for (max_bucket, max_verifications) in [(1, 1), (5, 8), (16, 1_000)] {
                let keep = keep.clone();
                let options = DedupOptions { max_bucket, max_verifications, keep, ..base.clone() };
                let (expected, truncated) = oracle(&texts, &options);
                for (threads, batch) in [(1, 300), (3, 7)] {
                    let (got, deduper) = on_threads(threads, || decisions(&texts, &options, batch));
                    assert!(got == expected, "{options:?}");
                    assert_eq!(deduper.summary().truncated, truncated, "{options:?}");
                }
            }
        }
    }
}

/// Texts of three sentences, each of which some others have too; every text begins with the same one.
fn sentence_crowd() -> Vec<String> {
    (0..300u64)
        .map(|n| {
            let [second, third] = [(n % 40, "午"), (n * 7 % 60, "未")]
                .map(|(seed, end)| of_few(IDEOGRAPHS, seed, 30) + end);
            format!("本站讯今天上午有关部门召开新闻发布会。{second}。{third}。")
        })
        .collect()
}

#[test]
fn crowds_that_share_sentences_are_decided_by_the_rule_whatever_limits_cut() {
    let corpus = sentence_crowd();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    for (max_bucket, max_verifications) in [(1, 1), (3, 1_000), (5, 8), (7, 6)] {
        for min_similarity in [None, Some(0.6)] {
            let options = DedupOptions {
                method: Method::Sentences { count: 3 },
                max_bucket,
                max_verifications,
                min_similarity,
                ..DedupOptions::default()
            };
            let (expected, truncated) = oracle(&texts, &options);
            assert!(truncated > 0 && truncated < texts.len() as u64, "{options:?}: {truncated}");
            for (threads, batch) in [(1, 300), (3, 7)] {
                let (got, deduper) = on_threads(threads, || decisions(&texts, &options, batch));
                assert!(got == expected, "{options:?}");
                assert_eq!(deduper.summary().truncated, truncated, "{options:?}");
            }
        }
    }
}

#[test]
fn a_crowd_of_near_equal_texts_keeps_one_by_every_keep_rule() {
    let base =
        of_few(IDEOGRAPHS, 1, 60) + "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let corpus: Vec<String> = (0..600).map(|n| format!("{base}{n}")).collect();
    let texts: Vec<&str> = corpus.iter().map(String::as_str).collect();
    for method in [Method::default(), Method::SimHash { max_distance: 16 }] {
        for keep in [Keep::First, Keep::Last, Keep::Longest] {
            let options = DedupOptions {
                method,
                keep,
                max_bucket: 16,
                max_verifications: 60,
                ..DedupOptions::default()
            };
            let (_, deduper) = decisions(&texts, &options, 600);
            let summary = deduper.summary();
            assert_eq!(summary.kept, 1, "{options:?}");
            assert!(summary.truncated > 400, "{options:?}: {}", summary.truncated);
        }
    }
}
