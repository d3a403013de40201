//! A saved index: any bytes, and any damage to a good image, open to the same index or to an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_index::{Index, IndexOptions, Item};
use std::sync::LazyLock;

static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let index = Index::new(&IndexOptions::default()).expect("the default options are valid");
    for value in 0..3000u64 {
        let item = Item::Fingerprint(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        index.add(item).expect("an empty index has room");
    }
    let mut image = Vec::new();
    index.save(&mut image).expect("a vector takes every byte");
    image
});

fuzz_target!(|input: (&[u8], u32, u8)| {
    let (bytes, at, flip) = input;
    let _ = Index::open(&mut &*bytes);
    let mut image = IMAGE.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match Index::open(&mut image.as_slice()) {
        Ok(index) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert_eq!(index.len(), 3000);
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    let mut cut = &IMAGE[..at];
    assert!(Index::open(&mut cut).is_err());
});
