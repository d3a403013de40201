//! What happens between two steps of a call, step by step.

use super::*;
use crate::ids::holders::walking;
use crate::{AddOptions, Alive, OnDuplicate, Snapshot};
use proptest::prelude::*;
use simhash_store::{Fields, Input};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

static NEVER: AtomicBool = AtomicBool::new(false);
const ALL: SearchOptions = SearchOptions { max_distance: None, limit: None };

fn index(window: Option<Window>) -> Arc<Index> {
    let options = IndexOptions { window, ..IndexOptions::default() };
    Arc::new(Index::new(&options).unwrap())
}

fn value(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn item(number: u64) -> Item {
    Item::Fingerprint(value(number))
}

fn ids(index: &Index, item: Item) -> Vec<u64> {
    index.search(item, ALL).unwrap().matches.iter().map(|found| found.id).collect()
}

/// Runs `single(number)` before the item, or slice of items, of that number of every batch; how often that was.
fn between(
    index: &Arc<Index>,
    single: impl Fn(&Index, usize) + Send + 'static,
) -> Arc<AtomicUsize> {
    let (weak, count) = (Arc::downgrade(index), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&count);
    let hook = move || {
        let Some(index) = weak.upgrade() else { return };
        single(&index, seen.fetch_add(1, Ordering::SeqCst));
    };
    *index.shared.turns.between.lock() = Some(Box::new(hook));
    count
}

fn at(index: &Index, hook: impl Fn(Stage) + Send + Sync + 'static) {
    *index.shared.background.hook.lock() = Some(Hook(Arc::new(hook)));
}

type Batch = fn(&Index, &[Item]) -> Vec<Option<u64>>;

/// With and without a window, with and without looking, in slices and one by one: what comes between two items is done
/// before the batch ends, and everything is as if all had come in that order.
#[test]
fn single_calls_are_done_while_a_batch_is_under_way_and_the_order_is_kept() {
    const SLICE: usize = 512;
    const TURN: usize = 64;
    // Items repeat and are near what comes between.
    let items: Vec<Item> = (0..2500)
        .map(|number| match number % 9 {
            0 => Item::Exact(u128::from(number % 70)),
            1 => Item::Empty,
            _ => Item::Fingerprint(value(number % 900) ^ 1 << (number % 64)),
        })
        .collect();
    let single = |index: &Index, number: usize| {
        let number = number as u64;
        index.check_and_add(Item::Fingerprint(value(number * 7 % 900) ^ 6)).unwrap();
        index.add(item(number * 31 % 900)).unwrap();
        index.delete(number * 13 % 700).unwrap();
    };
    let add: Batch =
        |index, items| index.add_many(items, &[], &NEVER).unwrap().iter().map(Some).collect();
    let check: Batch = |index, items| {
        let checked = index.check_and_add_many(items, &[], OnDuplicate::Skip, 2, &NEVER).unwrap();
        checked.into_iter().map(|outcome| outcome.id).collect()
    };
    let touch: Batch = |index, items| {
        let skip = OnDuplicate::Touch;
        let outcomes = index.check_and_add_many(items, &[], skip, 1, &NEVER).unwrap();
        outcomes.into_iter().map(|outcome| outcome.id).collect()
    };
    let windows = [
        None,
        Some(Window { max_age: None, max_count: Some(600) }),
        Some(Window { max_age: Some(u64::MAX), max_count: None }),
    ];
    for (window, slice, batch, one) in [
        (windows[0], SLICE, add, add),
        (windows[1], 1, add, add),
        (windows[2], TURN, add, add),
        (windows[0], TURN, check, check),
        (windows[1], 1, check, check),
        (windows[0], TURN, touch, touch),
        (windows[1], 1, touch, touch),
    ] {
        let (batched, singly) = (index(window), index(window));
        let count = between(&batched, single);
        let found = batch(&batched, &items);
        assert_eq!(count.load(Ordering::SeqCst), items.len().div_ceil(slice));
        let mut expected = Vec::new();
        for (number, slice) in items.chunks(slice).enumerate() {
            single(&singly, number);
            expected.extend(slice.iter().flat_map(|&item| one(&singly, &[item])));
        }
        assert_eq!(found, expected);
        assert_eq!(batched.len(), singly.len());
        for &item in &items {
            assert_eq!(ids(&batched, item), ids(&singly, item));
        }
    }
}

#[test]
fn what_a_cancelled_batch_has_added_is_found_by_searches_of_many() {
    const MANY: u64 = 70_000;
    let index = index(None);
    // No merge begins, so that what follows comes before the batch is sealed.
    index.hold_merges(true);
    let cancel = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&cancel);
    at(&index, move |stage| {
        raised.fetch_or(stage == Stage::Assigned, Ordering::SeqCst);
    });
    let items: Vec<Item> = (0..MANY).map(item).collect();
    let added = index.add_many(&items, &[], &cancel);
    assert!(index.has(MANY - 1), "{added:?}");
    let near = Item::Fingerprint(value(77) ^ 2);
    let found =
        |index: &Index| -> Vec<_> { index.search_many(&[near, item(78)], ALL, 1, &NEVER).unwrap() };
    for sealed in [false, true] {
        // So many comparisons are made for each that the lock is held for fewer.
        assert!(sealed || index.shared.state.read().kind.at_once() < SLICE);
        let found = found(&index);
        assert_eq!(found[0].matches, [Match { id: 77, distance: 1 }], "sealed: {sealed}");
        assert_eq!(found[1].matches, [Match { id: 78, distance: 0 }], "sealed: {sealed}");
        index.hold_merges(false);
        index.compact();
    }
}

#[test]
fn nobody_waits_for_the_merge_of_a_batch_that_is_sealed_at_once_and_checks_see_it() {
    const MANY: u64 = 70_000;
    let index = index(None);
    index
        .add_many(&(0..3000).map(|number| item(MANY + number)).collect::<Vec<_>>(), &[], &NEVER)
        .unwrap();
    for id in 0..1000 {
        assert!(index.delete(id).unwrap());
    }
    let (weak, looked_in) = (Arc::downgrade(&index), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&looked_in);
    at(&index, move |stage| {
        let Some(index) = weak.upgrade().filter(|_| stage == Stage::Assigned) else { return };
        seen.fetch_add(1, Ordering::SeqCst);
        // In no table, and yet a duplicate.
        let near = Match { id: 3000 + 77, distance: 1 };
        let query = Item::Fingerprint(value(77) ^ 2);
        assert_eq!(index.check_and_add(query).unwrap(), Outcome::duplicate(near));
        assert_eq!(index.search(query, ALL).unwrap().matches, [near]);
        // One that leaves, one that leaves and comes again, one that was dead before and comes again.
        assert!(index.delete(3000 + 78).unwrap());
        assert!(index.delete(3000 + 79).unwrap());
        assert_eq!(index.check_and_add(item(79)).unwrap(), Outcome::added(3000 + MANY));
        assert_eq!(index.check_and_add(item(MANY + 5)).unwrap(), Outcome::added(3001 + MANY));
        assert_eq!(index.add(item(80)).unwrap(), 3002 + MANY);
    });
    let items: Vec<Item> = (0..MANY).map(item).collect();
    assert_eq!(index.add_many(&items, &[], &NEVER).unwrap(), 3000..3000 + MANY);
    assert_eq!(looked_in.load(Ordering::SeqCst), 1);
    index.compact();
    for number in 0..MANY {
        let own = 3000 + number;
        let expected = match number {
            78 => vec![],
            79 => vec![3000 + MANY],
            80 => vec![own, 3002 + MANY],
            _ => vec![own],
        };
        assert_eq!(ids(&index, item(number)), expected, "{number}");
    }
    assert_eq!(ids(&index, item(MANY + 5)), [3001 + MANY]);
    let stats = index.stats();
    assert_eq!((stats.fingerprints, stats.dead), (MANY as usize - 1 + 2001, 0));
}

#[test]
fn a_batch_that_looked_before_sees_what_has_left_and_come_since() {
    let index = index(None);
    for number in 0..100 {
        index.add(item(number)).unwrap();
    }
    let weak = Arc::downgrade(&index);
    at(&index, move |stage| {
        let Some(index) = weak.upgrade().filter(|_| stage == Stage::Looked) else { return };
        for id in [3, 4, 5] {
            assert!(index.delete(id).unwrap());
        }
        assert_eq!(index.add(Item::Fingerprint(value(4) ^ 7)).unwrap(), 100);
        assert_eq!(index.add(Item::Fingerprint(value(6) ^ 1)).unwrap(), 101);
        assert_eq!(index.add(item(500)).unwrap(), 102);
    });
    let near = |id, distance| Outcome::duplicate(Match { id, distance });
    let items = [item(3), item(4), Item::Fingerprint(value(6) ^ 3), item(500), item(3), item(7)];
    assert_eq!(
        index.check_and_add_many(&items, &[], OnDuplicate::Skip, 1, &NEVER).unwrap(),
        [Outcome::added(103), near(100, 3), near(101, 1), near(102, 0), near(103, 0), near(7, 0)]
    );
}

#[test]
fn a_batch_that_looked_while_another_was_being_sealed_finds_it() {
    let index = index(None);
    let items: Vec<Item> = (0..70_000).map(item).collect();
    let (looked, wait) = mpsc::channel();
    let (weak, wait) = (Arc::downgrade(&index), parking_lot::Mutex::new(wait));
    let (found, later) = mpsc::channel();
    at(&index, move |stage| match stage {
        Stage::Sorted | Stage::Behind => {}
        Stage::Looked => looked.send(()).unwrap(),
        Stage::Assigned => {
            let (index, found) = (weak.upgrade().unwrap(), found.clone());
            std::thread::spawn(move || {
                let near = [Item::Fingerprint(value(69_999) ^ 1)];
                found
                    .send(
                        index.check_and_add_many(&near, &[], OnDuplicate::Skip, 1, &NEVER).unwrap(),
                    )
                    .unwrap();
            });
            wait.lock().recv().unwrap();
        }
    });
    index.add_many(&items, &[], &NEVER).unwrap();
    let expected = Outcome::duplicate(Match { id: 69_999, distance: 1 });
    assert_eq!(later.recv().unwrap(), [expected]);
}

fn saved(pending: Snapshot<Hamming>) -> Vec<u8> {
    let mut bytes = Vec::new();
    pending.write(&mut bytes, "", &NEVER).unwrap();
    bytes
}

#[test]
fn a_snapshot_is_the_index_at_the_call_whatever_comes_before_it_is_written() {
    let window = Some(Window { max_age: Some(5000), max_count: None });
    let filled = || {
        let index = index(window);
        for number in 0..5000 {
            index.add_at(item(number), Some(number)).unwrap();
        }
        index.compact();
        index
    };
    // Tables may list the fingerprints of a bucket in any order.
    let but_tables = |bytes: Vec<u8>| {
        let tables = bytes.windows(4).position(|name| name == b"TABS").unwrap();
        bytes[..tables].to_vec()
    };
    let expected = but_tables(saved(filled().snapshot()));
    let changes: [fn(&Index); 5] = [
        |index| assert!(index.add_at(item(9000), Some(5000)).is_ok()),
        |index| assert!(index.delete(7).unwrap()),
        |index| assert_eq!(index.expire(100).unwrap(), 100),
        |index| {
            let touch = AddOptions { at: Some(5000), on_duplicate: OnDuplicate::Touch };
            assert!(index.check_and_add_with(item(9), touch).unwrap().duplicate_of.is_some());
        },
        |index| assert!(index.add_many(&[item(9000), item(9001)], &[5000, 9000], &NEVER).is_ok()),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let index = filled();
        let pending = index.snapshot();
        change(&index);
        let opened = Index::open(&mut saved(pending).as_slice()).unwrap();
        assert!(but_tables(saved(opened.snapshot())) == expected, "change {number}");
        for number in [7, 9, 50, 4999] {
            assert_eq!(ids(&opened, item(number)), [number]);
        }
        assert!(ids(&opened, item(9000)).is_empty());
    }
}

/// Keys and texts are copied beside: they must be of the same moment.
#[test]
fn what_is_copied_beside_a_snapshot_is_copied_with_writers_kept_out() {
    let index = index(None);
    index.add(item(0)).unwrap();
    let weak = Arc::downgrade(&index);
    let pending = index.snapshot_with(move || {
        let index = weak.upgrade().unwrap();
        assert!(index.shared.turns.is_taken());
        // Later it has moved on, and so has who is asked.
        |alive: &Alive| Fields(vec![alive.has(0).into(), alive.has(1).into()])
    });
    assert!(!index.shared.turns.is_taken());
    index.add(item(1)).unwrap();
    let bytes = saved(pending);
    let (_, mut kept) = Index::open_with(Input::new(bytes.as_slice(), None), None).unwrap();
    assert_eq!(kept.left(), [1, 0]);
}

#[test]
fn what_tables_have_too_much_is_not_in_an_opened_index() {
    let index = index(None);
    for number in 0..3000 {
        index.add(item(number)).unwrap();
    }
    index.compact();
    // No merge begins until both requests are there: they get the same tables.
    index.shared.background.worker.hold(true);
    assert!(index.delete(1).unwrap());
    let early = index.snapshot();
    index.add(item(1)).unwrap();
    index.add(item(5000)).unwrap();
    let late = index.snapshot();
    index.shared.background.worker.hold(false);
    for (pending, more) in [(early, 0), (late, 1)] {
        let opened = Index::open(&mut saved(pending).as_slice()).unwrap();
        for (number, before) in [(1, more), (5000, more), (2, 1)] {
            assert_eq!(ids(&opened, item(number)).len(), before, "{number}");
            opened.add(item(number)).unwrap();
            assert_eq!(ids(&opened, item(number)).len(), before + 1, "{number}");
        }
    }
}

#[test]
fn the_dead_that_a_merge_could_not_drop_go_with_a_later_one() {
    let index = index(None);
    index.shared.background.worker.hold(true);
    // The first 2,048 fill a memtable, the others are in the next.
    for number in 0..2050 {
        index.add(item(number)).unwrap();
    }
    for id in [0, 2049] {
        assert!(index.delete(id).unwrap());
    }
    index.shared.background.worker.hold(false);
    index.shared.start();
    while index.shared.background.worker.is_busy() || index.shared.is_due() {
        std::thread::yield_now();
    }
    let stats = index.stats();
    assert_eq!((stats.fingerprints, stats.dead, stats.memtable), (2049, 1, 2));
    index.compact();
    let stats = index.stats();
    assert_eq!((stats.fingerprints, stats.dead, stats.memtable), (2048, 0, 0));
}

#[test]
fn an_index_that_is_full_takes_more_when_the_oldest_have_left() {
    let index = index(None);
    for number in 0..10 {
        index.add(item(number)).unwrap();
    }
    // As if all ids but the first chunk's had been used and released.
    index.shared.state.write().kind.ids.skip((1 << 19) - 2);
    let next = index.next_id();
    let room = u64::from(u32::MAX) - 1 - next;
    let items: Vec<Item> = (0..room).map(|number| item(10_000 + number)).collect();
    assert_eq!(index.add_many(&items, &[], &NEVER).unwrap(), next..next + room);
    let full = IndexError::Full { oldest: 0 };
    assert_eq!(index.add(item(9000)), Err(full.clone()));
    assert_eq!(index.add_many(&[item(9000)], &[], &NEVER).unwrap_err(), full);
    // Too few for a purge of its own accord.
    assert!((0..10).all(|id| index.delete(id).unwrap()));
    // Who is in a hurry does not wait for one.
    index.hold_merges(true);
    let hurry = index.hurry();
    assert!(matches!(index.add(item(9000)), Err(IndexError::Full { .. })));
    index.hold_merges(false);
    drop(hurry);
    assert_eq!(index.add(item(9000)), Ok(next + room));
    assert_eq!(ids(&index, item(9000)), [next + room]);
}

#[test]
fn counts_and_bytes_are_told_without_looking_at_any_entry() {
    let index = index(Some(Window::default()));
    for number in 0..20_000_u64 {
        index.add(Item::Exact(u128::from(number % 7000))).unwrap();
        index.add(item(number % 7000)).unwrap();
    }
    assert_eq!(walking::visited(|| assert_eq!(index.stats().live, 40_000)), 0);
    assert!(walking::visited(|| drop(index.clusters(None, 1, &|_| (), &NEVER).unwrap())) > 7000);
}

/// A document that comes again between the moment at which a merge drops its dead fingerprint and that at which the fingerprint is
/// forgotten is found from then on, in memtable or tables.
#[test]
fn what_is_added_again_while_a_merge_drops_it_is_found() {
    const MANY: u64 = 30_000;
    let index = index(None);
    index.add_many(&(0..MANY).map(item).collect::<Vec<_>>(), &[], &NEVER).unwrap();
    index.compact();
    let revived = Arc::new(AtomicUsize::new(0));
    let (weak, count) = (Arc::downgrade(&index), Arc::clone(&revived));
    at(&index, move |stage| {
        let Some(index) = weak.upgrade().filter(|_| stage == Stage::Sorted) else { return };
        if count.fetch_add(1, Ordering::SeqCst) == 0 {
            for number in 0..100 {
                assert!(index.check_and_add(item(number)).unwrap().id.is_some());
            }
        }
    });
    for id in 0..MANY / 2 {
        assert!(index.delete(id).unwrap());
    }
    index.compact();
    assert!(revived.load(Ordering::SeqCst) > 0);
    for number in 0..MANY {
        let expected = match number {
            0..100 => vec![MANY + number],
            number if number < MANY / 2 => vec![],
            number => vec![number],
        };
        assert_eq!(ids(&index, item(number)), expected, "{number}");
    }
    index.compact();
    assert_eq!(ids(&index, item(7)), [MANY + 7]);
}

/// Runs `work` on an index whose merges are held until it waits for one; how often it has waited.
fn waits(window: Option<Window>, work: impl FnOnce(&Index)) -> usize {
    let (index, count) = (index(window), Arc::new(AtomicUsize::new(0)));
    let (weak, seen) = (Arc::downgrade(&index), Arc::clone(&count));
    at(&index, move |stage| {
        let Some(index) = weak.upgrade().filter(|_| stage == Stage::Behind) else { return };
        seen.fetch_add(1, Ordering::SeqCst);
        index.hold_merges(false);
    });
    index.hold_merges(true);
    work(&index);
    count.load(Ordering::SeqCst)
}

/// Who adds more than merges can take waits for them, and the memtables that wait stay few; so does who deletes more than they can drop.
#[test]
fn changes_wait_for_merges_that_are_behind() {
    let waiting = |index: &Index| index.shared.state.read().kind.tables.waiting();
    let added = waits(None, |index| {
        let mut most = 0;
        for number in 0..60_000 {
            index.add(item(number)).unwrap();
            most = most.max(waiting(index));
        }
        assert!(most <= crate::hamming::tables::BACKLOG + 1, "{most} memtables wait");
    });
    assert!(added > 0);
    let items: Vec<Item> = (0..60_000).map(item).collect();
    let batched = waits(None, |index| drop(index.add_many(&items, &[], &NEVER).unwrap()));
    assert!(batched > 0);
    let few = &items[..20_000];
    let deleted = waits(None, |index| {
        index.hold_merges(false);
        index.add_many(few, &[], &NEVER).unwrap();
        index.compact();
        index.hold_merges(true);
        assert!((0..20_000).all(|id| index.delete(id).unwrap()));
        assert!(index.stats().dead <= 16_384 + 1, "{} are dead", index.stats().dead);
    });
    assert!(deleted > 0);
    let expired = waits(Some(Window::default()), |index| {
        index.hold_merges(false);
        index.add_many(few, &vec![1; few.len()], &NEVER).unwrap();
        index.compact();
        index.hold_merges(true);
        assert_eq!(index.expire(2).unwrap(), 20_000);
    });
    assert!(expired > 0);
}

#[test]
fn who_is_in_a_hurry_waits_for_no_merge_and_the_index_stays_exact() {
    const MANY: u64 = 100_000;
    let index = index(None);
    at(&index, |stage| assert_ne!(stage, Stage::Behind));
    index.hold_merges(true);
    let hurry = index.hurry();
    // Enough to be sealed at once by who waits.
    let items: Vec<Item> = (0..MANY).map(item).collect();
    assert_eq!(index.add_many(&items, &[], &NEVER).unwrap(), 0..MANY);
    for number in MANY..MANY + 20_000 {
        index.add(item(number)).unwrap();
    }
    assert!((0..MANY).all(|id| index.delete(id).unwrap()));
    let again = index.check_and_add_many(&items[..70_000], &[], OnDuplicate::Skip, 2, &NEVER);
    assert!(again.unwrap().iter().all(|outcome| outcome.id.is_some()));
    let expected = |number: u64| match number {
        0..70_000 => vec![number + MANY + 20_000],
        70_000..MANY => vec![],
        _ => vec![number],
    };
    for number in (0..MANY + 20_000).step_by(331) {
        assert_eq!(ids(&index, item(number)), expected(number), "{number}");
    }
    drop(hurry);
    index.hold_merges(false);
    at(&index, |_| {});
    index.compact();
    assert_eq!(index.stats().memtable, 0);
    for number in (0..MANY + 20_000).step_by(331) {
        assert_eq!(ids(&index, item(number)), expected(number), "{number}");
    }
}

/// What no table had when it was looked for may be there when it is added: others had their turns in between.
#[test]
fn what_came_between_a_look_and_its_addition_is_not_entered_twice() {
    let index = index(None);
    between(&index, |index, number| {
        if number == 1 {
            index.add(item(7)).unwrap();
        }
    });
    let mut writer = index.batch(2, &NEVER).unwrap();
    writer.next(1).unwrap();
    assert_eq!(writer.nearest(&item(7)).unwrap(), (None, false));
    writer.next(1).unwrap();
    assert_eq!(writer.add(&item(7)).unwrap(), 1);
    drop(writer);
    assert_eq!(ids(&index, item(7)), [0, 1]);
    assert_eq!(index.stats().fingerprints, 1);
    assert_eq!(index.stats().memtable, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Several at a time, while others leave: more than may leave in one turn, and times that run backwards.
    #[test]
    fn a_batch_with_times_is_what_single_additions_are(
        steps in prop::collection::vec((1..700usize, -20..80i64), 1..12),
    ) {
        let window = Some(Window { max_age: Some(100), max_count: None });
        let (batched, singly) = (index(window), index(window));
        let (mut times, mut at) = (Vec::new(), 1000u64);
        for (count, step) in steps {
            at = at.saturating_add_signed(step);
            times.extend(std::iter::repeat_n(at, count));
        }
        let items: Vec<Item> = (0..times.len() as u64).map(|number| item(number % 2000)).collect();
        let added = batched.add_many(&items, &times, &NEVER).unwrap();
        prop_assert_eq!(added, 0..items.len() as u64);
        for (&item, &at) in items.iter().zip(&times) {
            singly.add_at(item, Some(at)).unwrap();
        }
        prop_assert_eq!(batched.len(), singly.len());
        for id in 0..items.len() as u64 {
            prop_assert_eq!(batched.has(id), singly.has(id), "{}", id);
        }
        for &item in items.iter().step_by(37) {
            prop_assert_eq!(ids(&batched, item), ids(&singly, item));
        }
    }
}
