//! The index of equal texts against a list that is gone through from the front.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use simhash_index::exact::{EqualMatch, ExactIndex, ExactOptions, Text};
use simhash_index::{AddOptions, IndexError, OnDuplicate, Outcome, Window};
use simhash_store::FileError;

const DUPLICATES: [OnDuplicate; 3] = [OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch];

fn index(window: Option<Window>) -> ExactIndex {
    let mut options = ExactOptions::default();
    options.window = window;
    ExactIndex::new(&options).unwrap()
}

/// Few texts, whose halves are equal in part.
fn text(number: u8) -> Text {
    match number {
        0 => Text::Empty,
        _ => Text::Hash(u128::from(number % 3) << 64 | u128::from(number / 3)),
    }
}

/// A document of the model.
struct Row {
    text: Text,
    /// Place in the queue of documents by age.
    turn: usize,
    at: u64,
    alive: bool,
}

#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    window: Option<Window>,
    latest: u64,
    turns: usize,
}

impl Model {
    fn leave(&mut self, is_due: impl Fn(&Row) -> bool) -> u64 {
        let due = self.rows.iter_mut().filter(|row| row.alive && is_due(row));
        due.map(|row| row.alive = false).count() as u64
    }

    fn live(&self) -> u64 {
        self.rows.iter().filter(|row| row.alive).count() as u64
    }

    fn advance(&mut self, at: u64) {
        let Some(window) = self.window else { return };
        self.latest = self.latest.max(at);
        let before = self.latest.saturating_sub(window.max_age.unwrap_or(u64::MAX));
        self.leave(|row| row.at < before);
    }

    fn add(&mut self, text: Text) -> u64 {
        if let Some(most) = self.window.and_then(|window| window.max_count) {
            while self.live() >= most {
                let alive = self.rows.iter_mut().filter(|row| row.alive);
                alive.min_by_key(|row| row.turn).unwrap().alive = false;
            }
        }
        self.turns += 1;
        self.rows.push(Row { text, turn: self.turns, at: self.latest, alive: true });
        self.rows.len() as u64 - 1
    }

    fn equal(&self, text: Text) -> Vec<EqualMatch> {
        let ids = (0..).zip(&self.rows).filter(|(_, row)| row.alive && row.text == text);
        let ids = ids.filter(|_| text != Text::Empty);
        ids.map(|(id, _)| EqualMatch { id }).collect()
    }

    fn check(&mut self, text: Text, at: u64, duplicate: OnDuplicate) -> Outcome<EqualMatch> {
        self.advance(at);
        let near = self.equal(text).first().copied();
        if let (Some(near), OnDuplicate::Touch, true) = (near, duplicate, self.window.is_some()) {
            self.turns += 1;
            let row = &mut self.rows[near.id as usize];
            (row.turn, row.at) = (self.turns, self.latest);
        }
        let adds = near.is_none() || duplicate == OnDuplicate::Add;
        Outcome { id: adds.then(|| self.add(text)), duplicate_of: near, truncated: false }
    }
}

fn saved(index: &ExactIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.save(&mut bytes).unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn random_operations_agree_with_the_list_and_so_does_what_was_saved(
        steps in prop::collection::vec((0..10u8, 0..14u8, 0..3usize, 0..40u64), 1..400),
        windowed in 0..4usize,
    ) {
        let window = [
            None,
            Some(Window { max_age: Some(60), max_count: None }),
            Some(Window { max_age: None, max_count: Some(9) }),
            Some(Window { max_age: Some(200), max_count: Some(30) }),
        ][windowed];
        let (mut index, mut model) = (index(window), Model { window, ..Model::default() });
        let (mut now, go) = (0, AtomicBool::new(false));
        for (what, which, duplicate, more) in steps {
            now += more;
            let duplicate = DUPLICATES[duplicate];
            match what {
                0..4 => {
                    let how = AddOptions { at: Some(now), on_duplicate: duplicate };
                    let outcome = index.check_and_add_with(text(which), how).unwrap();
                    prop_assert_eq!(outcome, model.check(text(which), now, duplicate));
                }
                4 => {
                    model.advance(now);
                    prop_assert_eq!(index.add_at(text(which), Some(now)).unwrap(), model.add(text(which)));
                }
                5 => {
                    let items: Vec<Text> = (0..which).map(|number| text(number / 2)).collect();
                    let times = vec![now; items.len()];
                    let all = index.check_and_add_many(&items, &times, duplicate, 1, &go).unwrap();
                    for (&item, outcome) in items.iter().zip(all) {
                        prop_assert_eq!(outcome, model.check(item, now, duplicate));
                    }
                }
                6 | 7 => {
                    let id = u64::from(which) * 3;
                    let row = model.rows.get_mut(id as usize);
                    let was = row.is_some_and(|row| std::mem::replace(&mut row.alive, false));
                    prop_assert_eq!(index.delete(id).unwrap(), was);
                }
                8 => match index.expire(now.saturating_sub(30)) {
                    Err(error) => prop_assert_eq!((error, window), (IndexError::NoWindow, None)),
                    Ok(gone) => {
                        prop_assert_eq!(gone, model.leave(|row| row.at < now.saturating_sub(30)));
                    }
                },
                _ => {
                    let bytes = saved(&index);
                    index = ExactIndex::open(&mut bytes.as_slice()).unwrap();
                    prop_assert_eq!(saved(&index), bytes);
                }
            }
            prop_assert_eq!(index.len(), model.live());
            let found = index.search(text(which), None).unwrap();
            prop_assert_eq!(&found.matches, &model.equal(text(which)));
            let two = index.search(text(which), Some(2)).unwrap();
            prop_assert_eq!(two.truncated, found.matches.len() > 2);
            prop_assert_eq!(&two.matches[..], &found.matches[..found.matches.len().min(2)]);
        }
    }
}

#[test]
fn every_cut_and_every_flipped_bit_is_named() {
    let index = index(Some(Window { max_age: Some(1000), max_count: None }));
    for number in 0..120 {
        index.add_at(text(number % 14), Some(u64::from(number))).unwrap();
    }
    index.delete(7).unwrap();
    let bytes = saved(&index);
    for end in 0..bytes.len() {
        assert!(ExactIndex::open(&mut &bytes[..end]).is_err(), "{end}");
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let error = ExactIndex::open(&mut flipped.as_slice()).unwrap_err();
        assert!(matches!(error, IndexError::File(_)), "byte {at}: {error}");
    }
    let longer = [&bytes[..], &[0]].concat();
    let error = ExactIndex::open(&mut longer.as_slice()).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Damaged { .. })), "{error}");
}

#[test]
fn a_document_costs_about_24_bytes_and_what_left_gives_them_back() {
    const COUNT: u64 = 200_000;
    let index = index(None);
    let hash =
        |number: u64| Text::Hash(u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 17);
    for number in 0..COUNT {
        index.add(hash(number)).unwrap();
    }
    let each = index.stats().bytes as f64 / COUNT as f64;
    assert!((20.0..29.0).contains(&each), "{each}");
    for id in 0..COUNT {
        assert!(index.delete(id).unwrap());
    }
    index.add(hash(0)).unwrap();
    // The map keeps its lines; of the records one huge page stays.
    assert!(index.stats().bytes < 9 * COUNT as usize + (2 << 20) + (64 << 10));
    assert_eq!(index.search(hash(0), None).unwrap().matches, [EqualMatch { id: COUNT }]);
}

#[test]
fn forty_thousand_copies_are_one_entry_and_a_list() {
    let index = index(None);
    for _ in 0..40_000 {
        index.add(Text::Hash(7)).unwrap();
    }
    assert!(index.stats().bytes < 40_000 * 26);
    assert_eq!(index.search(Text::Hash(7), Some(3)).unwrap().matches.len(), 3);
    assert_eq!(index.stats().truncated, 1);
    assert!((0..39_999).all(|id| index.delete(id).unwrap()));
    assert_eq!(
        index.check_and_add(Text::Hash(7)).unwrap(),
        Outcome::duplicate(EqualMatch { id: 39_999 })
    );
}
