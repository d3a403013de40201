//! Edit distance and cosine against plain implementations.

#![expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "exact values are the claim"
)]

use proptest::prelude::*;
use simhash_sketch::Feature;
use simhash_sketch::measure::{
    cosine, cosine_at_least, edit_similarity, edit_similarity_at_least, levenshtein,
    levenshtein_within,
};
use std::collections::BTreeMap;

/// The whole table, row by row.
fn plain_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A text and one that some edits have made of it, short, long, and around the 64 of a machine word.
fn pairs() -> impl Strategy<Value = (String, String)> {
    let symbols = || prop::sample::select(vec!['a', 'b', 'c', '中', '文', '字', '𠮷', 'é']);
    let text = |len| prop::collection::vec(symbols(), len);
    let base = prop_oneof![text(0..12), text(55..75), text(120..140), text(200..400)];
    let edits = prop::collection::vec((0..3, any::<prop::sample::Index>(), symbols()), 0..24);
    let edited = (base, edits).prop_map(|(base, edits)| {
        let mut other = base.clone();
        for (kind, at, symbol) in edits {
            let at = at.index(other.len() + 1);
            match kind {
                0 => other.insert(at, symbol),
                1 if at < other.len() => drop(other.remove(at)),
                _ if at < other.len() => other[at] = symbol,
                _ => {}
            }
        }
        (String::from_iter(base), String::from_iter(other))
    });
    let unrelated =
        (text(0..90), text(0..90)).prop_map(|(a, b)| (String::from_iter(a), String::from_iter(b)));
    prop_oneof![3 => edited, 1 => unrelated]
}

fn vectors() -> impl Strategy<Value = (Vec<Feature>, Vec<Feature>)> {
    let weight = prop_oneof![1..5_u32, Just(u32::MAX), any::<u32>()];
    let vector = move || prop::collection::btree_map(0..60_u64, weight.clone(), 0..50);
    (vector(), vector()).prop_map(|(a, b)| {
        let features = |map: BTreeMap<u64, u32>| {
            map.into_iter().map(|(hash, weight)| Feature { hash, weight }).collect()
        };
        (features(a), features(b))
    })
}

fn plain_cosine(a: &[Feature], b: &[Feature]) -> f64 {
    let by_hash: BTreeMap<u64, f64> = a.iter().map(|f| (f.hash, f64::from(f.weight))).collect();
    let length = |v: &[Feature]| v.iter().map(|f| f64::from(f.weight).powi(2)).sum::<f64>().sqrt();
    let product: f64 = b
        .iter()
        .filter_map(|f| by_hash.get(&f.hash).map(|weight| weight * f64::from(f.weight)))
        .sum();
    if length(a) * length(b) == 0.0 { 0.0 } else { product / (length(a) * length(b)) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn edit_distance_is_that_of_the_whole_table((a, b) in pairs(), most in 0..60_usize) {
        let exact = plain_distance(&a, &b);
        prop_assert_eq!(levenshtein(&a, &b), exact);
        prop_assert_eq!(levenshtein(&b, &a), exact);
        for most in [most, exact, exact.saturating_sub(1), usize::MAX] {
            let expected = (exact <= most).then_some(exact);
            prop_assert_eq!(levenshtein_within(&a, &b, most), expected);
            prop_assert_eq!(levenshtein_within(&b, &a, most), expected);
        }
    }

    #[test]
    fn edit_similarity_is_what_stays_of_the_longer_text((a, b) in pairs(), least in 0.0..=1.0) {
        let longer = a.chars().count().max(b.chars().count());
        let same = longer - plain_distance(&a, &b);
        let exact = if longer == 0 { 0.0 } else { same as f64 / longer as f64 };
        prop_assert_eq!(edit_similarity(&a, &b).to_bits(), exact.to_bits());
        prop_assert!((0.0..=1.0).contains(&exact));
        prop_assert_eq!(edit_similarity_at_least(&a, &b, least), (exact >= least).then_some(exact));
        // The hardest threshold is the value itself.
        prop_assert_eq!(edit_similarity_at_least(&b, &a, exact), Some(exact));
        prop_assert_eq!(edit_similarity_at_least(&a, &b, exact.next_up()), None);
    }

    #[test]
    fn cosine_is_that_of_a_plain_sum((a, b) in vectors(), least in 0.0..=1.0) {
        let exact = cosine(&a, &b);
        prop_assert!((exact - plain_cosine(&a, &b)).abs() < 1e-9);
        prop_assert!((0.0..=1.0).contains(&exact));
        prop_assert_eq!(cosine(&b, &a).to_bits(), exact.to_bits());
        prop_assert_eq!(cosine_at_least(&a, &b, least), (exact >= least).then_some(exact));
        let own = if a.iter().any(|feature| feature.weight > 0) { 1.0 } else { 0.0 };
        prop_assert_eq!(cosine(&a, &a), own);
    }
}

#[test]
fn thresholds_written_as_decimals_are_met_exactly() {
    assert_eq!(edit_similarity_at_least("abcde", "abcdX", 0.8), Some(0.8));
    assert_eq!(
        edit_similarity_at_least("一二三四五六七八九十", "一二三四五六七八九", 0.9),
        Some(0.9)
    );
    assert_eq!(edit_similarity_at_least("abcde", "abcXY", 0.8), None);
}

#[test]
fn empty_texts_resemble_nothing() {
    assert_eq!(edit_similarity("", ""), 0.0);
    assert_eq!(edit_similarity("", "a"), 0.0);
    assert_eq!(edit_similarity_at_least("", "", 0.1), None);
    assert_eq!(cosine(&[], &[]), 0.0);
    assert_eq!(levenshtein("", "甲乙"), 2);
}

#[test]
fn the_longest_texts_are_limited_by_their_band() {
    let long: String = ('a'..='z').cycle().take(1 << 20).collect();
    let mut other: Vec<char> = long.chars().collect();
    for at in (0..other.len()).step_by(other.len() / 16) {
        other[at] = '中';
    }
    let other = String::from_iter(other);
    let distance = levenshtein_within(&long, &other, 32);
    assert_eq!(distance.map(|distance| distance as u32), Some(16));
    assert_eq!(levenshtein_within(&long, &other, 15), None);
}
