//! A saved index opens to the same answers; a damaged one is named.

use crate::model::{Random, options};
use simhash_index::bands::{BandIndex, BandItem, BandOptions, BandSearch, Signatures};
use simhash_index::{AddOptions, Index, IndexError, IndexOptions, OnDuplicate, Window};
use simhash_store::FileError;

fn saved(index: &BandIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.save(&mut bytes).unwrap();
    bytes
}

fn every_kind() -> [BandOptions; 3] {
    let (plain, mut kept, mut windowed) = (options(8, 2), options(8, 2), options(8, 2));
    kept.signatures = Some(Signatures { hashes: 20, threshold: 0.5 });
    windowed.window = Some(Window { max_age: Some(9000), max_count: Some(3000) });
    windowed.bucket_limit = 50;
    [plain, kept, windowed]
}

#[test]
fn an_opened_index_answers_and_goes_on_as_the_saved_one() {
    for options in every_kind() {
        let index = BandIndex::new(&options).unwrap();
        let mut random = Random(3);
        let step = |index: &BandIndex, random: &mut Random, at: u64| {
            let (family, noise) = (random.below(900), random.below(50));
            let signature = match at % 50 {
                0 => BandItem::default(),
                _ => random.signature(family, noise, 20),
            };
            let on_duplicate =
                if at.is_multiple_of(3) { OnDuplicate::Touch } else { OnDuplicate::Add };
            let how = AddOptions { at: Some(at), on_duplicate };
            let outcome = index.check_and_add_with(&signature, how).unwrap();
            let deleted = at.is_multiple_of(5) && index.delete(random.below(at + 1)).unwrap();
            (
                index
                    .search(&signature, BandSearch { limit: Some(20), ..BandSearch::default() })
                    .unwrap(),
                outcome,
                deleted,
            )
        };
        for at in 0..12_000 {
            step(&index, &mut random, at);
        }
        let bytes = saved(&index);
        let opened = BandIndex::open(&mut bytes.as_slice()).unwrap();
        assert_eq!(saved(&opened), bytes, "saving is stable");
        assert_eq!(opened.options(), index.options());
        let (mut one, mut other) = (Random(9), Random(9));
        for at in 12_000..16_000 {
            assert_eq!(step(&opened, &mut one, at), step(&index, &mut other, at));
        }
        assert_eq!(opened.len(), index.len());
    }
}

#[test]
fn an_empty_index_is_saved_and_opened() {
    let index = BandIndex::new(&options(2, 2)).unwrap();
    let opened = BandIndex::open(&mut saved(&index).as_slice()).unwrap();
    assert!(opened.is_empty());
    assert_eq!(opened.add(BandItem::from(vec![1, 2, 3, 4])).unwrap(), 0);
}

#[test]
fn every_cut_and_every_flipped_byte_is_named_and_none_panics() {
    for mut options in every_kind() {
        options.plan.bands = 2;
        let index = BandIndex::new(&options).unwrap();
        let mut random = Random(5);
        for at in 0..30 {
            index.add_at(random.signature(at / 2, 20, 20), Some(at)).unwrap();
        }
        index.add(BandItem::default()).unwrap();
        let bytes = saved(&index);
        for length in 0..bytes.len() {
            let error = BandIndex::open(&mut &bytes[..length]).unwrap_err();
            assert!(
                matches!(error, IndexError::File(FileError::Damaged { .. })),
                "cut at {length}: {error}"
            );
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            let error = BandIndex::open(&mut flipped.as_slice()).unwrap_err();
            assert!(
                matches!(
                    error,
                    IndexError::File(FileError::Damaged { .. } | FileError::Format { .. })
                ),
                "byte {at}: {error}"
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = BandIndex::open(&mut longer.as_slice()).unwrap_err();
        assert!(error.to_string().contains("follows the end"), "{error}");
    }
    let mut other = Vec::new();
    Index::new(&IndexOptions::default()).unwrap().save(&mut other).unwrap();
    let foreign = BandIndex::open(&mut other.as_slice()).unwrap_err();
    assert_eq!(foreign, FileError::mismatch("method", "simhash", "minhash").into());
    let foreign = BandIndex::open(&mut &b"PK\x03\x04 something else entirely"[..]).unwrap_err();
    assert!(foreign.to_string().contains("not a saved index"), "{foreign}");
}
