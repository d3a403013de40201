use super::*;
use crate::hamming::plan::Plan;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn values(count: usize) -> Vec<u64> {
    let mut state = count as u64;
    (0..count).map(|_| random(&mut state)).collect()
}

/// Every table lists exactly `expected`, each entry in the bucket of its key.
fn check(run: &Segment, plan: &Plan, expected: &[u64]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    for (number, prefix) in plan.prefixes().iter().enumerate() {
        let table = run.table(number, plan.prefixes());
        let mut listed = table.entries.to_vec();
        listed.sort_unstable();
        assert!(listed == expected, "table {number} of {} entries", expected.len());
        assert_eq!(table.directory.last(), Some(&(expected.len() as u32)));
        for (slot, ends) in table.directory.windows(2).enumerate() {
            let bucket = &table.entries[ends[0] as usize..ends[1] as usize];
            assert!(bucket.iter().all(|&value| table.slot(prefix.key(value)) == slot));
            if bucket.len() > LONG {
                assert!(bucket.is_sorted_by_key(|&value| prefix.key(value)));
            }
        }
    }
    assert_eq!(run.len(), expected.len());
}

#[test]
fn tables_hold_every_fingerprint_in_its_bucket() {
    for name in ["k0-t1", "k1-t2", "k3-t6", "k3-t11", "k4-t30"] {
        let plan = Plan::named(name).unwrap();
        for count in [0, 1, 7, 8, 9, 1000, 40_000] {
            let values = values(count);
            check(&build(&plan, &[], &[&values], None), &plan, &values);
        }
    }
}

#[test]
fn partitioned_builds_equal_small_ones() {
    // Directory bits beyond one partition pass.
    let plan = Plan::named("k3-t6").unwrap();
    let values = values(600_000);
    check(&build(&plan, &[], &[&values[..1], &values[1..]], None), &plan, &values);
}

#[test]
fn merging_runs_of_any_sizes_equals_building_at_once() {
    let plan = Plan::named("k3-t6").unwrap();
    let values = values(30_000);
    for cuts in [[0, 0], [1, 2], [100, 20_000], [15_000, 15_001], [29_000, 30_000]] {
        let first = build(&plan, &[], &[&values[..cuts[0]]], None);
        let second = build(&plan, &[], &[&values[cuts[0]..cuts[1]]], None);
        let (runs, fresh) = ([&first, &second], [&values[cuts[1]..]]);
        check(&build(&plan, &runs, &fresh, None), &plan, &values);
        let keep = |value: u64| !value.is_multiple_of(5);
        let kept: Vec<u64> = values.iter().copied().filter(|&value| keep(value)).collect();
        check(&build(&plan, &runs, &fresh, Some(&keep)), &plan, &kept);
    }
}

#[test]
fn a_merge_that_keeps_little_is_sound() {
    let plan = Plan::named("k3-t6").unwrap();
    let values = values(50_000);
    let run = build(&plan, &[], &[&values], None);
    check(&build(&plan, &[&run], &[], Some(&|_| false)), &plan, &[]);
    let keep = |value: u64| value == values[7];
    check(&build(&plan, &[&run], &[], Some(&keep)), &plan, &values[7..8]);
}

#[test]
fn skewed_prefixes_are_sorted_inside_their_bucket() {
    let plan = Plan::named("k3-t11").unwrap();
    // All share the low 40 bits: several tables have one bucket for everything.
    let values: Vec<u64> = (0..100_000u64).map(|number| number << 40 | 0x12_3456_789a).collect();
    check(&build(&plan, &[], &[&values], None), &plan, &values);
}

#[test]
fn a_sweep_visits_every_bucket_once_in_order() {
    let plan = Plan::named("k3-t6").unwrap();
    let values = values(5000);
    let run = build(&plan, &[], &[&values[..3000]], None);
    for count in [0, 1, 2, 3, 4, 5, 6, 7, 100] {
        let wanted: Vec<Wanted> = (0..count * plan.prefixes().len())
            .map(|at| {
                let (query, table) = (at / plan.prefixes().len(), at % plan.prefixes().len());
                let query_value = values[query * 49];
                let key = plan.prefixes()[table].key(query_value);
                Wanted { key, query: query as u32, lookup: table as u32, table }
            })
            .collect();
        let mut visited = Vec::new();
        sweep(plan.prefixes(), &run, &wanted, |wanted, bucket| {
            let at = wanted.query as usize * 49;
            assert_eq!(bucket.contains(&values[at]), at < 3000);
            visited.push((wanted.query, wanted.lookup));
        });
        let expected: Vec<(u32, u32)> =
            wanted.iter().map(|wanted| (wanted.query, wanted.lookup)).collect();
        assert_eq!(visited, expected);
    }
}

#[test]
fn saved_tables_that_hold_different_fingerprints_are_refused() {
    let plan = Plan::named("k3-t6").unwrap();
    let run = build(&plan, &[], &[&values(5000)], None);
    let saved = |damage: u64| {
        let copy = |(number, (bits, length, from)): (usize, (u32, usize, &[u64]))| {
            let mut words = Words::zeroed(from.len());
            words.copy_from_slice(from);
            if number == 5 {
                // Outside the prefix, so that the entry stays in its bucket.
                let free = !plan.prefixes()[number].mask();
                words[directory_words(bits)] ^= damage & free & free.wrapping_neg();
            }
            (bits, length, words)
        };
        run.tables().enumerate().map(copy).collect()
    };
    assert!(Segment::restored(&plan, saved(0)).is_some_and(|again| again.len() == 5000));
    assert!(Segment::restored(&plan, saved(u64::MAX)).is_none());
}

#[test]
fn saved_tables_that_list_a_fingerprint_twice_are_refused() {
    let plan = Plan::named("k3-t6").unwrap();
    let sound = values(5000);
    // Few, so that buckets are scanned, and many of one key, so that they are searched.
    let equal: Vec<u64> = (0..5000).map(|number| number << 40 | 0x12_3456_789a).collect();
    for values in [vec![7, 9], sound, equal] {
        for twice in [None, Some(values[0]), values.last().copied()] {
            let all: Vec<u64> = values.iter().copied().chain(twice).collect();
            let run = build(&plan, &[], &[&all], None);
            let copy = |(bits, length, from): (u32, usize, &[u64])| {
                let mut words = Words::zeroed(from.len());
                words.copy_from_slice(from);
                (bits, length, words)
            };
            let restored = Segment::restored(&plan, run.tables().map(copy).collect());
            assert_eq!(restored.is_some(), twice.is_none(), "{} and {twice:?}", values.len());
        }
    }
}
