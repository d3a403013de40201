use super::*;
use crate::plan;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Distinct fingerprints with neighbours among them.
fn clustered(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut values = Vec::new();
    while values.len() < count + count / 8 {
        let value = random(&mut state);
        values.push(value);
        for _ in 0..random(&mut state) % 4 {
            values.push(value ^ 1 << (random(&mut state) % 64) ^ 1 << (random(&mut state) % 64));
        }
    }
    values.sort_unstable();
    values.dedup();
    // Neighbours apart again.
    values.sort_by_cached_key(|&value| random(&mut { value }));
    values.truncate(count);
    values
}

fn found(run: &Run, plan: &Plan, query: u64, distance: u32) -> Vec<Hit> {
    let mut hits = Vec::new();
    run.find(plan, query, distance, &mut hits);
    hits.sort_unstable();
    hits
}

fn oracle(values: &[u64], query: u64, distance: u32) -> Vec<Hit> {
    let mut hits = Vec::new();
    scan::within(values, query, distance, |position, apart| {
        hits.push(Hit { distance: apart, value: values[position] });
    });
    hits.sort_unstable();
    hits
}

#[test]
fn every_plan_finds_what_the_scan_finds_once() {
    for name in plan::names() {
        let plan = Plan::named(name).unwrap();
        if plan.prefixes().len() > 31 {
            continue;
        }
        for count in [0, 1, 7, 8, 9, 1000, 20_000] {
            let values = clustered(count, 7);
            let run = build(&plan, &[], &values, &|_| true);
            let mut state = 11;
            for query in 0..20 {
                let near = values.get(query * 37).copied().unwrap_or(0);
                let query = near ^ 1 << (random(&mut state) % 64) ^ 1 << (random(&mut state) % 64);
                for distance in 0..=plan.radius() {
                    assert_eq!(
                        found(&run, &plan, query, distance),
                        oracle(&values, query, distance),
                        "{name} n = {count} k = {distance}"
                    );
                }
            }
        }
    }
}

#[test]
fn merging_runs_of_any_sizes_equals_building_at_once() {
    let plan = Plan::named("k3-t6").unwrap();
    let values = clustered(30_000, 3);
    for cuts in [[0, 0], [1, 2], [100, 20_000], [15_000, 15_001], [29_000, 30_000]] {
        let first = build(&plan, &[], &values[..cuts[0]], &|_| true);
        let second = build(&plan, &[], &values[cuts[0]..cuts[1]], &|_| true);
        let keep = |value: u64| !value.is_multiple_of(5);
        let merged = build(&plan, &[&first, &second], &values[cuts[1]..], &keep);
        let kept: Vec<u64> = values.iter().copied().filter(|&value| keep(value)).collect();
        assert_eq!(merged.len(), kept.len());
        for &query in values.iter().step_by(301) {
            assert_eq!(found(&merged, &plan, query, 3), oracle(&kept, query, 3));
        }
    }
}

#[test]
fn long_buckets_are_exact() {
    let plan = Plan::named("k3-t11").unwrap();
    // All share the low 40 bits: several tables have one bucket for everything.
    let values: Vec<u64> = (0..20_000u64).map(|number| number << 40 | 0x12_3456_789a).collect();
    let run = build(&plan, &[], &values, &|_| true);
    for &query in values.iter().step_by(499) {
        assert_eq!(found(&run, &plan, query, 3), oracle(&values, query, 3));
        assert_eq!(found(&run, &plan, query ^ 1, 3), oracle(&values, query ^ 1, 3));
    }
}
