//! The window: nothing too old is matched, nothing young is lost, memory stays flat.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::sync::atomic::AtomicBool;

use common::{Model, Random};
use simhash_index::{
    AddOptions, Index, IndexError, IndexOptions, Item, Match, OnDuplicate, Outcome, SearchOptions,
    Window,
};

fn index(max_age: Option<u64>, max_count: Option<u64>) -> Index {
    let mut options = IndexOptions::default();
    options.window = Some(Window { max_age, max_count });
    Index::new(&options).unwrap()
}

/// The oracle with times.
#[derive(Default)]
struct Timed {
    model: Model,
    times: Vec<u64>,
}

impl Timed {
    fn advance(&mut self, at: u64, max_age: u64) {
        for (entry, time) in self.model.items.iter_mut().zip(&self.times) {
            entry.1 &= *time >= at.saturating_sub(max_age);
        }
    }

    fn crowd(&mut self, max_count: usize) {
        let mut alive: Vec<usize> =
            (0..self.times.len()).filter(|&id| self.model.items[id].1).collect();
        alive.sort_by_key(|&id| (self.times[id], id));
        for id in alive.into_iter().rev().skip(max_count) {
            self.model.items[id].1 = false;
        }
    }

    fn check(&mut self, item: Item, at: u64, on_duplicate: OnDuplicate) -> Outcome<Match> {
        let near = self.model.search(item, 3, 1).matches.first().copied();
        if let (Some(near), OnDuplicate::Touch) = (near, on_duplicate) {
            self.times[near.id as usize] = at;
        }
        let add = near.is_none() || on_duplicate == OnDuplicate::Add;
        let id = add.then(|| {
            self.times.push(at);
            self.model.add(item)
        });
        Outcome { id, duplicate_of: near, truncated: false }
    }
}

#[test]
fn documents_live_as_long_as_the_model_says() {
    for (seed, on_duplicate) in
        [(1, OnDuplicate::Skip), (2, OnDuplicate::Add), (3, OnDuplicate::Touch)]
    {
        let (max_age, max_count) = (500, 300);
        let index = index(Some(max_age), Some(max_count));
        let mut timed = Timed::default();
        let mut random = Random(seed);
        let mut at = 1_000_000;
        for round in 0..6000u64 {
            at += random.below(4) + if round % 1000 == 999 { 200 } else { 0 };
            let base = random.below(400).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let flips = random.below(3) as u32;
            let item = match random.below(12) {
                0 => Item::Exact(u128::from(random.below(40))),
                1 => Item::Empty,
                _ => Item::Fingerprint(random.near(base, flips)),
            };
            timed.advance(at, max_age);
            let expected = timed.check(item, at, on_duplicate);
            // Renewal order decides ties of age, which the oracle does not know: with Touch only age is compared.
            timed.crowd(max_count as usize);
            let outcome =
                index.check_and_add_with(item, AddOptions { at: Some(at), on_duplicate }).unwrap();
            assert_eq!(outcome, expected, "round {round}");
            if random.below(20) == 0 {
                let id = random.below(timed.times.len() as u64);
                assert_eq!(
                    index.delete(id).unwrap(),
                    timed.model.delete(id),
                    "round {round} id {id}"
                );
            }
            let alive = timed.model.items.iter().filter(|entry| entry.1).count();
            assert_eq!(index.len(), alive as u64, "round {round}");
        }
    }
}

#[test]
fn memory_stays_flat_over_many_windows() {
    let index = index(None, Some(20_000));
    let mut random = Random(5);
    let mut most = 0;
    // Between merges: while one runs, its old and new tables exist side by side, and how far a starved merging thread has
    // fallen behind is the scheduler's affair.
    let bytes = |index: &Index| loop {
        let stats = index.stats();
        if !stats.merging {
            break (stats.table_bytes + stats.id_bytes + stats.window_bytes) as u64;
        }
        std::thread::yield_now();
    };
    for round in 0..400_000u64 {
        index.add_at(Item::Fingerprint(random.next()), Some(round)).unwrap();
        if round >= 100_000 && round % 5000 == 0 {
            most = most.max(bytes(&index));
        }
    }
    assert_eq!(index.len(), 20_000);
    assert!(most < 20_000 * 260, "{} bytes per document", most / 20_000);
    for id in 0..380_000 {
        assert!(!index.has(id));
    }
}

#[test]
fn expire_deletes_what_is_older_and_nothing_else() {
    let index = index(None, None);
    let mut random = Random(7);
    let items: Vec<Item> = (0..5000).map(|_| Item::Fingerprint(random.next())).collect();
    for (at, &item) in (0..).zip(&items) {
        index.add_at(item, Some(at)).unwrap();
    }
    assert_eq!(index.expire(3000).unwrap(), 3000);
    assert_eq!(index.expire(3000).unwrap(), 0);
    for (id, &item) in (0..).zip(&items) {
        let found = index.search(item, SearchOptions::default()).unwrap().matches;
        let expected = if id < 3000 { vec![] } else { vec![Match { id, distance: 0 }] };
        assert_eq!(found, expected);
    }
    let plain = Index::new(&IndexOptions::default()).unwrap();
    assert_eq!(plain.expire(1).unwrap_err(), IndexError::NoWindow);
}

#[test]
fn batches_in_a_window_decide_as_one_by_one() {
    let go = AtomicBool::new(false);
    let mut random = Random(9);
    let items: Vec<Item> = (0..3000)
        .map(|_| Item::Fingerprint(random.below(900).wrapping_mul(0x1234_5678_9abc_def1)))
        .collect();
    let times: Vec<u64> = (0..3000).collect();
    let single = index(Some(400), Some(250));
    let expected: Vec<Outcome<Match>> = items
        .iter()
        .zip(&times)
        .map(|(&item, &at)| {
            let options = AddOptions { at: Some(at), on_duplicate: OnDuplicate::Touch };
            single.check_and_add_with(item, options).unwrap()
        })
        .collect();
    let batched = index(Some(400), Some(250));
    let mut outcomes = Vec::new();
    for (items, times) in items.chunks(701).zip(times.chunks(701)) {
        outcomes
            .extend(batched.check_and_add_many(items, times, OnDuplicate::Touch, 1, &go).unwrap());
    }
    assert_eq!(outcomes, expected);
    assert_eq!(batched.len(), single.len());
}

#[test]
fn the_clock_serves_where_no_time_is_given() {
    let index = index(Some(3_600_000), None);
    assert_eq!(index.check_and_add(Item::Fingerprint(1)).unwrap(), Outcome::added(0));
    assert_eq!(
        index.add_many(&[Item::Fingerprint(2), Item::Empty], &[], &AtomicBool::new(false)).unwrap(),
        1..3
    );
    assert_eq!(index.len(), 3);
    assert_eq!(index.expire(u64::MAX).unwrap(), 3);
}

#[test]
fn an_empty_batch_changes_nothing() {
    let go = AtomicBool::new(false);
    let index = index(Some(100), None);
    index.add_at(Item::Fingerprint(1), Some(1000)).unwrap();
    assert_eq!(index.add_many::<Item>(&[], &[], &AtomicBool::new(false)).unwrap(), 1..1);
    assert!(
        index.check_and_add_many::<Item>(&[], &[], OnDuplicate::Skip, 0, &go).unwrap().is_empty()
    );
    assert!(
        index.check_and_add_many::<Item>(&[], &[], OnDuplicate::Add, 1, &go).unwrap().is_empty()
    );
    // The clock would have taken the document away, and 1,001 would count as now.
    assert_eq!(index.len(), 1);
    index.add_at(Item::Fingerprint(u64::MAX), Some(1001)).unwrap();
    assert_eq!(index.len(), 2);
}

#[test]
fn a_time_far_ahead_of_the_clock_is_refused_and_nothing_has_changed() {
    let go = AtomicBool::new(false);
    let index = index(Some(1000), None);
    let (item, far) = (Item::Fingerprint(1), 1 << 50);
    assert_eq!(index.add_at(item, Some(5)).unwrap(), 0);
    let touch = AddOptions { at: Some(far), on_duplicate: OnDuplicate::Touch };
    for error in [
        index.add_at(Item::Fingerprint(u64::MAX), Some(far)).unwrap_err(),
        index.check_and_add_with(item, touch).unwrap_err(),
        index.add_many(&[item, item], &[6, far], &AtomicBool::new(false)).unwrap_err(),
        index.check_and_add_many(&[item, item], &[6, far], OnDuplicate::Add, 1, &go).unwrap_err(),
    ] {
        assert!(matches!(error, IndexError::Skew { .. }), "{error}");
        assert!(error.to_string().contains("window.max_skew"), "{error}");
    }
    assert_eq!((index.len(), index.has(0)), (1, true));
    // Time has not moved: a document of the time 1,005 is the last that leaves the first one there.
    index.add_at(Item::Fingerprint(u64::MAX), Some(1005)).unwrap();
    assert_eq!((index.len(), index.has(0)), (2, true));
    index.set_max_skew(None);
    index.add_at(item, Some(far)).unwrap();
    assert_eq!(index.len(), 1);
    // Without a window nobody looks at times.
    let plain = Index::new(&IndexOptions::default()).unwrap();
    assert_eq!(plain.add_at(item, Some(far)).unwrap(), 0);
}
