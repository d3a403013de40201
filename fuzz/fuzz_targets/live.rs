//! A saved index of documents with keys and texts, by every method: any bytes, and any damage to a good image, open to the same
//! index or to an error; damage behind right checksums opens to an error or to an index that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::DedupError;
use simhash_dedup::live::{
    LiveIndex, LiveMethod, LiveOptions, OnSameKey, Search, Step, Stored, Texts,
};
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::AddOptions;
use simhash_sketch::Scratch;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

const DOCUMENTS: u64 = 12;

fn options(method: usize) -> LiveOptions {
    let methods =
        [LiveMethod::minhash(), LiveMethod::simhash(), LiveMethod::sentences(), LiveMethod::Exact];
    let stored = Stored { keys: true, longest_text: Some(100) };
    // What keys were answered is in the file too.
    let on_same_key = OnSameKey::Repeat;
    LiveOptions { method: methods[method].clone(), stored, on_same_key, ..LiveOptions::default() }
}

fn text(row: u64) -> String {
    format!("{}{row}", "床前明月光疑是地上霜。".repeat(row as usize % 5))
}

static IMAGES: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| {
    [0, 1, 2, 3].map(|method| {
        let index = LiveIndex::new(&options(method)).expect("the options are valid");
        for row in 0..DOCUMENTS {
            let document = index.document(&text(row), &mut Scratch::default());
            let key = format!("key {row}");
            index.add(&document, Some(&key), None).expect("an empty index has room");
        }
        for row in 0..DOCUMENTS {
            check(&index, row);
        }
        saved(&index)
    })
});

/// What a copy of a document is answered, by a key of its own.
fn check(index: &LiveIndex, row: u64) -> Step {
    let document = index.document(&text(row), &mut Scratch::default());
    let (key, how) = (format!("copy {row}"), AddOptions::default());
    index.check_and_add(&document, Some(&key), how, |_| Texts::None).expect("there is room")
}

fn saved(index: &LiveIndex) -> Vec<u8> {
    let mut image = Vec::new();
    let never = AtomicBool::new(false);
    index.snapshot().write(&mut image, &never).expect("a vector takes every byte");
    image
}

/// Where the frame of keys and texts begins, by its name.
fn kept(image: &[u8]) -> usize {
    let found = image.windows(8).rposition(|name| name == b"KEPT\0\0\0\0");
    found.expect("keys and texts are in it")
}

fn open(mut image: &[u8], method: usize) -> Result<LiveIndex, DedupError> {
    LiveIndex::open(&mut image, &options(method))
}

fn use_it(index: &LiveIndex, method: usize) {
    for id in 0..2 * DOCUMENTS {
        if let Some(key) = index.key_of(id) {
            assert!(index.id_of(&key).is_some());
        }
        let _ = index.text_of(id);
        let document = index.document(&text(id), &mut Scratch::default());
        let found = index.search(&document, &Search::default()).expect("the item fits");
        assert!(found.matches.iter().all(|near| index.has(near.id)));
    }
    let again = open(&saved(index), method).expect("what was saved opens");
    for id in 0..2 * DOCUMENTS {
        assert_eq!(again.key_of(id), index.key_of(id));
        assert_eq!(check(&again, id), check(index, id));
        assert_eq!(again.text_of(id), index.text_of(id));
        assert_eq!(again.delete(id).expect("no log"), index.delete(id).expect("no log"));
    }
}

fuzz_target!(|input: (u8, &[u8], u32, u8, Edits, Edits)| {
    let (method, bytes, at, flip, in_body, in_index) = input;
    let method = usize::from(method % 4);
    let _ = open(bytes, method);

    let good = &IMAGES[method];
    let mut image = good.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match open(&image, method) {
        Ok(index) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert!(index.len() >= DOCUMENTS);
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    assert!(open(&good[..at], method).is_err());

    let mut image = good.clone();
    let kept = kept(&image);
    edit(&mut image[..kept], FRAMES, &in_index);
    edit(&mut image, kept + 16, &in_body);
    reseal(&mut image, FRAMES);
    if let Ok(index) = open(&image, method) {
        use_it(&index, method);
    }
});
