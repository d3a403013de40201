//! Skewed and hostile fingerprints: answers stay exact, memory follows the formula, nothing is quadratic.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::io::{BufRead, BufReader};
use std::sync::atomic::AtomicBool;

use common::Random;
use simhash_index::{Index, IndexOptions, Item, Match, Outcome, PlanChoice, SearchOptions};

fn index(plan: &str) -> Index {
    let mut options = IndexOptions::default();
    options.plan = PlanChoice::Named(plan.to_owned());
    Index::new(&options).unwrap()
}

fn within(distance: u32) -> SearchOptions {
    SearchOptions { max_distance: Some(distance), limit: None }
}

/// Distinct fingerprints with the id of their first document.
fn oracle(values: &[u64], query: u64, distance: u32) -> Vec<Match> {
    let mut found: Vec<Match> = (0..)
        .zip(values)
        .map(|(id, value)| Match { id, distance: (value ^ query).count_ones() })
        .filter(|found| found.distance <= distance)
        .collect();
    found.sort_by_key(|found| (found.distance, found.id));
    found
}

fn check(plan: &str, values: &[u64], queries: usize) {
    let index = index(plan);
    let items: Vec<Item> = values.iter().map(|&value| Item::Fingerprint(value)).collect();
    for part in items.chunks(50_000) {
        index.add_many(part, &[], &AtomicBool::new(false)).unwrap();
    }
    let mut random = Random(values.len() as u64);
    for number in 0..queries {
        let base = values[random.below(values.len() as u64) as usize];
        let query = random.near(base, (number % 4) as u32);
        for distance in 0..=3 {
            let found = index.search(Item::Fingerprint(query), within(distance)).unwrap();
            assert_eq!(found.matches, oracle(values, query, distance), "{plan} k = {distance}");
        }
    }
}

#[test]
fn a_million_equal_fingerprints_are_one_entry() {
    let index = index("k3-t6");
    let items = vec![Item::Fingerprint(42); 1_000_000];
    index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    let stats = index.stats();
    assert_eq!((stats.live, stats.fingerprints), (1_000_000, 1));
    // A record and a place in the list per document, no table entry.
    assert!(stats.table_bytes + stats.id_bytes < 20_000_000, "{stats:?}");
    assert_eq!(
        index.check_and_add(Item::Fingerprint(43)).unwrap(),
        Outcome::duplicate(Match { id: 0, distance: 1 })
    );
    // Deleting from the front, from the back and from everywhere: each amortised O(1).
    for id in (0..300_000).chain((700_000..1_000_000).rev()) {
        assert!(index.delete(id).unwrap());
    }
    for id in (300_000..700_000).step_by(2) {
        assert!(index.delete(id).unwrap());
    }
    let limited = SearchOptions { max_distance: None, limit: Some(3) };
    let found = index.search(Item::Fingerprint(42), limited).unwrap();
    let expected = [300_001, 300_003, 300_005].map(|id| Match { id, distance: 0 });
    assert_eq!((found.matches, found.truncated), (expected.to_vec(), true));
    for id in (300_001..700_000).step_by(2) {
        assert!(index.delete(id).unwrap());
    }
    assert!(index.search(Item::Fingerprint(42), within(3)).unwrap().matches.is_empty());
    assert_eq!(index.add(Item::Fingerprint(42)).unwrap(), 1_000_000);
}

#[test]
fn a_million_fingerprints_one_bit_apart_are_exact() {
    // A Gray code: each differs from the one before in one bit, all within a cube of twenty bits.
    let values: Vec<u64> = (0..1_000_000u64).map(|number| number ^ (number >> 1)).collect();
    check("k3-t6", &values, 4);
    check("k3-t11", &values, 4);
}

#[test]
fn fingerprints_that_share_all_prefixes_but_one_are_exact() {
    // Free bits only where one table of the plan looks, in the order of spread bits: the cube of a prefix.
    let mut random = Random(3);
    for plan in ["k3-t4", "k3-t6", "k3-t11"] {
        for _ in 0..3 {
            let mut free = 0u64;
            while free.count_ones() < 16 {
                free |= 1 << random.below(64);
            }
            let mut values = Vec::new();
            let mut subset = 0u64;
            for _ in 0..1 << 16 {
                values.push(subset);
                subset = subset.wrapping_sub(free) & free;
            }
            check(plan, &values, 2);
        }
    }
}

#[test]
fn zero_and_all_ones_are_fingerprints_like_others() {
    for plan in ["k3-t4", "k3-t6", "k3-t11"] {
        let index = index(plan);
        assert_eq!(index.check_and_add(Item::Fingerprint(0)).unwrap(), Outcome::added(0));
        assert_eq!(index.check_and_add(Item::Fingerprint(u64::MAX)).unwrap(), Outcome::added(1));
        for (value, id) in [(0b111, 0), (u64::MAX << 3, 1)] {
            assert_eq!(
                index.check_and_add(Item::Fingerprint(value)).unwrap(),
                Outcome::duplicate(Match { id, distance: 3 })
            );
        }
        assert!(index.delete(0).unwrap());
        assert_eq!(index.check_and_add(Item::Fingerprint(0b111)).unwrap(), Outcome::added(2));
    }
}

/// 64-bit `SimHash` over character bigrams, in its plainest form.
fn bigrams(text: &str) -> u64 {
    let chars: Vec<char> = text.chars().collect();
    let mut counts = [0i32; 64];
    for pair in chars.windows(2.min(chars.len().max(1))) {
        let seed = pair.iter().fold(0, |seed, &c| seed << 21 | u64::from(c as u32));
        let hash = Random(seed).next();
        for (bit, count) in counts.iter_mut().enumerate() {
            *count += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    counts.iter().enumerate().fold(0, |fp, (bit, &count)| fp | u64::from(count > 0) << bit)
}

#[test]
fn fingerprints_of_real_short_texts_agree_with_the_oracle() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/zh-pairs-paraphrase/pairs.jsonl.gz"
    );
    let Ok(file) = std::fs::File::open(path) else {
        println!("skipped: {path} is absent");
        assert!(!std::path::Path::new(path).exists());
        return;
    };
    let mut values = Vec::new();
    for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        values.extend(["text_a", "text_b"].map(|key| bigrams(record[key].as_str().unwrap())));
    }
    assert!(values.len() > 100_000);
    let mut seen = std::collections::HashSet::new();
    values.retain(|&value| seen.insert(value));
    for plan in ["k3-t4", "k3-t6", "k3-t11", "k3-t14"] {
        check(plan, &values, 40);
    }
}
