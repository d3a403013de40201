//! Sets of hashes: sorted, each once.

/// Fewer are sorted by comparing them, and so are more: of 20,000 this was not always faster.
const SOME: std::ops::Range<usize> = 128..1 << 14;
/// Most hashes with the same first bits: all of a feature that a text has often are.
const TOGETHER: u16 = 64;

/// Sorts hashes, each once, and replaces `several` with those that were there more than once, ascending, each with its number.
pub(crate) fn distinct(hashes: &mut Vec<u64>, several: &mut Vec<(u64, u32)>) {
    sort(hashes);
    several.clear();
    hashes.dedup_by(|next, first| {
        let is_again = next == first;
        if is_again {
            match several.last_mut() {
                Some((last, count)) if last == next => *count += 1,
                _ => several.push((*next, 2)),
            }
        }
        is_again
    });
}

/// Sorts hashes and removes all but one of those that are equal.
pub(crate) fn sort_distinct(hashes: &mut Vec<u64>) {
    sort(hashes);
    hashes.dedup();
}

/// Sorts hashes, whose first bits are evenly spread.
///
/// Cost: for the features of an article three fifths of a sort by comparisons.
fn sort(hashes: &mut Vec<u64>) {
    match by_first_bits(hashes) {
        Some(sorted) => *hashes = sorted,
        None => hashes.sort_unstable(),
    }
}

/// Puts each hash where its first bits say, at two places or more for each. What comes together then is sorted as it stands.
fn by_first_bits(hashes: &[u64]) -> Option<Vec<u64>> {
    if !SOME.contains(&hashes.len()) {
        return None;
    }
    let bits = hashes.len().next_power_of_two().ilog2() + 1;
    let first = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
    // By first bits: how many there are, then where the next of them goes.
    let mut places = vec![0u16; 1 << bits];
    for &hash in hashes {
        places[first(hash)] += 1;
    }
    let (mut end, mut most) = (0, 0);
    for place in &mut places {
        most = most.max(*place);
        end += std::mem::replace(place, end);
    }
    if most > TOGETHER {
        return None;
    }
    let mut sorted = vec![0; hashes.len()];
    for &hash in hashes {
        let place = &mut places[first(hash)];
        sorted[usize::from(*place)] = hash;
        *place += 1;
    }
    for at in 1..sorted.len() {
        let hash = sorted[at];
        let mut to = at;
        while to > 0 && sorted[to - 1] > hash {
            sorted[to] = sorted[to - 1];
            to -= 1;
        }
        sorted[to] = hash;
    }
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::{SOME, by_first_bits, distinct, sort_distinct};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_those_of_the_standard_library(
            seeds in prop::collection::vec(any::<u64>(), 1..40),
            count in prop_oneof![0..600_usize, (SOME.end - 2)..(SOME.end + 2)],
            kept in prop_oneof![Just(64), 1..64_u32],
            mask in prop_oneof![Just(u64::MAX), Just(0xff << 56), Just(1 << 63), Just(0)],
        ) {
            // Hashes that repeat, some with few bits that differ, the first or the last ones.
            let hashes: Vec<u64> = (0..count as u64)
                .map(|n| seeds[n as usize % seeds.len()].wrapping_add(n / 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - kept) & mask)
                .collect();
            let mut sorted = hashes.clone();
            sorted.sort_unstable();
            if let Some(found) = by_first_bits(&hashes) {
                prop_assert_eq!(&found, &sorted);
            }
            let (mut set, mut several) = (hashes.clone(), vec![(1, 1)]);
            distinct(&mut set, &mut several);
            let runs = sorted.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
            let expected: Vec<(u64, u32)> = runs.map(|run| (run[0], run.len() as u32)).collect();
            prop_assert_eq!(several, expected);
            sorted.dedup();
            prop_assert_eq!(&set, &sorted);
            let mut set = hashes;
            sort_distinct(&mut set);
            prop_assert_eq!(set, sorted);
        }
    }

    #[test]
    fn hashes_with_equal_first_bits_are_left_to_comparisons() {
        let spread: Vec<u64> =
            (0..1_000u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        assert!(by_first_bits(&spread).is_some_and(|sorted| sorted.is_sorted()));
        let close: Vec<u64> = (0..1_000).collect();
        assert_eq!(by_first_bits(&close), None);
    }
}
