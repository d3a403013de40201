use super::*;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

/// Does every merge that is due, here and now.
fn settle(tables: &mut Tables) {
    while tables.is_due() {
        let mut job = tables.job();
        tables.begin();
        job.run(1, |number, table| tables.put_table(number, table));
        tables.commit(&job);
    }
}

#[test]
fn a_stack_is_one_run_and_a_front_of_a_bounded_share_while_it_grows() {
    let mut tables = Tables::new(Arc::new(Plan::named("k3-t4").unwrap()));
    let mut state = 1;
    for count in 1..=400_000usize {
        if tables.push(random(&mut state)) {
            settle(&mut tables);
        }
        if count % 50_000 == 0 {
            let sealed: usize = tables.segment_lens().sum();
            assert!(tables.segment_lens().count() <= 1);
            assert_eq!(sealed + tables.memtable_len(), count);
            assert!(
                tables.memtable_len() <= sealed / 8,
                "{} beside {sealed}",
                tables.memtable_len()
            );
        }
    }
}

#[test]
fn between_any_two_tables_of_a_merge_everything_is_found_once() {
    // Within the plan, by probes with flips, by scanning; the first merge of all and a later one; any threads.
    for (name, distance) in [("k3-t6", 3), ("k3-t6", 5), ("k1-t2", 16), ("k3-t11", 0)] {
        let mut tables = Tables::new(Arc::new(Plan::named(name).unwrap()));
        let mut state = 2;
        let mut values = Vec::new();
        for threads in [1, 2, 100] {
            for _ in 0..3 * LEAST + 100 {
                let value = random(&mut state);
                values.push(value);
                tables.push(value);
            }
            let all_found = |tables: &Tables| {
                let queries: Vec<u64> = values.iter().copied().step_by(97).collect();
                let mut found = vec![0; queries.len()];
                tables.find_each(&queries, distance, |query, hit| {
                    found[query] += u32::from(hit.value == queries[query]);
                });
                found.iter().all(|&count| count == 1)
            };
            assert!(tables.waiting() > 0);
            let mut job = tables.job();
            assert!(!tables.is_due(), "one merge uses a memtable at a time");
            assert!(all_found(&tables));
            tables.begin();
            let mut placed = 0;
            job.run(threads, |number, table| {
                assert_eq!(number, placed);
                placed += 1;
                tables.put_table(number, table);
                assert!(all_found(&tables), "{name}, {placed} tables in place");
            });
            assert_eq!(placed, tables.plan.prefixes().len());
            tables.commit(&job);
            assert!(all_found(&tables) && !tables.is_halfway());
            assert_eq!(tables.segment_lens().sum::<usize>() + tables.memtable_len(), values.len());
        }
    }
}

#[test]
fn who_asks_for_everything_gets_it_at_the_end_of_its_merge() {
    let mut tables = Tables::new(Arc::new(Plan::named("k3-t6").unwrap()));
    let nothing = tables.request();
    tables.answer();
    assert!(nothing.recv().unwrap().is_none());
    let mut state = 4;
    let values: Vec<u64> = (0..5000).map(|_| random(&mut state)).collect();
    tables.extend(&values);
    let early = tables.request();
    tables.push(7);
    tables.answer();
    assert!(early.try_recv().is_err() && tables.is_due());
    settle(&mut tables);
    assert_eq!(early.recv().unwrap().unwrap().len(), 5000);
    let late = tables.request();
    let gone = tables.request();
    drop(gone);
    let latest = tables.request();
    settle(&mut tables);
    assert_eq!(late.recv().unwrap().unwrap().len(), 5001);
    assert_eq!(latest.recv().unwrap().unwrap().len(), 5001);
    let again = tables.request();
    tables.answer();
    assert_eq!(again.recv().unwrap().unwrap().len(), 5001);
    assert!(!tables.is_due());
}

#[test]
fn a_merge_drops_what_it_is_told_to() {
    let mut tables = Tables::new(Arc::new(Plan::named("k3-t6").unwrap()));
    let mut state = 3;
    let values: Vec<u64> = (0..5000).map(|_| random(&mut state)).collect();
    tables.extend(&values);
    drop(tables.request());
    let mut job = tables.job().without(values.iter().copied().take(1000).collect());
    let mut dropped = job.dropped();
    tables.begin();
    job.run(1, |number, table| tables.put_table(number, table));
    tables.commit(&job);
    dropped.sort_unstable();
    let mut expected = values[..1000].to_vec();
    expected.sort_unstable();
    assert_eq!(dropped, expected);
    for (number, &value) in values.iter().enumerate() {
        let mut hits = Vec::new();
        tables.find(value, 0, &mut hits);
        assert_eq!(hits.len(), usize::from(number >= 1000));
    }
}

/// Look-ups, and fingerprints read, of random searches; a look-up counted as in the estimates.
fn counted_work(plan: &Plan, values: &[u64], distance: u32) -> f64 {
    let mut state = 5;
    let queries: Vec<u64> = (0..50).map(|_| random(&mut state)).collect();
    let Some(schedule) = plan.schedule(distance).filter(|schedule| schedule.pays(values.len()))
    else {
        return values.len() as f64;
    };
    let run = crate::hamming::segment::build(plan, &[], &[values], None);
    let mut read = 0;
    for &query in &queries {
        let wanted: Vec<Wanted> = schedule
            .lookups
            .iter()
            .map(|lookup| {
                let table = usize::from(lookup.table);
                let key = plan.prefixes()[table].key(query ^ lookup.flips);
                Wanted { key, query: 0, lookup: 0, table }
            })
            .collect();
        sweep(plan.prefixes(), &run, &wanted, |_, bucket| read += bucket.len());
    }
    schedule.lookups.len() as f64 * 64.0 + read as f64 / queries.len() as f64
}

#[test]
fn the_plan_chosen_reads_less_than_others_of_its_size() {
    let mut state = 6;
    let values: Vec<u64> = (0..100_000).map(|_| random(&mut state)).collect();
    for distance in 4..=12 {
        let auto = Plan::auto(distance, Some(values.len() as u64)).unwrap();
        let own = counted_work(&auto, &values, distance);
        for other in ["k3-t6", "k2-t3", "k3-t4"] {
            let other = Plan::named(other).unwrap();
            let others = counted_work(&other, &values, distance);
            let name = auto.name();
            assert!(own <= others, "k = {distance}: {name} {own}, {} {others}", other.name());
        }
    }
}

#[test]
fn a_plan_is_made_once_in_a_process() {
    let (one, other) = (Plan::named("k3-t6").unwrap(), Plan::named("k3-t6").unwrap());
    assert!(std::ptr::eq(one.schedule(7).unwrap(), other.schedule(7).unwrap()));
}
