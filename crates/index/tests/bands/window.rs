//! The sliding window: the rules of the Hamming index.

use crate::model::{Random, options};
use simhash_index::bands::{BandIndex, BandItem, BandOptions};
use simhash_index::{AddOptions, IndexError, OnDuplicate, Window};
use std::sync::atomic::AtomicBool;

fn windowed(max_age: Option<u64>, max_count: Option<u64>) -> BandOptions {
    let mut options = options(8, 2);
    options.window = Some(Window { max_age, max_count });
    options
}

#[test]
fn documents_leave_by_age_by_count_and_by_hand() {
    let mut random = Random(1);
    let mut signature = |family| random.signature(family, 0, 16);
    let index = BandIndex::new(&windowed(Some(100), None)).unwrap();
    for family in 0..10 {
        index.add_at(signature(family), Some(family * 20)).unwrap();
    }
    // The latest time is 180: what is older than 80 has left.
    assert_eq!((0..10).filter(|&id| index.has(id)).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
    assert_eq!(index.expire(161).unwrap(), 5);
    assert_eq!(index.len(), 1);

    let index = BandIndex::new(&windowed(None, Some(3))).unwrap();
    for family in 0..10 {
        index.add_at(signature(family), Some(5)).unwrap();
    }
    assert_eq!((0..10).filter(|&id| index.has(id)).collect::<Vec<_>>(), [7, 8, 9]);

    let plain = BandIndex::new(&options(8, 2)).unwrap();
    assert_eq!(plain.expire(1).unwrap_err(), IndexError::NoWindow);
}

#[test]
fn a_renewed_document_stays_and_one_that_left_is_no_duplicate() {
    let mut random = Random(2);
    let (a, b) = (random.signature(1, 0, 16), random.signature(2, 0, 16));
    let index = BandIndex::new(&windowed(Some(100), None)).unwrap();
    let check = |signature: &BandItem, at, on_duplicate| {
        index.check_and_add_with(signature, AddOptions { at: Some(at), on_duplicate }).unwrap()
    };
    assert_eq!(check(&a, 0, OnDuplicate::Skip).id, Some(0));
    assert_eq!(check(&b, 10, OnDuplicate::Skip).id, Some(1));
    assert_eq!(check(&a, 90, OnDuplicate::Touch).duplicate_of.unwrap().id, 0);
    assert_eq!(check(&b, 120, OnDuplicate::Skip).id, Some(2), "the first b is older than 20");
    assert_eq!(check(&a, 150, OnDuplicate::Skip).duplicate_of.unwrap().id, 0);
    assert_eq!(check(&a, 191, OnDuplicate::Skip).id, Some(3));
}

#[test]
fn memory_stays_flat_over_many_windows() {
    let index = BandIndex::new(&windowed(None, Some(5000))).unwrap();
    let mut random = Random(3);
    let (mut early, mut late) = (0, 0);
    for at in 0..200_000_u64 {
        index.add_at(random.signature(at, 100, 16), Some(at)).unwrap();
        let due = at % 997 == 0 && at >= 20_000;
        if due {
            let stats = index.stats();
            assert!(stats.live <= 5000 && stats.dead <= 4097, "{stats:?}");
            let bytes = stats.table_bytes + stats.id_bytes + stats.window_bytes;
            let most = if at < 100_000 { &mut early } else { &mut late };
            *most = bytes.max(*most);
        }
    }
    assert!(late <= early + early / 20, "{late} bytes late, {early} early");
}

#[test]
fn an_empty_batch_and_a_time_far_ahead_change_nothing() {
    let go = AtomicBool::new(false);
    let index = BandIndex::new(&windowed(Some(100), None)).unwrap();
    let mut random = Random(4);
    let (a, b) = (random.signature(1, 0, 16), random.signature(2, 0, 16));
    index.add_at(&a, Some(1000)).unwrap();
    assert_eq!(index.add_many::<BandItem>(&[], &[], &AtomicBool::new(false)).unwrap(), 1..1);
    let none: [BandItem; 0] = [];
    assert!(index.check_and_add_many(&none, &[], OnDuplicate::Skip, 1, &go).unwrap().is_empty());
    assert_eq!(index.len(), 1);
    let far = 1 << 50;
    let touch = AddOptions { at: Some(far), on_duplicate: OnDuplicate::Touch };
    let two = [a.clone(), b.clone()];
    for error in [
        index.add_at(&b, Some(far)).unwrap_err(),
        index.check_and_add_with(&a, touch).unwrap_err(),
        index.add_many(&two, &[1001, far], &AtomicBool::new(false)).unwrap_err(),
        index.check_and_add_many(&two, &[1001, far], OnDuplicate::Add, 1, &go).unwrap_err(),
    ] {
        assert!(matches!(error, IndexError::Skew { .. }), "{error}");
        assert!(error.to_string().contains("window.max_skew"), "{error}");
    }
    index.add_at(&b, Some(1100)).unwrap();
    assert_eq!(index.len(), 2);
    index.set_max_skew(None);
    index.add_at(&b, Some(far)).unwrap();
    assert_eq!(index.len(), 1);
}
