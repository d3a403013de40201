//! Equal signatures, crowded bands, and what a document costs.

use crate::model::{Random, options};
use simhash_index::bands::{BandIndex, BandItem, BandSearch, Signatures};

#[test]
fn forty_thousand_equal_signatures_are_kept_once() {
    let index = BandIndex::new(&options(16, 8)).unwrap();
    let signature = Random(1).signature(1, 0, 128);
    for number in 0..40_000 {
        let outcome = index.check_and_add(&signature).unwrap();
        assert_eq!(outcome.id.is_some(), number == 0);
        assert!(!outcome.truncated);
    }
    assert_eq!((index.len(), index.stats().entries), (1, 16));
}

#[test]
fn forty_thousand_equal_signatures_that_are_all_added_stay_linear() {
    let index = BandIndex::new(&options(16, 8)).unwrap();
    let signature = Random(1).signature(1, 0, 128);
    for _ in 0..40_000 {
        index.add(&signature).unwrap();
    }
    let stats = index.stats();
    assert_eq!((stats.entries, stats.crowded), (640_000, 16));
    // A list doubles when it is full: 4 to 8 bytes for each id of each band.
    assert!(stats.table_bytes - 4096 * 24 < 40_000 * 16 * 8, "{stats:?}");
    // A search reads the oldest of each bucket, and says so.
    let found = index.search(&signature, BandSearch::default()).unwrap();
    assert!(found.truncated);
    assert_eq!(found.matches.len(), 1024);
    assert!(found.matches.iter().zip(0..).all(|(found, id)| (found.id, found.bands) == (id, 16)));
    let few =
        index.search(&signature, BandSearch { limit: Some(3), ..BandSearch::default() }).unwrap();
    assert_eq!((few.matches.len(), few.truncated), (3, true));
    assert_eq!(index.stats().truncated, 2);
    // Deleted from the oldest on, the next oldest appear, and the lists shrink.
    for id in 0..39_999 {
        assert!(index.delete(id).unwrap());
    }
    let left =
        index.search(&signature, BandSearch { limit: Some(10), ..BandSearch::default() }).unwrap();
    assert_eq!(left.matches.iter().map(|found| found.id).collect::<Vec<_>>(), [39_999]);
    assert!(!left.truncated && index.stats().entries <= 16 * 4097);
}

#[test]
fn a_crowded_band_hides_no_duplicate_that_shares_another_and_is_reported() {
    let mut options = options(16, 8);
    options.signatures = Some(Signatures { hashes: 128, threshold: 0.8 });
    options.bucket_limit = 100;
    let index = BandIndex::new(&options).unwrap();
    let mut random = Random(5);
    // A boilerplate: the first band is the same everywhere.
    let mut made = Vec::new();
    for family in 0..2000 {
        let mut signature = random.positions(family, 0, 128);
        signature[..8].fill(7);
        let signature = BandItem::from(signature);
        made.push(signature.clone());
        let outcome = index.check_and_add(signature).unwrap();
        assert_eq!(outcome.id, Some(family), "nothing similar was there");
        assert_eq!(outcome.truncated, family > 100);
    }
    for (id, signature) in (0..).zip(&made) {
        let outcome = index.check_and_add(signature).unwrap();
        assert_eq!(outcome.duplicate_of.unwrap().id, id);
    }
}

#[test]
fn a_document_costs_at_most_150_bytes_at_128_hashes_and_stats_follow_the_formula() {
    let index = BandIndex::new(&options(16, 8)).unwrap();
    let mut random = Random(9);
    let mut worst: f64 = 0.0;
    for family in 0..150_000_u64 {
        index.add(random.signature(family, 100, 128)).unwrap();
        // At every size, not only where the table has just been written anew.
        if family % 10_000 == 9_999 && family > 50_000 {
            let stats = index.stats();
            let bytes = (stats.table_bytes + stats.id_bytes) as f64 / stats.live as f64;
            worst = worst.max(bytes);
            let entry = (stats.table_bytes as f64 - 4096.0 * 24.0) / stats.entries as f64;
            assert!((8.6..=9.3).contains(&entry), "{entry} bytes per entry");
        }
    }
    assert!(worst <= 150.0, "{worst} bytes per document");
}
