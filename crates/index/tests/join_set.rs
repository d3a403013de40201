//! The join of a plain set against comparing everything with everything.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::Random;
use simhash_index::Plan;
use simhash_index::join::set::{Join, PairBatch};
use simhash_index::plan::names;

static GO: AtomicBool = AtomicBool::new(false);

fn join(values: &[u64], plan: &Plan, distance: u32) -> Join {
    Join::new(values, plan, distance, 0, &GO).unwrap()
}

/// All pairs of a join, in its order.
fn all_pairs(join: Join, max: usize, threads: usize) -> Vec<(u32, u32, u32)> {
    let mut pairs = join.pairs();
    let mut all = Vec::new();
    while let Some(batch) = pairs.next_batch(max, threads, &GO).unwrap() {
        assert!((1..=max).contains(&batch.len()));
        assert_eq!((batch.a.len(), batch.a.len()), (batch.b.len(), batch.distance.len()));
        all.extend(batch.iter());
    }
    assert_eq!(pairs.next_batch(max, threads, &GO).unwrap(), None::<PairBatch>);
    let (done, steps) = pairs.progress();
    assert_eq!(done, steps);
    all
}

fn all_clusters(join: &Join, threads: usize) -> Vec<Vec<u32>> {
    let last = AtomicU64::new(0);
    let progress = |done: u64, of: u64| {
        assert!((1..=of).contains(&done));
        last.fetch_max(done, Ordering::Relaxed);
    };
    let clusters = join.clusters(threads, &GO, &progress).unwrap();
    assert!(last.into_inner() > 0);
    assert_eq!(clusters.iter().count(), clusters.len());
    clusters.iter().map(<[u32]>::to_vec).collect()
}

/// What the rules say, spelled out: near pairs of first holders, and each further holder with its first.
fn expected_pairs(values: &[u64], distance: u32) -> Vec<(u32, u32, u32)> {
    let first = |value: u64| values.iter().position(|&other| other == value).unwrap();
    let firsts: Vec<usize> = values.iter().map(|&value| first(value)).collect();
    let mut pairs = Vec::new();
    for b in 0..values.len() {
        if firsts[b] != b {
            pairs.push((firsts[b] as u32, b as u32, 0));
            continue;
        }
        for a in (0..b).filter(|&a| firsts[a] == a) {
            let apart = (values[a] ^ values[b]).count_ones();
            if apart <= distance {
                pairs.push((a as u32, b as u32, apart));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn root(parent: &[usize], mut at: usize) -> usize {
    while parent[at] != at {
        at = parent[at];
    }
    at
}

/// Components of pairs over so many ordinals.
fn components(count: usize, pairs: &[(u32, u32, u32)]) -> Vec<Vec<u32>> {
    let mut parent: Vec<usize> = (0..count).collect();
    for &(a, b, _) in pairs {
        let (a, b) = (root(&parent, a as usize), root(&parent, b as usize));
        parent[a.max(b)] = a.min(b);
    }
    let mut members = vec![Vec::new(); count];
    for ordinal in 0..count {
        members[root(&parent, ordinal)].push(ordinal as u32);
    }
    members.retain(|cluster| cluster.len() > 1);
    members
}

fn check(values: &[u64], plan: &Plan, distance: u32) {
    let expected = expected_pairs(values, distance);
    let set = join(values, plan, distance);
    let clusters = all_clusters(&set, 0);
    assert_eq!(clusters, components(values.len(), &expected), "{} k = {distance}", plan.name());
    let mut pairs = all_pairs(set, 1000, 0);
    pairs.sort_unstable();
    assert!(pairs.windows(2).all(|two| two[0] != two[1]), "{} k = {distance}: twice", plan.name());
    assert_eq!(pairs, expected, "{} k = {distance}", plan.name());
}

/// Random fingerprints, near ones at every distance up to `distance + 1`, copies, zero and all ones.
fn mixed(count: usize, distance: u32, random: &mut Random) -> Vec<u64> {
    let mut values = vec![0, u64::MAX, 1, u64::MAX - 1, 0, u64::MAX];
    while values.len() < count {
        let value = random.next();
        values.push(value);
        let base = values[random.below(values.len() as u64) as usize];
        let flips = random.below(u64::from(distance) + 2) as u32;
        values.push(random.near(base, flips));
    }
    values
}

#[test]
fn pairs_and_clusters_equal_brute_force_for_every_plan_up_to_radius_four() {
    let mut random = Random(1);
    let mut plans = 0;
    for name in
        names().filter(|name| name.starts_with(['k']) && &name[1..2] <= "4" && &name[2..3] == "-")
    {
        let plan = Plan::named(name).unwrap();
        // More than are compared in one bucket; few enough that the directory is shorter than the prefix.
        check(&mixed(2600, plan.radius(), &mut random), &plan, plan.radius());
        plans += 1;
    }
    assert!(plans > 40, "{plans} plans");
}

#[test]
fn every_distance_is_exact_within_and_beyond_the_radius() {
    let mut random = Random(2);
    let plan = Plan::named("k3-t6").unwrap();
    for distance in 0..=16 {
        check(&mixed(300, distance, &mut random), &plan, distance);
        check(&mixed(2300, distance, &mut random), &plan, distance);
    }
}

#[test]
fn few_fingerprints_are_joined_too() {
    let plan = Plan::named("k3-t6").unwrap();
    for values in [&[][..], &[0], &[0, 0], &[u64::MAX, 0, u64::MAX], &[1, 2, 4, 8, 7, 9]] {
        for distance in [0, 1, 3, 16] {
            check(values, &plan, distance);
        }
    }
}

/// Fewer distinct prefixes than fingerprints: buckets with all prefix bits and more members than fit.
#[test]
fn a_directory_as_long_as_the_prefix_is_exact() {
    let mut random = Random(3);
    let plan = Plan::classic(7).unwrap();
    assert_eq!(plan.prefixes()[0].bits(), 8);
    check(&mixed(6000, 3, &mut random), &plan, 3);
    check(&mixed(6000, 7, &mut random), &plan, 7);
}

/// Few bits vary, or some hardly vary: long buckets, cut several times.
#[test]
fn skewed_sets_are_exact() {
    let mut random = Random(4);
    let subcube: Vec<u64> = (0..5000).map(|_| random.below(1 << 16) << 20).collect();
    let biased: Vec<u64> =
        (0..5000).map(|_| random.next() & random.next() & random.next()).collect();
    let center = random.next();
    let near: Vec<u64> = (0..4000)
        .map(|_| {
            let flips = random.below(6) as u32;
            random.near(center, flips)
        })
        .collect();
    let chain: Vec<u64> = (0..5000u64).map(|step| step ^ step >> 1).collect();
    for name in ["k1-t2", "k2-t4", "k3-t4", "k3-t6", "k3-t11", "k4-t10"] {
        let plan = Plan::named(name).unwrap();
        for values in [&subcube, &biased, &near, &chain] {
            check(values, &plan, plan.radius());
        }
    }
    // One table's prefix in common, everything else random.
    let plan = Plan::named("k3-t6").unwrap();
    for prefix in plan.prefixes() {
        let mut values: Vec<u64> = (0..3000).map(|_| random.next() | prefix.mask()).collect();
        for at in 0..500 {
            let flips = random.below(5) as u32;
            values.push(random.near(values[at], flips));
        }
        check(&values, &plan, 3);
    }
}

/// Larger than brute force can answer: all plans must find the same pairs, and all that were planted.
#[test]
fn directories_below_at_and_above_the_prefix_find_the_same() {
    let mut random = Random(5);
    let mut values: Vec<u64> = (0..400_000).map(|_| random.next()).collect();
    let mut planted = BTreeSet::new();
    for number in 0..4000u32 {
        let flips = number % 4;
        if flips > 0 {
            planted.insert((number, values.len() as u32, flips));
            values.push(random.near(values[number as usize], flips));
        }
    }
    // 16, 21, 28 and 33 bits of prefix for a directory of 17.
    for name in ["k3-t4", "k3-t6", "k3-t11", "k3-t15"] {
        let pairs = all_pairs(join(&values, &Plan::named(name).unwrap(), 3), 1 << 16, 0);
        let found: BTreeSet<_> = pairs.iter().copied().collect();
        assert_eq!(found.len(), pairs.len(), "{name}: a pair came twice");
        assert_eq!(found, planted, "{name}");
    }
    // Eight bits: every part is one long bucket.
    let few = &values[380_000..];
    let classic = all_pairs(join(few, &Plan::classic(7).unwrap(), 3), 1 << 16, 0);
    assert_eq!(
        classic.iter().collect::<BTreeSet<_>>(),
        all_pairs(join(few, &Plan::named("k3-t6").unwrap(), 3), 1 << 16, 0).iter().collect(),
    );
}

#[test]
fn the_order_does_not_depend_on_threads_or_batches() {
    let mut random = Random(6);
    let mut values = mixed(60_000, 3, &mut random);
    values.extend((0..3000).map(|_| random.below(1 << 12)));
    let plan = Plan::named("k3-t6").unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let run = |size: usize, threads: usize, max: usize| {
        pool(size).install(|| {
            let set = Join::new(&values, &plan, 3, threads, &GO).unwrap();
            (all_clusters(&set, threads), all_pairs(set, max, threads))
        })
    };
    let one = run(1, 1, 100_000);
    assert!(one.1.len() > 100_000);
    for (size, threads, max) in [(4, 0, 1_000_000), (4, 3, 777), (2, 1, 50_000), (8, 0, 4096)] {
        assert_eq!(run(size, threads, max), one, "{size} {threads} {max}");
    }
}

#[test]
fn ordinals_are_the_callers() {
    let entries = [(5u64, 90u32), (4, 7), (5, 30), (u64::MAX, 1), (5, 50)];
    let plan = Plan::named("k3-t6").unwrap();
    let set = Join::of_entries(&entries, &plan, 3, 0, &GO).unwrap();
    assert_eq!(set.distinct(), 3);
    assert_eq!(all_clusters(&set, 0), [[7, 30, 50, 90]]);
    let pairs = all_pairs(set, 10, 0);
    assert_eq!(pairs, [(30, 50, 0), (30, 90, 0), (7, 30, 1)]);
}

#[test]
fn equal_fingerprints_are_a_star() {
    for value in [0, u64::MAX, 0x1234_5678_9abc_def0] {
        let values = vec![value; 300_000];
        let set = join(&values, &Plan::named("k3-t6").unwrap(), 3);
        let clusters = all_clusters(&set, 0);
        assert_eq!(clusters.len(), 1);
        assert!(clusters[0].iter().copied().eq(0..300_000));
        assert!(all_pairs(set, 7000, 0).into_iter().eq((1..300_000).map(|other| (0, other, 0))));
    }
}

/// Every two of them are near their center, most are near each other through many others.
fn clique(count: usize) -> Vec<u64> {
    let mut random = Random(7);
    let center = random.next();
    let mut values: BTreeSet<u64> =
        common::patterns_of_three().into_iter().map(|flips| center ^ flips).collect();
    while values.len() < count {
        values.insert(random.near(center, 4));
    }
    values.into_iter().collect()
}

#[test]
fn a_hundred_thousand_near_equal_are_one_cluster() {
    let values = clique(100_000);
    let expected: Vec<u32> = (0..100_000).collect();
    for name in ["k3-t4", "k3-t6", "k3-t11"] {
        let set = join(&values, &Plan::named(name).unwrap(), 3);
        assert_eq!(all_clusters(&set, 0), std::slice::from_ref(&expected), "{name}");
    }
    // All in one bucket of three tables.
    let cube: Vec<u64> = (0..100_000).collect();
    let set = join(&cube, &Plan::named("k3-t6").unwrap(), 3);
    assert_eq!(all_clusters(&set, 0), [expected]);
}

#[test]
fn the_pairs_of_a_clique_come_in_bounded_batches() {
    let values = clique(100_000);
    let mut pairs = join(&values, &Plan::named("k3-t6").unwrap(), 3).pairs();
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let batch = pairs.next_batch(5000, 0, &GO).unwrap().unwrap();
        assert_eq!(batch.len(), 5000);
        for (a, b, distance) in batch.iter() {
            let apart = (values[a as usize] ^ values[b as usize]).count_ones();
            assert!(a < b && apart == distance && distance <= 3);
            assert!(seen.insert((a, b)), "twice");
        }
    }
}

#[test]
fn a_raised_flag_stops_it_and_pairs_go_on_later() {
    let mut random = Random(8);
    let values = mixed(50_000, 3, &mut random);
    let plan = Plan::named("k3-t6").unwrap();
    let stop = AtomicBool::new(true);
    let code = Join::new(&values, &plan, 3, 0, &stop).unwrap_err().code();
    assert_eq!(code, "ERR_SIMHASH_CANCELLED");
    let set = join(&values, &plan, 3);
    let code = set.clusters(0, &stop, &|_, _| {}).unwrap_err().code();
    assert_eq!(code, "ERR_SIMHASH_CANCELLED");
    let whole = all_pairs(set, 1000, 0);
    let mut pairs = join(&values, &plan, 3).pairs();
    let mut all = Vec::new();
    loop {
        // What is ready may still be handed out.
        if let Ok(Some(batch)) = pairs.next_batch(1000, 0, &stop) {
            all.extend(batch.iter());
        }
        match pairs.next_batch(1000, 0, &GO).unwrap() {
            Some(batch) => all.extend(batch.iter()),
            None => break,
        }
    }
    assert_eq!(all, whole);
    // Raised from within: the call ends, nothing hangs.
    let stop = AtomicBool::new(false);
    let set = join(&values, &plan, 3);
    let result = set.clusters(0, &stop, &|_, _| stop.store(true, Ordering::Relaxed));
    assert_eq!(result.unwrap_err().code(), "ERR_SIMHASH_CANCELLED");
}

#[test]
fn distances_out_of_range_are_refused() {
    let plan = Plan::named("k3-t6").unwrap();
    assert_eq!(Join::new(&[1, 2], &plan, 17, 0, &GO).unwrap_err().code(), "ERR_OUT_OF_RANGE");
}
