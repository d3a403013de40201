//! What comes between two steps of a call, step by step, for every kind.

use super::*;
use crate::bands::{BandIndex, BandItem, BandOptions, BandPlan, Bands};
use crate::durable::testing::opened;
use crate::exact::{Equal, ExactIndex, ExactOptions, Text};
use crate::sentences::{SentenceIndex, SentenceItem, SentenceMap, SentenceOptions};
use crate::{Hamming, Index, IndexOptions, Item, SearchOptions};
use parking_lot::Mutex;
use simhash_store::Input;
use std::sync::atomic::{AtomicBool, AtomicUsize};

static NEVER: AtomicBool = AtomicBool::new(false);

/// A kind with items of which each has a neighbour of its own.
trait Steered: Whole<Item: Sized + AsRef<Self::Item>> {
    fn index(window: Option<Window>) -> Arc<Live<Self>>;

    /// Nobody is near another.
    fn item(number: u64) -> Self::Item;

    /// Near the item of this number, not necessarily equal.
    fn neighbour(number: u64) -> Self::Item;

    fn found(index: &Live<Self>, item: &Self::Item) -> Vec<u64> {
        let found = index.search(item, Self::Search::default()).unwrap().matches;
        found.iter().map(<Self as Kind>::id_of).collect()
    }
}

fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Steered for Hamming {
    fn index(window: Option<Window>) -> Arc<Index> {
        Arc::new(Index::new(&IndexOptions { window, ..IndexOptions::default() }).unwrap())
    }

    fn item(number: u64) -> Item {
        Item::Fingerprint(mixed(number))
    }

    fn neighbour(number: u64) -> Item {
        Item::Fingerprint(mixed(number) ^ 1)
    }
}

impl Steered for Bands {
    fn index(window: Option<Window>) -> Arc<BandIndex> {
        let mut options = BandOptions::new(BandPlan::new(4, 2).unwrap());
        options.window = window;
        Arc::new(BandIndex::new(&options).unwrap())
    }

    fn item(number: u64) -> BandItem {
        (0..8).map(|at| number as u32 * 8 + at).collect::<Vec<u32>>().into()
    }

    fn neighbour(number: u64) -> BandItem {
        let position =
            |at: u32| if at < 4 { number as u32 * 8 + at } else { !(number as u32 * 8 + at) };
        (0..8).map(position).collect::<Vec<u32>>().into()
    }
}

impl Steered for SentenceMap {
    fn index(window: Option<Window>) -> Arc<SentenceIndex> {
        let options = SentenceOptions { window, ..SentenceOptions::default() };
        Arc::new(SentenceIndex::new(&options).unwrap())
    }

    fn item(number: u64) -> SentenceItem {
        SentenceItem::Sentences(vec![number * 2, number * 2 + 1])
    }

    fn neighbour(number: u64) -> SentenceItem {
        SentenceItem::Sentences(vec![number * 2, !number])
    }
}

impl Steered for Equal {
    fn index(window: Option<Window>) -> Arc<ExactIndex> {
        Arc::new(ExactIndex::new(&ExactOptions { window }).unwrap())
    }

    fn item(number: u64) -> Text {
        Text::Hash(mixed(number).into())
    }

    fn neighbour(number: u64) -> Text {
        Self::item(number)
    }
}

/// The same test for every kind.
macro_rules! every_kind {
    ($($(#[$about:meta])* $name:ident;)*) => {$(
        $(#[$about])*
        #[test]
        fn $name() {
            each_kind::$name::<Hamming>();
            each_kind::$name::<Bands>();
            each_kind::$name::<SentenceMap>();
            each_kind::$name::<Equal>();
        }
    )*};
}

/// Runs `step(number)` wherever a call gives way: before the items of a batch, between the slices of what leaves.
fn between<K: Kind>(index: &Arc<Live<K>>, step: impl Fn(&Live<K>, usize) + Send + 'static) {
    let (weak, count) = (Arc::downgrade(index), AtomicUsize::new(0));
    let hook = move || {
        let Some(index) = weak.upgrade() else { return };
        step(&index, count.fetch_add(1, Ordering::SeqCst));
    };
    *index.shared.turns.between.lock() = Some(Box::new(hook));
}

/// A window that takes nothing away and always might: batches go item by item.
const OPEN: Option<Window> = Some(Window { max_age: None, max_count: Some(1 << 20) });

/// A window out of which nothing leaves: batches go as many items at a time as the kind takes.
const LASTING: Option<Window> = Some(Window { max_age: Some(u64::MAX), max_count: None });

const AGED: Option<Window> = Some(Window { max_age: Some(1000), max_count: None });

every_kind! {
    a_batch_that_is_cancelled_on_its_way_says_how_far_it_came;
    single_calls_between_the_items_of_a_batch_see_it_and_are_seen;
    a_neighbour_that_left_before_the_item_came_is_none;
    a_neighbour_that_a_later_time_took_away_is_none;
    a_snapshot_between_two_items_has_those_before;
    a_snapshot_has_all_of_a_batch_up_to_a_position_or_nothing;
    others_have_their_turns_while_a_window_is_emptied;
    others_have_their_turns_while_documents_expire;
    what_leaves_between_two_slices_is_counted_once;
}

mod each_kind {
    use super::*;

    pub(super) fn a_batch_that_is_cancelled_on_its_way_says_how_far_it_came<K: Steered>() {
        let items: Vec<K::Item> = (0..2000).map(K::item).collect();
        let windows = [None, OPEN, LASTING].into_iter();
        for (window, checks) in windows.flat_map(|window| [(window, false), (window, true)]) {
            let run = |index: &Live<K>, flag: &AtomicBool| {
                if checks {
                    let skip = OnDuplicate::Skip;
                    return index.check_and_add_many(&items, &[], skip, 1, flag).map(drop);
                }
                index.add_many(&items, &[], flag).map(drop)
            };
            let index = K::index(window);
            assert_eq!(run(&index, &AtomicBool::new(true)), Err(IndexError::Cancelled));
            assert!(index.is_empty());
            let flag = Arc::new(AtomicBool::new(false));
            let raised = Arc::clone(&flag);
            between(&index, move |_, number| raised.store(number == 2, Ordering::SeqCst));
            let Err(IndexError::CancelledAfter { items: done }) = run(&index, &flag) else {
                panic!("it was not cancelled")
            };
            assert!(done > 0 && done < 2000 && index.len() == done, "{done} of {}", index.len());
            *index.shared.turns.between.lock() = None;
            // Nothing is in the way of those that come later.
            assert_eq!(index.add(K::item(5000)).unwrap(), done);
            run(&index, &NEVER).unwrap();
            for number in [0, done - 1, done, 1999] {
                assert!(!K::found(&index, &K::neighbour(number)).is_empty());
            }
        }
    }

    pub(super) fn single_calls_between_the_items_of_a_batch_see_it_and_are_seen<K: Steered>() {
        let index = K::index(OPEN);
        between(&index, |index, number| {
            let number = number as u64;
            // An item of the batch that has come, then one that is to come.
            if let Some(before) = number.checked_sub(1) {
                let found = index.check_and_add(K::neighbour(before)).unwrap();
                assert!(found.id.is_none() && found.duplicate_of.is_some(), "{before}");
            }
            if number.is_multiple_of(3) {
                assert!(index.check_and_add(K::neighbour(number + 1)).unwrap().id.is_some());
            }
        });
        let items: Vec<K::Item> = (0..100).map(K::item).collect();
        let all = index.check_and_add_many(&items, &[], OnDuplicate::Skip, 1, &NEVER).unwrap();
        for (number, outcome) in all.iter().enumerate() {
            assert_eq!(outcome.id.is_none(), number % 3 == 1, "{number}");
        }
    }

    pub(super) fn a_neighbour_that_left_before_the_item_came_is_none<K: Steered>() {
        let index = K::index(OPEN);
        for number in 0..100 {
            index.add(K::item(number)).unwrap();
        }
        between(&index, |index, number| {
            if number % 2 == 1 {
                assert!(index.delete(number as u64).unwrap());
            }
        });
        let items: Vec<K::Item> = (0..100).map(K::neighbour).collect();
        let all = index.check_and_add_many(&items, &[], OnDuplicate::Skip, 1, &NEVER).unwrap();
        for (number, outcome) in (0..).zip(&all) {
            let found = outcome.duplicate_of.as_ref().map(K::id_of);
            assert_eq!(found, (number % 2 == 0).then_some(number));
            assert_eq!(outcome.id.is_some(), number % 2 == 1);
        }
    }

    pub(super) fn a_neighbour_that_a_later_time_took_away_is_none<K: Steered>() {
        let index = K::index(AGED);
        for number in 0..100 {
            index.add_at(K::item(number), Some(1)).unwrap();
        }
        between(&index, |index, number| {
            if number == 50 {
                index.add_at(K::item(9000), Some(100_000)).unwrap();
            }
        });
        let (items, times): (Vec<K::Item>, _) =
            ((0..100).map(K::neighbour).collect(), vec![5; 100]);
        let skip = OnDuplicate::Skip;
        let all = index.check_and_add_many(&items, &times, skip, 1, &NEVER).unwrap();
        for (number, outcome) in all.iter().enumerate() {
            assert_eq!(outcome.id.is_some(), number >= 50, "{number}");
        }
        assert_eq!(index.len(), 51);
    }

    pub(super) fn a_snapshot_between_two_items_has_those_before<K: Steered>() {
        let index = K::index(OPEN);
        let asked = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&asked);
        between(&index, move |index, number| {
            if number == 70 {
                assert!(index.delete(3).unwrap());
                let beside = || {
                    |alive: &crate::Alive| {
                        simhash_store::Fields((0..200).map(|id| alive.has(id).into()).collect())
                    }
                };
                *slot.lock() = Some(index.snapshot_with(beside));
            }
            if number == 90 {
                assert!(index.delete(5).unwrap());
            }
        });
        let items: Vec<K::Item> = (0..100).map(K::item).collect();
        index.add_many(&items, &[], &NEVER).unwrap();
        let (mut bytes, pending) = (Vec::new(), asked.lock().take().unwrap());
        pending.write(&mut bytes, "", &NEVER).unwrap();
        let input = Input::new(bytes.as_slice(), None);
        let (opened, mut kept) = Live::<K>::open_with(input, None).unwrap();
        let expected = |id: u64| id < 70 && id != 3;
        assert_eq!((opened.len(), opened.next_id()), (69, 70));
        for id in 0..100 {
            assert_eq!(opened.has(id), expected(id));
            assert_eq!(
                K::found(&opened, &K::neighbour(id)).len(),
                usize::from(expected(id)),
                "{id}"
            );
        }
        let alive: Vec<u8> = (0..200).map(|id| expected(id).into()).collect();
        assert_eq!(kept.left(), alive);
    }

    /// Whether the snapshot is asked for and written by the batch's own thread afterwards, or by another one meanwhile.
    pub(super) fn a_snapshot_has_all_of_a_batch_up_to_a_position_or_nothing<K: Steered>() {
        for meanwhile in [false, true] {
            let index = K::index(OPEN);
            let taken = Arc::new(Mutex::new(Vec::new()));
            let slot = Arc::clone(&taken);
            between(&index, move |index, number| {
                if number != 0 && number != 70 {
                    return;
                }
                let snapshot = index.snapshot();
                let write = move || {
                    let mut bytes = Vec::new();
                    snapshot.write(&mut bytes, "", &NEVER).unwrap();
                    bytes
                };
                let written: Box<dyn FnOnce() -> Vec<u8> + Send> = if meanwhile {
                    let writing = std::thread::spawn(write);
                    Box::new(move || writing.join().unwrap())
                } else {
                    Box::new(write)
                };
                slot.lock().push(written);
            });
            let mut writer = index.batch(100, &NEVER).unwrap();
            writer.hold();
            for number in 0..100 {
                writer.next(1).unwrap();
                writer.add(&K::item(number)).unwrap();
                // A single change beside the batch neither waits for it nor has the copy made.
                if number == 80 {
                    writer.unlocked(|_| assert!(index.delete(3).unwrap()));
                }
            }
            writer.position(7).unwrap();
            writer.keep().unwrap();
            drop(writer);
            index.add(K::item(200)).unwrap();
            for written in std::mem::take(&mut *taken.lock()) {
                let bytes = written();
                let input = Input::new(bytes.as_slice(), None);
                let (opened, _) = Live::<K>::open_with(input, None).unwrap();
                // One that was asked for before the first item waits too: the batch has begun.
                assert_eq!((opened.next_id(), opened.len()), (100, 99));
            }
        }
    }

    /// Three thousand documents of the first moment.
    fn filled<K: Steered>() -> Arc<Live<K>> {
        let index = K::index(AGED);
        let items: Vec<K::Item> = (0..3000).map(K::item).collect();
        index.add_many(&items, &vec![1; items.len()], &NEVER).unwrap();
        index
    }

    pub(super) fn others_have_their_turns_while_a_window_is_emptied<K: Steered>() {
        let index = filled::<K>();
        let turns = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&turns);
        between(&index, move |index, number| {
            seen.fetch_add(1, Ordering::SeqCst);
            assert_eq!(index.len(), 3000 - (number as u64 + 1) * 512 + number as u64);
            // Who has not left is there, time has not gone on, and what comes now has to leave too.
            let near = index.check_and_add_with(
                K::neighbour(2900),
                AddOptions { at: Some(2), ..AddOptions::default() },
            );
            assert_eq!(near.unwrap().duplicate_of.as_ref().map(K::id_of), Some(2900));
            index.add_at(K::item(5000 + number as u64), Some(2)).unwrap();
        });
        index.add_at(K::item(9000), Some(100_000)).unwrap();
        assert_eq!(turns.load(Ordering::SeqCst), 5);
        assert_eq!(index.len(), 1);
        assert_eq!(K::found(&index, &K::neighbour(9000)).len(), 1);
        // Time does not run backwards: an old document comes at the latest time.
        *index.shared.turns.between.lock() = None;
        index.add_at(K::item(9001), Some(3)).unwrap();
        assert_eq!(index.len(), 2);
    }

    pub(super) fn others_have_their_turns_while_documents_expire<K: Steered>() {
        let index = filled::<K>();
        let turns = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&turns);
        between(&index, move |index, number| {
            seen.fetch_add(1, Ordering::SeqCst);
            // Who searches waits for a slice at most, as who adds does.
            assert_eq!(index.len(), 3000 - (number as u64 + 1) * 512 + number as u64);
            assert_eq!(K::found(index, &K::neighbour(2900)), [2900]);
            index.add_at(K::item(5000 + number as u64), Some(500)).unwrap();
        });
        assert_eq!(index.expire(100).unwrap(), 3000);
        assert_eq!(turns.load(Ordering::SeqCst), 5);
        assert_eq!(index.len(), 5);
    }

    pub(super) fn what_leaves_between_two_slices_is_counted_once<K: Steered>() {
        let index = filled::<K>();
        between(&index, |index, number| {
            if number == 0 {
                assert!((2000..2500).all(|id| index.delete(id).unwrap()));
                // Younger than what leaves, from now on.
                let touch = AddOptions { at: Some(700), on_duplicate: OnDuplicate::Touch };
                assert!(index.check_and_add_with(K::neighbour(2999), touch).unwrap().id.is_none());
            }
        });
        assert_eq!(index.expire(100).unwrap(), 2499);
        assert_eq!(K::found(&index, &K::neighbour(2999)), [2999]);
        assert_eq!(index.len(), 1);
    }
}

/// The changes of a log are those that were made, in their order, whatever came between two slices.
#[test]
fn a_log_has_what_came_between_the_slices_of_a_window_that_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let options = SentenceOptions { window: AGED, ..SentenceOptions::default() };
    let open = || opened(&path, || SentenceIndex::new(&options).unwrap());
    let (index, kept) = open();
    let index = Arc::new(index);
    let items: Vec<SentenceItem> = (0..2000).map(SentenceMap::item).collect();
    index.add_many(&items, &vec![1; items.len()], &NEVER).unwrap();
    between(&index, |index, number| {
        // It joins the group of a document that leaves with the next slices.
        let id = index.add_at(SentenceMap::neighbour(1900 + number as u64), Some(900)).unwrap();
        assert_eq!(index.group(id), Some(1900 + number as u64));
    });
    index.add_at(SentenceMap::item(9000), Some(1800)).unwrap();
    *index.shared.turns.between.lock() = None;
    let groups = |index: &SentenceIndex| -> Vec<Option<u64>> {
        (0..index.next_id()).map(|id| index.group(id).filter(|_| index.has(id))).collect()
    };
    let before = (index.len(), groups(&index));
    assert_eq!(before.0, 4);
    kept.close().unwrap();
    let (index, _kept) = open();
    assert_eq!((index.len(), groups(&index)), before);
}

#[test]
fn a_batch_that_is_sealed_at_once_does_not_keep_who_cancels_it_waiting() {
    let index = Hamming::index(None);
    let items: Vec<Item> = (0..70_000).map(Hamming::item).collect();
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // No merge begins: who waited for one would wait for ever.
    index.hold_merges(true);
    between(&index, move |_, number| raised.store(number == 20, Ordering::SeqCst));
    let Err(IndexError::CancelledAfter { items: done }) = index.add_many(&items, &[], &flag) else {
        panic!("it was not cancelled")
    };
    *index.shared.turns.between.lock() = None;
    assert_eq!(index.len(), done);
    // What is in no table yet is found, by one and by many.
    let near: Vec<Item> = (0..done).step_by(997).map(Hamming::neighbour).collect();
    let single = SearchOptions { limit: Some(1), ..SearchOptions::default() };
    for (number, &item) in (0..).step_by(997).zip(&near) {
        assert_eq!(Hamming::found(&index, &item), [number]);
        assert_eq!(index.search(item, single).unwrap().matches.len(), 1);
    }
    // The next batch does not wait for it either.
    let more: Vec<Item> = (100_000..170_000).map(Hamming::item).collect();
    index.hold_merges(false);
    let checked = index.check_and_add_many(&near, &[], OnDuplicate::Skip, 1, &NEVER).unwrap();
    assert!(checked.iter().all(|outcome| outcome.id.is_none()));
    index.add_many(&more, &[], &NEVER).unwrap();
    index.compact();
    let stats = index.stats();
    assert_eq!((stats.fingerprints as u64, stats.dead), (done + 70_000, 0));
    assert_eq!(Hamming::found(&index, &near[1]), [997]);
}
