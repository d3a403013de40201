//! Keys of the live index: a document and its key are there at once, and a key names what lives.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::live::{Document, LiveIndex, LiveOptions, Stored};
use std::thread;

use crate::model::{NEVER, code, document, methods, options};

fn keyed(method: &str) -> LiveIndex {
    let stored = Stored { keys: true, ..Stored::default() };
    LiveIndex::new(&LiveOptions { stored, ..options(method) }).unwrap()
}

/// A document comes together with its key and its text: whoever sees that it lives finds both.
#[test]
fn who_sees_a_document_finds_its_key_and_its_text() {
    const COUNT: u64 = 20_000;
    for method in methods() {
        let index = keyed(method);
        let texts: Vec<String> = (0..COUNT).map(|number| code(number as usize, 12)).collect();
        let documents: Vec<Document> = texts.iter().map(|text| document(&index, text)).collect();
        thread::scope(|scope| {
            let adding = scope.spawn(|| {
                for (number, document) in documents.iter().enumerate() {
                    index.add(document, Some(&number.to_string()), None).unwrap();
                }
            });
            // Always the next one that comes, from the moment at which it is there.
            while !adding.is_finished() {
                let id = index.next_id();
                while !index.has(id) && !adding.is_finished() {
                    std::hint::spin_loop();
                }
                if index.has(id) {
                    assert_eq!(index.key_of(id), Some(id.to_string()), "{method}");
                    assert_eq!(index.id_of(&id.to_string()), Some(id), "{method}");
                    let text = (method != "exact").then(|| texts[id as usize].clone());
                    assert_eq!(index.text_of(id), text, "{method}");
                }
            }
        });
        assert_eq!(index.len(), COUNT);
    }
}

/// Whatever came with a key, left, and was swept out since: it names the latest of its documents that lives.
#[test]
fn a_key_names_the_latest_of_its_documents_that_lives() {
    const KEYS: usize = 50;
    let index = keyed("exact");
    // By key, what lives, ascending.
    let mut living: Vec<Vec<u64>> = vec![Vec::new(); KEYS];
    let mut state = 1_u64;
    let mut below = |most: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % most
    };
    for step in 0..30_000 {
        let key = below(KEYS);
        let (name, ids) = (format!("key {key}"), &mut living[key]);
        if ids.is_empty() || below(2) == 0 {
            let document = document(&index, &step.to_string());
            ids.push(index.add(&document, Some(&name), None).unwrap());
        } else {
            // Often the latest: then an earlier one has the key again.
            let at = if below(2) == 0 { ids.len() - 1 } else { below(ids.len()) };
            assert!(index.delete(ids.remove(at)).unwrap());
        }
        if step % 5_000 == 0 {
            index.compact(&NEVER).unwrap();
        }
        if step % 100 == 0 {
            for (key, ids) in living.iter().enumerate() {
                let found = index.id_of(&format!("key {key}"));
                assert_eq!(found, ids.last().copied(), "key {key}, step {step}");
            }
        }
    }
}
