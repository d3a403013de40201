use super::*;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

/// Does every merge that is due, here and now.
fn settle(stack: &mut Stack) {
    while stack.is_due() {
        let job = stack.job();
        let merged = job.run();
        stack.commit(&job, merged);
    }
}

#[test]
fn a_stack_is_one_run_and_a_front_of_a_bounded_share_while_it_grows() {
    let mut stack = Stack::new(Arc::new(Plan::named("k3-t4").unwrap()));
    let mut state = 1;
    for count in 1..=400_000usize {
        if stack.push(random(&mut state)) {
            settle(&mut stack);
        }
        if count % 50_000 == 0 {
            let sealed: usize = stack.run_lens().sum();
            assert!(stack.run_lens().count() <= 1);
            assert_eq!(sealed + stack.front_len(), count);
            assert!(stack.front_len() <= sealed / 8, "{} beside {sealed}", stack.front_len());
        }
    }
}

#[test]
fn inputs_of_a_merge_stay_searchable_until_it_is_committed() {
    let mut stack = Stack::new(Arc::new(Plan::named("k3-t6").unwrap()));
    let mut state = 2;
    let values: Vec<u64> = (0..3 * LEAST + 100).map(|_| random(&mut state)).collect();
    let all_found = |stack: &Stack| {
        values.iter().all(|&value| {
            let mut hits = Vec::new();
            stack.find(value, 3, &mut hits);
            hits.iter().filter(|hit| hit.value == value).count() == 1
        })
    };
    for &value in &values {
        stack.push(value);
    }
    assert_eq!(stack.waiting(), 3);
    let job = stack.job();
    assert!(!stack.is_due(), "one merge uses a front at a time");
    assert!(all_found(&stack));
    let merged = job.run();
    assert!(all_found(&stack));
    stack.commit(&job, merged);
    assert!(all_found(&stack));
    assert_eq!(stack.run_lens().collect::<Vec<_>>(), [3 * LEAST]);
    assert_eq!(stack.front_len(), 100);
}

#[test]
fn a_merge_drops_what_it_is_told_to() {
    let mut stack = Stack::new(Arc::new(Plan::named("k3-t6").unwrap()));
    let mut state = 3;
    let values: Vec<u64> = (0..5000).map(|_| random(&mut state)).collect();
    stack.extend(&values);
    let job = stack.whole_job().unwrap().without(values.iter().copied().take(1000).collect());
    let merged = job.run();
    let mut dropped = stack.commit(&job, merged);
    dropped.sort_unstable();
    let mut expected = values[..1000].to_vec();
    expected.sort_unstable();
    assert_eq!(dropped, expected);
    for (number, &value) in values.iter().enumerate() {
        let mut hits = Vec::new();
        stack.find(value, 0, &mut hits);
        assert_eq!(hits.len(), usize::from(number >= 1000));
    }
}
