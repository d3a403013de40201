//! Every instruction set gives the same signature, the estimates are unbiased and as exact as they say.

use super::value::{GOLDEN, mix};
use super::{Estimate, MinHashOptions, MinHasher, Scheme, Value};
use crate::simd::Level;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn hasher(scheme: Scheme, hashes: usize, seed: u64) -> MinHasher {
    MinHasher::new(&MinHashOptions { scheme, hashes, seed }).unwrap()
}

fn signature<V: Value>(hasher: &MinHasher, features: &[u64]) -> Vec<V> {
    let mut out = vec![V::default(); 3];
    hasher.signature(features, &mut out);
    out
}

proptest! {
    #[test]
    fn every_level_gives_the_same_signature(
        features in prop::collection::vec(any::<u64>(), 0..1200),
        hashes in 1..300_usize,
        seed: u64,
    ) {
        for scheme in Scheme::ALL {
            let options = MinHashOptions { scheme, hashes, seed };
            let plain = MinHasher::at(&options, Level::Scalar).unwrap();
            for level in Level::available() {
                let other = MinHasher::at(&options, level).unwrap();
                prop_assert_eq!(signature::<u32>(&plain, &features), signature::<u32>(&other, &features));
                prop_assert_eq!(signature::<u64>(&plain, &features), signature::<u64>(&other, &features));
            }
        }
    }

    #[test]
    fn order_and_repetition_change_nothing_and_a_union_takes_the_smaller_values(
        a in prop::collection::vec(any::<u64>(), 1..300),
        b in prop::collection::vec(any::<u64>(), 1..300),
        hashes in 1..200_usize,
    ) {
        let both = [b.as_slice(), &a, &b].concat();
        for scheme in Scheme::ALL {
            let hasher = hasher(scheme, hashes, 5);
            let of = |set: &[u64]| signature::<u32>(&hasher, set);
            let expected = match scheme {
                Scheme::FastSimilarity | Scheme::Permutations => of(&a).into_iter().zip(of(&b)).map(|(a, b)| a.min(b)).collect(),
                Scheme::OnePermutation => of(&[a.as_slice(), &b].concat()),
                Scheme::BottomK => {
                    let all: BTreeSet<u32> = of(&a).into_iter().chain(of(&b)).collect();
                    all.into_iter().take(hashes).collect()
                }
            };
            prop_assert_eq!(of(&both), expected);
        }
    }

    #[test]
    fn fast_similarity_is_what_the_specification_says(
        features in prop::collection::vec(any::<u64>(), 1..700),
        hashes in 1..300_usize,
        seed: u64,
    ) {
        let expected: Vec<u32> = (0..hashes)
            .map(|position| features.iter().map(|&hash| value(position as u64, hash, seed)).min().unwrap())
            .collect();
        prop_assert_eq!(signature::<u32>(&hasher(Scheme::FastSimilarity, hashes, seed), &features), expected);
    }
}

/// The value of one feature at a position, by docs/specification.md.
fn value(position: u64, hash: u64, seed: u64) -> u32 {
    let salt = mix(seed ^ GOLDEN);
    let multiplier =
        (mix(salt.wrapping_add(GOLDEN.wrapping_mul(position + 1))) << 10 | position) as u32;
    let mixed = mix(hash ^ mix(salt.wrapping_add(position / 128)));
    let (low, high) = (mixed as u32, (mixed >> 32) as u32);
    if u64::from(low % 128) == position % 128 {
        high >> 1
    } else {
        1 << 31 | high.wrapping_add(multiplier.wrapping_mul(low)) >> 1
    }
}

#[test]
fn the_empty_set_has_the_empty_signature_and_resembles_nothing() {
    for scheme in Scheme::ALL {
        let hasher = hasher(scheme, 128, 0);
        let (empty, full) = (signature::<u32>(&hasher, &[]), signature(&hasher, &[1, 2, 3]));
        assert!(empty.is_empty());
        let nothing = Estimate { similarity: 0.0, standard_error: 0.0 };
        assert_eq!(hasher.estimate(&empty, &full), nothing);
        assert_eq!(hasher.estimate(&empty, &empty), nothing);
        assert_eq!(hasher.estimate(&full, &full).similarity.to_bits(), 1_f64.to_bits());
    }
}

#[test]
fn bad_options_name_argument_value_and_expectation() {
    for hashes in [0, 1025] {
        let options = MinHashOptions { hashes, ..MinHashOptions::default() };
        let error = MinHasher::new(&options).unwrap_err();
        assert_eq!(error.to_string(), format!("hashes must be from 1 to 1024, got {hashes}"));
        assert!(matches!(error, crate::OptionsError::OutOfRange { argument: "hashes", .. }));
    }
    assert_eq!(Scheme::named("one-permutation"), Ok(Scheme::OnePermutation));
    assert_eq!(Scheme::named("minwise").unwrap_err().argument(), "scheme");
}

/// Mean and standard deviation of estimates over many seeds, and the mean of the standard errors that they state.
struct Observed {
    mean: f64,
    deviation: f64,
    stated: f64,
    trials: f64,
}

/// Sets of `size` features each that share so many that their similarity is nearly `similarity`; it is returned.
fn observe<V: Value>(scheme: Scheme, size: u64, similarity: f64, trials: u64) -> (Observed, f64) {
    // shared / (2 size - shared) = J
    let shared = (1..size)
        .min_by_key(|&shared| {
            let exact = shared as f64 / (2 * size - shared) as f64;
            ((exact - similarity).abs() * 1e9) as i64
        })
        .unwrap();
    let a: Vec<u64> = (0..size).collect();
    let b: Vec<u64> = (size - shared..2 * size - shared).collect();
    let exact = shared as f64 / (2 * size - shared) as f64;
    let (mut sum, mut squares, mut stated) = (0.0, 0.0, 0.0);
    for seed in 0..trials {
        let hasher = hasher(scheme, 128, seed);
        let found = hasher.estimate::<V>(&signature(&hasher, &a), &signature(&hasher, &b));
        sum += found.similarity;
        squares += (found.similarity - exact).powi(2);
        stated += found.standard_error;
    }
    let trials = trials as f64;
    let (mean, deviation) = (sum / trials, (squares / trials).sqrt());
    (Observed { mean, deviation, stated: stated / trials, trials }, exact)
}

fn check<V: Value>(scheme: Scheme, size: u64, similarity: f64) {
    let (seen, exact) = observe::<V>(scheme, size, similarity, 2000);
    let what = format!("{scheme:?}, {size} features at {exact:.3}");
    // Six standard errors of a mean: one false alarm in 500 million. The seeds are fixed, so it passes always or never.
    let slack = 6.0 * seen.stated.max(seen.deviation) / seen.trials.sqrt() + 1e-12;
    assert!((seen.mean - exact).abs() <= slack, "{what}: mean {} ± {slack}", seen.mean);
    // The standard deviation of 2000 trials has itself an error of 1 / sqrt(2 * 2000) = 1.6 %: six of them, 10 %.
    assert!(
        seen.deviation <= 1.1 * seen.stated + 1e-12,
        "{what}: {} > {}",
        seen.deviation,
        seen.stated
    );
    let binomial = (exact * (1.0 - exact) / 128.0).sqrt();
    match scheme {
        // Buckets share the features out: at most the deviation of independent positions.
        Scheme::FastSimilarity => {
            assert!(seen.deviation < 1.1 * binomial, "{what}: {}", seen.deviation);
            assert!((seen.stated / binomial - 1.0).abs() < 0.1, "{what}: {}", seen.stated);
        }
        Scheme::Permutations => {
            assert!((seen.deviation / binomial - 1.0).abs() < 0.1, "{what}: {}", seen.deviation);
            assert!((seen.stated / binomial - 1.0).abs() < 0.1, "{what}: {}", seen.stated);
        }
        // As good as independent positions where every bin is filled.
        Scheme::OnePermutation if size >= 5000 => {
            assert!((seen.stated / binomial - 1.0).abs() < 0.1, "{what}: {}", seen.stated);
        }
        Scheme::BottomK if 2 * size <= 128 => assert!(seen.stated == 0.0, "{what}"),
        Scheme::BottomK => {
            assert!((seen.deviation / seen.stated - 1.0).abs() < 0.1, "{what}: {}", seen.deviation);
        }
        Scheme::OnePermutation => {}
    }
}

#[test]
fn estimates_of_fast_similarity_are_unbiased_with_at_most_the_stated_error() {
    // Below and beyond as many features as fill all buckets, and between.
    for size in [5, 40, 150, 400, 1000, 5000] {
        for similarity in [0.3, 0.8, 0.95] {
            check::<u32>(Scheme::FastSimilarity, size, similarity);
        }
    }
    check::<u64>(Scheme::FastSimilarity, 300, 0.8);
}

#[test]
fn estimates_of_k_permutations_are_unbiased_with_the_stated_error() {
    for size in [5, 40, 1000] {
        for similarity in [0.3, 0.8, 0.95] {
            check::<u32>(Scheme::Permutations, size, similarity);
        }
    }
    check::<u64>(Scheme::Permutations, 300, 0.8);
}

#[test]
fn estimates_of_one_permutation_are_unbiased_with_at_most_the_stated_error() {
    for size in [5, 40, 150, 5000] {
        for similarity in [0.3, 0.8, 0.95] {
            check::<u32>(Scheme::OnePermutation, size, similarity);
        }
    }
    check::<u64>(Scheme::OnePermutation, 300, 0.8);
}

#[test]
fn estimates_of_bottom_k_are_unbiased_with_the_stated_error_and_exact_for_small_sets() {
    for size in [5, 40, 150, 5000] {
        for similarity in [0.3, 0.8, 0.95] {
            check::<u32>(Scheme::BottomK, size, similarity);
        }
    }
    check::<u64>(Scheme::BottomK, 300, 0.8);
}
