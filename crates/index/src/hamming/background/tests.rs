use super::*;
use crate::{Index, IndexOptions, Item, SearchOptions};

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    (*state ^ *state >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn found(index: &Index, value: u64) -> usize {
    index.search(Item::Fingerprint(value), SearchOptions::default()).unwrap().matches.len()
}

#[test]
fn a_merge_that_panics_leaves_an_exact_index_that_nobody_waits_for() {
    panics_when(|index, items| {
        for &item in items {
            index.add(item).unwrap();
        }
    });
    panics_when(|index, items| {
        assert!(index.add_many(items, &[], &AtomicBool::new(false)).is_ok());
    });
}

fn panics_when(add: impl Fn(&Index, &[Item])) {
    let index = Index::new(&IndexOptions::default()).unwrap();
    let mut state = 1;
    // The last slot of table 3 is not searched in what follows: it lies about its end.
    let plan = index.shared_plan();
    let mut next = || loop {
        let value = random(&mut state);
        let stored = crate::hamming::spread::spread(value);
        if plan.prefixes()[3].key(stored) >> (plan.prefixes()[3].bits() - 4) < 15 {
            return value;
        }
    };
    let mut values: Vec<u64> = (0..20_000).map(|_| next()).collect();
    let items: Vec<Item> = values.iter().copied().map(Item::Fingerprint).collect();
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    for id in 0..3000 {
        assert!(index.delete(id).unwrap());
    }
    index.compact();
    let mut run = index.shared.seal(&AtomicBool::new(false)).unwrap().unwrap();
    index.shared.state.write().kind.tables = crate::hamming::tables::Tables::new(Arc::clone(&plan));
    run.break_table(3);
    index.shared.state.write().kind.tables.put(run);
    assert!(!index.stats().merge_failed);
    values.extend((0..70_000).map(|_| next()));
    let items: Vec<Item> = values[20_000..].iter().copied().map(Item::Fingerprint).collect();
    add(&index, &items);
    assert!(index.stats().merge_failed);
    // Some dead, some of them revived.
    for id in 3000..30_000 {
        assert!(index.delete(id).unwrap());
    }
    for value in &values[10_000..20_000] {
        assert!(index.check_and_add(Item::Fingerprint(*value)).is_ok());
    }
    for (id, &value) in values.iter().enumerate() {
        let alive = (10_000..20_000).contains(&id) || id >= 30_000;
        assert_eq!(found(&index, value), usize::from(alive), "{id}");
    }
    let go = AtomicBool::new(false);
    assert_eq!(index.compact_until(&go), Err(IndexError::Merge));
    assert_eq!(index.save(&mut Vec::new()), Err(IndexError::Merge));
    assert!(!index.stats().merging);
}
