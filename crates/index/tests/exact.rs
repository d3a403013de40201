//! Law 1: every answer of the index is the oracle's answer.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::sync::atomic::AtomicBool;

use common::{Model, Random, patterns_of_three};
use simhash_index::{
    Index, IndexOptions, Item, MAX_DISTANCE, Match, OnDuplicate, Outcome, PlanChoice, SearchOptions,
};

fn index(distance: u32, plan: PlanChoice) -> Index {
    let mut options = IndexOptions::default();
    options.max_distance = distance;
    options.plan = plan;
    Index::new(&options).unwrap()
}

fn within(distance: u32) -> SearchOptions {
    SearchOptions { max_distance: Some(distance), limit: None }
}

fn centres() -> Vec<u64> {
    let mut random = Random(5);
    let mut centres = vec![0, u64::MAX];
    centres.extend((0..6).map(|_| random.next()));
    centres
}

#[test]
fn all_43745_variants_find_their_centre() {
    let patterns = patterns_of_three();
    assert_eq!(patterns.len(), 43_745);
    for plan in ["k3-t4", "k3-t6", "k3-t11"] {
        let index = index(3, PlanChoice::Named(plan.to_owned()));
        // Enough others that the centres lie in sealed tables and in the front.
        let mut random = Random(17);
        let others: Vec<Item> = (0..5000).map(|_| Item::Fingerprint(random.next())).collect();
        index.add_many(&others, &[], &AtomicBool::new(false)).unwrap();
        for (number, centre) in centres().into_iter().enumerate() {
            let id = index.add(Item::Fingerprint(centre)).unwrap();
            if number % 2 == 0 {
                let more: Vec<Item> = (0..2500).map(|_| Item::Fingerprint(random.next())).collect();
                index.add_many(&more, &[], &AtomicBool::new(false)).unwrap();
            }
            for &pattern in &patterns {
                let found = index.search(Item::Fingerprint(centre ^ pattern), within(3)).unwrap();
                let wanted = Match { id, distance: pattern.count_ones() };
                assert!(found.matches.contains(&wanted), "{plan}: {centre:x} ^ {pattern:x}");
            }
        }
    }
}

#[test]
fn a_centre_finds_all_its_43745_variants() {
    let patterns = patterns_of_three();
    for plan in ["k3-t4", "k3-t6", "k3-t7", "k3-t8", "k3-t11", "k3-t14", "k3-classic"] {
        for centre in [0, u64::MAX, 0x0123_4567_89ab_cdef] {
            let index = index(3, PlanChoice::Named(plan.to_owned()));
            let items: Vec<Item> = patterns.iter().map(|p| Item::Fingerprint(centre ^ p)).collect();
            for part in items.chunks(997) {
                index.add_many(part, &[], &AtomicBool::new(false)).unwrap();
            }
            for (distance, expected) in [(0, 1), (1, 65), (2, 2081), (3, 43_745)] {
                let found = index.search(Item::Fingerprint(centre), within(distance)).unwrap();
                assert_eq!(found.matches.len(), expected, "{plan} k = {distance}");
                assert!(!found.truncated);
                assert!(found.matches.is_sorted_by_key(|found| (found.distance, found.id)));
            }
        }
    }
}

#[test]
fn a_million_random_fingerprints_agree_with_the_oracle() {
    let index = index(3, PlanChoice::Auto);
    let mut random = Random(1);
    let mut model = Model::default();
    let items: Vec<Item> = (0..1_000_000).map(|_| Item::Fingerprint(random.next())).collect();
    for part in items.chunks(70_001) {
        index.add_many(part, &[], &AtomicBool::new(false)).unwrap();
    }
    for &item in &items {
        model.add(item);
    }
    for number in 0..60u64 {
        let Item::Fingerprint(base) = items[random.below(1_000_000) as usize] else { continue };
        let query = Item::Fingerprint(random.near(base, (number % 5) as u32));
        for distance in 0..=3 {
            assert_eq!(
                index.search(query, within(distance)).unwrap(),
                model.search(query, distance, usize::MAX)
            );
        }
    }
}

#[test]
fn every_distance_to_sixteen_is_exact() {
    let mut random = Random(23);
    for plan in ["k1-t2", "k3-t6", "k4-t10"] {
        let index = index(3, PlanChoice::Named(plan.to_owned()));
        let mut model = Model::default();
        for _ in 0..300 {
            let centre = random.next();
            for flips in 0..20 {
                let item = Item::Fingerprint(random.near(centre, flips));
                assert_eq!(index.add(item).unwrap(), model.add(item));
            }
        }
        for distance in 0..=MAX_DISTANCE {
            for number in 0..30 {
                let Item::Fingerprint(base) = model.items[number * 190].0 else { continue };
                let query = Item::Fingerprint(random.near(base, distance));
                let found = index.search(query, within(distance)).unwrap();
                assert_eq!(found, model.search(query, distance, usize::MAX), "{plan} {distance}");
                assert!(found.matches.iter().all(|found| found.distance <= distance));
                assert!(found.matches.iter().any(|found| found.distance == distance));
            }
        }
    }
}

#[test]
fn limits_keep_the_nearest_and_say_so() {
    let index = index(3, PlanChoice::Auto);
    let mut model = Model::default();
    let mut random = Random(3);
    for _ in 0..3000 {
        let flips = random.below(4) as u32;
        let item = Item::Fingerprint(random.near(0, flips));
        index.add(item).unwrap();
        model.add(item);
    }
    for limit in [0, 1, 2, 10, 700, 2999, 3000, 3001] {
        let options = SearchOptions { max_distance: None, limit: Some(limit) };
        let found = index.search(Item::Fingerprint(0), options).unwrap();
        assert_eq!(found, model.search(Item::Fingerprint(0), 3, limit), "limit {limit}");
    }
    assert_eq!(index.stats().truncated, 6);
}

#[test]
fn deleted_documents_are_hidden_and_may_come_back() {
    let index = index(3, PlanChoice::Auto);
    let mut model = Model::default();
    let mut random = Random(29);
    for round in 0..40_000u64 {
        let base = random.below(60).wrapping_mul(0x1234_5678_9abc_def1);
        let flips = random.below(4) as u32;
        let item = match round % 8 {
            0 => Item::Exact(u128::from(random.below(50))),
            1 => Item::Empty,
            _ => Item::Fingerprint(random.near(base, flips)),
        };
        assert_eq!(index.add(item).unwrap(), model.add(item));
        for _ in 0..random.below(3) {
            let id = random.below(round + 1);
            assert_eq!(index.delete(id).unwrap(), model.delete(id));
            assert!(!index.has(id));
        }
        if round % 401 == 0 {
            assert_eq!(index.search(item, within(3)).unwrap(), model.search(item, 3, usize::MAX));
        }
    }
    let alive = model.items.iter().filter(|entry| entry.1).count();
    assert_eq!(index.len(), alive as u64);
}

#[test]
fn short_texts_match_only_themselves_and_empty_ones_nothing() {
    let index = index(3, PlanChoice::Auto);
    for item in [Item::Exact(7), Item::Empty, Item::Fingerprint(u64::MAX), Item::Fingerprint(0)] {
        assert!(index.check_and_add(item).unwrap().id.is_some(), "{item:?}");
    }
    assert_eq!(
        index.check_and_add(Item::Exact(7)).unwrap(),
        Outcome::duplicate(Match { id: 0, distance: 0 })
    );
    assert_eq!(index.check_and_add(Item::Empty).unwrap(), Outcome::added(4));
    assert!(index.search(Item::Empty, within(16)).unwrap().matches.is_empty());
    assert_eq!(index.search(Item::Exact(7), within(16)).unwrap().matches.len(), 1);
}

#[test]
fn batches_decide_as_one_by_one() {
    let mut random = Random(31);
    let items: Vec<Item> = (0..6000)
        .map(|number| match number % 10 {
            0 => Item::Exact(u128::from(random.below(100))),
            1 => Item::Empty,
            _ => {
                let base = random.below(600).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let flips = random.below(4) as u32;
                Item::Fingerprint(random.near(base, flips))
            }
        })
        .collect();
    let mut model = Model::default();
    let expected: Vec<Outcome<Match>> =
        items.iter().map(|&item| model.check_and_add(item, 3)).collect();
    let go = AtomicBool::new(false);
    for size in [1, 2, 7, 100, 1000, 6000] {
        for threads in [1, 0] {
            let index = index(3, PlanChoice::Auto);
            let mut answers = Vec::new();
            for batch in items.chunks(size) {
                answers.extend(
                    index.check_and_add_many(batch, &[], OnDuplicate::Skip, threads, &go).unwrap(),
                );
            }
            assert_eq!(answers, expected, "batches of {size}");
            let found = index.search_many(&items, within(3), threads, &go).unwrap();
            for (item, found) in items.iter().zip(found).step_by(97) {
                assert_eq!(found, model.search(*item, 3, usize::MAX));
            }
        }
    }
}

#[test]
fn a_cancelled_batch_changes_nothing() {
    let index = index(3, PlanChoice::Auto);
    let stop = AtomicBool::new(true);
    let items = vec![Item::Fingerprint(1); 5000];
    assert_eq!(
        index.check_and_add_many(&items, &[], OnDuplicate::Skip, 0, &stop).unwrap_err(),
        simhash_index::IndexError::Cancelled
    );
    assert!(index.search_many(&items, within(3), 0, &stop).is_err());
    assert!(index.is_empty());
    assert_eq!(index.add(Item::Empty).unwrap(), 0);
}

#[test]
fn distances_above_sixteen_are_refused() {
    let mut options = IndexOptions::default();
    options.max_distance = 17;
    let far = simhash_index::IndexError::Distance { given: 17, max: 16 };
    assert_eq!(Index::new(&options).unwrap_err(), far);
    let index = index(3, PlanChoice::Auto);
    assert!(index.search(Item::Empty, within(17)).is_err());
}
