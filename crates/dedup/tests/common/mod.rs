//! Texts with many near-duplicates, and the rule of deduplication written down naively.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use proptest::prelude::*;
use simhash_dedup::{Decision, DedupOptions, Deduper, Key, Method};
use simhash_index::bands::BandPlan;
use std::sync::atomic::AtomicBool;

mod oracle;

#[allow(unused_imports, reason = "each test binary uses its part")]
pub(crate) use oracle::{Pair, oracle, oracle_keyed, oracle_pairs};

/// Families of short texts: a base drawn from few characters, with a few characters replaced,
/// so that equal, near and unrelated texts all occur; also empty and one-character ones.
pub(crate) fn corpus(
    len: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Vec<String>> {
    let bases = [
        "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况",
        "今天下午上海市召开新闻发布会介绍城市交通建设的最新进展情况",
        "the quick brown fox jumps over the lazy dog near the river bank",
        "第一季度营业收入同比增长百分之十二净利润同比增长百分之八",
        "短文",
        "",
        " ",
        "一",
    ];
    let text = (0..bases.len(), proptest::collection::vec((0usize..40, "[甲乙丙a-c]"), 0..4))
        .prop_map(move |(base, edits)| {
            let mut text: Vec<char> = bases[base].chars().collect();
            for (at, new) in edits {
                if let Some(slot) = text.get_mut(at) {
                    *slot = new.chars().next().unwrap();
                }
            }
            text.into_iter().collect()
        });
    proptest::collection::vec(text, len)
}

/// Every method, those with keys with few of them.
pub(crate) fn methods() -> [Method; 5] {
    [
        Method::MinHash { plan: Some(BandPlan { bands: 20, rows: 4 }) },
        Method::SimHash { max_distance: Method::MAX_DISTANCE },
        Method::Sentences { count: 2 },
        Method::BruteForce,
        Method::Exact,
    ]
}

/// Fingerprints within this distance.
pub(crate) fn simhash(max_distance: u32) -> DedupOptions {
    DedupOptions { method: Method::SimHash { max_distance }, ..DedupOptions::default() }
}

/// A deduper's decisions in batches of the given size.
pub(crate) fn decisions(
    texts: &[&str],
    options: &DedupOptions,
    batch: usize,
) -> (Vec<Decision>, Deduper) {
    decisions_keyed(texts, &[], options, batch)
}

/// The same of documents with keys.
pub(crate) fn decisions_keyed(
    texts: &[&str],
    keys: &[Key],
    options: &DedupOptions,
    batch: usize,
) -> (Vec<Decision>, Deduper) {
    let cancel = AtomicBool::new(false);
    let mut deduper = Deduper::new(options).unwrap();
    let mut decisions = Vec::new();
    let mut keys = keys.chunks(batch);
    for texts in texts.chunks(batch) {
        let keys = keys.next().unwrap_or_default();
        decisions.extend(deduper.push_keyed(texts, keys, &cancel).unwrap());
    }
    decisions.extend(deduper.finish(&cancel).unwrap());
    (decisions, deduper)
}

/// A pool of its own for a closure.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
