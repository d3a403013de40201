//! A saved index with keys and texts: any bytes, and any damage to a good image, open to the same index or to an error;
//! damage behind right checksums opens to an error or to an index that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::online::{OnlineIndex, Stored};
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::{Index, IndexOptions};
use simhash_sketch::{Fingerprinter, FingerprinterOptions, Scratch};
use std::sync::LazyLock;

const DOCUMENTS: u64 = 12;

static FINGERPRINTER: LazyLock<Fingerprinter> = LazyLock::new(|| {
    Fingerprinter::new(&FingerprinterOptions::default()).expect("the default options are valid")
});

static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let index = Index::new(&IndexOptions::default()).expect("the default options are valid");
    let stored = Stored { keys: true, longest_text: Some(1000) };
    let online = OnlineIndex::new(index, FINGERPRINTER.clone(), stored);
    for row in 0..DOCUMENTS {
        let text = "床前明月光疑是地上霜".repeat(row as usize % 4);
        let document = online.document(&format!("{text}{row}"), true, &mut Scratch::default());
        let key = format!("key {row}");
        online.add(&document, Some(&key), None).expect("an empty index has room");
    }
    let mut image = Vec::new();
    online.save(&mut image).expect("a vector takes every byte");
    image
});

/// Where the frame of keys and texts begins, by its name.
fn kept(image: &[u8]) -> usize {
    let found = image.windows(8).rposition(|name| name == b"KEPT\0\0\0\0");
    found.expect("keys and texts are in it")
}

fn open(mut image: &[u8]) -> Result<OnlineIndex, simhash_index::IndexError> {
    OnlineIndex::open(&mut image, FINGERPRINTER.clone())
}

fn use_it(online: &OnlineIndex) {
    for id in 0..2 * DOCUMENTS {
        if let Some(key) = online.key_of(id) {
            assert!(online.id_of(&key).is_some());
        }
        let _ = online.text_of(id);
    }
    let mut saved = Vec::new();
    online.save(&mut saved).expect("a vector takes every byte");
    let again = open(&saved).expect("what was saved opens");
    for id in 0..2 * DOCUMENTS {
        assert_eq!(again.key_of(id), online.key_of(id));
        assert_eq!(again.text_of(id), online.text_of(id));
        assert_eq!(again.delete(id), online.delete(id));
    }
}

fuzz_target!(|input: (&[u8], u32, u8, Edits, Edits)| {
    let (bytes, at, flip, in_body, in_index) = input;
    let _ = open(bytes);

    let mut image = IMAGE.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match open(&image) {
        Ok(online) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert_eq!(online.index().len(), DOCUMENTS);
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    assert!(open(&IMAGE[..at]).is_err());

    let mut image = IMAGE.clone();
    let kept = kept(&image);
    edit(&mut image[..kept], FRAMES, &in_index);
    edit(&mut image, kept + 16, &in_body);
    reseal(&mut image, FRAMES);
    if let Ok(online) = open(&image) {
        use_it(&online);
    }
});
