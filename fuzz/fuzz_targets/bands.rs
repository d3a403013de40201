//! A saved index of bands: any bytes, and any damage to a good image, open to the same index or to an error; damage behind
//! right checksums opens to an error or to an index that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::Window;
use simhash_index::bands::{BandIndex, BandItem, BandOptions, BandPlan, BandSearch, Signatures};
use std::sync::LazyLock;

const PLAN: BandPlan = BandPlan { bands: 2, rows: 2 };
const DOCUMENTS: u32 = 20;

fn signature(row: u32) -> Vec<u32> {
    (0..4).map(|position| (row / 2).wrapping_mul(0x9E37_79B9).rotate_left(position * 7)).collect()
}

/// Signatures, and a text without one now and then.
fn item(row: u32) -> BandItem {
    if row % 7 == 6 { BandItem::exact(u128::from(row) << 60) } else { signature(row).into() }
}

static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut options = BandOptions::new(PLAN);
    options.signatures = Some(Signatures { hashes: 4, threshold: 0.5 });
    options.window = Some(Window { max_age: None, max_count: None });
    let index = BandIndex::new(&options).expect("the options are valid");
    for row in 0..DOCUMENTS {
        index.add(item(row)).expect("an empty index has room");
    }
    let mut image = Vec::new();
    index.save(&mut image).expect("a vector takes every byte");
    image
});

fn use_it(index: &BandIndex) {
    let live = index.len();
    let length =
        index.options().signatures.map_or(index.options().plan.hashes(), |kept| kept.hashes);
    for row in 0..DOCUMENTS {
        let mut signature = signature(row);
        signature.resize(length, 7);
        let found = index
            .search(
                BandItem::from(signature),
                BandSearch { limit: Some(100), ..BandSearch::default() },
            )
            .expect("the signature has the right length");
        assert!(found.matches.iter().all(|found| index.has(found.id)));
    }
    let mut saved = Vec::new();
    index.save(&mut saved).expect("a vector takes every byte");
    let again = BandIndex::open(&mut saved.as_slice()).expect("what was saved opens");
    assert_eq!(again.len(), live);
    for id in 0..u64::from(DOCUMENTS) {
        assert_eq!(index.delete(id).unwrap(), again.delete(id).unwrap());
    }
    let _ = index.check_and_add(BandItem::from(vec![1; length]));
}

fuzz_target!(|input: (&[u8], u32, u8, Edits)| {
    let (bytes, at, flip, edits) = input;
    let _ = BandIndex::open(&mut &*bytes);

    let mut image = IMAGE.clone();
    let at = at as usize % image.len();
    image[at] ^= flip;
    match BandIndex::open(&mut image.as_slice()) {
        Ok(index) => {
            assert_eq!(flip, 0, "damage at byte {at} went unnoticed");
            assert_eq!(index.len(), u64::from(DOCUMENTS));
        }
        Err(error) => assert_ne!(flip, 0, "a good image was refused: {error}"),
    }
    let mut cut = &IMAGE[..at];
    assert!(BandIndex::open(&mut cut).is_err());

    let mut image = IMAGE.clone();
    edit(&mut image, FRAMES, &edits);
    reseal(&mut image, FRAMES);
    if let Ok(index) = BandIndex::open(&mut image.as_slice()) {
        use_it(&index);
    }
});
