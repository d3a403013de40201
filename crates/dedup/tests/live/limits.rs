//! Limits of the live index: what they count, and who is told.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use simhash_dedup::live::{
    Document, LiveIndex, LiveMethod, LiveOptions, Near, Pair, Search, Step, Stored, Texts,
};
use simhash_dedup::{DedupError, DedupOptions};
use simhash_index::{AddOptions, IndexError, OnDuplicate};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::{NEVER, check, checked, code, document, methods, options, saved};

fn pairs(index: &LiveIndex) -> (Vec<Pair>, Vec<u64>) {
    let (mut pairs, mut all) = (index.pairs(&Search::default()).unwrap(), Vec::new());
    while let Some(found) = index.next_pairs(&mut pairs, 2, &NEVER).unwrap() {
        all.extend(found);
    }
    (all, pairs.truncated().to_vec())
}

/// Of one text a crowd of copies, then a near text, then others that are nearer to it than the copies are.
#[test]
fn copies_of_one_text_do_not_use_up_the_candidates_of_another() {
    for method in ["minhash", "simhash", "sentences"] {
        let mut given = LiveOptions { max_verifications: 5, ..options(method) };
        if let LiveMethod::MinHash { bucket_limit, .. } = &mut given.method {
            *bucket_limit = 10;
        }
        let index = LiveIndex::new(&given).unwrap();
        let text = |end: &str| format!("{}。{}{end}", code(7, 60), code(8, 60));
        let copy = document(&index, &text("前"));
        index.add_many(&vec![copy; 300], &[], &[], &NEVER).unwrap();
        let other = index.add(&document(&index, &text("后天")), None, None).unwrap();
        let found = check(&index, &text("后天。"));
        assert!(!found.truncated, "{method}");
        assert_eq!(found.duplicate_of.map(|near| near.id), Some(other), "{method}");
        let all = index.search(&document(&index, &text("后天")), &Search::default()).unwrap();
        assert_eq!((all.matches.len(), all.truncated), (301, false), "{method}");
        assert_eq!(index.stats().truncated, 0);
        let (pairs, truncated) = pairs(&index);
        assert_eq!((pairs.len(), truncated), (300, vec![]), "{method}");
        assert!(pairs.iter().all(|pair| pair.a == 0 && !pair.truncated));
    }
}

#[test]
fn whoever_a_limit_touched_is_named_by_pairs_and_clusters() {
    for method in ["minhash", "simhash", "sentences"] {
        let given = LiveOptions { max_verifications: 3, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        let texts: Vec<String> =
            (0..8).map(|end| format!("{}。{}{}", code(7, 60), code(8, 60), code(end, 2))).collect();
        for text in texts.iter().chain([&code(99, 60)]) {
            index.add(&document(&index, text), None, None).unwrap();
        }
        let (found, truncated) = pairs(&index);
        assert_eq!(truncated, [0, 1, 2, 3, 4, 5, 6, 7], "{method}");
        assert!(!found.is_empty() && found.iter().all(|pair| pair.truncated), "{method}");
        let clusters = index.clusters(&Search::default(), 1, &NEVER, |_| ()).unwrap();
        assert_eq!(clusters.truncated, truncated);
        // Asking for pairs is no search that a limit has cut.
        assert_eq!(index.stats().truncated, 0);
        assert!(check(&index, &texts[0]).truncated);
        assert_eq!(index.stats().truncated, 1);
    }
}

/// As many texts as may be compared are compared, and one more is one too many.
#[test]
fn a_limit_cuts_from_the_first_text_beyond_it() {
    const LIMIT: usize = 3;
    for method in ["minhash", "simhash", "sentences"] {
        let given = LiveOptions { max_verifications: LIMIT, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        for before in 0..=LIMIT + 1 {
            let text = format!("{}。{}{}", code(7, 60), code(8, 60), code(before, 2));
            let document = document(&index, &text);
            let found = index.search(&document, &Search::default()).unwrap();
            let expected = (before.min(LIMIT), before > LIMIT);
            assert_eq!((found.matches.len(), found.truncated), expected, "{method}");
            let how = AddOptions { on_duplicate: OnDuplicate::Add, ..AddOptions::default() };
            let step = index.check_and_add(&document, None, how, |_| Texts::None).unwrap();
            assert_eq!(checked(step).truncated, before > LIMIT, "{method}, {before}");
        }
    }
}

#[test]
fn equal_texts_share_what_a_search_says_that_they_share() {
    // Too short for a sketch, one sentence, three sentences, and the same ones cut elsewhere.
    let long = [code(1, 30), code(2, 30), code(3, 30)];
    let texts = [
        "短".to_owned(),
        code(5, 60),
        long.join("。"),
        format!("{}\n{}", code(1, 17), code(1, 30).chars().skip(17).collect::<String>()),
    ];
    for method in methods() {
        let index = LiveIndex::new(&options(method)).unwrap();
        for text in texts.iter().chain(&texts) {
            index.add(&document(&index, text), None, None).unwrap();
        }
        let (found, _) = pairs(&index);
        for (id, text) in (4_u64..).zip(&texts) {
            let near = index.search(&document(&index, text), &Search::default()).unwrap().matches;
            let expected: &Near = near.iter().find(|near| near.id == id - 4).unwrap();
            let pair = found.iter().find(|pair| pair.a == id - 4 && pair.b.id == id).unwrap();
            assert_eq!(pair.b, Near { id, ..*expected }, "{method} {text}");
        }
    }
}

/// As deduplication says it of copies: known to be equal, whatever else is near.
#[test]
fn equal_texts_have_similarity_one_though_nothing_is_compared() {
    for method in methods() {
        let index = LiveIndex::new(&LiveOptions { verify: None, ..options(method) }).unwrap();
        let text = |order: [usize; 4]| order.map(|part| code(part, 20)).join("。");
        // The same sketch by every method, and another text.
        let (other, own) = (text([1, 2, 3, 4]), text([2, 1, 3, 4]));
        for one in [&other, &own, &own] {
            index.add(&document(&index, one), None, None).unwrap();
        }
        let near = check(&index, &own).duplicate_of.unwrap();
        assert_eq!((near.id, near.similarity, near.verified), (1, Some(1.0), true), "{method}");
        let how = Search { limit: Some(1), ..Search::default() };
        let found = index.search(&document(&index, &own), &how).unwrap().matches;
        assert_eq!(found, [near], "{method}");
        let (pairs, _) = pairs(&index);
        let copies = pairs.iter().find(|pair| (pair.a, pair.b.id) == (1, 2)).unwrap();
        assert_eq!((copies.b.similarity, copies.b.verified), (Some(1.0), true), "{method}");
    }
    let texts = ["一篇文章，足够长，可以比较的文章", "一篇文章，足够长，可以比较的文章"];
    let batch = DedupOptions { min_similarity: None, ..DedupOptions::default() };
    let (decisions, _) = common::decisions(&texts, &batch, 10);
    assert_eq!(decisions[1].similarity, Some(1.0));
}

#[test]
fn a_look_for_an_equal_text_is_no_search_that_was_cut() {
    for method in methods() {
        let index = LiveIndex::new(&options(method)).unwrap();
        // Equal as a whole: too short for any sketch.
        for _ in 0..3 {
            index.add(&document(&index, "短"), None, None).unwrap();
        }
        assert!(check(&index, "短").id.is_none());
        assert_eq!(index.stats().truncated, 0, "{method}");
        let how = Search { limit: Some(1), ..Search::default() };
        let found = index.search(&document(&index, "短"), &how).unwrap();
        assert!(found.truncated);
        assert_eq!(index.stats().truncated, 1, "{method}");
    }
}

#[test]
fn a_batch_that_is_cancelled_on_its_way_says_how_far_it_came() {
    for method in methods() {
        let index = LiveIndex::new(&options(method)).unwrap();
        let documents: Vec<Document> =
            (0..30_000).map(|number| document(&index, &format!("短{number}"))).collect();
        let flag = AtomicBool::new(false);
        for checks in [false, true] {
            let before = index.len();
            flag.store(false, Ordering::SeqCst);
            let error = std::thread::scope(|scope| {
                let batch = scope.spawn(|| {
                    if checks {
                        let add = OnDuplicate::Add;
                        let all = index.check_and_add_many(&documents, &[], &[], add, 1, &flag);
                        return all.map(drop);
                    }
                    index.add_many(&documents, &[], &[], &flag).map(drop)
                });
                while index.len() < before + 10 {
                    std::thread::yield_now();
                }
                flag.store(true, Ordering::SeqCst);
                batch.join().unwrap()
            });
            match error {
                Err(DedupError::Index(IndexError::CancelledAfter { items })) => {
                    assert_eq!(index.len() - before, items, "{method}");
                }
                // It was done before this thread was awake.
                Ok(()) => assert_eq!(index.len() - before, 30_000),
                Err(error) => panic!("{method}: {error}"),
            }
        }
    }
}

/// Keys and texts are those of the moment of the call, whatever changes before the file is written.
#[test]
fn a_snapshot_has_keys_and_texts_of_its_moment() {
    for method in methods() {
        let stored = Stored { keys: true, longest_text: Some(1_000) };
        let index = LiveIndex::new(&LiveOptions { stored, ..options(method) }).unwrap();
        let text = |id: usize| if id % 50 == 7 { code(id, 400) } else { code(id, 30) };
        let add = |id: usize| {
            index.add(&document(&index, &text(id)), Some(&format!("键{id}")), None).unwrap();
        };
        (0..700).for_each(add);
        for id in 100..200 {
            assert!(index.delete(id).unwrap());
        }
        let pending = index.snapshot();
        (700..1500).for_each(add);
        for id in (0..600).filter(|id| id % 2 == 0) {
            index.delete(id).unwrap();
        }
        index.compact(&NEVER).unwrap();
        let mut bytes = Vec::new();
        pending.write(&mut bytes, &NEVER).unwrap();
        let opened = LiveIndex::open(&mut bytes.as_slice(), &options(method)).unwrap();
        assert_eq!((opened.len(), opened.next_id()), (600, 700), "{method}");
        for id in 0..1500_usize {
            let is_there = id < 700 && !(100..200).contains(&id);
            let key = format!("键{id}");
            assert_eq!(opened.id_of(&key), is_there.then_some(id as u64));
            let is_stored = is_there && method != "exact" && text(id).len() <= 1_000;
            assert_eq!(opened.text_of(id as u64), is_stored.then(|| text(id)), "{method} {id}");
        }
        // What the index itself has is not that of the snapshot.
        assert_eq!((index.len(), index.text_of(0)), (600 - 250 + 800, None));
        assert!(!saved(&index).is_empty());
    }
}

/// The neighbour that a look has found stays until the addition is decided, though somebody wants to delete it.
#[test]
fn a_neighbour_cannot_leave_between_look_and_addition() {
    let stored = Stored { keys: true, longest_text: None };
    for method in ["minhash", "simhash", "sentences"] {
        let index = LiveIndex::new(&LiveOptions { stored, ..options(method) }).unwrap();
        let text = format!("{}。{}", code(7, 60), code(8, 60));
        assert_eq!(check(&index, &text).id, Some(0));
        let deleted = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let ask = |id: u64| {
                // Asked in the middle of the look, by the thread that has the turn.
                scope.spawn(|| {
                    assert!(index.delete(0).unwrap());
                    deleted.store(true, Ordering::SeqCst);
                });
                std::thread::sleep(std::time::Duration::from_millis(50));
                assert!(index.has(id) && !deleted.load(Ordering::SeqCst), "{method}");
                Texts::Known(text.as_str())
            };
            let near = document(&index, &format!("{text}后"));
            let step: Step = index.check_and_add(&near, None, AddOptions::default(), ask).unwrap();
            assert_eq!(checked(step).duplicate_of.map(|near| near.id), Some(0), "{method}");
        });
        assert!(deleted.load(Ordering::SeqCst) && index.is_empty());
        assert_eq!(check(&index, &text).id, Some(1));
    }
}
