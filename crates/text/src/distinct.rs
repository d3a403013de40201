//! Sets of hashes: sorted, each once.

/// Fewer are sorted by comparing them, and so are more: of 20,000 this was not always faster.
const SOME: std::ops::Range<usize> = 128..1 << 14;
/// For each hash, the moves it may take to sort those that came together: many with the same first bits take many, unless they are equal, as
/// those of a feature are that a text has often.
const MOVES: usize = 8;

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
/// Cost: for the features of an article half to three quarters of a sort by comparisons.
fn sort(hashes: &mut Vec<u64>) {
    if SOME.contains(&hashes.len()) {
        *hashes = by_first_bits(hashes);
        let most = MOVES * hashes.len();
        if insert(hashes, most) {
            return;
        }
    }
    hashes.sort_unstable();
}

/// The hashes, those with the same first bits together and in the order of these, of which there are twice as many or more.
fn by_first_bits(hashes: &[u64]) -> Vec<u64> {
    let bits = hashes.len().next_power_of_two().ilog2() + 1;
    let first = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
    // By first bits: how many there are, then where the next of them goes.
    let mut places = vec![0u16; 1 << bits];
    for &hash in hashes {
        places[first(hash)] += 1;
    }
    let mut end = 0;
    for place in &mut places {
        end += std::mem::replace(place, end);
    }
    let mut sorted = vec![0; hashes.len()];
    for &hash in hashes {
        let place = &mut places[first(hash)];
        sorted[usize::from(*place)] = hash;
        *place += 1;
    }
    sorted
}

/// Sorts what is nearly sorted; `false` where it takes more moves than these, and is still unsorted.
fn insert(hashes: &mut [u64], mut moves: usize) -> bool {
    for at in 1..hashes.len() {
        let hash = hashes[at];
        let mut to = at;
        while to > 0 && hashes[to - 1] > hash {
            hashes[to] = hashes[to - 1];
            to -= 1;
        }
        hashes[to] = hash;
        match moves.checked_sub(at - to) {
            Some(left) => moves = left,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{MOVES, SOME, by_first_bits, distinct, insert, sort_distinct};
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
            if SOME.contains(&hashes.len()) {
                let mut placed = by_first_bits(&hashes);
                if insert(&mut placed, MOVES * hashes.len()) {
                    prop_assert_eq!(&placed, &sorted);
                }
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

    /// Those of articles are nearly in order when they lie by their first bits, however often they repeat; those that share these are not,
    /// and cost no more than the moves before they are sorted by comparing them.
    #[test]
    fn hashes_with_equal_first_bits_are_left_to_comparisons() {
        let sorts = |hashes: &[u64]| {
            let mut placed = by_first_bits(hashes);
            let is_sorted = insert(&mut placed, MOVES * hashes.len());
            is_sorted.then(|| assert!(placed.is_sorted())).is_some()
        };
        let spread = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let different: Vec<u64> = (0..1_000).map(spread).collect();
        assert!(sorts(&different));
        let often: Vec<u64> = (0..1_000).map(|n| spread(n % 300 * (n % 3))).collect();
        assert!(sorts(&often));
        let close: Vec<u64> = (0..1_000).rev().collect();
        assert!(!sorts(&close));
        let mut set = close;
        sort_distinct(&mut set);
        assert_eq!(set, (0..1_000).collect::<Vec<u64>>());
    }
}
