//! What happens between two steps of a call, step by step.

use super::*;
use crate::ids::holders::walking;
use crate::{AddOptions, IndexError, OnDuplicate, Snapshot, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static NEVER: AtomicBool = AtomicBool::new(false);

fn index(window: Option<Window>) -> Arc<BandIndex> {
    let mut options = BandOptions::new(BandPlan::new(4, 2).unwrap());
    options.signatures = Some(Signatures { hashes: 8, threshold: 0.5 });
    options.window = window;
    Arc::new(BandIndex::new(&options).unwrap())
}

/// Signatures of one family are equal in half of their positions.
fn signature(family: u32, own: u32) -> BandItem {
    let positions = (0..8).map(|at| if at < 4 { family * 8 + at } else { !(own * 8 + at) });
    positions.collect::<Vec<u32>>().into()
}

#[test]
fn single_calls_are_done_while_a_batch_is_under_way_and_the_order_is_kept() {
    let items: Vec<BandItem> = (0..300).map(|number| signature(number % 90, number)).collect();
    let single = |index: &BandIndex, number: usize| {
        let number = number as u32;
        index.check_and_add(signature(number * 7 % 90, number + 1000)).unwrap();
        index.add(signature(number * 31 % 90, number + 2000)).unwrap();
        index.delete(u64::from(number * 13 % 200)).unwrap();
    };
    for window in [None, Some(Window { max_age: None, max_count: Some(70) })] {
        for check in [false, true] {
            let batch = |index: &BandIndex, items: &[BandItem]| -> Vec<Option<u64>> {
                if !check {
                    return index.add_many(items, &[], &NEVER).unwrap().iter().map(Some).collect();
                }
                let touch = OnDuplicate::Touch;
                let all = index.check_and_add_many(items, &[], touch, 1, &NEVER).unwrap();
                all.iter().map(|outcome| outcome.id).collect()
            };
            let (batched, singly) = (index(window), index(window));
            let (weak, count) = (Arc::downgrade(&batched), Arc::new(AtomicUsize::new(0)));
            let seen = Arc::clone(&count);
            *batched.shared.turns.between.lock() = Some(Box::new(move || {
                let Some(index) = weak.upgrade() else { return };
                single(&index, seen.fetch_add(1, Ordering::SeqCst));
            }));
            let found = batch(&batched, &items);
            assert_eq!(count.load(Ordering::SeqCst), items.len());
            let mut expected = Vec::new();
            for (number, item) in items.iter().enumerate() {
                single(&singly, number);
                expected.extend(batch(&singly, std::slice::from_ref(item)));
            }
            assert_eq!(found, expected);
            for item in &items {
                assert_eq!(
                    batched
                        .search(item, BandSearch { limit: Some(99), ..BandSearch::default() })
                        .unwrap(),
                    singly
                        .search(item, BandSearch { limit: Some(99), ..BandSearch::default() })
                        .unwrap()
                );
            }
        }
    }
}

fn saved(snapshot: Snapshot<Bands>) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot.write(&mut bytes, "", &NEVER).unwrap();
    bytes
}

#[test]
fn a_snapshot_is_the_index_at_the_call_whatever_comes_before_it_is_written() {
    let window = Some(Window { max_age: Some(5000), max_count: None });
    let filled = || {
        let index = index(window);
        for number in 0..3000 {
            // Some crowded keys, which have lists.
            let item = signature(number % 200, number);
            index.add_at(&item, Some(u64::from(number))).unwrap();
        }
        index
    };
    let index = filled();
    let expected = saved(index.snapshot());
    let changes: [fn(&BandIndex); 5] = [
        |index| assert!(index.add_at(signature(1, 9000), Some(5000)).is_ok()),
        |index| assert!(index.delete(7).unwrap()),
        |index| assert_eq!(index.expire(2500).unwrap(), 2500),
        |index| {
            let touch = AddOptions { at: Some(5000), on_duplicate: OnDuplicate::Touch };
            let outcome = index.check_and_add_with(signature(9, 9), touch).unwrap();
            assert!(outcome.duplicate_of.is_some());
        },
        |index| {
            let items: Vec<_> = (0..2000).map(|number| signature(number, number)).collect();
            assert!(index.add_many(&items, &vec![5000; items.len()], &NEVER).is_ok());
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let index = filled();
        let snapshot = index.snapshot();
        change(&index);
        assert!(saved(snapshot) == expected, "change {number}");
        assert!(saved(index.snapshot()) != expected, "change {number}");
    }
}

#[test]
fn an_index_that_is_full_takes_more_when_the_oldest_have_left() {
    let index = index(None);
    for number in 0..1024 {
        index.add(signature(number, number)).unwrap();
    }
    index.shared.state.write().kind.documents.skip((1 << 19) - 2);
    let items: Vec<BandItem> = (0..8190).map(|number| signature(number, 5000)).collect();
    let full = IndexError::Full { oldest: 0 };
    assert_eq!(index.add_many(&[&items[..], &items[..1]].concat(), &[], &NEVER), Err(full.clone()));
    let added = index.add_many(&items, &[], &NEVER).unwrap();
    assert_eq!(index.add(&items[0]), Err(full));
    for id in 0..1024 {
        assert!(index.delete(id).unwrap());
    }
    assert_eq!(index.add(&items[0]), Ok(added.first() + 8190));
}

#[test]
fn counts_and_bytes_are_told_without_looking_at_any_entry() {
    let index = index(Some(Window::default()));
    for number in 0..20_000 {
        index.add(signature(number % 700, number)).unwrap();
    }
    assert_eq!(walking::visited(|| assert_eq!(index.stats().live, 20_000)), 0);
    assert!(index.stats().crowded > 0);
    let walk = || assert!(index.shared.state.read().kind.table.is_as_walked());
    assert!(walking::visited(walk) > 4096);
}
