//! What bands promise is their S-curve: pairs of known similarity share a band as often as it says.

use crate::model::{Random, options};
use simhash_index::bands::{BandIndex, BandItem, BandPlan, BandSearch, band_keys};
use simhash_sketch::minhash::{MinHashOptions, MinHasher, Scheme};

/// Two random sets of `size` features each, of which they share so many.
fn pair(random: &mut Random, size: usize, shared: usize) -> (Vec<u64>, Vec<u64>) {
    let all: Vec<u64> = (0..2 * size - shared).map(|_| random.next()).collect();
    (all[..size].to_vec(), all[size - shared..].to_vec())
}

fn signatures(hasher: &MinHasher, (a, b): &(Vec<u64>, Vec<u64>)) -> (Vec<u32>, Vec<u32>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    hasher.signature(a, &mut x);
    hasher.signature(b, &mut y);
    (x, y)
}

/// Six standard errors of a share of `trials`, and one trial for rates near 0 and 1: one false alarm in 500 million.
/// The random numbers are fixed, so it passes always or never.
fn slack(probability: f64, trials: usize) -> f64 {
    6.0 * (probability * (1.0 - probability) / trials as f64).sqrt() + 1.0 / trials as f64
}

fn follows_the_curve(scheme: Scheme, size: usize, trials: usize) {
    let hasher = MinHasher::new(&MinHashOptions { scheme, hashes: 128, seed: 3 }).unwrap();
    let plans = [(16, 8), (16, 6), (20, 5), (8, 16), (1, 3)];
    let plans = plans.map(|(bands, rows)| BandPlan::new(bands, rows).unwrap());
    let mut random = Random(11);
    for similarity in [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
        let shared = (0..size)
            .min_by_key(|&shared| {
                let exact = shared as f64 / (2 * size - shared) as f64;
                ((exact - similarity).abs() * 1e9) as i64
            })
            .unwrap();
        let exact = shared as f64 / (2 * size - shared) as f64;
        let mut met = [0; 5];
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..trials {
            let (a, b) = signatures(&hasher, &pair(&mut random, size, shared));
            for (met, &plan) in met.iter_mut().zip(&plans) {
                band_keys(plan, &a, &mut own);
                band_keys(plan, &b, &mut other);
                *met += usize::from(own.iter().zip(&other).any(|(a, b)| a == b));
            }
        }
        for (met, plan) in met.into_iter().zip(plans) {
            let (found, expected) = (met as f64 / trials as f64, plan.probability(exact));
            let slack = slack(expected, trials);
            assert!(
                (found - expected).abs() <= slack,
                "{scheme:?} {plan:?} at {exact:.3}: {found} is not {expected} ± {slack}"
            );
        }
    }
}

#[test]
fn pairs_of_known_similarity_share_a_band_as_often_as_the_curve_says() {
    follows_the_curve(Scheme::Permutations, 300, 4000);
    follows_the_curve(Scheme::Permutations, 25, 4000);
}

#[test]
fn fast_similarity_follows_the_curve() {
    follows_the_curve(Scheme::FastSimilarity, 2000, 4000);
    follows_the_curve(Scheme::FastSimilarity, 300, 4000);
    follows_the_curve(Scheme::FastSimilarity, 25, 4000);
}

#[test]
fn one_permutation_follows_the_curve_where_its_bins_are_filled() {
    follows_the_curve(Scheme::OnePermutation, 3000, 2000);
}

#[test]
fn an_index_finds_planted_pairs_at_its_recall() {
    let plan = BandPlan::for_recall(0.8, 0.95, 128).unwrap();
    let hasher = MinHasher::new(&MinHashOptions::default()).unwrap();
    let mut options = options(1, 1);
    options.plan = plan;
    let index = BandIndex::new(&options).unwrap();
    let mut random = Random(4);
    // 160 of 200 distinct features: similarity 0.8 exactly.
    let pairs: Vec<_> =
        (0..4000).map(|_| signatures(&hasher, &pair(&mut random, 180, 160))).collect();
    for (a, _) in &pairs {
        index.add(BandItem::from(a.clone())).unwrap();
    }
    let found = (0..).zip(&pairs).filter(|(id, (_, b))| {
        let found = index.search(BandItem::from(b.clone()), BandSearch::default()).unwrap();
        found.matches.iter().any(|found| found.id == *id)
    });
    let (recall, expected) = (found.count() as f64 / 4000.0, plan.probability(0.8));
    assert!(expected >= 0.95);
    assert!((recall - expected).abs() <= slack(expected, 4000), "{recall} is not {expected}");
}
