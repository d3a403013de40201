//! Joins of sets against comparing every set with every other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::atomic::AtomicBool;

use common::Random;
use proptest::prelude::*;
use simhash_index::IndexError;
use simhash_index::overlap::{OverlapIndex, OverlapMatch, SetPair, Sets, pairs_at_least};
use simhash_sketch::measure::jaccard;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn sets_of(list: &[Vec<u64>]) -> Sets {
    let mut sets = Sets::new();
    for set in list {
        sets.push(set);
    }
    sets
}

fn joined(sets: &Sets, threshold: f64, threads: usize) -> Vec<SetPair> {
    let mut pairs = Vec::new();
    pairs_at_least(sets, threshold, threads, &GO_ON, |some| pairs.extend_from_slice(some)).unwrap();
    pairs
}

/// Every pair by comparing all, copies only with the first of them.
fn plain(list: &[Vec<u64>], threshold: f64) -> Vec<(u32, u32, f64)> {
    let first: Vec<usize> =
        list.iter().map(|set| list.iter().position(|other| other == set).unwrap()).collect();
    let mut pairs = Vec::new();
    for (b, set) in list.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
        if first[b] != b {
            pairs.push((first[b] as u32, b as u32, 1.0));
            continue;
        }
        for a in (0..b).filter(|&a| first[a] == a) {
            let similarity = jaccard(&list[a], set);
            if similarity >= threshold {
                pairs.push((a as u32, b as u32, similarity));
            }
        }
    }
    pairs.sort_by_key(|&(a, b, _)| (a, b));
    pairs
}

fn sorted(pairs: &[SetPair]) -> Vec<(u32, u32, f64)> {
    let mut pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b, pair.similarity)).collect();
    pairs.sort_by_key(|&(a, b, _)| (a, b));
    pairs
}

/// Families of sets that differ in few members, the members drawn with real skew: a few are in nearly every set.
fn skewed(random: &mut Random, families: usize, most: u64, range: u64) -> Vec<Vec<u64>> {
    let mut list = Vec::new();
    for _ in 0..families {
        let mut draw = |count: u64| -> Vec<u64> {
            (0..count)
                .map(|_| {
                    let bound = 1 + random.below(range);
                    random.below(bound).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                })
                .collect()
        };
        let size = draw(1)[0] % most;
        let base = draw(size);
        for _ in 0..3 {
            let mut set = base.clone();
            let (cut, more) = (random.below(3) as usize, random.below(3));
            set.truncate(set.len().saturating_sub(cut));
            set.extend((0..more).map(|_| random.next()));
            set.sort_unstable();
            set.dedup();
            list.push(set);
        }
    }
    list
}

fn check(list: &[Vec<u64>], threshold: f64) {
    let sets = sets_of(list);
    let pairs = joined(&sets, threshold, 1);
    assert_eq!(sorted(&pairs), plain(list, threshold), "threshold {threshold}");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| joined(&sets, threshold, 0)), pairs, "threads change nothing");

    let mut index = OverlapIndex::new(threshold).unwrap();
    for (ordinal, set) in list.iter().enumerate() {
        let expected: Vec<OverlapMatch> = (0..)
            .zip(&list[..ordinal])
            .map(|(ordinal, other)| OverlapMatch { ordinal, similarity: jaccard(other, set) })
            .filter(|found| found.similarity >= threshold)
            .collect();
        let mut by_similarity = expected;
        by_similarity.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        let found = index.search(set, usize::MAX);
        assert_eq!(found.matches, by_similarity);
        assert!(!found.truncated);
        for limit in [0, 1, by_similarity.len()] {
            let found = index.search(set, limit);
            assert_eq!(found.matches, by_similarity[..limit.min(by_similarity.len())]);
            assert_eq!(found.truncated, by_similarity.len() > limit);
        }
        assert_eq!(index.add(set), Ok(ordinal as u32));
    }
    assert_eq!(index.len(), list.len());
}

#[test]
fn every_pair_of_skewed_sets_is_found_at_every_threshold() {
    let mut random = Random(1);
    for threshold in [0.1, 0.5, 0.8, 0.95, 1.0] {
        for (families, most, range) in [(60, 12, 40), (60, 40, 4_000), (20, 200, 300)] {
            check(&skewed(&mut random, families, most, range), threshold);
        }
    }
}

#[test]
fn rounds_of_the_join_and_counts_of_the_index_lose_nothing() {
    // Several rounds of several pieces, a family of near-equal sets among them.
    let mut random = Random(2);
    let mut list = skewed(&mut random, 2_000, 14, 200_000);
    for extra in 0..120 {
        let mut set: Vec<u64> = (0..20).chain([1_000 + extra]).collect();
        set.sort_unstable();
        list.push(set);
    }
    let sets = sets_of(&list);
    let pairs = joined(&sets, 0.7, 1);
    let expected = plain(&list, 0.7);
    assert_eq!(sorted(&pairs), expected);
    assert!(pairs.len() > 120 * 119 / 2);

    // The same one by one, through several counts of the members.
    let mut index = OverlapIndex::new(0.7).unwrap();
    let mut found = Vec::new();
    for (b, set) in (0..).zip(&list) {
        let mut near = index.search(set, usize::MAX).matches;
        if let Some(copy) = near.iter().find(|near| list[near.ordinal as usize] == *set) {
            near = vec![*copy];
        } else {
            near.retain(|near| {
                !list[..near.ordinal as usize].contains(&list[near.ordinal as usize])
            });
        }
        found.extend(near.iter().map(|near| (near.ordinal, b, near.similarity)));
        assert_eq!(index.add(set), Ok(b));
    }
    found.sort_by_key(|&(a, b, _)| (a, b));
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn join_and_index_agree_with_the_quadratic_oracle(
        list in prop::collection::vec(prop::collection::btree_set(0..24_u64, 0..16), 0..40),
        threshold in 0.01..=1.0,
    ) {
        let list: Vec<Vec<u64>> = list.into_iter().map(|set| set.into_iter().collect()).collect();
        check(&list, threshold);
        // The hardest threshold is a similarity that occurs.
        if let Some(&(_, _, similarity)) = plain(&list, threshold).first() {
            check(&list, similarity);
        }
    }
}

#[test]
fn forty_thousand_equal_sets_make_linear_output() {
    let mut list = vec![vec![3, 5, 9]; 40_000];
    list.push(vec![3, 5, 9, 11]);
    list.extend([vec![], vec![]]);
    let pairs = joined(&sets_of(&list), 0.7, 0);
    assert_eq!(pairs.len(), 40_000);
    assert!(pairs[..39_999].iter().zip(1..).all(|(pair, b)| (pair.a, pair.b) == (0, b)));
    assert_eq!(pairs[39_999], SetPair { a: 0, b: 40_000, similarity: 0.75 });
}

#[test]
fn cancelled_joins_and_wrong_thresholds_are_errors() {
    let sets = sets_of(&[vec![1], vec![1, 2]]);
    let mut called = 0;
    let raised = AtomicBool::new(true);
    let result = pairs_at_least(&sets, 0.5, 0, &raised, |pairs| called += pairs.len());
    assert_eq!((result, called), (Err(IndexError::Cancelled), 0));
    for wrong in [0.0, 1.1, f64::NAN] {
        let result = pairs_at_least(&sets, wrong, 0, &GO_ON, |_| ());
        assert!(matches!(result, Err(IndexError::Threshold { .. })));
        assert!(matches!(OverlapIndex::new(wrong), Err(IndexError::Threshold { .. })));
    }
}
