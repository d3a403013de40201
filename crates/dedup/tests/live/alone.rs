//! Fingerprints and signatures without texts: nothing can be compared with them, so what the index of the method finds is all
//! that is known, whether it is asked one by one or many at a time, and whether other documents are verified or not.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::AtomicBool;

use simhash_dedup::live::{
    Checked, Document, LiveIndex, LiveMethod, LiveOptions, Search, Step, Stored, Texts,
};
use simhash_index::{AddOptions, OnDuplicate, PlanChoice};

static NEVER: AtomicBool = AtomicBool::new(false);

/// As many as an answer of a verified search may have.
const MOST: usize = 4;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    *seed ^ *seed >> 31
}

fn bare(method: LiveMethod) -> LiveOptions {
    let stored = Stored::NOTHING;
    LiveOptions { method, stored, max_verifications: MOST, ..LiveOptions::default() }
}

/// Documents of some families, near each other, and of none, for an index of these options.
fn documents(method: &LiveMethod, seed: &mut u64) -> Vec<Document> {
    let mut families = Vec::new();
    let mut near = |seed: &mut u64| {
        let known = (!random(seed).is_multiple_of(4)).then(|| random(seed) as usize);
        let family = match known {
            Some(number) if !families.is_empty() => number % families.len(),
            _ => {
                families.push([random(seed), random(seed)]);
                families.len() - 1
            }
        };
        (families[family], random(seed))
    };
    let mut one = |seed: &mut u64| {
        let ([family, other], own) = near(seed);
        if let LiveMethod::SimHash { .. } = method {
            return Document::fingerprint(family ^ 1 << (own % 64));
        }
        // At most an eighth of the positions are others than those of the family.
        let (changed, mut positions) = (own % 17, (family, other));
        let signature = (0..128).map(|at| {
            let (family, other) = (random(&mut positions.0), random(&mut positions.1));
            if (at + own / 17) % 128 < changed { (other ^ own) as u32 } else { family as u32 }
        });
        Document::signature(signature.collect())
    };
    (0..1_500).map(|_| one(seed)).collect()
}

fn methods() -> [LiveMethod; 2] {
    let (plan, capacity) = (PlanChoice::default(), None);
    [LiveMethod::SimHash { max_distance: Some(3), plan, capacity }, LiveMethod::minhash()]
}

#[test]
fn a_search_finds_what_an_unverified_one_finds_as_far_as_it_goes() {
    for method in methods() {
        let index = LiveIndex::new(&bare(method.clone())).unwrap();
        let documents = documents(&method, &mut 5);
        index.add_many(&documents, &[], &[], &NEVER).unwrap();
        let mut told = 0;
        for limit in [None, Some(2), Some(100)] {
            let how = Search { limit, ..Search::default() };
            let many = index.search_many(&documents, &how, 2, &NEVER).unwrap();
            let (mut found, mut cut) = (0, 0);
            for (document, many) in documents.iter().zip(many) {
                let all = Search { verified: false, ..Search::default() };
                let mut expected = index.search(document, &all).unwrap();
                let most = limit.unwrap_or(MOST).min(MOST);
                expected.truncated = expected.matches.len() > most;
                expected.matches.truncate(most);
                let one = index.search(document, &how).unwrap();
                if let LiveMethod::MinHash { .. } = method {
                    // The limit is on candidates, some of which are not similar enough.
                    assert!(one.truncated || !expected.truncated);
                    expected.truncated = one.truncated;
                }
                assert_eq!(one, expected, "{method:?}");
                assert_eq!(many, expected, "{method:?}");
                found += expected.matches.len();
                cut += u64::from(expected.truncated);
            }
            assert!(found > documents.len() && cut > 100, "{found}, {cut}");
            told += cut;
        }
        // One by one and many at a time.
        assert_eq!(index.stats().truncated, 2 * told);
    }
}

#[test]
fn checks_are_decided_by_what_is_nearest_one_by_one_and_many_at_a_time() {
    for method in methods() {
        let (one, many) = (bare(method.clone()), bare(method.clone()));
        let [one, many] = [one, many].map(|options| LiveIndex::new(&options).unwrap());
        let documents = documents(&method, &mut 9);
        let mut expected: Vec<Checked> = Vec::new();
        for document in &documents {
            let all = Search { verified: false, ..Search::default() };
            let near = one.search(document, &all).unwrap().matches.first().copied();
            let how = AddOptions::default();
            let step = one.check_and_add(document, None, how, |_| Texts::None).unwrap();
            let Step::Done(checked) = step else { unreachable!("no text is asked for") };
            assert_eq!(checked.duplicate_of, near, "{method:?}");
            assert_eq!(checked.id.is_none(), near.is_some());
            expected.push(checked);
        }
        let skip = OnDuplicate::Skip;
        let checked = many.check_and_add_many(&documents, &[], &[], skip, 2, &NEVER).unwrap();
        assert_eq!(checked, expected, "{method:?}");
        assert!((200..1_300).contains(&one.len()), "{}", one.len());
        assert!(checked.iter().all(|checked| !checked.truncated));
    }
}
