//! Hashes in ascending order, each once: the set that Jaccard similarity compares.

/// Hashes from which on they are put apart by their first bits before they are sorted: fewer are sorted as fast without.
const APART_FROM: usize = 256;
/// First bits that are looked at, at most: as many counters are in a core's first cache.
const MOST_BITS: u32 = 12;

/// Sorts hashes, and leaves each once.
///
/// Hashes are spread evenly, so their first bits tell each about its place, and four to eight of them are left to be sorted together
/// (a distribution sort: Knuth, The Art of Computer Programming 3, 5.2.5). Values that are not spread are sorted all the same, and then it costs
/// a pass more. Memory meanwhile: 8 bytes for each.
pub(crate) fn ascending(hashes: &mut Vec<u64>) {
    if hashes.len() < APART_FROM {
        hashes.sort_unstable();
    } else {
        *hashes = by_first_bits(hashes);
    }
    hashes.dedup();
}

fn by_first_bits(hashes: &[u64]) -> Vec<u64> {
    let bits = (hashes.len() / 4).ilog2().min(MOST_BITS);
    let bucket = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
    let mut ends = vec![0usize; 1 << bits];
    for &hash in hashes {
        ends[bucket(hash)] += 1;
    }
    // Where each bucket begins, until its last one has been put there.
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut apart = vec![0; hashes.len()];
    for &hash in hashes {
        let end = &mut ends[bucket(hash)];
        apart[*end] = hash;
        *end += 1;
    }
    let mut rest = &mut apart[..];
    let mut start = 0;
    for end in ends {
        let own = rest.split_off_mut(..end - start).unwrap_or_default();
        own.sort_unstable();
        start = end;
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Few and many, spread evenly or all in one bucket, repeated or not.
        #[test]
        fn hashes_are_sorted_and_each_is_there_once(
            hashes in proptest::collection::vec(any::<u64>(), 0..3_000),
            mask in prop_oneof![Just(u64::MAX), Just(0xff), Just(0xff << 56), Just(1 << 63), Just(0)],
        ) {
            let mut hashes: Vec<u64> = hashes.into_iter().map(|hash| hash & mask).collect();
            let once: BTreeSet<u64> = hashes.iter().copied().collect();
            let expected: Vec<u64> = once.into_iter().collect();
            ascending(&mut hashes);
            prop_assert_eq!(hashes, expected);
        }
    }
}
