//! The live index: windows, batches, threads.

use std::sync::atomic::AtomicBool;

use simhash_index::sentences::{
    SentenceIndex, SentenceItem, SentenceOptions, SentenceSearch, Shared,
};
use simhash_index::{AddOptions, IndexError, OnDuplicate, Outcome, Window};

use crate::common::Random;
use crate::map::item;
use crate::model::{Model, Windowed};

static NEVER: AtomicBool = AtomicBool::new(false);
const DUPLICATES: [OnDuplicate; 3] = [OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch];

fn options(window: Option<Window>) -> SentenceOptions {
    let mut options = SentenceOptions::default();
    options.window = window;
    options
}

pub(crate) fn windows() -> [Option<Window>; 4] {
    [
        None,
        Some(Window { max_age: Some(100), max_count: None }),
        Some(Window { max_age: None, max_count: Some(60) }),
        Some(Window { max_age: Some(150), max_count: Some(60) }),
    ]
}

#[test]
fn an_index_with_any_window_agrees_with_the_model() {
    for (round, window) in windows().into_iter().enumerate() {
        let index = SentenceIndex::new(&options(window)).unwrap();
        let mut model = Windowed::new(Model::new(&options(window)), window);
        let mut random = Random(round as u64);
        for step in 0..1200u64 {
            // Now and then a time that is before the latest.
            let at = step - random.below(step.min(5) + 1);
            let item = item(&mut random, 150);
            if step % 3 == 0 {
                let id = model.add(&item, at);
                assert_eq!(Some(index.similar(&item, Some(at)).unwrap()), model.model.group(id));
            } else {
                let on_duplicate = DUPLICATES[random.below(3) as usize];
                let how = AddOptions { at: Some(at), on_duplicate };
                let outcome = index.check_and_add_with(&item, how).unwrap();
                assert_eq!(outcome, model.check(&item, at, on_duplicate), "step {step}");
            }
            if step % 7 == 0 {
                let id = random.below(step + 1);
                assert_eq!(index.delete(id).unwrap(), model.model.delete(id));
            }
            if step % 50 == 49 && window.is_some() {
                let before = step - 40;
                assert_eq!(index.expire(before).unwrap(), model.expire(before));
            }
            assert_eq!(index.len(), model.model.len());
            let query = self::item(&mut random, 150);
            assert_eq!(
                index.search(&query, SentenceSearch::at_most(5)).unwrap(),
                model.model.search(&query, 5)
            );
        }
    }
    let error = SentenceIndex::new(&options(None)).unwrap().expire(1).unwrap_err();
    assert!(matches!(error, IndexError::NoWindow));
}

#[test]
fn a_batch_is_its_items_one_by_one() {
    for window in windows() {
        let mut random = Random(11);
        let items: Vec<SentenceItem> = (0..1500).map(|_| item(&mut random, 200)).collect();
        let times: Vec<u64> = (0..1500).collect();
        let [single, batch] = [0, 1].map(|_| SentenceIndex::new(&options(window)).unwrap());
        for on_duplicate in DUPLICATES {
            let one = |(item, &at)| {
                let how = AddOptions { at: Some(at), on_duplicate };
                single.check_and_add_with(item, how).unwrap()
            };
            let expected: Vec<Outcome<Shared>> = items.iter().zip(&times).map(one).collect();
            let found = batch.check_and_add_many(&items, &times, on_duplicate, 1, &NEVER).unwrap();
            assert_eq!(found, expected);
        }
        let one = |(item, &at)| single.similar(item, Some(at)).unwrap();
        let expected: Vec<u64> = items.iter().zip(&times).map(one).collect();
        assert_eq!(batch.similar_many(&items, &times, &NEVER).unwrap(), expected);
        let first = single.add_at(&items[0], None).unwrap();
        for item in &items[1..] {
            single.add_at(item, None).unwrap();
        }
        assert_eq!(batch.add_many(&items, &[], &NEVER).unwrap(), first..first + 1500);
        for threads in [1, 2, 0] {
            let found =
                batch.search_many(&items, SentenceSearch::at_most(3), threads, &NEVER).unwrap();
            let expected: Vec<_> = items
                .iter()
                .map(|item| single.search(item, SentenceSearch::at_most(3)).unwrap())
                .collect();
            assert_eq!(found, expected);
        }
        assert_eq!(batch.stats().live, single.stats().live);
        assert_eq!(batch.stats().groups, single.stats().groups);
    }
}

#[test]
fn a_cancelled_batch_has_changed_nothing() {
    let index = SentenceIndex::new(&options(None)).unwrap();
    let (items, up) = ([SentenceItem::Empty, SentenceItem::Exact(1)], AtomicBool::new(true));
    for error in [
        index.add_many(&items, &[], &up).unwrap_err(),
        index.similar_many(&items, &[], &up).unwrap_err(),
        index.check_and_add_many(&items, &[], OnDuplicate::Skip, 1, &up).unwrap_err(),
        index.search_many(&items, SentenceSearch::at_most(1), 1, &up).unwrap_err(),
    ] {
        assert!(matches!(error, IndexError::Cancelled));
    }
    assert!(index.is_empty());
    assert_eq!(index.add_at(&items[0], None).unwrap(), 0);
}

#[test]
fn of_two_similar_documents_at_once_exactly_one_is_kept() {
    let index = SentenceIndex::new(&options(None)).unwrap();
    let kept: u64 = std::thread::scope(|scope| {
        let add = |worker: u64| {
            let index = &index;
            scope.spawn(move || {
                let add = |round: u64| {
                    // One sentence in common, one of its own.
                    let item = SentenceItem::Sentences(vec![round, 1 << 32 | worker << 20 | round]);
                    u64::from(
                        index
                            .check_and_add_with(&item, AddOptions::default())
                            .unwrap()
                            .id
                            .is_some(),
                    )
                };
                (0..20_000).map(add).sum::<u64>()
            })
        };
        let workers: Vec<_> = (0..3).map(add).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!((kept, index.len()), (20_000, 20_000));
}

#[test]
fn one_sentence_in_all_documents_keeps_additions_linear() {
    let mut options = options(None);
    options.common.share = 1.0;
    let index = SentenceIndex::new(&options).unwrap();
    let items: Vec<SentenceItem> =
        (1..=40_000).map(|page| SentenceItem::Sentences(vec![0, page])).collect();
    index.add_many(&items, &[], &NEVER).unwrap();
    // Each of these meets all the others; looking at every one of them would be 1.6 billion steps.
    let again: Vec<SentenceItem> =
        (1..=40_000).map(|page| SentenceItem::Sentences(vec![0, page << 32])).collect();
    let found = index.check_and_add_many(&again, &[], OnDuplicate::Skip, 1, &NEVER).unwrap();
    assert!(found.iter().all(|found| found.id.is_none()));
    assert!(found.iter().all(|found| found.duplicate_of.is_some_and(|near| near.id == 0)));
    let all = index.search(&again[0], SentenceSearch::at_most(10)).unwrap();
    assert!(all.truncated && all.matches.len() == 10);
    assert_eq!((index.stats().groups, index.stats().truncated), (1, 1));
}

#[test]
fn a_check_and_add_learns_which_sentences_are_on_every_page() {
    let index = SentenceIndex::new(&options(None)).unwrap();
    let check = |sentences: Vec<u64>| {
        let item = SentenceItem::Sentences(sentences);
        index.check_and_add_with(&item, AddOptions::default()).unwrap().id.is_some()
    };
    // Pages with a footer in common: the first is kept, five are taken for copies of it, from then on all are kept.
    let kept: Vec<bool> = (0..100).map(|page| check(vec![page << 8, page << 8 | 1, 7])).collect();
    assert_eq!(kept.iter().filter(|&&kept| !kept).count(), 5);
    assert!(kept[0] && kept[6..].iter().all(|&kept| kept));
    // Reposts that differ in one sentence of three say nothing against the other two, however many there are.
    assert!(check(vec![1 << 40, 2 << 40, 3 << 40]));
    assert!((1..1000).all(|repost| !check(vec![1 << 40, 2 << 40, repost << 41])));
}

#[test]
fn an_empty_batch_and_a_time_far_ahead_change_nothing() {
    let window = Some(Window { max_age: Some(100), max_count: None });
    let index = SentenceIndex::new(&options(window)).unwrap();
    let [a, b] = [1, 2].map(SentenceItem::Exact);
    index.add_at(&a, Some(1000)).unwrap();
    assert_eq!(index.add_many::<SentenceItem>(&[], &[], &NEVER).unwrap(), 1..1);
    assert!(index.similar_many(&[], &[], &NEVER).unwrap().is_empty());
    assert!(
        index
            .check_and_add_many::<SentenceItem>(&[], &[], OnDuplicate::Skip, 1, &NEVER)
            .unwrap()
            .is_empty()
    );
    assert_eq!(index.len(), 1);
    let far = 1 << 50;
    let touch = AddOptions { at: Some(far), on_duplicate: OnDuplicate::Touch };
    let (two, times) = ([a.clone(), b.clone()], [1001, far]);
    for error in [
        index.add_at(&b, Some(far)).unwrap_err(),
        index.similar(&b, Some(far)).unwrap_err(),
        index.check_and_add_with(&a, touch).unwrap_err(),
        index.add_many(&two, &times, &NEVER).unwrap_err(),
        index.similar_many(&two, &times, &NEVER).unwrap_err(),
        index.check_and_add_many(&two, &times, OnDuplicate::Add, 1, &NEVER).unwrap_err(),
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
