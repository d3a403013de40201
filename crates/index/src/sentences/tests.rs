//! What happens between two steps of a call, step by step.

use super::*;
use crate::durable::testing::opened;
use crate::ids::holders::walking;
use crate::{AddOptions, IndexError, OnDuplicate, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static NEVER: AtomicBool = AtomicBool::new(false);

fn options(window: Option<Window>) -> SentenceOptions {
    SentenceOptions { window, ..SentenceOptions::default() }
}

fn item(family: u64, own: u64) -> SentenceItem {
    match own % 11 {
        0 => SentenceItem::Exact(u128::from(family)),
        1 => SentenceItem::Empty,
        _ => SentenceItem::Sentences(vec![family + 1, 1 << 40 | own]),
    }
}

/// Everything that can be asked for.
fn state(index: &SentenceIndex) -> Vec<u8> {
    index.whole()
}

fn between(
    index: &Arc<SentenceIndex>,
    single: impl Fn(&SentenceIndex, u64) + Send + 'static,
) -> Arc<AtomicUsize> {
    let (weak, count) = (Arc::downgrade(index), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&count);
    *index.shared.turns.between.lock() = Some(Box::new(move || {
        let Some(index) = weak.upgrade() else { return };
        single(&index, seen.fetch_add(1, Ordering::SeqCst) as u64);
    }));
    count
}

fn single(index: &SentenceIndex, number: u64) {
    index.check_and_add_with(item(number * 7 % 90, number + 1000), AddOptions::default()).unwrap();
    index.add_at(item(number * 31 % 90, number + 2000), None).unwrap();
    index.delete(number * 13 % 200).unwrap();
}

type Batch = fn(&SentenceIndex, &[SentenceItem]) -> Vec<Option<u64>>;
const BATCHES: [Batch; 3] = [
    |index, items| index.add_many(items, &[], &NEVER).unwrap().iter().map(Some).collect(),
    |index, items| index.similar_many(items, &[], &NEVER).unwrap().into_iter().map(Some).collect(),
    |index, items| {
        let all = index.check_and_add_many(items, &[], OnDuplicate::Touch, 1, &NEVER).unwrap();
        all.iter().map(|outcome| outcome.id).collect()
    },
];

#[test]
fn single_calls_are_done_while_a_batch_is_under_way_and_the_order_is_kept() {
    let items: Vec<SentenceItem> = (0..300).map(|number| item(number % 90, number)).collect();
    for window in [None, Some(Window { max_age: None, max_count: Some(70) })] {
        for batch in BATCHES {
            let made = || Arc::new(SentenceIndex::new(&options(window)).unwrap());
            let (batched, singly) = (made(), made());
            let count = between(&batched, single);
            let found = batch(&batched, &items);
            assert_eq!(count.load(Ordering::SeqCst), items.len());
            let mut expected = Vec::new();
            for (number, item) in (0..).zip(&items) {
                single(&singly, number);
                expected.extend(batch(&singly, std::slice::from_ref(item)));
            }
            assert_eq!(found, expected);
            assert_eq!(
                (batched.len(), batched.stats().groups),
                (singly.len(), singly.stats().groups)
            );
            for item in &items {
                assert_eq!(
                    batched.search(item, SentenceSearch::at_most(99)).unwrap(),
                    singly.search(item, SentenceSearch::at_most(99)).unwrap()
                );
            }
        }
    }
}

/// Changes of a batch that others came between are kept in the order in which they were made, each once.
#[test]
fn what_is_kept_of_a_batch_that_was_interrupted_leads_to_the_same_index() {
    let items: Vec<SentenceItem> = (0..200).map(|number| item(number % 90, number)).collect();
    for batch in BATCHES {
        let made = SentenceIndex::kept_elsewhere(&options(None), None, []).unwrap();
        let index = Arc::new(made);
        let parts = Arc::new(parking_lot::Mutex::new((None, Vec::new())));
        let kept = Arc::clone(&parts);
        between(&index, move |index, number| {
            single(index, number);
            let mut kept = kept.lock();
            match number {
                // A whole in the middle of the batch takes the place of all changes before.
                100 => *kept = (Some(index.whole()), Vec::new()),
                _ if number % 3 == 0 => kept.1.push(index.take_changes()),
                _ => {}
            }
        });
        batch(&index, &items);
        let (whole, mut changes) = std::mem::take(&mut *parts.lock());
        changes.push(index.take_changes());
        let again = SentenceIndex::kept_elsewhere(&options(None), whole, changes).unwrap();
        assert!(state(&again) == state(&index));
    }
}

#[test]
fn a_checkpoint_in_the_middle_of_a_batch_has_every_change_once() {
    let folder = tempfile::tempdir().unwrap();
    let items: Vec<SentenceItem> = (0..200).map(|number| item(number % 90, number)).collect();
    let empty = || SentenceIndex::new(&options(None)).unwrap();
    for (number, batch) in BATCHES.into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let (index, kept) = opened(&path, empty);
        let (index, kept) = (Arc::new(index), Arc::new(kept));
        let keeper = Arc::clone(&kept);
        between(&index, move |index, number| match number {
            50 | 100 => keeper.checkpoint(&NEVER).unwrap(),
            _ if number % 10 == 0 => single(index, number),
            _ => {}
        });
        batch(&index, &items);
        *index.shared.turns.between.lock() = None;
        let expected = state(&index);
        kept.close().unwrap();
        assert!(state(&opened(&path, empty).0) == expected);
    }
}

#[test]
fn counts_and_bytes_are_told_without_looking_at_any_entry() {
    let index = SentenceIndex::new(&options(Some(Window::default()))).unwrap();
    for number in 0..20_000 {
        // Copies, and sentences that many have.
        index.add_at(SentenceItem::Sentences(vec![number % 7, 10 + number % 50]), None).unwrap();
        if number % 3 == 0 {
            index.delete(number / 2).unwrap();
        }
    }
    assert_eq!(walking::visited(|| assert!(index.stats().bytes > 0)), 0);
    let copies = &index.shared.state.read().kind.copies;
    assert!(walking::visited(|| assert_eq!(copies.bytes(), copies.walked_bytes())) > 0);
}

#[test]
fn an_index_that_is_full_takes_more_when_the_oldest_have_left() {
    let mut options = options(None);
    options.common.share = 1.0;
    let index = SentenceIndex::new(&options).unwrap();
    index.shared.state.write().kind.sketches.limit = 100;
    let item = |number: u64| SentenceItem::Sentences(vec![7, 100 + number]);
    let items: Vec<SentenceItem> = (0..100).map(item).collect();
    assert_eq!(index.add_many(&items, &[], &NEVER).unwrap(), 0..100);
    assert_eq!(
        index.add_at(item(100), None).map_err(|e| matches!(e, IndexError::Full { .. })),
        Err(true)
    );
    // Too few for the list of the sentence that all have to let them go by itself.
    assert!((0..40).all(|id| index.delete(id).unwrap()));
    let more: Vec<SentenceItem> = (100..140).map(item).collect();
    assert!(index.add_many(&[&more[..], &items[..1]].concat(), &[], &NEVER).is_err());
    assert_eq!(index.add_many(&more, &[], &NEVER).unwrap(), 100..140);
    assert_eq!(
        index.add_at(item(0), None).map_err(|e| matches!(e, IndexError::Full { .. })),
        Err(true)
    );
    let found =
        index.search(SentenceItem::Sentences(vec![7]), SentenceSearch::default()).unwrap().matches;
    assert_eq!(
        found.iter().map(|found| found.id).collect::<Vec<_>>(),
        (40..140).collect::<Vec<_>>()
    );
}
