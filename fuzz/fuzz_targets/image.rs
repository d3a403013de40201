//! A saved index: any bytes, and any damage to a good image, open to the same index or to an error; damage behind right
//! checksums opens to an error or to an index that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::{Index, IndexOptions, Item, SearchOptions, Window};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

const ROWS: u64 = 200;

fn value(row: u64) -> u64 {
    row.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn image(rows: u64) -> Vec<u8> {
    let mut options = IndexOptions::default();
    options.window = Some(Window { max_age: None, max_count: None });
    let index = Index::new(&options).expect("the options are valid");
    for row in 0..rows {
        let item = match row % 8 {
            6 => Item::Exact(u128::from(value(row))),
            7 => Item::Empty,
            _ => Item::Fingerprint(value(row)),
        };
        index.add_at(item, Some(row)).expect("an empty index has room");
    }
    index.compact();
    let mut image = Vec::new();
    index.save(&mut image).expect("a vector takes every byte");
    image
}

static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| image(ROWS));
static SMALL: LazyLock<Vec<u8>> = LazyLock::new(|| image(24));

fn use_it(index: &Index) {
    let live = index.len();
    for row in 0..32 {
        for item in
            [Item::Fingerprint(value(row)), Item::Exact(u128::from(value(row))), Item::Empty]
        {
            let found = index.search(item, SearchOptions::default()).expect("the index is sound");
            assert!(found.matches.iter().all(|found| index.has(found.id)));
            let once = found.matches.windows(2).all(|pair| pair[0].id != pair[1].id);
            assert!(once, "one document twice");
        }
    }
    let mut saved = Vec::new();
    index.save(&mut saved).expect("a vector takes every byte");
    let again = Index::open(&mut saved.as_slice()).expect("what was saved opens");
    assert_eq!(again.len(), live);
    for id in 0..32 {
        assert_eq!(index.delete(id).unwrap(), again.delete(id).unwrap());
    }
    let _ = index.add(Item::Fingerprint(1));
}

fn mapped() -> PathBuf {
    std::env::temp_dir().join(format!("simhash-fuzz-{}.image", std::process::id()))
}

fuzz_target!(|input: (&[u8], u32, u8, Edits)| {
    let (bytes, at, flip, edits) = input;
    let _ = Index::open(&mut &*bytes);

    let mut image = LARGE.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match Index::open(&mut image.as_slice()) {
        Ok(index) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert_eq!(index.len(), ROWS);
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    let mut cut = &LARGE[..at];
    assert!(Index::open(&mut cut).is_err());

    let mut image = SMALL.clone();
    edit(&mut image, FRAMES, &edits);
    reseal(&mut image, FRAMES);
    if let Ok(index) = Index::open(&mut image.as_slice()) {
        use_it(&index);
    }
    // Mapped nothing is built: what contradicts itself is met by the calls.
    fs::write(mapped(), &image).expect("the folder for temporary files can be written");
    if let Ok((index, _)) = Index::open_mapped(&mapped(), None) {
        for row in 0..32 {
            let item = Item::Fingerprint(value(row));
            let _ = (index.search(item, SearchOptions::default()), index.add(item));
            let _ = index.delete(row);
        }
        let _ = index.verify(&AtomicBool::new(false));
    }
});
