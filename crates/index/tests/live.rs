//! The index under change: random operations against the model, threads against each other.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use common::{Model, Random};
use simhash_index::{
    Index, IndexOptions, Item, Match, OnDuplicate, Outcome, Plan, PlanChoice, SearchOptions, plan,
};

fn index(plan: &str, distance: u32) -> Index {
    let mut options = IndexOptions::default();
    options.max_distance = distance;
    options.plan = PlanChoice::Named(plan.to_owned());
    Index::new(&options).unwrap()
}

fn within(distance: u32) -> SearchOptions {
    SearchOptions { max_distance: Some(distance), limit: None }
}

fn item(random: &mut Random, spread: u64, flips: u64) -> Item {
    let base = random.below(spread).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let flips = random.below(flips + 1) as u32;
    match random.below(20) {
        0 => Item::Exact(u128::from(random.below(50))),
        1 => Item::Empty,
        2 => Item::Fingerprint([0, u64::MAX][random.below(2) as usize]),
        _ => Item::Fingerprint(random.near(base, flips)),
    }
}

/// Additions, checks, deletions, batches, compactions and searches in random order, for every plan of the catalog.
#[test]
fn random_operations_agree_with_the_model_for_every_plan() {
    let go = AtomicBool::new(false);
    let classic = ["k3-classic", "k7-classic", "k16-classic"];
    for (number, name) in (0..).zip(plan::names().chain(classic)) {
        let radius = Plan::named(name).unwrap().radius();
        let index = index(name, radius);
        let mut model = Model::default();
        let mut random = Random(number);
        for _ in 0..40 {
            match random.below(10) {
                0..3 => {
                    let items: Vec<Item> =
                        (0..random.below(500)).map(|_| item(&mut random, 700, 6)).collect();
                    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
                    for item in items {
                        model.add(item);
                    }
                }
                3 => {
                    let items: Vec<Item> =
                        (0..random.below(40)).map(|_| item(&mut random, 900, 12)).collect();
                    let expected: Vec<Outcome<Match>> =
                        items.iter().map(|&item| model.check_and_add(item, radius)).collect();
                    assert_eq!(
                        index.check_and_add_many(&items, &[], OnDuplicate::Skip, 0, &go).unwrap(),
                        expected
                    );
                }
                4 => {
                    let item = item(&mut random, 2000, 12);
                    assert_eq!(
                        index.check_and_add(item).unwrap(),
                        model.check_and_add(item, radius),
                        "{name}"
                    );
                }
                5 => {
                    for _ in 0..random.below(300) {
                        let id = random.below(model.items.len() as u64 + 1);
                        assert_eq!(index.delete(id).unwrap(), model.delete(id));
                    }
                }
                6 => index.compact(),
                _ => {
                    let item = item(&mut random, 700, 6);
                    let beyond = u32::from(number % 5 == 0);
                    let reach = (radius + beyond).min(simhash_index::MAX_DISTANCE);
                    let distance = random.below(u64::from(reach) + 1) as u32;
                    assert_eq!(
                        index.search(item, within(distance)).unwrap(),
                        model.search(item, distance, usize::MAX),
                        "{name} k = {distance}"
                    );
                }
            }
        }
        let alive = model.items.iter().filter(|entry| entry.1).count();
        assert_eq!(index.len(), alive as u64, "{name}");
    }
}

/// Enough documents that runs are merged and purged in the background while the model watches.
#[test]
fn merges_and_purges_in_the_background_change_no_answer() {
    let index = index("k3-t6", 3);
    let mut random = Random(77);
    let mut alive: Vec<(u64, u64)> = Vec::new();
    for round in 0..300_000u64 {
        let value = random.next();
        alive.push((index.add(Item::Fingerprint(value)).unwrap(), value));
        if round % 10 < 8 {
            let at = random.below(alive.len() as u64) as usize;
            let (id, gone) = alive.swap_remove(at);
            assert!(index.delete(id).unwrap());
            if round % 5 == 0 {
                // Revived, often while a purge is dropping it.
                alive.push((index.add(Item::Fingerprint(gone)).unwrap(), gone));
            }
        }
        if round % 1000 == 0 {
            for _ in 0..20 {
                let (id, value) = alive[random.below(alive.len() as u64) as usize];
                let query = Item::Fingerprint(random.near(value, 3));
                let found = index.search(query, within(3)).unwrap().matches;
                assert!(found.iter().any(|found| found.id == id));
                assert!(found.iter().all(|found| index.has(found.id)));
            }
        }
    }
    assert_eq!(index.len(), alive.len() as u64);
    index.compact();
    let stats = index.stats();
    assert_eq!((stats.fingerprints, stats.dead, stats.memtable), (alive.len(), 0, 0));
    assert_eq!(stats.segments, [alive.len()]);
    for &(id, value) in alive.iter().step_by(37) {
        let found = index.search(Item::Fingerprint(value), within(0)).unwrap().matches;
        assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [id]);
    }
}

#[test]
fn of_two_near_fingerprints_at_once_exactly_one_is_kept() {
    const ROUNDS: usize = 100_000;
    let index = index("k3-t6", 3);
    let round = AtomicUsize::new(0);
    let kept: Vec<AtomicU64> = (0..ROUNDS).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for own in 0..2usize {
            let (index, round, kept) = (&index, &round, &kept);
            scope.spawn(move || {
                let mut random = Random(123);
                for (number, kept) in kept.iter().enumerate() {
                    // Both begin a round together: the second to arrive opens it.
                    let arrived = round.fetch_add(1, Ordering::SeqCst);
                    while arrived % 2 == 0 && round.load(Ordering::SeqCst) < 2 * (number + 1) {
                        thread::yield_now();
                    }
                    let value = random.next() ^ (own as u64) << (number % 64);
                    if index.check_and_add(Item::Fingerprint(value)).unwrap().id.is_some() {
                        kept.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert!(kept.iter().all(|kept| kept.load(Ordering::SeqCst) == 1));
    assert_eq!(index.len(), ROUNDS as u64);
}

#[test]
fn many_threads_leave_a_sound_index() {
    let index = index("k3-t6", 3);
    let planted: Vec<u64> = {
        let mut random = Random(1);
        (0..200).map(|_| random.next()).collect()
    };
    for &value in &planted {
        index.add(Item::Fingerprint(value)).unwrap();
    }
    let done = AtomicUsize::new(0);
    let go = AtomicBool::new(false);
    let deleted = AtomicU64::new(0);
    thread::scope(|scope| {
        for number in 0..4u64 {
            let (index, done, go, deleted) = (&index, &done, &go, &deleted);
            scope.spawn(move || {
                let mut random = Random(100 + number);
                for _ in 0..400 {
                    let items: Vec<Item> =
                        (0..50).map(|_| Item::Fingerprint(random.next())).collect();
                    match random.below(3) {
                        0 => drop(index.add_many(&items, &[], &AtomicBool::new(false)).unwrap()),
                        1 => drop(
                            index
                                .check_and_add_many(&items, &[], OnDuplicate::Skip, 2, go)
                                .unwrap(),
                        ),
                        _ => {
                            for item in items {
                                index.check_and_add(item).unwrap();
                            }
                        }
                    }
                    for _ in 0..10 {
                        let id = 200 + random.below(20_000);
                        deleted.fetch_add(u64::from(index.delete(id).unwrap()), Ordering::SeqCst);
                    }
                }
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        for number in 0..3u64 {
            let (index, done, planted) = (&index, &done, &planted);
            scope.spawn(move || {
                let mut random = Random(200 + number);
                while done.load(Ordering::SeqCst) < 4 {
                    let id = random.below(200);
                    let query = Item::Fingerprint(random.near(planted[id as usize], 3));
                    let found = index.search(query, within(3)).unwrap().matches;
                    assert!(found.iter().any(|found| found.id == id && found.distance == 3));
                }
            });
        }
    });
    assert_eq!(index.len(), 200 + 80_000 - deleted.load(Ordering::SeqCst));
}

/// The dead may all lie in a front that is not full.
#[test]
fn an_index_of_which_everything_is_deleted_is_empty() {
    let index = index("k2-t3", 2);
    let mut random = Random(3);
    let items: Vec<Item> = (0..400_000).map(|_| Item::Fingerprint(random.next())).collect();
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    for id in 0..400_000 {
        assert!(index.delete(id).unwrap());
    }
    assert!(index.is_empty());
    for &item in items.iter().step_by(997) {
        assert!(index.search(item, within(2)).unwrap().matches.is_empty());
    }
    index.compact();
    let stats = index.stats();
    assert_eq!((stats.fingerprints, stats.dead, stats.memtable), (0, 0, 0));
    assert!(stats.segments.is_empty());
    assert_eq!(index.add(items[0]).unwrap(), 400_000);
    assert_eq!(index.search(items[0], within(2)).unwrap().matches.len(), 1);
}

/// Several ask for one run at once, all the time, while documents come, go and come again.
#[test]
fn between_any_two_steps_of_compactions_what_lives_is_found_once() {
    let index = index("k3-t6", 3);
    let mut random = Random(9);
    let kept: Vec<u64> = (0..2000).map(|_| random.next()).collect();
    let fleeting: Vec<u64> = (0..3000).map(|_| random.next()).collect();
    for &value in &kept {
        index.add(Item::Fingerprint(value)).unwrap();
    }
    let stop = AtomicBool::new(false);
    let (index, stop, kept, fleeting) = (&index, &stop, &kept, &fleeting);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    index.compact();
                }
            });
        }
        for (seed, distance) in [(1, 3), (2, 5)] {
            scope.spawn(move || {
                let mut random = Random(seed);
                while !stop.load(Ordering::SeqCst) {
                    let id = random.below(2000);
                    let query = Item::Fingerprint(random.near(kept[id as usize], distance));
                    let found = index.search(query, within(distance)).unwrap().matches;
                    assert_eq!(found.iter().filter(|found| found.id == id).count(), 1);
                    let value = fleeting[random.below(3000) as usize];
                    let found = index.search(Item::Fingerprint(value), within(0)).unwrap();
                    assert!(found.matches.len() <= 1);
                }
            });
        }
        let mut random = Random(4);
        let mut holder: Vec<Option<u64>> = vec![None; fleeting.len()];
        for _ in 0..30_000 {
            let at = random.below(3000) as usize;
            let item = Item::Fingerprint(fleeting[at]);
            holder[at] = match holder[at] {
                None => {
                    let Some(id) = index.check_and_add(item).unwrap().id else {
                        panic!("{at} was gone");
                    };
                    Some(id)
                }
                Some(id) => {
                    let found = index.search(item, within(0)).unwrap().matches;
                    assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [id]);
                    assert!(index.delete(id).unwrap());
                    None
                }
            };
        }
        stop.store(true, Ordering::SeqCst);
        index.compact();
        let live = holder.iter().flatten().count() + kept.len();
        let stats = index.stats();
        assert_eq!((stats.fingerprints, stats.memtable, stats.segments), (live, 0, vec![live]));
    });
}

/// Copies within the batch, copies of what is there, some of it dead, texts and empty documents.
#[test]
fn a_batch_sealed_at_once_leaves_what_its_items_one_by_one_leave() {
    let mut random = Random(21);
    let first: Vec<Item> = (0..3000).map(|_| item(&mut random, 2000, 2)).collect();
    let batch: Vec<Item> = (0..90_000).map(|_| item(&mut random, 60_000, 2)).collect();
    let saved = |index: &Index| {
        let mut bytes = Vec::new();
        index.save(&mut bytes).unwrap();
        bytes
    };
    for deleted in [0, 2000] {
        let (batched, single) = (index("k3-t6", 3), index("k3-t6", 3));
        for index in [&batched, &single] {
            index.add_many(&first, &[], &AtomicBool::new(false)).unwrap();
            for id in 0..deleted {
                assert!(index.delete(id).unwrap());
            }
        }
        assert_eq!(batched.add_many(&batch, &[], &AtomicBool::new(false)).unwrap(), 3000..93_000);
        assert_eq!(batched.stats().memtable, 0);
        for (id, &item) in (3000..).zip(&batch) {
            assert_eq!(single.add(item).unwrap(), id);
        }
        for &item in first.iter().chain(&batch).step_by(131) {
            let found = batched.search(item, within(3)).unwrap();
            assert_eq!(found, single.search(item, within(3)).unwrap());
        }
        // The same bytes, whatever the merges on the way.
        assert!(deleted > 0 || saved(&batched) == saved(&single));
    }
}

#[test]
fn what_a_batch_under_way_holds_is_a_duplicate_for_who_comes_later() {
    let go = AtomicBool::new(false);
    for round in 0..3 {
        let index = index("k3-t6", 3);
        let mut random = Random(round);
        let values: Vec<u64> = (0..100_000).map(|_| random.next()).collect();
        let items: Vec<Item> = values.iter().copied().map(Item::Fingerprint).collect();
        thread::scope(|scope| {
            let adding =
                scope.spawn(|| index.add_many(&items, &[], &AtomicBool::new(false)).unwrap());
            let mut checked = Vec::new();
            for (number, &value) in values.iter().enumerate().rev().step_by(701) {
                let near = Item::Fingerprint(random.near(value, 3));
                checked.push((
                    number,
                    index.check_and_add_many(&[near], &[], OnDuplicate::Skip, 0, &go).unwrap()[0],
                ));
            }
            let ids = adding.join().unwrap();
            for (number, checked) in checked {
                let batched = ids.first() + number as u64;
                match (checked.id, checked.duplicate_of) {
                    (Some(id), _) => assert!(id < batched, "{id} beside {batched}"),
                    (None, found) => assert_eq!(found.unwrap().id, batched),
                }
            }
        });
    }
}

/// A look tells a writer that nobody has a fingerprint. That holds for one addition, and until somebody else has had a turn.
#[test]
fn what_a_look_has_told_a_writer_holds_for_one_addition_and_one_turn() {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let index = index("k3-t6", 3);
    let [one, other] = [7, u64::MAX / 3].map(Item::Fingerprint);
    let check = |item: Item, ids: &[u64]| {
        let found = index.search(item, within(0)).unwrap().matches;
        assert!(found.iter().map(|found| found.id).eq(ids.iter().copied()), "{found:?}");
    };
    let mut writer = index.writer().unwrap();
    assert_eq!(writer.nearest(&one).unwrap().0, None);
    let ids = [0; 3].map(|_| writer.add(&one).unwrap());
    writer.keep().unwrap();
    drop(writer);
    check(one, &ids);
    let mut batch = index.batch(2, &NEVER).unwrap();
    batch.next(1).unwrap();
    assert_eq!(batch.nearest(&other).unwrap().0, None);
    let between = thread::scope(|scope| {
        let single = scope.spawn(|| index.add(other).unwrap());
        while !single.is_finished() {
            batch.next(0).unwrap();
            thread::yield_now();
        }
        single.join().unwrap()
    });
    let own = batch.add(&other).unwrap();
    batch.keep().unwrap();
    drop(batch);
    check(other, &[between, own]);
    // Each of them is a document of its own.
    for (item, ids) in [(one, &ids[..]), (other, &[between, own][..])] {
        for gone in 0..ids.len() {
            assert!(index.delete(ids[gone]).unwrap());
            check(item, &ids[gone + 1..]);
        }
    }
    assert!(index.is_empty());
}
