//! Self-joins and clusters against the oracle.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use common::{Random, patterns_of_three};
use simhash_index::{Index, IndexOptions, Item, Near, Pair, PlanChoice, SelfJoin};

fn index(plan: &str) -> Index {
    let mut options = IndexOptions::default();
    options.plan = PlanChoice::Named(plan.to_owned());
    Index::new(&options).unwrap()
}

fn all_pairs(index: &Index, distance: u32, threads: usize) -> Vec<Pair> {
    let go = AtomicBool::new(false);
    let mut join = index.pairs(Some(distance)).unwrap();
    let (mut pairs, mut before) = (Vec::new(), 0.0);
    while let Some(batch) = join.next_batch(index, threads, &go).unwrap() {
        assert!(!batch.is_empty());
        pairs.extend(batch);
        assert!(join.progress() >= before && join.progress() <= 1.0);
        before = join.progress();
    }
    assert!((join.progress() - 1.0).abs() < 1e-9);
    pairs
}

/// Pairs of first holders, and every further holder with its first.
fn oracle(items: &[Option<Item>], distance: u32) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut texts: BTreeMap<u128, u64> = BTreeMap::new();
    for (id, item) in (0..).zip(items) {
        match *item {
            Some(Item::Fingerprint(value)) => {
                if let Some(&(_, a)) = firsts.iter().find(|(other, _)| *other == value) {
                    pairs.insert(Pair { a, b: id, distance: 0 });
                    continue;
                }
                for &(other, a) in &firsts {
                    let apart = (other ^ value).count_ones();
                    if apart <= distance {
                        pairs.insert(Pair { a, b: id, distance: apart });
                    }
                }
                firsts.push((value, id));
            }
            Some(Item::Exact(text)) => {
                let a = *texts.entry(text).or_insert(id);
                if a != id {
                    pairs.insert(Pair { a, b: id, distance: 0 });
                }
            }
            _ => {}
        }
    }
    pairs
}

fn mixed(count: u64, seed: u64) -> Vec<Item> {
    let mut random = Random(seed);
    (0..count)
        .map(|number| match number % 16 {
            0 => Item::Exact(u128::from(random.below(count / 32 + 1))),
            1 => Item::Empty,
            _ => {
                let base = random.below(count / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let flips = random.below(5) as u32;
                Item::Fingerprint(random.near(base, flips))
            }
        })
        .collect()
}

fn components(pairs: &BTreeSet<Pair>) -> Vec<Vec<u64>> {
    let mut of: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in pairs {
        let (a, b) = (*of.entry(pair.a).or_insert(pair.a), *of.entry(pair.b).or_insert(pair.b));
        for label in of.values_mut().filter(|label| **label == a.max(b)) {
            *label = a.min(b);
        }
    }
    let mut clusters: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (&id, &label) in &of {
        clusters.entry(label).or_default().push(id);
    }
    let mut clusters: Vec<Vec<u64>> = clusters.into_values().collect();
    clusters.sort();
    clusters
}

#[test]
fn every_pair_comes_once_and_clusters_are_its_components() {
    let go = AtomicBool::new(false);
    for plan in ["k3-t4", "k3-t6", "k3-t11"] {
        let index = index(plan);
        let items = mixed(4000, 7);
        index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
        let mut alive: Vec<Option<Item>> = items.into_iter().map(Some).collect();
        for id in (0..4000).step_by(7) {
            index.delete(id as u64).unwrap();
            alive[id] = None;
        }
        for distance in [0, 1, 2, 3, 4, 6] {
            let expected = oracle(&alive, distance);
            let pairs = all_pairs(&index, distance, 1);
            let set: BTreeSet<Pair> = pairs.iter().copied().collect();
            assert_eq!(set.len(), pairs.len(), "{plan} k = {distance}: a pair came twice");
            assert_eq!(set, expected, "{plan} k = {distance}");
            let clusters = index.clusters(Some(distance), 0, &|_| (), &go).unwrap();
            let clusters: Vec<Vec<u64>> = clusters.into_iter().map(|c| c.ids).collect();
            assert_eq!(clusters, components(&expected), "{plan} k = {distance}");
        }
    }
}

#[test]
fn the_order_of_pairs_does_not_depend_on_threads() {
    let index = index("k3-t6");
    index.add_many(&mixed(30_000, 9), &[], &AtomicBool::new(false)).unwrap();
    let one = all_pairs(&index, 3, 1);
    assert!(one.len() > 10_000);
    for threads in [0, 2, 5] {
        assert_eq!(all_pairs(&index, 3, threads), one);
    }
}

#[test]
fn large_indexes_have_their_planted_pairs_at_every_distance() {
    let index = index("k3-t6");
    let mut random = Random(41);
    let mut items = Vec::new();
    let mut expected = BTreeSet::new();
    for number in 0..150_000u64 {
        let value = random.next();
        items.push(Item::Fingerprint(value));
        if number % 50 == 0 {
            let distance = (number / 50 % 5) as u32;
            let b = items.len() as u64;
            items.push(Item::Fingerprint(random.near(value, distance)));
            if distance <= 3 {
                expected.insert(Pair { a: b - 1, b, distance });
            }
        }
    }
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    let pairs = all_pairs(&index, 3, 0);
    assert_eq!(pairs.len(), expected.len());
    assert_eq!(pairs.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_group_that_shares_a_prefix_is_joined_exactly() {
    // All agree on table 0's prefix of the four-block plan, so its bucket holds everything and is nested.
    let mut random = Random(43);
    let index = index("k3-t4");
    let mut items = Vec::new();
    for number in 0..6000u64 {
        let value = if number % 3 == 2 {
            let Item::Fingerprint(before) = items[number as usize - 1] else { continue };
            let flips = random.below(4) as u32;
            random.near(before, flips)
        } else {
            // The spread of high and low parts keeps sixteen bits of some table equal.
            random.below(1 << 20) | 0xabc_def1_2345 << 20
        };
        items.push(Item::Fingerprint(value));
    }
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    let alive: Vec<Option<Item>> = items.into_iter().map(Some).collect();
    let pairs = all_pairs(&index, 3, 0);
    let set: BTreeSet<Pair> = pairs.iter().copied().collect();
    assert_eq!(set.len(), pairs.len());
    assert_eq!(set, oracle(&alive, 3));
}

#[test]
fn a_clique_has_linear_clusters_and_lazy_pairs() {
    let go = AtomicBool::new(false);
    let index = index("k3-t6");
    // Everything within distance 3 of one fingerprint, and 40,000 copies of it.
    let patterns = patterns_of_three();
    let items: Vec<Item> = patterns.iter().map(|&p| Item::Fingerprint(p)).collect();
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    index.add_many(&vec![Item::Fingerprint(0); 40_000], &[], &AtomicBool::new(false)).unwrap();
    let clusters = index.clusters(None, 0, &|_| (), &go).unwrap();
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0].ids.len(), patterns.len() + 40_000);
    let mut join = index.pairs(None).unwrap();
    for _ in 0..5 {
        let batch = join.next_batch(&index, 0, &go).unwrap().unwrap();
        assert!(batch.len() < 500_000, "{} pairs at once", batch.len());
    }
}

#[test]
fn a_cancelled_join_goes_on_where_it_stopped() {
    let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    let index = index("k3-t6");
    index.add_many(&mixed(5000, 11), &[], &AtomicBool::new(false)).unwrap();
    let mut join = index.pairs(None).unwrap();
    let mut pairs = Vec::new();
    loop {
        assert_eq!(
            join.next_batch(&index, 0, &stop).unwrap_err(),
            simhash_index::IndexError::Cancelled
        );
        match join.next_batch(&index, 0, &go).unwrap() {
            Some(batch) => pairs.extend(batch),
            None => break,
        }
    }
    assert_eq!(pairs, all_pairs(&index, 3, 1));
    assert!(index.clusters(None, 0, &|_| (), &stop).is_err());
}

#[test]
fn an_empty_index_has_neither_pairs_nor_clusters() {
    let go = AtomicBool::new(false);
    let index = index("k3-t6");
    assert_eq!(index.pairs(None).unwrap().next_batch(&index, 0, &go).unwrap(), None);
    assert!(index.clusters(None, 0, &|_| (), &go).unwrap().is_empty());
}

/// Documents that leave and come again while a join runs: their fingerprints are in its tables, and they are not.
#[test]
fn documents_added_after_a_join_began_are_in_no_pair_and_no_cluster() {
    let go = AtomicBool::new(false);
    let index = index("k3-t6");
    let mut random = Random(47);
    let values: Vec<u64> = (0..3000).map(|_| random.next()).collect();
    for &value in &values {
        for value in [value, value ^ 1, value] {
            index.add(Item::Fingerprint(value)).unwrap();
        }
    }
    // Of three documents the middle one alone stays.
    let again = || {
        let end = index.add(Item::Empty).unwrap();
        for (number, &value) in (0..).zip(&values) {
            assert!(index.delete(3 * number).unwrap() && index.delete(3 * number + 2).unwrap());
            index.add(Item::Fingerprint(value)).unwrap();
        }
        end
    };
    let mut join = index.pairs(None).unwrap();
    let end = again();
    while let Some(pairs) = join.next_batch(&index, 1, &go).unwrap() {
        assert!(pairs.iter().all(|pair| pair.a < end && pair.b < end), "{:?}", pairs[0]);
    }
    assert!(all_pairs(&index, 3, 1).len() >= values.len());

    let late = std::cell::Cell::new(None);
    let progress = |_: f64| {
        if late.get().is_none() {
            late.set(Some(index.add(Item::Empty).unwrap()));
            for &value in &values {
                index.add(Item::Fingerprint(value ^ 1)).unwrap();
            }
        }
    };
    let clusters = index.clusters(None, 1, &progress, &go).unwrap();
    let end = late.get().unwrap();
    assert_eq!(clusters.len(), values.len());
    assert!(clusters.iter().all(|cluster| cluster.ids.iter().all(|&id| id < end)));
}

/// Fingerprints without an index, each once: some alone, some in families, and a crowd that is longer than a group may be.
fn bare() -> Vec<u64> {
    let mut random = Random(7);
    let fingerprints = (0..3_000u64).map(|number| {
        let base = if number % 2 == 0 { 1 } else { number / 9 };
        let flips = random.below(6) as u32;
        random.near(base.wrapping_mul(0x9e37_79b9_7f4a_7c15), flips)
    });
    fingerprints.collect::<BTreeSet<u64>>().into_iter().collect()
}

fn joined(fingerprints: &[u64], distance: u32, threads: usize) -> Vec<Near> {
    let go = AtomicBool::new(false);
    let mut join = SelfJoin::new(fingerprints.to_vec(), distance).unwrap();
    let mut all = Vec::new();
    while let Some(found) = join.next_batch(threads, &go).unwrap() {
        assert!(!found.is_empty());
        all.extend(found);
    }
    all
}

#[test]
fn a_join_without_an_index_finds_every_pair_once_in_one_order() {
    let fingerprints = bare();
    for distance in [0, 1, 3, 6, 10, 11, 16] {
        let mut expected = BTreeSet::new();
        for (at, &a) in fingerprints.iter().enumerate() {
            let near = fingerprints[at + 1..].iter().map(|&b| (a, b, (a ^ b).count_ones()));
            expected.extend(near.filter(|near| near.2 <= distance));
        }
        let found = joined(&fingerprints, distance, 1);
        for threads in [2, 7] {
            assert_eq!(joined(&fingerprints, distance, threads), found, "{distance}, {threads}");
        }
        let count = found.len();
        let found: BTreeSet<Near> =
            found.into_iter().map(|(a, b, apart)| (a.min(b), a.max(b), apart)).collect();
        assert_eq!(count, found.len(), "{distance}");
        assert!(found == expected, "{distance}: {count} of {}", expected.len());
    }
    assert!(joined(&[], 3, 1).is_empty());
    assert!(joined(&[5], 3, 1).is_empty());
    assert!(SelfJoin::new(vec![1], 99).is_err());
}
