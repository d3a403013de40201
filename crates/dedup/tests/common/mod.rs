//! Texts with many near-duplicates, and the rule of deduplication written down naively.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use proptest::prelude::*;
use simhash_dedup::{Decision, DedupOptions, Deduper};
use simhash_sketch::{Fingerprinter, Scratch};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

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

/// The rule, one document after the other, against all kept ones, without an index, caches or batches.
pub(crate) fn oracle(texts: &[&str], options: &DedupOptions) -> (Vec<Decision>, u64) {
    struct Kept {
        index: u64,
        normalised: String,
        fingerprint: Option<u64>,
        shingles: BTreeSet<u64>,
    }
    let fingerprinter = Fingerprinter::new(&options.fingerprinter).unwrap();
    let scratch = &mut Scratch::default();
    let (mut kept, mut decisions, mut truncated) = (Vec::<Kept>::new(), Vec::new(), 0);
    for (index, text) in (0u64..).zip(texts) {
        let fingerprint = fingerprinter.sketch(text, scratch).fingerprint;
        let mut shingles = Vec::new();
        fingerprinter.shingles(text, scratch, &mut shingles);
        let shingles: BTreeSet<u64> = shingles.into_iter().collect();
        let normalised = fingerprinter.normalize(text, scratch).to_owned();
        let equal = kept.iter().find(|old| old.normalised == normalised && !normalised.is_empty());
        let mut found = equal.map(|old| (old.index, Some(1.0), 0));
        if let (None, Some(own)) = (found, fingerprint) {
            let mut near: Vec<(u32, &Kept)> = kept
                .iter()
                .filter_map(|old| Some(((own ^ old.fingerprint?).count_ones(), old)))
                .filter(|(distance, _)| *distance <= options.max_distance)
                .collect();
            near.sort_by_key(|(distance, old)| (*distance, old.index));
            if let Some(least) = options.min_similarity {
                truncated += u64::from(near.len() > options.max_verifications);
                near.truncate(options.max_verifications);
                let mut best: Option<(f64, u64, u32)> = None;
                for (distance, old) in near {
                    let both = shingles.intersection(&old.shingles).count() as f64;
                    let either = shingles.union(&old.shingles).count() as f64;
                    let similarity = both / either;
                    let better = best.is_none_or(|(most, oldest, _)| {
                        similarity > most || (similarity >= most && old.index < oldest)
                    });
                    if similarity >= least && better {
                        best = Some((similarity, old.index, distance));
                    }
                }
                found = best.map(|(similarity, of, distance)| (of, Some(similarity), distance));
            } else {
                found = near.first().map(|(distance, old)| (old.index, None, *distance));
            }
        }
        decisions.push(Decision {
            index,
            duplicate_of: found.map(|(of, ..)| of),
            similarity: found.and_then(|(_, similarity, _)| similarity),
            distance: found.map(|(.., distance)| distance),
        });
        if found.is_none() {
            kept.push(Kept { index, normalised, fingerprint, shingles });
        }
    }
    (decisions, truncated)
}

/// A deduper's decisions in batches of the given size.
pub(crate) fn decisions(
    texts: &[&str],
    options: &DedupOptions,
    batch: usize,
) -> (Vec<Decision>, Deduper) {
    let cancel = AtomicBool::new(false);
    let mut deduper = Deduper::new(options).unwrap();
    let mut decisions = Vec::new();
    for texts in texts.chunks(batch) {
        decisions.extend(deduper.push(texts, &cancel).unwrap());
    }
    (decisions, deduper)
}

/// A pool of its own for a closure.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
