//! The merge against set arithmetic.

use proptest::prelude::*;
use simhash_sketch::measure::{containment, jaccard, jaccard_at_least, overlap};
use std::collections::BTreeSet;

fn sets() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    // A small range of values, so that large overlaps occur.
    let set = || proptest::collection::btree_set(0u64..150, 0..140);
    (set(), set()).prop_map(|(a, b): (BTreeSet<u64>, BTreeSet<u64>)| {
        (a.into_iter().collect(), b.into_iter().collect())
    })
}

fn plain(a: &[u64], b: &[u64]) -> (usize, usize) {
    let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
    (a.intersection(&b).count(), a.union(&b).count())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn jaccard_is_intersection_over_union((a, b) in sets()) {
        let (both, either) = plain(&a, &b);
        let expected = if either == 0 { 0.0 } else { both as f64 / either as f64 };
        prop_assert_eq!(overlap(&a, &b), both);
        prop_assert_eq!(jaccard(&a, &b).to_bits(), expected.to_bits());
        prop_assert_eq!(jaccard(&b, &a).to_bits(), expected.to_bits());
    }

    #[test]
    fn threshold_changes_nothing_but_the_pairs_below_it((a, b) in sets(), least in 0.0f64..=1.0) {
        let exact = jaccard(&a, &b);
        prop_assert_eq!(jaccard_at_least(&a, &b, least), (exact >= least).then_some(exact));
        // The hardest threshold is the value itself.
        prop_assert_eq!(jaccard_at_least(&a, &b, exact), Some(exact));
        prop_assert_eq!(jaccard_at_least(&a, &b, exact.next_up()), None);
    }

    #[test]
    fn containment_is_the_share_of_the_smaller_set((a, b) in sets()) {
        let (both, _) = plain(&a, &b);
        let smaller = a.len().min(b.len());
        let expected = if smaller == 0 { 0.0 } else { both as f64 / smaller as f64 };
        prop_assert_eq!(containment(&a, &b).to_bits(), expected.to_bits());
    }
}

#[test]
fn empty_sets_resemble_nothing() {
    assert!(jaccard(&[], &[]) == 0.0);
    assert!(containment(&[], &[1]) == 0.0);
    assert_eq!(jaccard_at_least(&[], &[], 0.8), None);
}
