//! What a live index holds: memory follows what leaves, and ends at its bound.

use simhash_dedup::DedupError;
use simhash_dedup::live::{LiveIndex, LiveOptions, Search, Stored, Texts};
use simhash_index::{AddOptions, Window};
use std::sync::atomic::AtomicBool;

mod model;

use model::{check, code, document, methods, options};

#[test]
fn memory_of_keys_and_texts_follows_the_window() {
    for method in methods() {
        let window = Some(Window { max_age: None, max_count: Some(10_000) });
        let stored = Stored { keys: true, ..Stored::default() };
        let given = LiveOptions { window, stored, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        let mut most = (0, 0);
        for number in 0..100_000_u64 {
            let document = document(&index, &format!("短{number}"));
            index.add(&document, Some(&format!("key-{number}")), None).unwrap();
            if number % 1_000 == 999 {
                let stats = index.stats();
                most = (most.0.max(stats.key_bytes), most.1.max(stats.text_bytes));
            }
        }
        assert_eq!(index.id_of("key-100"), None);
        assert_eq!(index.id_of("key-99999"), Some(99_999));
        // Twice what 10,000 documents need: 4 + 10 + 57 bytes for a key, 4 + 9 for a text and 110 for its place among equal ones.
        assert!(most.0 < 2 * 10_000 * 71 && most.1 < 2 * 10_000 * 140, "{method} {most:?}");
    }
}

#[test]
fn one_key_for_all_documents_costs_what_is_alive() {
    let window = Some(Window { max_age: None, max_count: Some(100) });
    let stored = Stored { keys: true, ..Stored::default() };
    let index = LiveIndex::new(&LiveOptions { window, stored, ..LiveOptions::default() }).unwrap();
    let by_key = document(&index, "同一把钥匙");
    for _ in 0..50_000 {
        index.add(&by_key, Some("k"), None).unwrap();
    }
    assert_eq!(index.id_of("k"), Some(49_999));
    assert!(index.delete(49_999).unwrap());
    assert_eq!(index.id_of("k"), Some(49_998));
    assert!(index.stats().key_bytes < 200_000, "{}", index.stats().key_bytes);
}

#[test]
fn at_its_bound_of_memory_an_index_refuses_additions_and_goes_on_answering() {
    for method in methods() {
        let memory = Some(if method == "exact" { 3 << 20 } else { 6 << 20 });
        let index = LiveIndex::new(&LiveOptions { memory, ..options(method) }).unwrap();
        let mut added = 0;
        let error = loop {
            let document = document(&index, &code(added, 200));
            // The last addition is the one that reaches the bound.
            let is_full = Some(index.bytes() as u64) >= memory;
            let result = index.add(&document, None, None);
            assert_eq!(result.is_err(), is_full, "{method} {added} {}", index.bytes());
            match result {
                Ok(_) => added += 1,
                Err(error) => break error,
            }
            assert!(added < 200_000, "{method}");
        };
        assert!(matches!(error, DedupError::Memory { most, .. } if Some(most) == memory));
        assert!(added > 1000 && index.bytes() < 9 << 20, "{method} {added} {}", index.bytes());
        let first = index.search(&document(&index, &code(0, 200)), &Search::default()).unwrap();
        assert_eq!(first.matches[0].id, 0);
        assert!(
            check_refused(&index, &code(added + 1, 200))
                && check(&index, &code(0, 200)).id.is_none()
        );
        for id in 0..added as u64 {
            assert!(index.delete(id).unwrap());
        }
        // What has left is given back with the next changes.
        assert!(
            (0..10_000).any(|_| index.add(&document(&index, "新的一篇"), None, None).is_ok()),
            "{method}"
        );
    }
}

/// All kinds, keys and texts: what is left is told as it was, and costs what it would alone.
#[test]
fn a_compact_index_holds_what_is_alive() {
    for method in methods() {
        let stored = Stored { keys: true, ..Stored::default() };
        let given = LiveOptions { stored, ..options(method) };
        let filled = |ids: std::ops::Range<usize>| {
            let index = LiveIndex::new(&given).unwrap();
            for id in ids {
                // Every third one comes twice.
                let text = code(id - usize::from(id % 3 == 1), 40);
                index.add(&document(&index, &text), Some(&format!("key {id}")), None).unwrap();
            }
            index
        };
        let index = filled(0..12_000);
        let whole = index.bytes();
        for id in 1_000..12_000 {
            assert!(index.delete(id).unwrap());
        }
        index.compact(&AtomicBool::new(false)).unwrap();
        let alone = filled(0..1_000).bytes();
        // Keys, texts and records come in chunks, tables in parts that double.
        assert!(index.bytes() < whole / 3, "{method}: {whole} to {}, alone {alone}", index.bytes());
        for id in 0..1_000_u64 {
            assert_eq!(index.id_of(&format!("key {id}")), Some(id));
            let first = id - u64::from(id % 3 == 1);
            let text = code(first as usize, 40);
            let found = index.search(&document(&index, &text), &Search::default()).unwrap();
            assert_eq!(found.matches[0].id, first, "{method} {id}");
            assert_eq!(index.text_of(id), (method != "exact").then_some(text));
        }
        assert_eq!(check(&index, &code(9_000, 40)).id, Some(12_000));
        let stopped = index.compact(&AtomicBool::new(true));
        assert!(matches!(stopped, Err(DedupError::Cancelled)), "{method}");
    }
}

/// What a window takes away makes room, though nobody deletes.
#[test]
fn at_its_bound_of_memory_an_index_with_a_window_goes_on_when_documents_have_left() {
    for method in methods() {
        let memory = Some(if method == "exact" { 3 << 20 } else { 6 << 20 });
        let window = Some(Window { max_age: Some(1000), max_count: None });
        let index = LiveIndex::new(&LiveOptions { memory, window, ..options(method) }).unwrap();
        let add = |number: usize, at| {
            index.add(&document(&index, &code(number, 200)), None, Some(at)).is_ok()
        };
        let added = (0..200_000).find(|&number| !add(number, 1)).unwrap();
        assert!((0..20).any(|more| add(added + more, 1_000_000)), "{method}");
    }
}

fn check_refused(index: &LiveIndex, text: &str) -> bool {
    let none = |_| Texts::None;
    let step = index.check_and_add(&document(index, text), None, AddOptions::default(), none);
    matches!(step, Err(DedupError::Memory { .. }))
}
