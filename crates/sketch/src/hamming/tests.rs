use super::*;
use proptest::prelude::*;

/// Positions of one kernel.
fn hits(kernel: Kernel, haystack: &[u64], query: u64, most: u32) -> Vec<u16> {
    let mut positions = [MaybeUninit::uninit(); BLOCK];
    let count = kernel(haystack, query, most, &mut positions);
    written(&positions, count).to_vec()
}

fn plainly(haystack: &[u64], query: u64, most: u32) -> Vec<u16> {
    let near = |&(_, value): &(u16, &u64)| (value ^ query).count_ones() <= most;
    (0..).zip(haystack).filter(near).map(|(position, _)| position).collect()
}

#[test]
fn distance_counts_differing_bits() {
    assert_eq!(distance(0, u64::MAX), 64);
    assert_eq!(distance(0b1011, 0b0010), 2);
}

#[test]
fn a_distance_beyond_64_hits_everything() {
    let mut found = Vec::new();
    within(&[0, u64::MAX, 5], 0, u32::MAX, |position, distance| found.push((position, distance)));
    assert_eq!(found, [(0, 0), (1, 64), (2, 2)]);
    let mut found = Vec::new();
    pairs_within(&[0, u64::MAX, 5], u32::MAX, &mut found);
    assert_eq!(found, [(0, 1), (0, 2), (1, 2)]);
}

#[test]
fn the_kernels_in_use_are_of_the_level_in_use() {
    assert_eq!(kernels().level, Level::current());
}

#[test]
fn every_kernel_agrees_for_all_lengths_and_alignments() {
    let mut state = 1u64;
    let values: Vec<u64> = (0..BLOCK + 8)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state ^ state >> 31
        })
        .collect();
    for Kernels { level, positions, pairs } in available() {
        let mut found = Vec::new();
        pairs(&values[..200], 26, &mut found);
        let expected = (0..200u16).flat_map(|a| {
            let first = usize::from(a) + 1;
            let near = plainly(&values[first..200], values[usize::from(a)], 26);
            near.into_iter().map(move |b| (a, a + 1 + b))
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{level:?}");
        assert!(found.len() > 100);
        for from in 0..8 {
            for length in (0..=64).chain([65, 127, 1000, BLOCK - 1, BLOCK]) {
                let haystack = &values[from..from + length];
                for most in [0, 3, 16, 31, 32, 40, 64] {
                    for query in [0, u64::MAX, values[from], values[from] ^ 5] {
                        let expected = plainly(haystack, query, most);
                        let found = hits(positions, haystack, query, most);
                        assert_eq!(found, expected, "{level:?} {length} {most}");
                    }
                }
            }
        }
    }
}

/// Fingerprints near `query`, so that every distance has hits and misses.
fn near(query: u64) -> impl Strategy<Value = Vec<u64>> {
    let flips = prop::collection::vec(0..64_u32, 0..24);
    prop::collection::vec(
        flips.prop_map(move |bits| bits.iter().fold(query, |q, bit| q ^ 1 << bit)),
        0..200,
    )
}

proptest! {
    #[test]
    fn every_kernel_finds_what_the_definition_finds(
        (query, haystack) in any::<u64>().prop_flat_map(|query| (Just(query), near(query))),
        most in 0..=20_u32,
    ) {
        let expected = plainly(&haystack, query, most);
        for kernels in available() {
            prop_assert_eq!(&hits(kernels.positions, &haystack, query, most), &expected);
        }
    }

    #[test]
    fn hits_come_in_order_with_their_distance(
        values in prop::collection::vec(any::<u64>(), 0..5000),
        query: u64,
        most in 0_u32..=64,
    ) {
        let mut hits = Vec::new();
        within(&values, query, most, |position, apart| hits.push((position, apart)));
        let apart = values.iter().map(|value| (value ^ query).count_ones()).enumerate();
        let expected: Vec<(usize, u32)> = apart.filter(|(_, apart)| *apart <= most).collect();
        prop_assert_eq!(hits, expected);
    }
}
