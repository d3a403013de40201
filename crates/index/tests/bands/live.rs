//! Additions, deletions, searches and checks in any order agree with the model.

use crate::model::{Model, Random, options};
use proptest::prelude::*;
use simhash_index::bands::{BandIndex, BandItem, BandOptions, BandSearch, Signatures};
use simhash_index::{AddOptions, IndexError, OnDuplicate};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn kept(bands: usize, rows: usize, hashes: usize, threshold: f64) -> BandOptions {
    let mut options = options(bands, rows);
    options.signatures = Some(Signatures { hashes, threshold });
    options
}

fn same(value: u32, length: usize) -> BandItem {
    vec![value; length].into()
}

fn run(options: BandOptions, seed: u64, steps: u64) {
    let index = BandIndex::new(&options).unwrap();
    let mut model = Model::new(options);
    let mut random = Random(seed);
    let hashes = options.signatures.map_or(options.plan.hashes(), |kept| kept.hashes);
    for step in 0..steps {
        let (family, noise) = (random.below(1 + steps / 8), random.below(60));
        let signature = match random.below(20) {
            0 => BandItem::default(),
            _ => random.signature(family, noise, hashes),
        };
        match random.below(10) {
            0..4 => assert_eq!(index.add(&signature).unwrap(), model.add(&signature)),
            4..6 => {
                let id = random.below(model.documents.len() as u64 + 2);
                assert_eq!(index.delete(id).unwrap(), model.delete(id), "step {step}");
                assert!(!index.has(id));
            }
            6 => {
                let expected = model.search(&signature, None, 1).matches.first().copied();
                let outcome = index.check_and_add(&signature).unwrap();
                assert_eq!(outcome.duplicate_of, expected, "step {step}");
                let added = expected.is_none().then(|| model.add(&signature));
                assert_eq!(outcome.id, added);
            }
            _ => {
                let limit = random.below(12) as usize;
                let found = index
                    .search(&signature, BandSearch { limit: Some(limit), ..BandSearch::default() })
                    .unwrap();
                assert_eq!(found, model.search(&signature, None, limit), "step {step}");
            }
        }
        assert_eq!(index.len(), model.live());
    }
    let stats = index.stats();
    assert_eq!(stats.live, model.live());
    assert!(
        stats.entries >= stats.live.saturating_sub(stats.live / 5) * options.plan.bands as u64 / 2
    );
}

#[test]
fn random_operations_agree_with_the_model_for_plans_with_and_without_signatures() {
    for (seed, options) in [
        (1, options(4, 2)),
        (2, options(1, 1)),
        (3, options(16, 8)),
        (4, kept(4, 2, 8, 0.5)),
        (5, kept(16, 4, 80, 0.7)),
        (6, kept(3, 1, 3, 0.0)),
    ] {
        run(options, seed, 2500);
    }
}

#[test]
fn many_deletions_are_swept_out_and_ids_go_on() {
    let options = options(8, 1);
    let index = BandIndex::new(&options).unwrap();
    let mut random = Random(7);
    let mut model = Model::new(options);
    for round in 0..6 {
        for _ in 0..4000 {
            let family = random.below(500);
            let signature = random.signature(family, 80, 8);
            assert_eq!(index.add(&signature).unwrap(), model.add(&signature));
        }
        for id in (round * 4000..(round + 1) * 4000).filter(|id| id % 50 != 0) {
            assert!(index.delete(id).unwrap() && model.delete(id));
        }
        let stats = index.stats();
        assert!(stats.dead <= 4096 + stats.live / 4, "{stats:?}");
        for _ in 0..60 {
            let family = random.below(500);
            let signature = random.signature(family, 70, 8);
            let found = index.search(&signature, BandSearch::default()).unwrap();
            assert_eq!(found, model.search(&signature, None, usize::MAX));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn batches_decide_as_one_by_one(
        seed: u64,
        families in 1..30_u64,
        keep: bool,
        on_duplicate in prop_oneof![Just(OnDuplicate::Skip), Just(OnDuplicate::Add)],
    ) {
        let options = if keep { kept(8, 2, 20, 0.6) } else { options(8, 2) };
        let mut random = Random(seed);
        let length = if keep { 20 } else { 16 };
        let signatures: Vec<BandItem> = (0..200)
            .map(|_| {
                let (family, noise) = (random.below(families), random.below(50));
                random.signature(family, noise, length)
            })
            .collect();
        let (single, batch) = (BandIndex::new(&options).unwrap(), BandIndex::new(&options).unwrap());
        let one = |signature: &BandItem| {
            let options = AddOptions { at: None, on_duplicate };
            single.check_and_add_with(signature, options).unwrap()
        };
        let singly: Vec<_> = signatures.iter().map(one).collect();
        let together = batch.check_and_add_many(&signatures, &[], on_duplicate, 1, &NEVER).unwrap();
        prop_assert_eq!(singly, together);
        let search = BandSearch { limit: Some(5), threshold: keep.then_some(0.4), bucket: None };
        let many = batch.search_many(&signatures, search, 2, &NEVER).unwrap();
        for (signature, found) in signatures.iter().zip(many) {
            prop_assert_eq!(batch.search(signature, search).unwrap(), found);
        }
        let all = BandIndex::new(&options).unwrap();
        prop_assert_eq!(all.add_many(&signatures, &[], &NEVER).unwrap(), 0..200);
        prop_assert_eq!(all.len(), 200);
    }
}

#[test]
fn of_two_equal_signatures_at_once_exactly_one_is_kept() {
    let index = BandIndex::new(&options(16, 4)).unwrap();
    let mut random = Random(1);
    let signatures: Vec<BandItem> =
        (0..2000).map(|family| random.signature(family, 0, 64)).collect();
    let added: usize = std::thread::scope(|scope| {
        let work = || {
            let add = |s: &&BandItem| index.check_and_add(s).unwrap().id.is_some();
            signatures.iter().filter(add).count()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((added, index.len()), (2000, 2000));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let bands = BandIndex::new(&options(4, 3)).unwrap();
    let short = IndexError::Signature { given: 11, expected: 12 };
    assert_eq!(bands.add(same(1, 11)).unwrap_err(), short);
    assert_eq!(bands.add(same(1, 13)).unwrap(), 0);
    let error = bands.add_many(&[same(1, 12), same(1, 3)], &[], &NEVER).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the signature has 3 positions; this index takes 12, or none for an empty document"
    );
    let search = BandSearch { threshold: Some(0.5), limit: None, bucket: None };
    assert!(matches!(bands.search(same(1, 12), search), Err(IndexError::Bands { .. })));
    let whole = BandIndex::new(&kept(4, 3, 12, 0.5)).unwrap();
    assert!(whole.check_and_add(same(1, 13)).is_err());
    let search = BandSearch { threshold: Some(1.5), limit: None, bucket: None };
    assert!(whole.search(same(1, 12), search).is_err());
    assert_eq!((bands.len(), whole.len()), (1, 0));
    for options in [kept(4, 3, 11, 0.5), kept(4, 3, 1025, 0.5), kept(4, 3, 12, -0.1)] {
        assert!(matches!(BandIndex::new(&options), Err(IndexError::Bands { .. })));
    }
    let up = AtomicBool::new(true);
    let signatures = [same(1, 12)];
    let cancelled = whole.check_and_add_many(&signatures, &[], OnDuplicate::Skip, 1, &up);
    assert_eq!(cancelled.unwrap_err(), IndexError::Cancelled);
    assert!(whole.is_empty());
}

#[test]
fn empty_signatures_get_ids_and_match_nothing() {
    for options in [options(4, 3), kept(4, 3, 12, 0.0)] {
        let index = BandIndex::new(&options).unwrap();
        assert_eq!(index.add(BandItem::default()).unwrap(), 0);
        assert_eq!(index.check_and_add(BandItem::default()).unwrap().id, Some(1));
        assert_eq!(index.check_and_add(same(0, 12)).unwrap().id, Some(2));
        assert!(
            index
                .search(
                    BandItem::default(),
                    BandSearch { limit: Some(10), ..BandSearch::default() }
                )
                .unwrap()
                .matches
                .is_empty()
        );
        let found = index
            .search(same(0, 12), BandSearch { limit: Some(10), ..BandSearch::default() })
            .unwrap();
        assert_eq!(found.matches.iter().map(|found| found.id).collect::<Vec<_>>(), [2]);
    }
}

#[test]
fn a_text_without_a_signature_is_near_equal_ones_only() {
    for options in [options(8, 2), kept(8, 2, 16, 0.5), options(1, 1), kept(1, 1, 1, 0.0)] {
        let index = BandIndex::new(&options).unwrap();
        let mut random = Random(11);
        let text = |number: u64| u128::from(number % 100) << 90 | u128::from(number % 100);
        for number in 0..300 {
            // Two of three ids are of texts; neighbours differ in the highest and lowest bits only.
            index.add(BandItem::exact(text(number))).unwrap();
            index.add(random.signature(number % 100, 10, options.plan.hashes())).unwrap();
        }
        index.delete(0).unwrap();
        for number in 1..100 {
            let found = index.search(BandItem::exact(text(number)), BandSearch::default()).unwrap();
            let ids: Vec<u64> = found.matches.iter().map(|found| found.id).collect();
            assert_eq!(ids, [2 * number, 2 * (number + 100), 2 * (number + 200)]);
            let similarity = options.signatures.map(|_| 1.0);
            assert!(found.matches.iter().all(|found| found.similarity == similarity));
        }
        assert_eq!(
            index.check_and_add(BandItem::exact(text(0))).unwrap().duplicate_of.unwrap().id,
            200
        );
        assert_eq!(index.check_and_add(BandItem::exact(1 << 64)).unwrap().duplicate_of, None);
        let mut bytes = Vec::new();
        index.save(&mut bytes).unwrap();
        let opened = BandIndex::open(&mut bytes.as_slice()).unwrap();
        assert_eq!(
            opened.check_and_add(BandItem::exact(text(7))).unwrap().duplicate_of.unwrap().id,
            14
        );
    }
}
