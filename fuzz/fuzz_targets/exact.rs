//! A saved index of equal texts: any bytes, and any damage to a good image, open to the same index or to an error; damage
//! behind right checksums opens to an error or to an index that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::Window;
use simhash_index::exact::{ExactIndex, ExactOptions, Text};
use std::sync::LazyLock;

const DOCUMENTS: u64 = 20;

fn text(row: u64) -> Text {
    if row == 7 { Text::Empty } else { Text::Hash(u128::from(row / 2) << 60) }
}

fn saved(index: &ExactIndex) -> Vec<u8> {
    let mut image = Vec::new();
    index.save(&mut image).expect("a vector takes every byte");
    image
}

static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut options = ExactOptions::default();
    options.window = Some(Window { max_age: None, max_count: None });
    let index = ExactIndex::new(&options).expect("the options are valid");
    for row in 0..DOCUMENTS {
        index.add(text(row)).expect("an empty index has room");
    }
    saved(&index)
});

fn use_it(index: &ExactIndex) {
    for row in 0..DOCUMENTS {
        let found = index.search(text(row), Some(100)).expect("every item fits");
        assert!(found.matches.iter().all(|found| index.has(found.id)));
    }
    let again = ExactIndex::open(&mut saved(index).as_slice()).expect("what was saved opens");
    assert_eq!(again.len(), index.len());
    for id in 0..DOCUMENTS {
        assert_eq!(index.delete(id).unwrap(), again.delete(id).unwrap());
    }
    let _ = index.check_and_add(text(3));
}

fuzz_target!(|input: (&[u8], u32, u8, Edits)| {
    let (bytes, at, flip, edits) = input;
    let _ = ExactIndex::open(&mut &*bytes);

    let mut image = IMAGE.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match ExactIndex::open(&mut image.as_slice()) {
        Ok(index) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert_eq!(index.len(), DOCUMENTS);
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    let mut cut = &IMAGE[..at];
    assert!(ExactIndex::open(&mut cut).is_err());

    let mut image = IMAGE.clone();
    edit(&mut image, FRAMES, &edits);
    reseal(&mut image, FRAMES);
    if let Ok(index) = ExactIndex::open(&mut image.as_slice()) {
        use_it(&index);
    }
});
