//! A saved index opens to the same answers; a damaged one is named.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::Random;
use simhash_index::{
    AddOptions, Index, IndexError, IndexOptions, Item, OnDuplicate, PlanChoice, SearchOptions,
    Window,
};
use simhash_store::FileError;

fn filled(plan: &str, window: Option<Window>) -> Index {
    let mut options = IndexOptions::default();
    options.plan = PlanChoice::Named(plan.to_owned());
    options.window = window;
    let index = Index::new(&options).unwrap();
    let mut random = Random(3);
    for at in 0..30_000u64 {
        let base = random.below(9000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let flips = random.below(3) as u32;
        let item = match at % 12 {
            0 => Item::Exact(u128::from(random.below(600)) << 60),
            1 => Item::Empty,
            _ => Item::Fingerprint(random.near(base, flips)),
        };
        let on_duplicate = if at % 3 == 0 { OnDuplicate::Touch } else { OnDuplicate::Add };
        index.check_and_add_with(item, AddOptions { at: Some(at), on_duplicate }).unwrap();
        if at % 5 == 0 {
            index.delete(random.below(at + 1)).unwrap();
        }
    }
    index
}

fn saved(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.save(&mut bytes).unwrap();
    bytes
}

#[test]
fn an_opened_index_answers_and_goes_on_as_the_saved_one() {
    let windows = [None, Some(Window { max_age: Some(20_000), max_count: Some(9000) })];
    for (plan, window) in [("k3-t6", windows[0]), ("k1-t2", windows[1]), ("k3-t11", windows[1])] {
        let index = filled(plan, window);
        let bytes = saved(&index);
        let opened = Index::open(&mut bytes.as_slice()).unwrap();
        assert_eq!(saved(&opened), bytes, "{plan}: saving is stable");
        assert_eq!(opened.len(), index.len());
        assert_eq!(opened.plan(), index.plan());
        let mut random = Random(9);
        for at in 30_000..33_000u64 {
            let base = random.below(9000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let item = match at % 7 {
                0 => Item::Exact(u128::from(random.below(600)) << 60),
                _ => Item::Fingerprint(random.near(base, 1)),
            };
            let all = SearchOptions::default();
            assert_eq!(opened.search(item, all).unwrap(), index.search(item, all).unwrap());
            let options = AddOptions { at: Some(at), on_duplicate: OnDuplicate::Skip };
            assert_eq!(
                opened.check_and_add_with(item, options).unwrap(),
                index.check_and_add_with(item, options).unwrap()
            );
            let id = random.below(at);
            assert_eq!(opened.delete(id).unwrap(), index.delete(id).unwrap());
        }
        assert_eq!(opened.len(), index.len());
    }
}

/// What is added and deleted while an index is being sealed for saving is in the file, or not, as at one moment.
#[test]
fn an_index_saved_under_change_opens_to_one_of_its_moments() {
    let index = Index::new(&IndexOptions::default()).unwrap();
    let mut random = Random(11);
    let values: Vec<u64> = (0..200_000).map(|_| random.next()).collect();
    let stop = AtomicBool::new(false);
    let opened: Vec<Index> = thread::scope(|scope| {
        scope.spawn(|| {
            // Ids are in order of addition; a document leaves 1,000 after it came.
            for (id, &value) in (0u64..).zip(&values) {
                assert_eq!(index.add(Item::Fingerprint(value)).unwrap(), id);
                if id >= 1000 && id % 2 == 0 {
                    assert!(index.delete(id - 1000).unwrap());
                }
            }
            stop.store(true, Ordering::SeqCst);
        });
        let mut opened = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            opened.push(Index::open(&mut saved(&index).as_slice()).unwrap());
        }
        opened.push(Index::open(&mut saved(&index).as_slice()).unwrap());
        opened
    });
    for (number, opened) in opened.iter().enumerate() {
        // The moment is told by the next id; deletion follows addition, so the last one may be on either side of it.
        let next = opened.add(Item::Empty).unwrap();
        for id in (0..next).filter(|id| id % 61 == 0 || id + 1100 > next) {
            let gone = id % 2 == 0 && id + 1000 < next;
            let undecided = id % 2 == 0 && id + 1001 == next;
            let query = Item::Fingerprint(values[id as usize]);
            let found = opened.search(query, SearchOptions::default()).unwrap().matches;
            let found: Vec<u64> = found.iter().map(|found| found.id).collect();
            assert!(undecided || found == if gone { vec![] } else { vec![id] }, "{number}: {id}");
        }
        let later = values.get(next as usize).copied();
        assert!(later.is_none_or(|value| {
            let found = opened.search(Item::Fingerprint(value), SearchOptions::default());
            found.unwrap().matches.is_empty()
        }));
    }
    assert_eq!(opened.last().map(Index::len), Some(index.len() + 1));
}

#[test]
fn an_empty_index_is_saved_and_opened() {
    let index = Index::new(&IndexOptions::default()).unwrap();
    let opened = Index::open(&mut saved(&index).as_slice()).unwrap();
    assert!(opened.is_empty());
    assert_eq!(opened.add(Item::Fingerprint(0)).unwrap(), 0);
}

#[test]
fn every_damage_is_named_and_none_panics() {
    let mut options = IndexOptions::default();
    options.window = Some(Window::default());
    let index = Index::new(&options).unwrap();
    let mut random = Random(5);
    for at in 0..300 {
        index.add_at(Item::Fingerprint(random.next()), Some(at)).unwrap();
        index.add_at(Item::Exact(u128::from(at)), Some(at)).unwrap();
    }
    let bytes = saved(&index);
    for length in (0..bytes.len()).step_by(61) {
        let error = Index::open(&mut &bytes[..length]).unwrap_err();
        assert!(
            matches!(error, IndexError::File(FileError::Damaged { .. })),
            "cut at {length}: {error}"
        );
    }
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let error = Index::open(&mut flipped.as_slice()).unwrap_err();
        assert!(
            matches!(error, IndexError::File(FileError::Damaged { .. } | FileError::Format { .. })),
            "byte {at}: {error}"
        );
        let IndexError::File(FileError::Damaged { offset, .. }) = error else { continue };
        assert!(offset <= at as u64 + 8, "byte {at} is damaged, byte {offset} named");
    }
    let longer = [&bytes[..], &[0]].concat();
    let error = Index::open(&mut longer.as_slice()).unwrap_err();
    assert!(error.to_string().contains("follows the end"), "{error}");
    let foreign = Index::open(&mut &b"PK\x03\x04 something else entirely"[..]).unwrap_err();
    assert!(foreign.to_string().contains("not a saved index"), "{foreign}");
}

#[cfg(unix)]
#[test]
fn a_saved_index_is_read_from_a_pipe_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, index) = (folder.path().join("pipe"), filled("k3-t4", None));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (bytes, to) = (saved(&index), path.clone());
    let writing = thread::spawn(move || std::fs::write(to, bytes));
    let opened = Index::open_file(&path, "", &AtomicBool::new(false)).unwrap();
    writing.join().unwrap().unwrap();
    assert_eq!(opened.len(), index.len());
}
